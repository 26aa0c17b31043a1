import Foundation
import Strata
import StrataRemote

extension BackendSuite {
    /// Primary keys with all that makes trouble in paths, queries, headers and JSON.
    private static let difficultIDs = [
        "a", "A", "with space", "with/slash", "with,comma", "with\"quote", "with'apostrophe", "with\\backslash",
        "with%41",
        "with+plus", "with&and=equals", "with?question#hash", "with;semicolon:colon", "[brackets]{braces}", "ümlaut",
        "日本語",
        "🏔️", "007", "1e3", "null", "true", "-", "_", "~tilde", "line\u{2028}separator",
        String(repeating: "x", count: 200),
    ]

    static let identities: [Check] = [
        Check("a primary key comes back as it was sent", keys: .chosen) { trial in
            for id in difficultIDs {
                try await trial.create(id, text: "1")
                try await trial.update(id, text: "2")
                let text = try await trial.text(id)
                try trial.expect(text == "2", "\"\(id)\" has the text \(text ?? "nil")")
            }
            let found = Set(try await trial.allNotes.map(\.id))
            for id in difficultIDs { try trial.expect(found.contains(id), "a query does not find \"\(id)\"") }
            try trial.expect(found.count == difficultIDs.count, "a query finds \(found.count) of \(difficultIDs.count)")
        },
        Check("each primary key is deleted by its own name", keys: .chosen) { trial in
            for id in difficultIDs { try await trial.create(id) }
            for id in difficultIDs {
                try await trial.delete(id)
                let found = try await trial.find(id)
                try trial.expect(found == nil, "\"\(id)\" is there after its delete")
            }
            let rest = try await trial.allNotes
            try trial.expect(rest.isEmpty, "\(rest.map(\.id)) are left")
        },
        Check("upper and lower case are two objects", keys: .chosen) { trial in
            try await trial.create("Name", text: "1")
            try await trial.create("name", text: "2")
            let texts = [try await trial.text("Name"), try await trial.text("name")]
            try trial.expect(texts == ["1", "2"], "the texts of Name and name are \(texts.map { $0 ?? "nil" })")
        },
        Check("difficult primary keys are read together", needs: .readingMany, keys: .chosen) { trial in
            let ids = Array(difficultIDs.prefix(trial.backend.capabilities.maximumIDs))
            for id in ids { try await trial.create(id) }
            let found = try await trial.page(.read(entity: trial.note, ids: ids)).records.map(\.id)
            try trial.expect(Set(found) == Set(ids), "missing are \(Set(ids).subtracting(found).sorted())")
        },
        Check("references lead to difficult primary keys", keys: .chosen) { trial in
            for id in difficultIDs.prefix(12) {
                try await trial.done(
                    .create(entity: trial.folder, [RemoteWrite(id: id)]), "the creation of a folder \(id)")
                try await trial.create("in \(id)", ["folder": .reference(id)])
                let record = try await trial.read("in \(id)")
                try trial.expect(
                    record.values["folder"] == .reference(id),
                    "a reference to \"\(id)\" is \(String(describing: record.values["folder"]))")
            }
        },
    ]

    static let values: [Check] = [
        Check("texts come back as they were sent") { trial in
            try await roundTrip(
                "text",
                [
                    "", " ", "a\nb\tc", "\"quoted\" \\ / ", "ü é ß", "e\u{301}", "日本語", "🏔️👩‍👩‍👧", "\u{0}nul", "null", "007",
                    "<html>&amp;", "'", "%41", String(repeating: "long ", count: 2000),
                ].map { Value.string($0) }, trial)
        },
        Check("whole numbers come back as they were sent") { trial in
            try await roundTrip(
                "count",
                [0, 1, -1, 42, 9_007_199_254_740_993, -9_007_199_254_740_993, .max, .min].map { Value.integer($0) },
                trial)
        },
        Check("floating-point numbers come back as they were sent") { trial in
            try await roundTrip(
                "ratio",
                [
                    0, 1, -1.5, 0.1, 1.0 / 3, 1e300, -1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
                    123_456_789.123_456_79,
                ].map {
                    Value.double($0)
                }, trial)
        },
        Check("truth values come back as they were sent") { trial in
            try await roundTrip("flag", [.boolean(true), .boolean(false)], trial)
        },
        Check("dates come back with the precision that is declared") { trial in
            try await roundTrip(
                "written",
                [0, 1, 700_000_000, 700_000_000.123, -1_000_000_000.5, 4_102_444_800].map {
                    Value.date(Date(timeIntervalSinceReferenceDate: $0))
                }, trial)
        },
        Check("decimals come back as they were sent") { trial in
            let numbers = ["0", "0.1", "-12345678901234567890.123456789", "1000000", "0.000000000001"]
            try await roundTrip("price", numbers.compactMap { Decimal(string: $0) }.map { Value.decimal($0) }, trial)
        },
        Check("bytes come back as they were sent") { trial in
            try await roundTrip(
                "payload",
                [Data(), Data([0]), Data(0...255), Data(repeating: 7, count: 10_000)].map { Value.binary($0) }, trial)
        },
        Check("UUIDs come back as they were sent") { trial in
            let ids = ["00000000-0000-0000-0000-000000000000", "01234567-89AB-CDEF-0123-456789ABCDEF"]
            try await roundTrip("token", ids.compactMap(UUID.init).map { Value.uuid($0) }, trial)
        },
        Check("URIs come back as they were sent") { trial in
            let links = ["https://example.org/a%20b?c=d&e#f", "mailto:a@example.org"]
            try await roundTrip("link", links.compactMap(URL.init).map { Value.uri($0) }, trial)
        },
        Check("positions come back as they were sent") { trial in
            let points = [(0.0, 0.0), (47.3769, 8.5417), (-33.8688, 151.2093), (90, -180)]
            try await roundTrip(
                "place", points.map { Value.geoPoint(GeoPoint(latitude: $0.0, longitude: $0.1)) }, trial)
        },
        Check("nil takes the place of a value") { trial in
            try await trial.create("a", text: "1", ["count": .value(.integer(1)), "flag": .value(.boolean(true))])
            try await trial.update(
                "a", ["text": .value(.null), "count": .value(.null), "flag": .value(.null)])
            let record = try await trial.read("a")
            for property in ["text", "count", "flag"] {
                let value = record.values[property] ?? .value(.null)
                try trial.expect(value == .value(.null), "\(property) is \(value) after it was set to nil")
            }
        },
        Check("zero, false and the empty text are not nil") { trial in
            try await trial.create(
                "a", ["text": .value(.string("")), "count": .value(.integer(0)), "flag": .value(.boolean(false))])
            let record = try await trial.read("a")
            try trial.expect(
                record.values["text"] == .value(.string("")) && record.values["count"] == .value(.integer(0))
                    && record.values["flag"] == .value(.boolean(false)), "they are \(record.values)")
        },
        Check("what an update does not name stays") { trial in
            try await trial.create("a", text: "1", ["count": .value(.integer(5)), "ratio": .value(.double(0.5))])
            try await trial.update("a", text: "2")
            let record = try await trial.read("a")
            try trial.expect(
                record.values["count"] == .value(.integer(5)) && record.values["ratio"] == .value(.double(0.5)),
                "after an update of the text there are \(record.values)")
        },
        Check("a reference comes back, and goes") { trial in
            for id in ["f", "g"] {
                try await trial.done(.create(entity: trial.folder, [RemoteWrite(id: id)]), "a creation")
            }
            try await trial.create("a", ["folder": .reference("f")])
            for target in ["g", nil] {
                try await trial.update("a", ["folder": .reference(target)])
                let value = try await trial.read("a").values["folder"] ?? .reference(nil)
                try trial.expect(value == .reference(target), "a reference to \(target ?? "nil") is \(value)")
            }
        },
        Check("an answer to a write shows what was written") { trial in
            guard let made = try await trial.create("a", text: "1", ["count": .value(.integer(2))]) else { return }
            for (property, value) in ["text": RemoteValue.value(.string("1")), "count": .value(.integer(2))] {
                if let shown = made.values[property] {
                    try trial.expect(shown == value, "\(property) was written as \(value) and is shown as \(shown)")
                }
            }
        },
    ]

    /// Writes values, by a creation and by an update, and reads them.
    private static func roundTrip(_ property: String, _ values: [Value], _ trial: BackendTrial) async throws {
        guard trial.note.slot(named: property) != nil else { return }
        let precision = trial.datePrecision
        func expect(_ value: Value, _ id: String, _ way: String) async throws {
            let found = try await trial.read(id).values[property]
            if case .value(let other)? = found, isSame(value, other, precision) { return }
            throw BackendTrial.Unmet(
                message:
                    "\(property) was sent with \(way) as \(value) and came back as \(found.map { "\($0)" } ?? "nothing")"
            )
        }
        for (number, value) in values.enumerated() {
            try await trial.create("n\(number)", [property: .value(value)])
            try await expect(value, "n\(number)", "a creation")
        }
        try await trial.create("u")
        for value in values {
            try await trial.update("u", [property: .value(value)])
            try await expect(value, "u", "an update")
        }
    }

    private static func isSame(_ a: Value, _ b: Value, _ precision: Double) -> Bool {
        switch (a, b) {
        case (.date(let a), .date(let b)):
            abs(a.timeIntervalSinceReferenceDate - b.timeIntervalSinceReferenceDate) <= max(precision, 1e-6)
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        default: a == b
        }
    }
}
