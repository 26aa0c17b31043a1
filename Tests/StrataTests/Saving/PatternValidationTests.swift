import Foundation
import Strata
import Testing

/// The `pattern` rule at a save.
@Suite struct PatternValidationTests {
    private func failures(_ pattern: String, _ text: String) throws -> [ValidationFailure] {
        let model = try ManagedObjectModel(name: "Things") {
            Entity("Thing") { Attribute("code", .string).matching(pattern) }
        }
        let context = try PersistentContainer(model: model, at: .memory(name: nil)).newContext()
        try context.insert(entityNamed: "Thing")["code"] = text
        do throws(PersistenceError) {
            try context.save()
            return []
        } catch {
            guard case .validation(let validation) = error else { throw error }
            return validation.failures
        }
    }

    @Test func theWholeTextMustMatch() throws {
        #expect(try failures("[A-Z]{2}[0-9]{2}", "AB12").isEmpty)
        for text in ["AB12\n", "AB12\r\n", "\nAB12", "xAB12", "AB12x", "AB12\u{2028}"] {
            #expect(try failures("[A-Z]{2}[0-9]{2}", text).map(\.rule) == [.pattern], "\(text.debugDescription)")
        }
        #expect(try failures("AB|ABC", "ABC").isEmpty)
    }

    @Test func aPatternWithCommentsIsARule() throws {
        #expect(try failures("(?x) [A-Z]+ # letters", "AB").isEmpty)
        #expect(try failures("(?x) [A-Z]+ # letters", "ab").map(\.rule) == [.pattern])
    }

    @Test("A bulk insert that validates checks the rules of a save, and the cases of enumerations always")
    func bulkInserts() throws {
        let model = try ManagedObjectModel(name: "Things") {
            Entity("Thing") {
                Attribute("code", .string).matching("[A-Z]{2}").length(2...2)
                Attribute("size", .integer64, default: .value(1)).range(1...3)
                Attribute("kind", .string, default: .value("a")).enumeration(
                    EnumerationType(
                        "Kind", cases: [EnumerationCase("a", .string("a")), EnumerationCase("b", .string("b"))]))
            }
        }
        let store = try SQLiteStore.open(model: model, location: .memory(name: nil))
        let context = try PersistentContainer(store: store, classes: [BulkThing.self]).newContext()
        func insert(_ code: String, _ size: Int64, _ kind: String, validating: Bool) throws -> [ValidationFailure.Rule]
        {
            do {
                try context.insertAll(BulkThing.self, from: 0..<1, validating: validating) { thing, _ in
                    thing.code = .value(code)
                    thing.size = .value(size)
                    thing.kind = .value(kind)
                }
                return []
            } catch {
                guard case .validation(let validation)? = error as? PersistenceError else { throw error }
                return validation.failures.map(\.rule)
            }
        }
        for (code, size, rules) in [
            ("ab", 1, [.pattern]), ("ABC", 1, [.maximumLength, .pattern]), ("AB", 0, [.minimum]), ("AB", 4, [.maximum]),
            ("CD", 3, []),
        ] as [(String, Int64, [ValidationFailure.Rule])] {
            #expect(try insert(code, size, "a", validating: true) == rules, "\(code) \(size)")
            #expect(try insert(code, size, "b", validating: false).isEmpty)
        }
        for validating in [true, false] {
            #expect(throws: PersistenceError.self) { _ = try insert("AB", 1, "c", validating: validating) }
        }
    }

    @Test func noPatternHangsASave() throws {
        let started = ContinuousClock.now
        let text = String(repeating: "a", count: 40) + "!"
        #expect(try failures("(a+)+", text).map(\.rule) == [.pattern])
        #expect(try failures("(a|aa)*", text).map(\.rule) == [.pattern])
        // With a back reference there is a limit of steps, and the failure says so.
        let costly = try failures("((a*)*)*\\2b", String(repeating: "a", count: 3000))
        #expect(costly.map(\.rule) == [.pattern] && costly[0].message.contains("too many steps"))
        #expect(ContinuousClock.now - started < .seconds(30))
    }
}

final class BulkThing: ManagedObject {
    override class var entityName: String { "Thing" }
}

extension ObjectKeys where Object == BulkThing {
    var code: AttributeKey<String> { AttributeKey(path, "code") }
    var size: AttributeKey<Int64> { AttributeKey(path, "size") }
    var kind: AttributeKey<String> { AttributeKey(path, "kind") }
}
