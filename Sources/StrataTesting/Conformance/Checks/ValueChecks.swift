import Foundation
import Strata

extension ConformanceCheck {
    static let values: [ConformanceCheck] =
        [
            keeps(
                "texts", "name", ["", " ", "a", "Zürich", "e\u{301}", "\u{e9}", "日本語", "👩‍👩‍👧", "'; --", "%_\\"]),
            keeps("the character U+0000", "name", ["a\u{0}b", "\u{0}"], needs: [.zeroCharacters]),
            keeps("long texts", "name", [String(repeating: "Ünïcode ", count: 20_000)]),
            keeps("16-bit integers", "small", [Int16.min, -1, 0, 1, Int16.max]),
            keeps("32-bit integers", "medium", [Int32.min, -1, 0, 1, Int32.max]),
            keeps("64-bit integers", "large", [Int64.min, -1, 0, 1, 1 << 53, (1 << 53) + 1, Int64.max]),
            keeps(
                "doubles", "ratio",
                [0, -1.5, 0.1, 1.0 / 3, .pi, 1e-300, -1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude]
                    as [Double]),
            keeps("floats", "single", [0, -1.5, 0.1, 1 / 3, 3.4e38] as [Float]),
            keeps("truth values", "flag", [true, false]),
            keeps(
                "decimals", "price",
                ["0", "-0.01", "12345678901234567890.123456789", "1e20"].compactMap { Decimal(string: $0) },
                needs: [.decimals]),
            keeps(
                "bytes", "payload",
                [
                    Data(), Data([0]), Data([1, 0, 2]), Data((0...255).map { UInt8($0) }),
                    Data(repeating: 7, count: 300_000),
                ], needs: [.binaries]),
            keeps(
                "UUIDs", "token",
                [
                    UUID(uuidString: "00000000-0000-0000-0000-000000000001"),
                    UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
                ].compactMap(\.self), needs: [.uuids]),
            keeps(
                "URIs", "link",
                [URL(string: "https://example.org/a%20b?c=d#e"), URL(string: "mailto:a@b.c")].compactMap(\.self),
                needs: [.uris]),
            keeps(
                "positions", "place",
                [
                    GeoPoint(latitude: 0, longitude: 0), GeoPoint(latitude: -12.0464, longitude: -77.0428),
                    GeoPoint(latitude: 90, longitude: -180),
                ], needs: [.geoPoints]),
            dates, nils, nilAgain, composites, transformables, independence,
        ]

    /// A check that values of an attribute come back as they were saved, read by another context.
    private static func keeps<T: Equatable & Sendable>(
        _ name: String, _ attribute: String, _ wanted: [T], needs: Set<ConformanceFeature> = []
    ) -> ConformanceCheck {
        ConformanceCheck(.values, "keeps \(name)", needs: needs) { trial in
            var ids: [ObjectID] = []
            for value in wanted {
                ids.append(
                    try trial.insert("Item", attribute == "name" ? ["name": value] : ["name": "x", attribute: value])
                        .objectID)
            }
            try trial.context.save()
            let fresh = trial.keep(trial.container.newContext())
            for (id, value) in zip(ids, wanted) {
                let found = try fresh.existingObject(with: id).value(forKey: attribute)
                let isSame = (found as? T).map { same($0, value) } ?? false
                try trial.expect(
                    isSame, "Item.\(attribute) was saved as \(short(value)) and came back as \(short(found))")
            }
        }
    }

    /// Texts must be the same scalars, not only the same characters.
    private static func same<T: Equatable>(_ a: T, _ b: T) -> Bool {
        if let a = a as? String, let b = b as? String { return Array(a.unicodeScalars) == Array(b.unicodeScalars) }
        return a == b
    }

    private static func short(_ value: Any?) -> String {
        guard let value else { return "nil" }
        let text = (value as? String).map { $0.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() } ?? "\(value)"
        return text.count > 80 ? "\(text.prefix(80))… (\(text.count) characters)" : text
    }

    private static let dates = ConformanceCheck(.values, "keeps dates") { trial in
        let precision = trial.subject.datePrecision
        for seconds in [0, -1e9, 390_000_000.123, 1_368_489_600.001 - 978_307_200, -62_000_000_000] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let id = try trial.insert("Item", ["name": "x", "yearBorn": date]).objectID
            try trial.context.save()
            let found = try trial.keep(trial.container.newContext()).existingObject(with: id)["yearBorn"] as? Date
            // Down to what the store keeps, or to the nearest that it keeps.
            let difference = found.map { date.timeIntervalSince($0) } ?? .infinity
            let isKept =
                precision == 0 ? difference == 0 : difference >= -precision * 0.51 && difference < precision * 1.01
            try trial.expect(
                isKept,
                "Item.yearBorn was saved as \(seconds) s since 2001 and came back as \(found.map { "\($0.timeIntervalSinceReferenceDate)" } ?? "nil"); the store declares a precision of \(precision) s"
            )
        }
    }

    private static let nils = ConformanceCheck(.values, "nil stays nil") { trial in
        let id = try trial.insert("Item", ["name": "bare"]).objectID
        try trial.context.save()
        let item = try trial.keep(trial.container.newContext()).existingObject(with: id)
        for slot in item.entity.slots where !["itemId", "name"].contains(slot.name) && !slot.name.contains(".") {
            let value = try item.value(forKey: slot.name)
            try trial.expect(
                value == nil,
                "Item.\(slot.name) was never set and came back as \(short(value)): keep nil apart from zero and empty")
        }
    }

    private static let nilAgain = ConformanceCheck(.values, "a value can become nil again") { trial in
        let item = try trial.insert("Item", ["name": "x", "large": Int64(5), "yearBorn": Date(), "flag": true])
        try trial.context.save()
        for name in ["large", "yearBorn", "flag"] { try item.setValue(nil, forKey: name) }
        try trial.context.save()
        let found = try trial.keep(trial.container.newContext()).existingObject(with: item.objectID)
        for name in ["large", "yearBorn", "flag"] {
            let value = try found.value(forKey: name)
            try trial.expect(value == nil, "Item.\(name) was set to nil and saved, and is still \(short(value))")
        }
    }

    private static let composites = ConformanceCheck(.values, "keeps composites", needs: [.composites]) { trial in
        let item = try trial.insert("Item", ["name": "x"])
        try item.setValue(["street": "Jirón", "number": Int32(7)], forKey: "address")
        try trial.context.save()
        let found = try trial.keep(trial.container.newContext()).existingObject(with: item.objectID)
        let street = try found.value(forKey: "address.street", as: String.self)
        let number = try found.value(forKey: "address.number", as: Int32.self)
        try trial.expectEqual(street, "Jirón", "Item.address.street")
        try trial.expectEqual(number, 7, "Item.address.number")
        let names = try trial.names("Item", "address.number == 7")
        try trial.expectEqual(names, ["x"], "a condition on an element of a composite")
    }

    private static let transformables = ConformanceCheck(.values, "keeps transformables", needs: [.transformables]) {
        trial in
        let bytes = Data(#"["a","b"]"#.utf8)
        let id = try trial.insert("Item", ["name": "x", "words": bytes]).objectID
        try trial.context.save()
        let found =
            try trial.keep(trial.container.newContext()).existingObject(with: id).value(forKey: "words") as? Data
        try trial.expectEqual(found, bytes, "the encoded form of a transformable must come back byte for byte")
    }

    private static let independence = ConformanceCheck(.values, "rows do not mix") { trial in
        try trial.items((0..<300).map { "item \($0)" }) { ["large": Int64($0), "ratio": Double($0) / 7] }
        for item in try trial.fetch("Item", in: trial.keep(trial.container.newContext())) {
            let number = item["large"] as? Int64 ?? -1
            try trial.expectEqual(item["name"] as? String, "item \(number)", "the name with large = \(number)")
            try trial.expectEqual(item["ratio"] as? Double, Double(number) / 7, "the ratio with large = \(number)")
        }
    }
}
