import Foundation
import StrataMaxLeap
import Testing

@Suite struct ObjectTests {
    @Test func onlyWhatWasChangedIsSent() throws {
        var post = try MaxLeapObject(
            "Post",
            ["objectId": "1", "title": "Hi", "likes": 3, "tags": ["a"], "createdAt": "2016-04-21T09:12:59.585Z"])
        #expect(try post.changes().isEmpty)
        try post.increment("likes", by: 2)
        try post.increment("likes", by: -1)
        try post.addUnique(["a", "b"], to: "tags")
        post["note"] = nil
        #expect(post["likes"] == 4)
        #expect(post["tags"] == ["a", "b"])
        #expect(post["note"] == Optional<MaxLeapValue>.none)
        #expect(post.dirtyKeys == ["likes", "tags", "note"])
        #expect(
            try post.changes() == [
                "likes": ["__op": "Increment", "amount": 1], "note": ["__op": "Delete"],
                "tags": ["__op": "AddUnique", "objects": ["a", "b"]],
            ])
        post.revert("likes")
        #expect(post["likes"] == 3)
        post.revert()
        #expect(!post.isDirty)
    }

    @Test func operationsThatDoNotFitAreRefusedAtOnce() throws {
        var post = try MaxLeapObject(
            "Post",
            ["objectId": "1", "title": "Hi", "likes": 3, "readers": ["__type": "Relation", "className": "_User"]])
        #expect(throws: RemoteError.self) { try post.increment("title") }
        #expect(throws: RemoteError.self) { try post.add(["x"], to: "likes") }
        #expect(throws: RemoteError.self) { try post.addRelation([MaxLeapPointer("Tag", "1")], to: "readers") }
        #expect(!post.isDirty)
        try post.addRelation([MaxLeapPointer("_User", "1")], to: "readers")
        #expect(throws: RemoteError.self) { try post.increment("readers") }
        try post.removeRelation([MaxLeapPointer("_User", "1")], from: "readers")
        #expect(try post.changes()["readers"]?["__op"] == "RemoveRelation")
    }

    @Test func sumsLoseNothing() throws {
        var post = MaxLeapObject("Post")
        post["n"] = .integer(.max)
        try post.increment("n")
        #expect(post["n"] == .decimal(Decimal(string: "9223372036854775808")!))
        #expect(throws: RemoteError.self) {
            try MaxLeapOperation.increment(.double(1e308)).merged(onto: .set(.double(1e308)))
        }
    }

    @Test func removingTakesEveryEqualElement() throws {
        let values: MaxLeapValue = ["a", 1, "a", .pointer(MaxLeapPointer("A", "1"))]
        #expect(try MaxLeapOperation.remove(["a", 1.0]).applied(to: values) == [.pointer(MaxLeapPointer("A", "1"))])
        #expect(try MaxLeapOperation.remove(["a"]).applied(to: nil) == [])
        // What is known of an object does not make it another one.
        let object = MaxLeapObject("A", objectId: "1")
        #expect(
            try MaxLeapOperation.addUnique([.object(object)]).applied(to: values)?.elements?.last == .object(object))
    }

    @Test(arguments: [
        "2015-06-21T18:02:52.249Z", "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "2000-02-29T12:00:00.000Z",
        "1900-03-01T00:00:00.001Z", "1969-12-31T23:59:59.999Z",
    ]) func datesComeBackAsTheyWere(text: String) throws {
        let value = try MaxLeapValue(["__type": "Date", "iso": .string(text)])
        #expect(try value.json() == ["__type": "Date", "iso": .string(text)])
    }

    @Test(arguments: [
        "", "Z", "2015-06-21", "2015-06-21T18:02:52", "2015-13-01T00:00:00Z", "2015-00-01T00:00:00Z",
        "2015-02-29T00:00:00Z",
        "2015-06-21T24:00:00Z", "2015-06-21T18:60:00Z", "2015-06-21T18:02:52.Z", "20155-06-21T18:02:52Z",
        "2015-06-21T18:02:52.249+01:00", "2015-006-21T18:02:52Z", "2015-06-21T18:02:52.249ZZ", "٢٠١٥-06-21T18:02:52Z",
    ]) func otherTextsAreNoDates(text: String) {
        #expect(throws: RemoteError.self) { try MaxLeapValue(["__type": "Date", "iso": .string(text)]) }
    }

    @Test func hostileValuesAreErrorsThatNameTheField() throws {
        for json: JSONValue in [
            ["__type": "GeoPoint"], ["__type": "Bytes", "base64": "%%"], ["__type": "File", "name": 3],
            ["__type": "Pointer", "objectId": "1"], ["__type": "Relation"], ["__type": "Object", "className": "A"],
        ] {
            #expect { try MaxLeapObject("Post", ["objectId": "1", "deep": [["x": json]]]) } throws: { error in
                let error = error as? RemoteError
                return error?.kind == .invalidAnswer && error?.message.hasPrefix("deep: ") == true
            }
        }
        var nested = MaxLeapValue.null
        for _ in 0..<200 { nested = .array([nested]) }
        #expect(throws: RemoteError.self) { try nested.json() }
        var post = MaxLeapObject("Post")
        for key in ["", "1a", "a b", "objectId", "createdAt", "ä", "a.b", "$a"] {
            post[key] = 1
            #expect(throws: RemoteError.self, "\(key)") { try post.changes() }
            post.revert()
        }
    }

    @Test func accessRulesKeepWhatTheyDoNotKnow() throws {
        var access = MaxLeapACL()
        access.setRead(true, for: .everybody)
        access.setWrite(true, for: .user("u1"))
        access.setWrite(true, for: .role("Admins"))
        access.setWrite(false, for: .role("Admins"))
        var post = MaxLeapObject("Post")
        post.acl = access
        #expect(try post.changes() == ["ACL": ["*": ["read": true], "u1": ["write": true]]])
        let told = try MaxLeapObject("Post", ["objectId": "1", "ACL": ["creator": ["id": "u7", "type": "AppUser"]]])
        #expect(told.acl?.creator == "u7")
        #expect(told.acl?.canRead(.everybody) == false)
    }

    @Test func rolesHaveProperNames() throws {
        #expect(try MaxLeapObject.role(named: "Shop staff", acl: MaxLeapACL())["name"] == "Shop staff")
        for name in ["", "a/b", "ä", "a:b"] {
            #expect { try MaxLeapObject.role(named: name, acl: MaxLeapACL()) } throws: {
                ($0 as? RemoteError)?.code == MaxLeapError.invalidRoleName.rawValue
            }
        }
    }
}
