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
