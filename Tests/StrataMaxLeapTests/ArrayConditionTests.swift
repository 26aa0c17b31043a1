import Foundation
import Strata
import StrataMaxLeap
import Testing

/// Conditions of a store on arrays and on the ends of texts: sent only if the server reads them as the store does.
@Suite struct ArrayConditionTests {
    private let item: EntityDescription
    private let dialects: [MaxLeapDialect]

    init() throws {
        let model = try ManagedObjectModel(name: "Items") {
            Entity("Item") {
                Attribute("itemId", .string)
                Attribute("title", .string, optional: true)
                Attribute("tags", .array(.string), optional: true)
                Attribute("sizes", .array(.integer), optional: true)
                Attribute("marks", .array(.boolean), optional: true)
                Attribute("layout", .json(JSONType("Layout")), optional: true)
            }
        }
        item = try #require(model.entity(named: "Item"))
        dialects = try [testDialect(.maxLeap, model: model), testDialect(.parse, model: model)]
    }

    private func condition(_ predicate: FetchPredicate, _ dialect: MaxLeapDialect) throws -> JSONValue {
        var query = RemoteQuery(entity: item)
        query.predicate = predicate
        let request = try dialect.request(for: .query(query), options: RequestOptions())
        return try JSONValue(parsing: request.parameters["where"] ?? "{}")
    }

    @Test(
        "An equality asks for an element",
        arguments: [
            ("tags CONTAINS 'red'", ["tags": "red"]), ("'red' IN tags", ["tags": "red"]),
            ("ANY tags == 'red'", ["tags": "red"]), ("NOT (NONE tags == 'red')", ["tags": "red"]),
            ("NOT tags CONTAINS 'red'", ["tags": ["$ne": "red"]]), ("NONE tags == 'red'", ["tags": ["$ne": "red"]]),
            ("ALL tags != 'red'", ["tags": ["$ne": "red"]]),
            ("ANY tags IN {'a', 'b'}", ["tags": ["$in": ["a", "b"]]]),
            ("NOT ANY tags IN {'a', 'b'}", ["tags": ["$nin": ["a", "b"]]]),
            ("NONE tags IN {'a', nil}", ["tags": ["$nin": ["a"]]]),
            ("tags CONTAINS 'a' AND tags CONTAINS 'b'", ["$and": [["tags": "a"], ["tags": "b"]]]),
            ("tags.@count == 2", ["tags": ["$size": 2]]), ("0 == tags.@count", ["tags": ["$size": 0]]),
            ("tags == nil", ["tags": nil]), ("tags != nil", ["tags": ["$ne": nil]]),
            ("ANY sizes == 2", ["sizes": 2]), ("sizes CONTAINS YES", ["sizes": 1]), ("ANY marks == 1", ["marks": true]),
            ("NOT tags CONTAINS nil", [:]), ("tags CONTAINS nil OR tags.@count == 1", ["tags": ["$size": 1]]),
        ] as [(String, JSONValue)])
    func elements(format: String, expected: JSONValue) throws {
        for dialect in dialects {
            #expect(try condition(FetchPredicate(format: format), dialect) == expected, "\(format)")
        }
    }

    @Test("The typed predicates of arrays are sent")
    func typed() throws {
        let tags = JSONListKey<String>(["tags"])
        for dialect in dialects {
            #expect(try condition(tags.contains("red"), dialect) == ["tags": "red"])
            #expect(try condition(!tags.contains("red"), dialect) == ["tags": ["$ne": "red"]])
            #expect(try condition(tags.contains(anyOf: ["a", "b"]), dialect) == ["tags": ["$in": ["a", "b"]]])
            #expect(try condition(tags.count == 2, dialect) == ["tags": ["$size": 2]])
        }
    }

    @Test(
        "What means something else there is refused, and says what is meant",
        arguments: [
            "tags == 'red'", "tags != 'red'", "tags == {'red'}", "tags IN {'red', 'blue'}", "tags < 'red'",
            "tags BETWEEN {'a', 'b'}", "tags BEGINSWITH 'red'", "tags ENDSWITH 'red'", "tags LIKE 'red*'",
            "tags MATCHES 'red'", "tags CONTAINS[c] 'red'", "ANY tags ==[c] 'red'", "ANY tags BEGINSWITH 'red'",
            "ANY tags != 'red'", "ALL tags == 'red'", "ANY sizes > 1", "ANY tags == 3", "ANY sizes == 'a'",
            "ANY marks == 2", "tags CONTAINS {'a'}", "tags.@count > 1", "NOT tags.@count == 1", "tags CONTAINS nil",
            "layout CONTAINS 'x'", "layout BEGINSWITH 'x'",
        ])
    func refused(format: String) throws {
        for dialect in dialects {
            #expect { try condition(FetchPredicate(format: format), dialect) } throws: { error in
                (error as? RemoteError)?.kind == .unsupported && (error as? RemoteError)?.code == 102
            }
        }
    }

    @Test(
        "A text ends where it ends, even if that is after a line break",
        arguments: [
            ("title ENDSWITH 'b'", ["$regex": "\\Qb\\E\\z"]),
            ("title ==[c] 'b'", ["$regex": "^\\Qb\\E\\z", "$options": "i"]),
            ("title LIKE 'a*b?'", ["$regex": "^\\Qa\\E.*\\Qb\\E.\\z", "$options": "s"]),
            ("title MATCHES 'a|b'", ["$regex": "^(?:a|b)\\z"]), ("title BEGINSWITH 'b'", ["$regex": "^\\Qb\\E"]),
            ("'b' IN title", ["$regex": "\\Qb\\E"]), ("title CONTAINS 'b'", ["$regex": "\\Qb\\E"]),
        ] as [(String, JSONValue)])
    func texts(format: String, expected: JSONValue) throws {
        for dialect in dialects {
            #expect(try condition(FetchPredicate(format: format), dialect)["title"] == expected, "\(format)")
        }
    }

    @Test("A text cannot end its quotes, even with a mark on the letter")
    func quotes() {
        #expect(MaxLeapRegex.quoted("a\\E.*") == "\\Qa\\E\\\\E\\Q.*\\E")
        #expect(MaxLeapRegex.quoted("a\\E\u{301}.*") == "\\Qa\\E\\\\E\\Q\u{301}.*\\E")
    }
}
