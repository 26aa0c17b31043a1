import StrataWire
import Testing

@Suite struct JSONObjectTests {
    @Test func membersKeepTheirOrder() throws {
        let text = #"{"z":1,"a":{"y":[],"b":null},"m":"x"}"#
        let value = try JSONValue(parsing: text)
        #expect(value.members?.names == ["z", "a", "m"])
        #expect(try value.text() == text)
        #expect(try value.text(sortingNames: true) == #"{"a":{"b":null,"y":[]},"m":"x","z":1}"#)
        #expect(value.description == text)
    }

    @Test func ofSeveralMembersOfOneNameTheLastValueCountsInThePlaceOfTheFirst() throws {
        let value = try JSONValue(parsing: #"{"a":1,"b":2,"a":3,"\u0061":4}"#)
        #expect(try value.text() == #"{"a":4,"b":2}"#)
        #expect(JSONValue.object(["a": 1, "b": 2, "a": 4]) == value)
    }

    @Test func namesAreTheSameOnlyIfTheirTextIs() throws {
        // Swift compares text by what it looks like.
        let value = try JSONValue(parsing: "{\"é\":1,\"e\u{301}\":2}")
        #expect(value.members?.count == 1)
        #expect(value["é"] == 2)
    }

    @Test func equalityDoesNotDependOnTheOrder() {
        let a: JSONValue = ["a": 1, "b": ["c": 2, "d": 3]]
        let b: JSONValue = ["b": ["d": 3, "c": 2], "a": 1]
        #expect(a == b)
        #expect(a.hashValue == b.hashValue)
        #expect(a != ["a": 1, "b": ["c": 2]])
        #expect(JSONValue.object(["a": nil]) != [:])
        #expect(JSONValue.object(["a": 1]) != ["b": 1])
    }

    @Test(arguments: [3, 16, 24, 25, 26, 27, 400]) func membersAreFoundSetAndRemovedByName(count: Int) {
        var object = JSONObject()
        for number in 0..<count { object["n\(number)"] = .integer(Int64(number)) }
        #expect(object.count == count)
        #expect((0..<count).allSatisfy { object["n\($0)"] == .integer(Int64($0)) })
        #expect(object["n\(count)"] == nil)
        object["n1"] = "changed"
        #expect(object[1] == ("n1", "changed"))
        #expect(object.removeValue(forName: "n0") == 0)
        #expect(object.removeValue(forName: "n0") == nil)
        object["n2"] = nil
        object["missing"] = nil
        #expect(object.count == count - 2)
        object["last"] = nil as JSONValue? ?? .null
        #expect(object.names.last == "last")
        #expect(object.names == ["n1"] + (3..<max(3, count)).map { "n\($0)" } + ["last"])
        #expect(object.allSatisfy { object[$0.name] == $0.value })
        #expect(object.mapValues { _ in 7 }.allSatisfy { $0.value == 7 })
        object.merge(["n1": 1, "new": 2])
        #expect(object["n1"] == 1)
        #expect(object.names.last == "new")
    }

    @Test func aDictionaryBecomesAnObjectSortedByName() throws {
        let names = (0..<40).map { "n\($0)" }
        let object = JSONObject(Dictionary(uniqueKeysWithValues: names.map { ($0, JSONValue.string($0)) }))
        #expect(object.names == names.sorted())
    }

    @Test func aMemberOfWhatIsNotAnObjectIsNil() {
        #expect(JSONValue.array([1])["a"] == nil)
        #expect(JSONValue.string("a")["a"] == nil)
        #expect(JSONValue.null.members == nil)
        #expect(JSONValue.object([:]).elements == nil)
        #expect(JSONValue.null.isNull)
        #expect(!JSONValue.boolean(false).isNull)
    }

    @Test func typesHaveTheirNamesInJSON() {
        let values: [JSONValue] = [nil, true, 1, 1.5, .decimal(1), "a", [], [:]]
        #expect(
            values.map(\.typeName)
                == ["null", "boolean", "number", "number", "number", "string", "array", "object"])
    }
}
