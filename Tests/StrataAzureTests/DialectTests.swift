import Foundation
import StrataAzure
import StrataRemoteTesting
import Testing

@Suite struct AzureDialectTests {
    private let model: ManagedObjectModel
    private let note: EntityDescription

    init() throws {
        model = try ManagedObjectModel(name: "Notes") {
            Entity("Note") {
                Attribute("noteId", .string)
                Attribute("text", .string, optional: true)
                Attribute("size", .integer64, optional: true)
                Attribute("version", .string, optional: true)
                Attribute("updatedAt", .date, optional: true)
            }
        }
        note = try #require(model.entity(named: "Note"))
    }

    private func dialect(_ version: AzureVersion = .mobileApps) throws -> AzureDialect {
        try AzureDialect(address: "https://notes.example/app", version: version, applicationKey: "k")
    }

    private func refusal(of model: ManagedObjectModel) throws -> RemoteError? {
        let dialect = try dialect()
        do throws(RemoteError) {
            try dialect.check(model)
            return nil
        } catch {
            return error
        }
    }

    @Test func modelsThatTheServiceCannotKeepAreRefusedByName() throws {
        let place = try refusal(
            of: ManagedObjectModel(name: "M") {
                Entity("Shop") {
                    Attribute("shopId", .string)
                    Attribute("place", .geoPoint)
                }
            }
        )
        #expect(place?.kind == .unsupported)
        #expect(place?.message.contains("Shop.place") == true)
        let many = try refusal(
            of: ManagedObjectModel(name: "M") {
                Entity("Shop") {
                    Attribute("shopId", .string)
                    Relationship("tags", to: "Tag", .toMany, inverse: "shops")
                }
                Entity("Tag") {
                    Attribute("tagId", .string)
                    Relationship("shops", to: "Shop", .toMany, inverse: "tags")
                }
            }
        )
        #expect(many?.message.contains("many to many") == true)
        let ordered = try refusal(
            of: ManagedObjectModel(name: "M") {
                Entity("Shop") {
                    Attribute("shopId", .string)
                    Relationship("shelves", to: "Shelf", .orderedToMany, inverse: "shop")
                }
                Entity("Shelf") {
                    Attribute("shelfId", .string)
                    Relationship("shop", to: "Shop", .optionalToOne, inverse: "shelves")
                }
            }
        )
        #expect(ordered?.kind == .unsupported)
        #expect(ordered?.message.contains("Shop.shelves") == true)
        let id = try refusal(
            of: ManagedObjectModel(name: "M") {
                Entity("Shop") {
                    Attribute("shopId", .string)
                    Attribute("id", .integer64, optional: true)
                }
            }
        )
        #expect(id?.message.contains("Shop.id") == true)
        let version = try refusal(
            of: ManagedObjectModel(name: "M") {
                Entity("Shop") {
                    Attribute("shopId", .string)
                    Attribute("version", .integer64, optional: true)
                }
            }
        )
        #expect(version?.message.contains("Shop.version") == true)
        #expect(try refusal(of: model) == nil)
    }

    @Test func columnsOfTheServersOwnAreReadAndNotSent() throws {
        let write = RemoteWrite(
            id: "a",
            values: [
                "text": .value("x"), "version": .value("9"), "updatedAt": .value(.date(Date(timeIntervalSince1970: 0))),
            ],
            baseVersion: "7\"")
        let request = try dialect().request(for: .update(entity: note, write), options: RequestOptions())
        #expect(request.head.method == .patch)
        #expect(request.head.path == "/app/tables/Note/a")
        #expect(request.head.headerFields[.ifMatch] == #""7\"""#)
        #expect(try JSONValue(parsing: request.body ?? Data()) == ["id": "a", "text": "x"])
        let told = WireResponse.scripted(
            json: #"{"id":"a","text":"x","version":"8","updatedAt":"2020-02-29T12:00:00.1234567Z","unknown":[1]}"#,
            headers: ["ETag": #""8\"""#])
        guard case .outcomes(let outcomes) = try dialect().answer(told, to: .update(entity: note, write)),
            case .done(let record?)? = outcomes.first
        else {
            Issue.record("the write is done")
            return
        }
        #expect(record.version == "8\"")
        #expect(record.values["text"] == .value("x"))
        let seconds = try #require(record.modified).timeIntervalSince1970
        #expect(abs(seconds - 1_582_977_600.1234567) < 1e-6)
    }

    @Test func conflictsBringTheServersState() throws {
        let write = RemoteWrite(id: "a", values: ["text": .value("x")], baseVersion: "1")
        for status in [412, 409] {
            let answer = WireResponse.scripted(json: #"{"id":"a","text":"theirs","version":"2"}"#, status: status)
            guard case .outcomes(let list) = try dialect().answer(answer, to: .update(entity: note, write)),
                case .failed(let error)? = list.first
            else {
                Issue.record("the write has failed")
                continue
            }
            #expect(error.kind == .conflict)
            #expect(error.serverRecord?.version == "2")
            #expect(error.identity == RemoteIdentity(entity: "Note", id: "a"))
            #expect(error.code == (status == 412 ? -1303 : -1302))
        }
    }

    @Test func newerServicesTakeWholeRowsAlone() throws {
        var write = RemoteWrite(id: "a", values: ["text": .value("x")])
        let error = #expect(throws: RemoteError.self) {
            try dialect(.datasync).request(for: .update(entity: note, write), options: RequestOptions())
        }
        #expect(error?.kind == .unsupported)
        write.isWhole = true
        let request = try dialect(.datasync).request(for: .update(entity: note, write), options: RequestOptions())
        #expect(request.head.method == .put)
        #expect(request.head.path == "/app/tables/note/a")
    }

    @Test func idsFollowTheRules() throws {
        for id in ["", " ", ".", "a/b", "a+b", "a\u{7}", String(repeating: "x", count: 256)] {
            let error = #expect(throws: RemoteError.self) {
                try dialect().request(for: .create(entity: note, [RemoteWrite(id: id)]), options: RequestOptions())
            }
            #expect(error?.code == -1105)
        }
        // Asking for such a one is not an error: nothing has it.
        let request = try dialect().request(for: .read(entity: note, ids: ["a/b"]), options: RequestOptions())
        #expect(request.head.path?.contains("$filter=(id%20eq%20'a%2Fb')") == true)
    }

    @Test func pullsGoOnWhereTheyEnded() throws {
        let dialect = try dialect()
        var pull = RemotePull(entity: note, limit: 2)
        func page(_ rows: [(String, String)], of total: Int) throws -> RemotePage {
            let items = rows.map { #"{"id":"\#($0.0)","updatedAt":"2020-01-01T00:00:00.\#($0.1)Z","version":"1"}"# }
            let answer = WireResponse.scripted(
                json: #"{"results":[\#(items.joined(separator: ","))],"count":\#(total)}"#)
            guard case .page(let page) = try dialect.answer(answer, to: .pull(pull)) else { return RemotePage() }
            pull.cursor = page.next
            return page
        }
        func filter() throws -> String {
            let path = try dialect.request(for: .pull(pull), options: RequestOptions()).head.path ?? ""
            let pairs = QueryParameters.read(path.split(separator: "?").last ?? "") ?? []
            return pairs.first { $0.name == "$filter" }?.value ?? ""
        }
        #expect(try page([("a", "001"), ("b", "0020001")], of: 4).hasMore)
        #expect(try filter() == "(updatedAt ge datetimeoffset'2020-01-01T00:00:00.002Z')")
        // More rows of one time than fit into an answer: those are asked for by id.
        let second = try page([("b", "0020001"), ("c", "0020002")], of: 3)
        #expect(second.records.map(\.id) == ["c"])
        #expect(try filter().hasSuffix("(updatedAt lt datetimeoffset'2020-01-01T00:00:00.003Z'))"))
        #expect(try page([("b", "0020001"), ("c", "0020002")], of: 3).records.isEmpty)
        #expect(try filter().hasSuffix("and (id gt 'c'))"))
        #expect(try page([("d", "0020003")], of: 1).records.map(\.id) == ["d"])
        #expect(try filter() == "(updatedAt ge datetimeoffset'2020-01-01T00:00:00.003Z')")
        #expect(try !page([], of: 0).hasMore)
        // The last time is asked for again, and what was told about it is known.
        #expect(try filter() == "(updatedAt ge datetimeoffset'2020-01-01T00:00:00.002Z')")
        let last = try page([("b", "0020001"), ("e", "0020009")], of: 2)
        #expect(last.records.map(\.id) == ["e"])
        #expect(!last.hasMore)
    }

    @Test func deletedRowsAreToldAsDeletions() throws {
        let answer = WireResponse.scripted(
            json:
                #"[{"id":"a","deleted":true,"updatedAt":"2020-01-01T00:00:00.000Z"},{"id":"b","updatedAt":"2020-01-01T00:00:00.000Z","deleted":false}]"#
        )
        guard case .page(let page) = try dialect().answer(answer, to: .pull(RemotePull(entity: note))) else {
            Issue.record("a pull is answered by a page")
            return
        }
        #expect(page.deleted.map(\.id) == ["a"])
        #expect(page.records.map(\.id) == ["b"])
    }

    /// Whatever comes back, an answer is read or refused: nothing traps, and nothing foreign is taken for a success.
    @Test(arguments: [
        "", "null", "7", "\"x\"", "[]", "{}", "[7]", "[[]]", "[null]", #"{"id":null}"#, #"{"id":{}}"#, #"{"id":1e400}"#,
        #"{"results":7}"#, #"{"results":[],"count":"x"}"#, #"{"results":[],"count":1e300}"#,
        #"{"results":[{"id":"a"}],"count":-5}"#, #"{"items":{},"nextLink":7}"#, #"[{"id":"a","updatedAt":7}]"#,
        #"[{"id":"a","updatedAt":"9999-99-99T99:99:99Z"}]"#, #"[{"id":"a","updatedAt":"0001-01-01T00:00:00Z"}]"#,
        #"[{"id":"a","updatedAt":"9999-12-31T23:59:59.999Z","deleted":"yes"}]"#, #"[{"id":"a","text":{"x":[1]}}]"#,
        #"{"id":"a","size":9223372036854775808}"#, "{\"id\":\"\u{0}\"}", String(repeating: "[", count: 5000),
        "<html>", "\u{FEFF}[]",
    ])
    func hostileAnswersAreReadOrRefused(body: String) throws {
        let write = RemoteWrite(id: "a", values: [:], isWhole: true)
        let operations: [RemoteOperation] = [
            .query(RemoteQuery(entity: note)), .count(RemoteQuery(entity: note)), .read(entity: note, ids: ["a"]),
            .read(entity: note, ids: ["a", "b"]), .create(entity: note, [write]), .update(entity: note, write),
            .delete(entity: note, write), .pull(RemotePull(entity: note)), .call(RemoteCall(name: "x")), .ping,
        ]
        for version in AzureVersion.allCases {
            let dialect = try dialect(version)
            for status in [200, 201, 204, 304, 400, 409, 410, 412, 500, 599] {
                let response = WireResponse.scripted(
                    status: status, headers: ["Content-Type": "application/json", "ETag": "\"", "Link": ";;;"],
                    body: Data(body.utf8))
                for operation in operations {
                    do throws(RemoteError) {
                        let answer = try dialect.answer(response, to: operation)
                        guard status >= 400, case .outcomes(let list) = answer else { continue }
                        for case .done in list { Issue.record("status \(status) is no success") }
                    } catch {
                        #expect(!error.message.isEmpty)
                    }
                }
            }
        }
    }
}
