import Foundation
import Strata
import Testing

/// Attributes that get another type, another optionality, another place.
@Suite struct ConversionTests {
    let file: VersionedFile

    init() throws { file = try VersionedFile() }

    private func item(_ attributes: Attribute...) throws -> ManagedObjectModel {
        var entity = Entity(name: "Item", location: nil)
        entity.attributes = [Attribute("number", .integer64)] + attributes
        return try ManagedObjectModel(name: "Items", entities: [entity])
    }

    private func fill(_ attribute: Attribute, _ values: [Any?]) throws {
        try file.open(try item(attribute)) { context throws in
            for (number, value) in values.enumerated() {
                let object = try context.make("Item", ["number": Int64(number)])
                object["value"] = value
            }
        }
    }

    @Test("Values that have an exact form in the new type get it, nil stays nil")
    func exactForms() throws {
        let date = Date(timeIntervalSinceReferenceDate: 0.5)
        let uuid = UUID()
        let cases: [(AttributeType, AttributeType, Any, String)] = [
            (.integer16, .integer64, Int16(-7), "-7"), (.integer32, .double, Int32(9), "9.0"),
            (.integer64, .string, Int64.min, "\(Int64.min)"), (.integer64, .decimal, Int64.max, "\(Int64.max)"),
            (.boolean, .integer64, true, "1"), (.boolean, .string, false, "false"),
            (.float, .double, Float(0.5), "0.5"), (.double, .string, 0.1, "0.1"), (.double, .decimal, 0.1, "0.1"),
            (.decimal, .string, Decimal(string: "1.10")!, "1.1"), (.decimal, .double, Decimal(string: "2.5")!, "2.5"),
            (.integer64, .integer16, Int64(12), "12"), (.double, .integer64, 4.0, "4"),
            (.integer64, .boolean, Int64(1), "true"),
            (.string, .integer64, "42", "42"), (.string, .double, "1e3", "1000.0"), (.string, .boolean, "true", "true"),
            (.string, .uuid, uuid.uuidString, uuid.uuidString), (.uuid, .string, uuid, uuid.uuidString),
            (.string, .uri, "https://a.b/c", "https://a.b/c"),
            (.uri, .string, URL(string: "https://a.b/c")!, "https://a.b/c"),
            (.date, .string, date, "2001-01-01T00:00:00.500Z"),
            (.string, .date, "2001-01-01T00:00:00Z", "\(Date(timeIntervalSinceReferenceDate: 0))"),
        ]
        for (old, new, value, expected) in cases {
            let file = try VersionedFile()
            let before = try item(Attribute("value", old).optional())
            try file.open(before) { context throws in
                try context.make("Item", ["number": Int64(0), "value": value])
                try context.make("Item", ["number": Int64(1)])
            }
            let after = try item(Attribute("value", new).optional())
            try file.open(after) { context throws in
                #expect(try context.texts("Item", "value") == [expected, "nil"], "\(old.name) to \(new.name)")
            }
            let fresh = try VersionedFile()
            try fresh.open(after) { _ in }
            let columns = "SELECT name, type FROM pragma_table_info('item') ORDER BY name"
            #expect(try file.sql(columns) == fresh.sql(columns))
        }
    }

    @Test("Values that do not fit stop the migration with samples, until an answer says what becomes of them")
    func misfits() throws {
        try fill(Attribute("value", .string).optional(), ["1", "12abc", nil, "abc"])
        let later = try item(Attribute("value", .integer64).optional())
        let before = try Data(contentsOf: URL(fileURLWithPath: file.path))
        guard case .migrationNeedsAnswers(_, let steps)? = file.refusal(later), let step = steps.first else {
            Issue.record("opened")
            return
        }
        #expect(step.id == "Item.value" && step.misfits == 2 && Set(step.samples) == ["12abc", "abc"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == before)
        let copy = try VersionedFile()
        try FileManager.default.copyItem(atPath: file.path, toPath: copy.path)
        try file.open(later, VersionedFile.options(["Item.value": .clear])) { context throws in
            #expect(try context.texts("Item", "value") == ["1", "nil", "nil", "nil"])
        }
        try copy.open(later, VersionedFile.options(["Item.value": .fill(-1)])) { context throws in
            #expect(try context.texts("Item", "value") == ["1", "-1", "nil", "-1"])
        }
    }

    @Test("An answer that is not a value of the new type fails the migration, and nil does not answer a required one")
    func unfitAnswers() throws {
        try fill(Attribute("value", .string), ["1", "12abc"])
        let later = try item(Attribute("value", .integer16))
        let before = try Data(contentsOf: URL(fileURLWithPath: file.path))
        for (answer, reason) in [
            (.fill("abc"), "not a value of type integer16"), (.fill(100_000), "not a value of type integer16"),
            (.fill(.null), "is required"),
        ] as [(MigrationAnswer, String)] {
            guard
                case .migrationFailed(_, "Item.value", let text)? = file.refusal(later, answers: ["Item.value": answer])
            else {
                Issue.record("opened with \(answer)")
                continue
            }
            #expect(text.contains(reason), "\(text)")
        }
        #expect(file.blocked(later, answers: ["Item.value": .clear]) == ["Item.value"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == before)
        let copy = try VersionedFile()
        try FileManager.default.copyItem(atPath: file.path, toPath: copy.path)
        let standing = try item(Attribute("value", .integer16, default: .value(7)))
        try copy.open(standing, VersionedFile.options(["Item.value": .clear])) { context throws in
            #expect(try context.texts("Item", "value") == ["1", "7"])
        }
        try file.open(later, VersionedFile.options(["Item.value": .fill(-1)])) { context throws in
            #expect(try context.texts("Item", "value") == ["1", "-1"])
        }
        // An answer that is not needed is not looked at.
        try file.open(try item(Attribute("value", .integer64)), VersionedFile.options(["Item.value": .fill("abc")])) {
            context throws in
            #expect(try context.texts("Item", "value") == ["1", "-1"])
        }
    }

    @Test("A type without a conversion needs a custom stage, whatever the answers")
    func impossible() throws {
        try fill(Attribute("value", .geoPoint).optional(), [nil])
        let later = try item(Attribute("value", .date).optional())
        #expect(file.blocked(later, answers: ["Item.value": .accept]) == ["Item.value"])
    }

    @Test("Optional to required takes the default, or stops where there is none")
    func required() throws {
        try fill(Attribute("value", .string).optional(), ["a", nil])
        let bare = try item(Attribute("value", .string))
        #expect(file.blocked(bare) == ["Item.value"])
        let later = try item(Attribute("value", .string, default: .value("none")))
        try file.open(later) { context throws in #expect(try context.texts("Item", "value") == ["a", "none"]) }
        try file.open(try item(Attribute("value", .string).optional())) { context throws in
            #expect(try context.texts("Item", "value") == ["a", "none"])
        }
    }

    @Test("Uniqueness comes if there are no duplicates; else they are listed")
    func uniqueness() throws {
        try fill(Attribute("value", .string).optional(), ["a", "b", "a", nil, nil, "c"])
        let later = try item(Attribute("value", .string).optional().unique())
        guard case .migrationNeedsAnswers(_, let steps)? = file.refusal(later) else {
            Issue.record("opened")
            return
        }
        #expect(steps.map(\.id) == ["Item.value"] && steps[0].samples == ["a (2 objects)"])
        try file.open(try item(Attribute("value", .string).optional())) { context throws in
            try context.all("Item")[2]["value"] = "d"
        }
        try file.open(later) { context throws in
            #expect(try context.texts("Item", "value") == ["a", "b", "d", "nil", "nil", "c"])
        }
        try file.open(try item(Attribute("value", .string).optional())) { _ in }
        #expect(try file.sql("SELECT count(*) FROM sqlite_master WHERE name LIKE '%unique'") == [["0"]])
    }

    @Test("Derived values are computed anew, stop being derived with what they have, and overwrite only with an answer")
    func derived() throws {
        func model(_ derivation: Derivation?) throws -> ManagedObjectModel {
            var attribute = Attribute("search", .string).optional()
            attribute.derivation = derivation
            return try item(Attribute("value", .string).optional(), attribute)
        }
        try file.open(try model(.canonical("value"))) { context throws in
            try context.make("Item", ["number": Int64(0), "value": "Ärger"])
        }
        try file.open(try model(.uppercase("value"))) { context throws in
            #expect(try context.texts("Item", "search") == ["ÄRGER"])
        }
        try file.open(try model(nil)) { context throws in
            #expect(try context.texts("Item", "search") == ["ÄRGER"])
            try context.all("Item")[0]["search"] = "mine"
        }
        let overwriting = try model(.lowercase("value"))
        #expect(file.blocked(overwriting) == ["Item.search"])
        try file.open(try model(.lowercase("value")), VersionedFile.options(["Item.search": .accept])) {
            context throws in
            #expect(try context.texts("Item", "search") == ["ärger"])
        }
    }

    @Test("External values move into the database and back without a loss")
    func externalStorage() throws {
        var options = SQLiteStore.Options()
        options.externalStorageThreshold = 8
        let large = Data(repeating: 7, count: 5000)
        let outside = try item(Attribute("value", .binary).optional().externalStorage())
        let inside = try item(Attribute("value", .binary).optional())
        try file.open(outside, options) { context throws in
            try context.make("Item", ["number": Int64(0), "value": large])
            try context.make("Item", ["number": Int64(1), "value": Data([1])])
        }
        #expect(try file.sql("SELECT typeof(value) FROM item ORDER BY _id") == [["text"], ["blob"]])
        for model in [inside, outside] {
            try file.open(model, options) { context throws in
                let items = try context.all("Item")
                #expect(items[0]["value"] as? Data == large && items[1]["value"] as? Data == Data([1]))
            }
            #expect(try file.sql("SELECT typeof(value) FROM item ORDER BY _id") == [["blob"], ["blob"]])
        }
    }

    @Test("Elements of composites come, go and change their types")
    func composites() throws {
        func model(_ elements: [CompositeElement]) throws -> ManagedObjectModel {
            try item(Attribute("address", .composite(elements)).optional())
        }
        try file.open(try model([CompositeElement("street", .string), CompositeElement("number", .integer16)])) {
            context throws in
            try context.make("Item", ["number": Int64(0), "address": ["street": "A", "number": Int16(3)]])
        }
        let later = try model([CompositeElement("number", .string), CompositeElement("city", .string, optional: true)])
        #expect(file.blocked(later) == ["Item.address.street"])
        try file.open(later, VersionedFile.options(["Item.address.street": .accept])) { context throws in
            let address = try #require(try context.all("Item")[0]["address"] as? [String: Any])
            #expect(address["number"] as? String == "3" && address["street"] == nil)
        }
    }
}
