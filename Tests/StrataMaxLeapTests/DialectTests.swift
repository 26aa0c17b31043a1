import Foundation
import StrataMaxLeap
import StrataRemoteTesting
import Testing

/// What the operations of a store are in the dialect.
@Suite struct DialectTests {
    private let model: ManagedObjectModel
    private let post: EntityDescription
    private let dialect: MaxLeapDialect

    init() throws {
        model = try ManagedObjectModel(name: "Posts") {
            Entity("Post", primaryKey: "objectId") {
                Attribute("objectId", .string).unique()
                Attribute("title", .string, optional: true)
                Attribute("likes", .integer64, optional: true)
                Attribute("cover", .binary, optional: true)
                Attribute("updatedAt", .date, optional: true)
                Relationship("author", to: "User", .optionalToOne)
                Relationship("tags", to: "Tag", .toMany)
                Relationship("readers", to: "User", .toMany)
            }
            Entity("User", primaryKey: "objectId") {
                Attribute("objectId", .string).unique()
                Attribute("username", .string, optional: true)
            }
            Entity("Tag", primaryKey: "objectId") {
                Attribute("objectId", .string).unique()
            }
        }
        post = try #require(model.entity(named: "Post"))
        var dialect = try testDialect(model: model)
        dialect.names.relations["Post"] = ["readers"]
        dialect.names.fields["Post"] = ["title": "headline"]
        self.dialect = dialect
    }

    private func request(_ operation: RemoteOperation) throws(RemoteError) -> WireRequest {
        try dialect.request(for: operation, options: RequestOptions())
    }

    @Test func aNewObjectHasNoIdentifierAndGetsTheServers() throws {
        let write = RemoteWrite(
            id: UUID().uuidString,
            values: [
                "objectId": .value(.string("x")), "title": .value(.string("Hi")), "likes": .value(.null),
                "author": .reference("u1"), "tags": .references(["t1"]), "readers": .references(["u2"]),
                "updatedAt": .value(.date(.now)), "cover": .value(.binary(Data([1, 2]))),
            ])
        let request = try request(.create(entity: post, [write]))
        #expect(request.head.path == "/2.0/classes/Post")
        #expect(
            request.json == [
                "headline": "Hi", "author": ["__type": "Pointer", "className": "_User", "objectId": "u1"],
                "tags": [["__type": "Pointer", "className": "Tag", "objectId": "t1"]],
                "readers": [
                    "__op": "AddRelation", "objects": [["__type": "Pointer", "className": "_User", "objectId": "u2"]],
                ], "cover": ["__type": "Bytes", "base64": "AQI="],
            ])
        let answer = try dialect.answer(
            .scripted(json: #"{"objectId":"p1","createdAt":"\#(testTime)"}"#, status: 201),
            to: .create(entity: post, [write]))
        guard case .outcomes(let outcomes) = answer, case .done(let record?)? = outcomes.first else {
            Issue.record("\(answer)")
            return
        }
        #expect(record.id == "p1")
        #expect(record.values["objectId"] == .value(.string("p1")))
        #expect(record.version == testTime)
    }

    @Test func aPointerToAnObjectWithoutAnIdentifierIsRefused() throws {
        let write = RemoteWrite(id: "p1", values: ["author": .reference(UUID().uuidString)])
        #expect { try request(.update(entity: post, write)) } throws: { error in
            let error = error as? RemoteError
            return error?.code == 104 && error?.message.contains("Post.author") == true
        }
    }

    @Test func changesAreFieldsAndOperations() throws {
        let write = RemoteWrite(id: "p1", values: ["title": .value(.null)], operations: ["likes": .increment(-2)])
        let request = try request(.update(entity: post, write))
        #expect(request.head.method == .put)
        #expect(request.head.path == "/2.0/classes/Post/p1")
        #expect(request.json == ["headline": ["__op": "Delete"], "likes": ["__op": "Increment", "amount": -2]])
        // How many objects were met is not a field; none is a failure.
        for (number, isDone) in [(1, true), (0, false)] {
            let answer = try dialect.answer(
                .scripted(json: #"{"number":\#(number),"updatedAt":"\#(testTime)"}"#), to: .update(entity: post, write))
            guard case .outcomes(let outcomes) = answer else { continue }
            if case .done = outcomes.first { #expect(isDone) } else { #expect(!isDone) }
        }
    }

    @Test func membersComeAndGoByOperations() throws {
        let relation = RemoteRelation(id: "p1", relationship: "readers", added: ["u1"], removed: ["u2"])
        #expect(try dialect.steps(of: .relate(entity: post, relation)).count == 1)
        #expect(try request(.relate(entity: post, relation)).json?["readers"]?["__op"] == "Batch")
        let array = RemoteRelation(id: "p1", relationship: "tags", added: ["t1"], removed: ["t2"])
        let steps = try dialect.steps(of: .relate(entity: post, array))
        let requests = try #require(try request(steps[0]).json?["requests"]?.elements)
        #expect(requests.map { $0["body"]?["tags"]?["__op"] } == ["AddUnique", "Remove"])
        #expect(requests[0]["path"] == "/2.0/classes/Post/p1")
    }

    @Test func aBatchHasAnOutcomeForEachWrite() throws {
        let array = RemoteRelation(id: "p1", relationship: "tags", added: ["t1"], removed: ["t2"])
        let batch = RemoteOperation.batch([
            .create(entity: post, [RemoteWrite(id: "a"), RemoteWrite(id: "b")]), .relate(entity: post, array),
            .delete(entity: post, RemoteWrite(id: "p2")),
        ])
        let body: JSONValue = [
            ["success": ["objectId": "p8", "createdAt": .string(testTime)]],
            ["error": ["code": 137, "error": "twice"]],
            ["number": 1, "updatedAt": .string(testTime)], ["errorCode": 101, "errorMessage": "gone"], ["number": 1],
        ]
        guard case .outcomes(let outcomes) = try dialect.answer(.scripted(json: body.description), to: batch) else {
            return
        }
        #expect(outcomes.count == 4)
        let ends = outcomes.map { outcome -> String in
            switch outcome {
            case .done(let record): "done \(record?.id ?? "")"
            case .failed(let error): "\(error.kind.rawValue) \(error.identity?.id ?? "")"
            }
        }
        #expect(ends == ["done p8", "duplicate b", "notFound p1", "done "])
        // One member too few says nothing of any of them.
        #expect(throws: RemoteError.self) { try dialect.answer(.scripted(json: "[{}]"), to: batch) }
    }

    @Test func conditionsAreAboutFieldsAndPointers() throws {
        func condition(_ format: String, _ arguments: (any PredicateArgument)?...) throws -> JSONValue {
            var query = RemoteQuery(entity: post)
            query.predicate = try FetchPredicate(
                format: format, arguments: arguments.map { $0?.predicateArgument ?? .null })
            let text = try request(.query(query)).parameters["where"] ?? ""
            return try JSONValue(parsing: text)
        }
        let author: JSONValue = ["__type": "Pointer", "className": "_User", "objectId": "u1"]
        #expect(try condition("title == %@ AND author == %@", "Hi", "u1") == ["headline": "Hi", "author": author])
        #expect(
            try condition("author.username BEGINSWITH 'b'") == [
                "author": [
                    "$inQuery": ["className": "_User", "where": ["username": ["$regex": "^\\Qb\\E"]]]
                ]
            ])
        #expect(try condition("SELF == 'p1'") == ["objectId": "p1"])
        #expect(try condition("'u1' IN readers") == ["readers": author])
        for format in [
            "NOT (likes < 3)", "author.username != 'b'", "nonsense == 1", "likes == author.username",
            "title MATCHESTEXT 'a'", "ANY tags == 't1'",
        ] {
            #expect(throws: RemoteError.self, "\(format)") { try condition(format) }
        }
    }

    @Test func longAnswersAreReadInPages() throws {
        var query = RemoteQuery(entity: post)
        query.limit = 1500
        query.offset = 10
        query.sorts = [FetchSort("likes", ascending: false)]
        #expect(
            try request(.query(query)).parameters == ["limit": "1000", "skip": "10", "order": "-likes,objectId"])
        let objects = (0..<1000).map { JSONValue.object(["objectId": .string("p\($0)")]) }
        let answer = try dialect.answer(
            .scripted(json: JSONValue.object(["results": .array(objects)]).description), to: .query(query))
        guard case .page(let page) = answer else { return }
        #expect(page.hasMore)
        query.cursor = page.next
        query.limit = 500
        #expect(try request(.query(query)).parameters["skip"] == "1010")
        #expect(try request(.query(query)).parameters["limit"] == "500")
    }

    @Test("A pull goes on at the last time, and within it after the last object")
    func pulls() throws {
        var pull = RemotePull(entity: post, limit: 2)
        #expect(try request(.pull(pull)).parameters == ["limit": "2", "order": "updatedAt,objectId"])
        func next(_ ids: String...) throws -> String? {
            let results = ids.map { JSONValue.object(["objectId": .string($0), "updatedAt": .string(testTime)]) }
            let text = JSONValue.object(["results": .array(results)]).description
            guard case .page(let page) = try dialect.answer(.scripted(json: text), to: .pull(pull)) else { return nil }
            #expect(page.hasMore == (ids.count == 2))
            return page.next
        }
        func condition() throws -> JSONValue {
            let parameters = try request(.pull(pull)).parameters
            #expect(parameters["skip"] == nil)
            return try JSONValue(parsing: parameters["where"] ?? "")
        }
        let date: JSONValue = ["__type": "Date", "iso": .string(testTime)]
        for (ids, last) in [(["a", "b"], "b"), (["c", "d>e"], "d>e")] {
            pull.cursor = try next(ids[0], ids[1])
            #expect(pull.cursor == "\(testTime)>\(last)")
            #expect(
                try condition() == [
                    "$or": [
                        ["updatedAt": ["$gt": date]], ["updatedAt": date, "objectId": ["$gt": .string(last)]],
                    ]
                ])
        }
        // Objects of that time may change until the next pull, so that it begins with all of them.
        for answer in [try next("f"), try next()] { #expect(answer == testTime) }
        // A cursor of an older version counted them.
        pull.cursor = "\(testTime)+4"
        #expect(try condition() == ["updatedAt": ["$gte": date]])
        for wrong in ["yesterday", "\(testTime)+x", "\(testTime)+1>a"] {
            pull.cursor = wrong
            // The pull starts over.
            #expect("\(wrong)") {
                try request(.pull(pull))
            } throws: {
                ($0 as? RemoteError)?.kind == .cursorExpired
            }
        }
    }

    @Test func theVersionOfAWriteIsAConditionIfWanted() throws {
        var conditional = dialect
        conditional.usesConditionalWrites = true
        let write = RemoteWrite(id: "p1", values: ["likes": .value(1)], baseVersion: testTime)
        let request = try conditional.request(for: .update(entity: post, write), options: RequestOptions())
        #expect(request.parameters["where"]?.contains(testTime) == true)
        let answer = try conditional.answer(.scripted(json: #"{"number":0}"#), to: .update(entity: post, write))
        guard case .outcomes(let outcomes) = answer, case .failed(let error)? = outcomes.first else { return }
        #expect(error.kind == .conflict)
        #expect(try self.request(.update(entity: post, write)).parameters.isEmpty)
    }

    @Test func modelsThatCannotBeKeptAreRefused() throws {
        try dialect.check(model)
        let places = try ManagedObjectModel(name: "Places") {
            Entity("Place") {
                Attribute("placeId", .string)
                Attribute("here", .geoPoint, optional: true)
                Attribute("there", .geoPoint, optional: true)
            }
        }
        #expect { try dialect.check(places) } throws: { "\($0)".contains("here, there") }
        var renamed = dialect
        renamed.names.fields["Post"] = ["title": "likes"]
        #expect { try renamed.check(model) } throws: { "\($0)".contains("one field") }
        renamed.names = MaxLeapNames()
        renamed.names.classes["Tag"] = "Post"
        #expect { try renamed.check(model) } throws: { "\($0)".contains("one class") }
    }

    @Test func keysAreNotShownToEverybody() {
        #expect(throws: RemoteError.self) {
            try MaxLeapDialect(.parse, address: MaxLeapAddress("http://example.com/parse"), applicationID: "a")
        }
        #expect(throws: Never.self) {
            try MaxLeapDialect(.parse, address: MaxLeapAddress("http://localhost:1337/parse"), applicationID: "a")
        }
        for address in ["", "example.com", "ftp://h/", "https:///x", "https://h?x"] {
            #expect(throws: RemoteError.self, "\(address)") { try MaxLeapAddress(address) }
        }
    }
}
