import Foundation
import SeededRandom
import StrataStackMob
import Testing

@Suite struct DialectTests {
    private let model: ManagedObjectModel
    private let todo: EntityDescription

    init() throws {
        model = try ManagedObjectModel(name: "Todos") {
            Entity("Todo") {
                Attribute("todoId", .string)
                Attribute("title", .string).optional()
                Attribute("likes", .integer64).optional()
                Attribute("lastmoddate", .date).optional()
                Relationship("tags", to: "Tag", .toMany, inverse: "todos")
            }
            Entity("Tag") {
                Attribute("tagId", .string)
                Relationship("todos", to: "Todo", .toMany, inverse: "tags")
            }
        }
        todo = try #require(model.entity(named: "Todo"))
    }

    private func dialect(extensions: Bool) throws -> StackMobDialect {
        var dialect = try StackMobDialect(publicKey: String(repeating: "0", count: 36), model: model)
        dialect.usesExtensions = extensions
        return dialect
    }

    private func response(_ status: Int, _ body: JSONValue, range: String? = nil) -> WireResponse {
        var fields = HTTPFields()
        if let range { fields[.contentRange] = range }
        return WireResponse(
            HTTPResponse(status: .init(code: status), headerFields: fields), body: Data(body.description.utf8))
    }

    @Test("Keys that strata-server assigns are text on the wire, absent from new objects, and in no order")
    func numberedKeys() throws {
        let model = try ManagedObjectModel(name: "Numbered") {
            Entity("Note", primaryKey: "noteId") {
                Attribute("noteId", .integer64, optional: true)
                Attribute("text", .string).optional()
            }
        }
        let note = try #require(model.entity(named: "Note"))
        #expect {
            try self.dialect(extensions: false).check(model)
        } throws: {
            "\($0)".contains("Note.noteId") && "\($0)".contains("usesExtensions")
        }
        let dialect = try self.dialect(extensions: true)
        try dialect.check(model)
        #expect(dialect.capabilities.features(of: note).contains(.assignsIDs))
        #expect(!dialect.capabilities.features(of: todo).contains(.assignsIDs))

        func body(_ operation: RemoteOperation) throws -> JSONValue {
            try JSONValue(parsing: try dialect.request(for: operation, options: RequestOptions()).body ?? Data())
        }
        var write = RemoteWrite(id: "-3", values: ["noteId": .value(.integer(-3)), "text": .value(.string("a"))])
        #expect(try body(.create(entity: note, [write])) == ["text": "a"])
        write.id = "17"
        write.values["noteId"] = .value(.integer(17))
        #expect(try body(.update(entity: note, write)) == ["note_id": "17", "text": "a"])

        let read = RemoteOperation.read(entity: note, ids: ["17"])
        guard case .page(let page) = try dialect.answer(response(200, ["note_id": "17", "text": "a"]), to: read) else {
            Issue.record("a read is answered with a page")
            return
        }
        #expect(page.records.map(\.id) == ["17"])
        #expect(page.records.first?.values["noteId"] == .value(.integer(17)))
        let strange = try dialect.answer(response(200, ["note_id": "x", "text": "a"]), to: read)
        guard case .page(let unread) = strange else { return }
        #expect(unread.records.isEmpty && unread.unreadable.count == 1)

        func parameters(_ predicate: FetchPredicate) throws -> [String] {
            var query = RemoteQuery(entity: note)
            query.predicate = predicate
            return try dialect.query(for: query).parameters().map { "\($0.name)=\($0.value)" }
        }
        #expect(try parameters(FetchPredicate(format: "noteId == 17")) == ["note_id=17"])
        #expect(try parameters(FetchPredicate(format: "noteId IN {1, 2}")) == ["note_id[in]=1,2"])
        for order in ["noteId > 9", "noteId BETWEEN {1, 10}"] {
            #expect(throws: RemoteError.self) { try parameters(FetchPredicate(format: order)) }
        }
        var sorted = RemoteQuery(entity: note)
        sorted.sorts = [FetchSort("noteId")]
        #expect(throws: RemoteError.self) { try dialect.query(for: sorted) }
    }

    @Test func changesOfMembersAndIncrementsAreOneBatch() throws {
        let dialect = try dialect(extensions: true)
        let relation = RemoteRelation(id: "1", relationship: "tags", added: ["a"], removed: ["b", "c"])
        let write = RemoteWrite(
            id: "1", values: ["title": .value(.null)], operations: ["likes": .increment(2)], baseVersion: "77")
        let batch = RemoteOperation.batch([.update(entity: todo, write), .relate(entity: todo, relation)])
        let request = try dialect.request(for: batch, options: RequestOptions())
        #expect(request.head.path == "/_batch")
        let requests = try #require(try JSONValue(parsing: request.body ?? Data())["requests"]?.elements)
        #expect(requests.map { $0["method"] } == ["PUT", "PUT", "DELETE"])
        #expect(requests.map { $0["path"] } == ["/todo/1", "/todo/1/tags", "/todo/1/tags/b,c"])
        #expect(requests[0]["body"] == ["todo_id": "1", "title": nil, "likes[inc]": 2])
        #expect(requests[0]["headers"]?["If-Match"] == "\"77\"")
        #expect(requests[0]["headers"]?["Idempotency-Key"] == .string(write.token.uuidString))
        #expect(requests[2]["headers"]?["X-StackMob-CascadeDelete"] != "true")
        // The two parts of one change are two requests, and neither is the repetition of the other.
        #expect(requests[1]["headers"]?["Idempotency-Key"] != requests[2]["headers"]?["Idempotency-Key"])

        let answer: JSONValue = [
            ["status": 412, "body": ["todo_id": "1", "title": "theirs", "lastmoddate": 99]],
            ["status": 200, "body": ["todo_id": "1"]], ["status": 404, "body": ["error": "gone"]],
        ]
        guard case .outcomes(let outcomes) = try dialect.answer(response(200, answer), to: batch) else {
            Issue.record("a batch is answered by outcomes")
            return
        }
        #expect(outcomes.count == 2)
        guard case .failed(let conflict) = outcomes[0], case .failed(let gone) = outcomes[1] else {
            Issue.record("both writes failed, not \(outcomes)")
            return
        }
        #expect(conflict.kind == .conflict)
        #expect(conflict.serverRecord?.version == "99")
        #expect(conflict.identity == RemoteIdentity(entity: "Todo", id: "1"))
        #expect(gone.kind == .notFound)
    }

    @Test func elementsOfArraysAreSentAsOperations() throws {
        let model = try ManagedObjectModel(name: "Notes") {
            Entity("Note") {
                Attribute("noteId", .string)
                Attribute("tags", .array(.string), optional: true)
            }
        }
        let note = try #require(model.entity(named: "Note"))
        let operations: [(FieldOperation, String)] = [
            (.append([.string("a")]), "tags[add]"), (.appendUnique([.string("a")]), "tags[addunique]"),
            (.remove([.string("a")]), "tags[remove]"),
        ]
        for (operation, field) in operations {
            let update = RemoteOperation.update(
                entity: note, RemoteWrite(id: "1", operations: ["tags": operation]))
            let request = try dialect(extensions: true).request(for: update, options: RequestOptions())
            let body = try JSONValue(parsing: request.body ?? Data())
            #expect(body == .object(["note_id": "1", field: ["a"]]))
            // StackMob itself does not know them.
            #expect(throws: RemoteError.self) {
                try dialect(extensions: false).request(for: update, options: RequestOptions())
            }
        }
        #expect(try !dialect(extensions: false).capabilities.features.contains(.arrayOperations))
    }

    @Test func pullsOfAPlainServerPassObjectsOfOneMillisecond() throws {
        let dialect = try dialect(extensions: false)
        var pull = RemotePull(entity: todo, limit: 2)
        func page(_ times: [Int64]) throws -> RemotePage {
            let objects = times.enumerated().map { index, time in
                JSONValue.object(["todo_id": .string("\(time)-\(index)"), "lastmoddate": .integer(time)])
            }
            let answer = try dialect.answer(response(200, .array(objects)), to: .pull(pull))
            guard case .page(let page) = answer else { return RemotePage() }
            return page
        }
        func query() throws -> String? {
            try dialect.request(for: .pull(pull), options: RequestOptions()).head.path
        }
        #expect(try query() == "/todo")
        pull.cursor = try page([5, 7]).next
        #expect(try query() == "/todo?lastmoddate[gte]=7")
        pull.cursor = try page([7, 7]).next
        let request = try dialect.request(for: .pull(pull), options: RequestOptions())
        #expect(request.head.headerFields[.range] == "objects=2-3")
        pull.cursor = try page([7, 8]).next
        #expect(try query() == "/todo?lastmoddate[gte]=8")
        #expect(try !page([8]).hasMore)
    }

    @Test(arguments: ["x", "5+x", "5+-1", "5+6+7", "5+9223372036854775807", ""])
    func aPullStartsOverFromACursorThatIsNone(cursor: String) throws {
        let pull = RemoteOperation.pull(RemotePull(entity: todo, cursor: cursor))
        #expect {
            try dialect(extensions: false).request(for: pull, options: RequestOptions())
        } throws: {
            ($0 as? RemoteError)?.kind == .cursorExpired
        }
    }

    @Test func pagesGoOnWhereTheServerCut() throws {
        let dialect = try dialect(extensions: false)
        var query = RemoteQuery(entity: todo)
        query.offset = 10
        let objects: JSONValue = [["todo_id": "a"], ["todo_id": "b"]]
        let answer = try dialect.answer(response(206, objects, range: "objects 10-11/30"), to: .query(query))
        guard case .page(let page) = answer else {
            Issue.record("a query is answered by a page")
            return
        }
        #expect(page.total == 30)
        #expect(page.hasMore)
        query.cursor = page.next
        let request = try dialect.request(for: .query(query), options: RequestOptions())
        #expect(request.head.headerFields[.range] == "objects=12-")
    }

    @Test("A file is text in the field of its object, and is not sent on its own")
    func files() throws {
        let dialect = try dialect(extensions: false)
        let file = RemoteFile(property: "title", name: "a.txt", contentType: "text/plain", data: Data("a".utf8))
        guard case .text = dialect.delivery(of: file) else {
            Issue.record("a file is delivered as text")
            return
        }
        let upload = RemoteOperation.upload(entity: todo, file)
        let error = #expect(throws: RemoteError.self) { try dialect.request(for: upload, options: RequestOptions()) }
        #expect(error?.kind == .unsupported)
    }

    @Test func timesSurviveTheWay() throws {
        var generator = SplitMix64(seed: RunSeed.value())
        let encoder = StackMobEncoder(dialect: try dialect(extensions: false))
        let schema = try StackMobSchema(todo)
        for _ in 0..<2000 {
            let time = Int64.random(in: -4_000_000_000_000...4_000_000_000_000, using: &generator)
            let values = try StackMobDecoder(dialect: try dialect(extensions: false))
                .values(["lastmoddate": .integer(time)], schema: schema)
            let record = RemoteRecord(entity: "Todo", id: "1", values: values)
            let body = try encoder.body(record, schema: schema, purpose: .update, isWhole: false)
            #expect(body.fields["lastmoddate"] == .integer(time), "of \(time)")
        }
    }
}
