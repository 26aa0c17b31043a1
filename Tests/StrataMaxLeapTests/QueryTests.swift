import Foundation
import StrataMaxLeap
import Testing

@Suite struct QueryTests {
    @Test func allConditionsCount() throws {
        let query = MaxLeapQuery("Post")
            .where("likes", .greater(3)).where("likes", .lessOrEqual(9)).where("tag", .notEqual("a"))
            .where("tag", .notEqual("b")).where("tag", .notEqual("b"))
            .whereAny(.key("x", .exists(true)), .key("y", .all(["p", "q"])))
            .whereAny(.key("z", .size(2)), .key("z", .equal(nil)))
            .where(isIn: "posts", of: MaxLeapPointer("Blog", "b1"))
        #expect(
            try query.condition() == [
                "likes": ["$gt": 3, "$lte": 9],
                "$relatedTo": [
                    "object": ["__type": "Pointer", "className": "Blog", "objectId": "b1"], "key": "posts",
                ],
                "$and": [
                    ["tag": ["$ne": "a"]], ["tag": ["$ne": "b"]],
                    ["$or": [["x": ["$exists": true]], ["y": ["$all": ["p", "q"]]]]],
                    ["$or": [["z": ["$size": 2]], ["z": nil]]],
                ],
            ])
    }

    @Test func theRestOfAQueryIsParameters() throws {
        let query = MaxLeapQuery("Post").ordered(by: "a").ordered(by: "b", ascending: false).skipping(3).limited(to: 7)
            .selecting("title").including("author.team")
        func parameters(_ query: MaxLeapQuery, _ flavor: MaxLeapFlavor = .maxLeap) throws -> [String: String] {
            Dictionary(uniqueKeysWithValues: try query.parameters(for: flavor).map { ($0.name, $0.value) })
        }
        #expect(
            try parameters(query) == [
                "order": "a,-b", "skip": "3", "limit": "7", "keys": "author,title", "include": "author.team",
            ])
        #expect(try parameters(query.counting)["count"] == "1")
        #expect(try parameters(query.counting)["skip"] == nil)
        let without = MaxLeapQuery("Post").excluding("body")
        #expect(try parameters(without) == ["keys": "-body"])
        #expect(try parameters(without, .parse) == ["excludeKeys": "body"])
    }

    @Test func whatCannotBeSentIsRefused() throws {
        for constraint: MaxLeapConstraint in [
            .less(nil), .greater(.pointer(MaxLeapPointer("A", "1"))), .matches("a", options: "q"),
            .near(GeoPoint(latitude: 91, longitude: 0)), .within(miles: .nan, of: GeoPoint(latitude: 1, longitude: 1)),
            .within(radians: -1, of: GeoPoint(latitude: 1, longitude: 1)), .equal(.object(MaxLeapObject("A"))),
            .inQuery(MaxLeapQuery("A").where("b", .less(nil))),
        ] {
            #expect(throws: RemoteError.self, "\(constraint)") {
                try MaxLeapQuery("Post").where("k", constraint).condition()
            }
        }
        #expect(throws: RemoteError.self) { try MaxLeapQuery("Post").where("$where", .equal("1")).condition() }
        #expect(throws: RemoteError.self) { try MaxLeapQuery("Post").ordered(by: "a,b").encoded() }
    }

    @Test func severalQueriesAreOne() throws {
        let few = MaxLeapQuery("Post").where("n", .less(1))
        let many = MaxLeapQuery("Post").where("n", .greater(9))
        #expect(try MaxLeapQuery.any([few, many]).condition() == ["$or": [["n": ["$lt": 1]], ["n": ["$gt": 9]]]])
        #expect(throws: RemoteError.self) { try MaxLeapQuery.any([]) }
        #expect(throws: RemoteError.self) { try MaxLeapQuery.any([few, MaxLeapQuery("Other")]) }
        #expect(throws: RemoteError.self) { try MaxLeapQuery.any([few, many.limited(to: 1)]) }
    }

    @Test func variablesOfPredicatesArePointersAndQueries() throws {
        let query = try MaxLeapQuery(
            "Post", predicate: FetchPredicate(format: "author = $me AND blog IN $blogs AND 'x' IN tags"),
            values: ["me": .pointer(MaxLeapPointer("_User", "u1"))],
            queries: ["blogs": MaxLeapQuery("Blog").where("open", .equal(true))])
        #expect(
            try query.condition() == [
                "author": ["__type": "Pointer", "className": "_User", "objectId": "u1"], "tags": "x",
                "blog": ["$inQuery": ["className": "Blog", "where": ["open": true]]],
            ])
        #expect(throws: RemoteError.self) {
            try MaxLeapQuery("Post", predicate: FetchPredicate(format: "author = $me"))
        }
    }

    @Test func aConditionThatGrowsWithoutBoundsIsRefused() throws {
        let pair = "(a = 1 OR b = 2)"
        let format = Array(repeating: pair, count: 40).enumerated()
            .map { $1.replacing("1", with: "\($0 + 10)") }.joined(separator: " AND ")
        #expect { try MaxLeapQuery("Post", predicate: FetchPredicate(format: format)) } throws: {
            ($0 as? RemoteError)?.code == MaxLeapError.invalidQuery.rawValue
        }
    }
}
