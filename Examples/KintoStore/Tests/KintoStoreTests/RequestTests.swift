import Foundation
import HTTPTypes
import KintoStore
import StrataRemoteTesting
import Testing

/// What goes to the server, and what comes back, in words.
@Suite struct RequestTests {
    let dialect: KintoDialect
    let note: EntityDescription

    init() throws {
        dialect = try KintoDialect("https://kinto.example/v1/", bucket: "shared")
        note = try #require(try notes().entity(named: "Note"))
    }

    private func path(_ query: RemoteQuery) throws -> String? {
        try dialect.request(for: .query(query), options: .init()).head.path
    }

    @Test("Equalities, orders and limits of a query are parameters of the request")
    func queries() throws {
        let records = "/v1/buckets/shared/collections/Note/records"
        var query = RemoteQuery(entity: note)
        #expect(try path(query) == records)
        query.predicate = try FetchPredicate(format: "text == %@ AND count == 5", "a & b")
        query.sorts = [FetchSort("count", ascending: false), FetchSort("written")]
        query.limit = 10
        #expect(
            try path(query)
                == records + "?eq_text=%22a%20%26%20b%22&eq_count=5&_sort=-count,written&_limit=10")
        query.predicate = try FetchPredicate(format: "noteId == 'x'")
        query.sorts = []
        query.cursor = "abc=="
        #expect(try path(query) == records + "?in_id=%22x%22&_limit=10&_token=abc%3D%3D")
    }

    @Test(
        "What Kinto would answer otherwise than Strata is left to the store",
        arguments: [
            "text == nil", "text CONTAINS 'a'", "text ==[c] 'a'", "count > 5", "text == 'a' AND text == 'b'",
            "written == %@",
        ])
    func conditions(format: String) throws {
        var query = RemoteQuery(entity: note)
        query.predicate = try FetchPredicate(
            format: format, arguments: format.contains("%@") ? [.date(Date(timeIntervalSince1970: 0))] : [])
        #expect { try path(query) } throws: { ($0 as? RemoteError)?.kind == .unsupported }
    }

    @Test func ordersByTextAndOffsetsAreLeftToTheStore() throws {
        var query = RemoteQuery(entity: note)
        query.sorts = [FetchSort("text")]
        #expect { try path(query) } throws: { ($0 as? RemoteError)?.kind == .unsupported }
        query.sorts = []
        query.offset = 1
        #expect { try path(query) } throws: { ($0 as? RemoteError)?.kind == .unsupported }
    }

    @Test("Creations, updates and deletes are requests with the version that they expect")
    func writes() throws {
        let written = Date(timeIntervalSince1970: 1_700_000_000.1234)
        let write = RemoteWrite(
            id: "a",
            values: ["text": .value(.string("hi")), "written": .value(.date(written)), "folder": .reference("f")],
            baseVersion: "17")
        let create = try dialect.request(for: .create(entity: note, [write]), options: .init())
        #expect(create.head.method == .put)
        #expect(create.head.path == "/v1/buckets/shared/collections/Note/records/a")
        #expect(create.head.headerFields[.ifNoneMatch] == "*")
        #expect(
            try JSONValue(parsing: create.body ?? Data()) == [
                "data": ["id": "a", "text": "hi", "count": nil, "written": 1_700_000_000_123, "folder": "f"]
            ])
        let update = try dialect.request(for: .update(entity: note, write), options: .init())
        #expect(update.head.method == .patch)
        #expect(update.head.headerFields[.ifMatch] == "\"17\"")
        let delete = try dialect.request(for: .delete(entity: note, write), options: .init())
        #expect(delete.head.method == .delete && delete.body == nil)
        #expect(delete.head.headerFields[.ifMatch] == "\"17\"")
    }

    @Test func aBatchIsRefusedAsAWholeIfTheServerTakesItBack() throws {
        let writes = RemoteOperation.create(entity: note, [RemoteWrite(id: "a"), RemoteWrite(id: "b")])
        func answer(_ second: Int64) throws -> RemoteAnswer {
            let done: JSONValue = ["status": 201, "body": ["data": ["id": "a", "last_modified": 5]]]
            let other: JSONValue = [
                "status": .integer(second), "body": ["details": ["existing": ["id": "b", "last_modified": 3]]],
            ]
            return try dialect.answer(DialectLawTests.json(200, ["responses": [done, other]]), to: writes)
        }
        guard case .outcomes(let outcomes) = try answer(412), case .done(let made?) = outcomes.first,
            case .failed(let error) = outcomes.last
        else { throw KintoInstallation.Failure(description: "a batch has no outcomes") }
        #expect(made.version == "5")
        #expect(error.kind == .duplicate && error.serverRecord?.version == "3" && error.identity?.id == "b")
        for status: Int64 in [409, 500, 503] {
            #expect { try answer(status) } throws: { ($0 as? RemoteError)?.kind == .unavailable }
        }
        #expect {
            try dialect.answer(DialectLawTests.json(200, ["responses": []]), to: writes)
        } throws: { ($0 as? RemoteError)?.kind == .invalidAnswer }
    }

    @Test func aCollectionThatIsOlderThanThePullBeginsAnew() throws {
        let pull = RemoteOperation.pull(RemotePull(entity: note, cursor: "1000"))
        var response = DialectLawTests.json(200, ["data": []])
        response.head.headerFields[.eTag] = "\"999\""
        #expect { try dialect.answer(response, to: pull) } throws: { ($0 as? RemoteError)?.kind == .cursorExpired }
        response.head.headerFields[.eTag] = "\"1000\""
        guard case .page(let page) = try dialect.answer(response, to: pull) else {
            throw KintoInstallation.Failure(description: "a pull has no page")
        }
        #expect(page.next == "1000" && !page.hasMore)
    }

    @Test func aRecordOfAnotherTypeDoesNotHideTheOthers() throws {
        let list: JSONValue = [["id": "a", "text": 5], ["id": "b", "text": "x"], ["id": "c", "deleted": true]]
        guard
            case .page(let page) = try dialect.answer(
                DialectLawTests.json(200, ["data": list]), to: .pull(RemotePull(entity: note)))
        else { throw KintoInstallation.Failure(description: "a pull has no page") }
        #expect(page.records.map(\.id) == ["b"])
        #expect(page.deleted.map(\.id) == ["c"])
        #expect(page.unreadable.map(\.identity) == [RemoteIdentity(entity: "Note", id: "a")])
    }

    @Test func namesThatAreKintosOwnAreRefused() throws {
        let model = try ManagedObjectModel(name: "Notes") {
            Entity("Note") {
                Attribute("noteId", .string)
                Attribute("deleted", .boolean, optional: true)
            }
        }
        #expect { try dialect.check(model) } throws: { "\($0)".contains("Note.deleted") }
        try dialect.check(try notes())
    }

    @Test(arguments: ["", "kinto.example", "ftp://kinto.example", "https://", "https://kinto.example/v1?a=b"])
    func addressesThatAreNoneAreRefused(address: String) {
        #expect { _ = try KintoDialect(address) } throws: { ($0 as? RemoteError)?.kind == .invalidRequest }
        #expect { _ = try KintoDialect("https://kinto.example/v1", bucket: address) } throws: {
            ($0 as? RemoteError)?.kind == .invalidRequest
        }
    }
}
