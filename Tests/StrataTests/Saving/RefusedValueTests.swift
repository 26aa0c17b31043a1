import Foundation
import Strata
import Testing

/// Values that a save or an assignment refuses.
@Suite struct RefusedValueTests {
    /// A value that cannot be encoded, which only shows when it is tried.
    private struct Unencodable: TransformableValue {
        struct Refusal: Error {}
        var isFine = true
        static var zeroValue: Unencodable { Unencodable() }
        func encode(to encoder: any Encoder) throws {
            guard isFine else { throw Refusal() }
            var container = encoder.singleValueContainer()
            try container.encode(isFine)
        }
        init(isFine: Bool = true) { self.isFine = isFine }
        init(from decoder: any Decoder) throws { isFine = try decoder.singleValueContainer().decode(Bool.self) }
    }

    private func container() throws -> PersistentContainer {
        let model = try ManagedObjectModel(name: "Refusals") {
            Entity("Thing") {
                Attribute("name", .string, optional: true)
                Attribute("search", .string, optional: true).derived(.canonical("name")).length(0...5)
                Attribute("shape", .transformable("Unencodable"), optional: true)
            }
        }
        return try PersistentContainer(model: model, at: .memory(name: nil))
    }

    @Test("A quotient by zero is not a number, and a save refuses it by name instead of keeping another value")
    func notANumber() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let sample = Sample(context, "average")
        sample.decimal = Decimal(1) / 0
        guard
            case .store(.invalidData(entity: "Sample", property: "decimal", key: sample.objectID.key, reason: _))? =
                persistenceError({ try context.save() })
        else {
            Issue.record("the save accepted \(String(describing: sample.decimal))")
            return
        }
        #expect(sample.decimal?.isNaN == true && sample.isInserted)
        sample.decimal = nil
        try context.save()
        #expect(try file.container.newContext().fetch(FetchRequest<Sample>()).map(\.decimal) == [nil])
    }

    @Test("A value that cannot be encoded is an error of setValue, and changes nothing")
    func unencodable() throws {
        let context = try container().newContext()
        let thing = try context.insert(entityNamed: "Thing")
        try thing.setValue(Unencodable(), forKey: "shape")
        let before = try thing.value(forKey: "shape") as? Data
        guard
            case .wrongType(entity: "Thing", property: "shape", expected: _, value: _)? =
                persistenceError({ try thing.setValue(Unencodable(isFine: false), forKey: "shape") })
        else {
            Issue.record("setValue accepted it")
            return
        }
        #expect(before == Data("true".utf8))
        #expect(try thing.value(forKey: "shape") as? Data == before)
    }

    @Test("The rules of a derived attribute are checked with the value that the save computes")
    func derivedAttributes() throws {
        let context = try container().newContext()
        let thing = try context.insert(entityNamed: "Thing")
        thing["name"] = "Österreich"
        #expect(failures { try context.save() } == ["search maximumLength"])
        thing["name"] = "Öst"
        try context.save()
        #expect(thing["search"] as? String == "ost")
        thing["name"] = "Österreich"
        #expect(failures { try context.save() } == ["search maximumLength"])
    }
}
