import Foundation
import StrataStackMob
import Testing

/// Conditions on array attributes: StackMob compares arrays by their elements.
@Suite struct ArrayConditionTests {
    private let schema = StackMobSchema(
        entity: "Item", primaryKey: "itemId",
        properties: [
            "itemId": .attribute(.string), "title": .attribute(.string), "photoTags": .attribute(.array(.string)),
            "sizes": .attribute(.array(.integer)), "marks": .attribute(.array(.boolean)), "friends": .toMany("Item"),
        ])

    /// The parameters of a condition: `name=value`.
    private func parameters(_ format: String) throws -> [String] {
        try StackMobQuery(schema, predicate: FetchPredicate(format: format)).parameters().map {
            "\($0.name)=\($0.value)"
        }
    }

    @Test(
        "An equality asks for an element",
        arguments: [
            ("photoTags CONTAINS 'red'", ["photo_tags=red"]), ("'red' IN photoTags", ["photo_tags=red"]),
            ("ANY photoTags == 'red'", ["photo_tags=red"]), ("NOT (NONE photoTags == 'red')", ["photo_tags=red"]),
            ("NOT photoTags CONTAINS 'red'", ["photo_tags[ne]=red"]),
            ("NONE photoTags == 'red'", ["photo_tags[ne]=red"]),
            ("ALL photoTags != 'red'", ["photo_tags[ne]=red"]), ("ANY photoTags IN {'a', 'b'}", ["photo_tags[in]=a,b"]),
            ("NOT ANY photoTags IN {'a', 'b'}", ["photo_tags[nin]=a,b"]),
            ("NONE photoTags IN {'a', nil}", ["photo_tags[nin]=a"]), ("photoTags == nil", ["photo_tags[null]=true"]),
            ("photoTags != nil", ["photo_tags[null]=false"]), ("ANY sizes == 2", ["sizes=2"]),
            ("ANY marks == 1", ["marks=true"]), ("ANY sizes IN {1, 2}", ["sizes[in]=1,2"]),
            ("ANY photoTags == 'a' OR title == 'b'", ["[or1].photo_tags=a", "[or1].title=b"]),
        ])
    func elements(format: String, expected: [String]) throws {
        #expect(try parameters(format) == expected, "\(format)")
    }

    @Test(
        "What means something else there is refused",
        arguments: [
            "photoTags == 'red'", "photoTags != 'red'", "photoTags IN {'red', 'blue'}", "NOT photoTags IN {'red'}",
            "photoTags < 'red'", "photoTags BETWEEN {'a', 'b'}", "photoTags BEGINSWITH 'red'",
            "photoTags MATCHES 'red'",
            "photoTags CONTAINS[c] 'red'", "ANY photoTags ==[c] 'red'", "ANY photoTags BEGINSWITH 'red'",
            "ANY photoTags != 'red'", "ALL photoTags == 'red'", "ANY sizes > 1", "ANY photoTags == 3",
            "ANY sizes == '3'",
            "ANY photoTags == nil", "photoTags CONTAINS ''", "ANY photoTags IN {'a,b'}", "photoTags.@count == 1",
            "ANY friends == 'x'", "friends CONTAINS 'x'",
        ])
    func refused(format: String) {
        #expect { try parameters(format) } throws: { ($0 as? RemoteError)?.kind == .unsupported }
    }
}
