import Foundation
import Strata
import Testing

/// Bulk updates and the rules of the model.
@Suite("The rules of the model in bulk updates") struct BulkRuleTests {
    private func context() throws -> ManagedObjectContext {
        let kinds = EnumerationType(
            "Kind", cases: [EnumerationCase("a", .string("a")), EnumerationCase("b", .string("b"))])
        let model = try ManagedObjectModel(name: "Things") {
            Entity("Thing") {
                Attribute("code", .string, optional: true).matching("[A-Z]+").length(1...3)
                Attribute("other", .string, optional: true)
                Attribute("size", .integer64, default: .value(1)).range(1...100)
                Attribute("kind", .string, default: .value("a")).enumeration(kinds)
            }
        }
        let store = try SQLiteStore.open(model: model, location: .memory(name: nil))
        let context = try PersistentContainer(store: store, classes: [BulkRuleThing.self]).newContext()
        for number in 1...40 {
            let thing = try context.insert(entityNamed: "Thing")
            thing["size"] = Int64(number)
            thing["other"] = number == 40 ? "no" : "AB"
        }
        try context.save()
        return context
    }

    private func request(_ format: String) throws -> FetchRequest<BulkRuleThing> {
        FetchRequest<BulkRuleThing>(where: try FetchPredicate(format: format))
    }

    private func refusal(_ change: () throws -> Void) -> String? {
        do {
            try change()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("Constants are checked before the store is asked")
    func constants() throws {
        let context = try context()
        func set(_ code: String, validating: Bool) throws {
            try context.update(FetchRequest<BulkRuleThing>(), validating: validating) { $0.code = .value(code) }
        }
        for (code, words) in [("ab", "does not match"), ("ABCD", "at most 3"), ("A1", "does not match")] {
            let refusal = refusal { try set(code, validating: true) }
            #expect(refusal?.contains(words) == true && refusal?.contains("code") == true, "\(refusal ?? "none")")
        }
        #expect(try context.count(request("code != nil")) == 0)
        try set("ab", validating: false)
        #expect(try context.count(request("code == 'ab'")) == 40)
    }

    @Test("Lengths count characters, as they do at a save")
    func lengths() throws {
        let context = try context()
        let family = "👨‍👩‍👧"
        let thing = try #require(try context.fetchFirst(FetchRequest<BulkRuleThing>()))
        thing["code"] = family + family + family + family
        #expect(refusal { try context.save() }?.contains("at most 3") == true)
        context.rollback()
        let refusal = refusal {
            try context.update(FetchRequest<BulkRuleThing>(), validating: true) { $0.code = .value(family) }
        }
        #expect(refusal?.contains("at most") == false && refusal?.contains("does not match") == true)
    }

    @Test("What expressions give is checked in the store, and nothing changes if one value is wrong")
    func expressions() throws {
        let context = try context()
        let copied = refusal {
            try context.update(FetchRequest<BulkRuleThing>(), validating: true) { $0.code = $0.other }
        }
        #expect(copied?.contains("code") == true && copied?.contains("does not match") == true, "\(copied ?? "none")")
        #expect(copied?.contains("nothing was changed") == true)
        #expect(try context.count(request("code != nil")) == 0)
        let grown = refusal {
            try context.update(FetchRequest<BulkRuleThing>(), validating: true) { $0.size *= 3 }
        }
        #expect(grown?.contains("size") == true && grown?.contains("greater than 100") == true, "\(grown ?? "none")")
        #expect(try context.count(request("#size <= 40")) == 40)
        // Values that meet the rules are written.
        try context.update(request("other == 'AB'"), validating: true) { $0.code = $0.other }
        #expect(try context.count(request("code == 'AB'")) == 39)
    }

    @Test("Cases of enumerations are checked in each update")
    func enumerations() throws {
        let context = try context()
        for validating in [true, false] {
            let constant = refusal {
                try context.update(FetchRequest<BulkRuleThing>(), validating: validating) { $0.kind = .value("z") }
            }
            #expect(constant?.contains("Kind") == true)
            let wrong = refusal {
                try context.update(request("other == 'no'"), validating: validating) {
                    $0.kind = $0.other
                }
            }
            #expect(wrong?.contains("Kind") == true, "\(wrong ?? "none")")
        }
        #expect(try context.count(request("kind == 'a'")) == 40)
    }
}

final class BulkRuleThing: ManagedObject {
    override class var entityName: String { "Thing" }
}

extension ObjectKeys where Object == BulkRuleThing {
    var code: AttributeKey<String?> { AttributeKey(path, "code") }
    var other: AttributeKey<String?> { AttributeKey(path, "other") }
    var size: AttributeKey<Int64> { AttributeKey(path, "size") }
    var kind: AttributeKey<String?> { AttributeKey(path, "kind") }
}
