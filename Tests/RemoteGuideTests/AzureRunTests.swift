import Foundation
import Strata
import StrataAzure
import StrataRemoteTesting
import Testing

/// The examples of the guide to Azure, over a script.
@Suite struct AzureRunTests {
    private let script = ScriptedTransport(clock: VirtualClock())

    private func client() throws -> AzureClient {
        var configuration = try AzureConfiguration("https://gazetteer.example")
        configuration.transport = script
        configuration.sessionStorage = MemorySessionStorage()
        return AzureClient(configuration)
    }

    private func city(_ name: String, _ version: String) {
        script.answer(json: #"{"id":"a","name":"\#(name)","version":"\#(version)"}"#)
    }
    private var lines: [String] { script.requests.map(\.line) }

    @Test("The clients of the guide speak all versions")
    func clients() throws {
        let versions = try AzureGuide.clients(key: "key").map(\.configuration.dialect.version)
        #expect(versions == [.mobileApps, .mobileServices, .datasync])
    }

    @Test("Rows are inserted, updated, read, deleted and undeleted")
    func tables() async throws {
        city("Cusco", "1")
        city("Qosqo", "2")
        city("Qosqo", "2")
        script.answer(status: 204)
        city("Qosqo", "3")
        let same = try await AzureGuide.tables(try client())
        #expect(same["name"] == "Qosqo")
        #expect(
            lines == [
                "POST /tables/City", "PATCH /tables/City/a", "GET /tables/City/a", "DELETE /tables/City/a",
                "POST /tables/City/a",
            ])
        #expect(script.requests[1].head.headerFields[.ifMatch] == "\"1\"")
    }

    @Test("A query tells the number of all rows and the next page")
    func queries() async throws {
        script.answer(
            json: #"{"results":[{"id":"a"}],"count":41}"#,
            headers: ["Link": "https://gazetteer.example/tables/City?$skip=60; rel=next"])
        script.answer(json: "[]")
        var printed: [Any] = []
        let more = try await AzureGuide.queries(try client().table("City")) { printed += $0 }
        #expect(more?.items.isEmpty == true)
        #expect(printed.last as? Int == 41)
        #expect(script.requests[0].head.path?.contains("tenant=a") == true)
    }

    @Test("After a conflict, the client wins")
    func conflict() async throws {
        script.answer(json: #"{"id":"a","name":"theirs","version":"2"}"#, status: 412)
        city("mine", "3")
        let city = try await AzureGuide.conflict(
            try client().table("City"), ["id": "a", "name": "mine", "version": "1"])
        #expect(city["version"] == "3")
        #expect(script.requests.map { $0.head.headerFields[.ifMatch] } == ["\"1\"", "\"2\""])
    }

    @Test("Filters are sent as the guide says")
    func filters() async throws {
        script.answer(json: "[]")
        script.answer(json: "[]")
        let table = try client().table("City")
        for query in try AzureGuide.filters(AzureQuery()) { _ = try await table.read(query) }
        let sent = script.requests.map { request in
            QueryParameters.read((request.head.path ?? "").split(separator: "?")[1])?.first { $0.name == "$filter" }?
                .value
        }
        #expect(sent == ["year(createdAt) eq 2026", "(area gt 50f)"])
    }

    @Test("Users log in by a token or a page, and again when the token has ended")
    func users() async throws {
        let client = try client()
        let login = #"{"user":{"userId":"u"},"authenticationToken":"t"}"#
        script.answer(json: login)
        #expect(try await AzureGuide.provider(client, token: "x").id == "u")
        script.answer(json: login)
        let user = try await AzureGuide.browser(client) { page in
            #expect(page.hasPrefix("https://gazetteer.example/.auth/login/facebook"))
            return "gazetteer://easyauth.callback/#authorization_code=c"
        }
        #expect(user?.id == "u")
        AzureGuide.renewing(client)
        script.answer(json: #"{"error":"expired"}"#, status: 401)
        script.answer(json: #"{"user":{"userId":"u"},"authenticationToken":"t2"}"#)
        city("a", "1")
        #expect(try await client.table("City").read(id: "a")["name"] == "a")
        #expect(client.session.user?.token == "t2")
        client.session.onUnauthorized(nil)
        let asking = AzureGuide.asking(client) { () async throws(RemoteError) in AzureUser(id: "u", token: "t3") }
        script.answer(json: #"{"error":"expired"}"#, status: 401)
        city("b", "1")
        #expect(try await asking.table("City").read(id: "a")["name"] == "b")
        #expect(client.session.user?.token == "t3")
    }

    @Test("A filter sees requests, and custom APIs and pushes are reached")
    func services() async throws {
        let client = AzureGuide.timing(try client())
        script.answer(json: "14")
        script.answer(headers: ["Content-Type": "image/png"], body: Data([1]))
        let (total, picture) = try await AzureGuide.custom(client)
        #expect(total == 14 && picture == Data([1]))
        script.answer(status: 204)
        script.answer(status: 204)
        try await AzureGuide.push(client, deviceToken: Data([0x0A]))
        #expect(lines.prefix(2) == ["POST /api/sum/of", "GET /api/thumbnail"])
        #expect(script.requests.count == 4)
    }

    @Test("Managed objects are rows of tables")
    func store() async throws {
        let folder = try TestFolder()
        let context = try AzureGuide.store(try client(), path: folder.path).newContext()
        script.answer(
            json: #"[{"id":"a","name":"Lima","country":"PE","updatedAt":"2026-01-01T00:00:00.000Z","version":"1"}]"#)
        #expect(try await context.fetch(FetchRequest<City>()).map(\.name) == ["Lima"])
    }

    @Test("Tables with integer ids are for Mobile Services")
    func integers() throws {
        let model = try AzureGuide.numbered()
        let old = try AzureClient("https://gazetteer.example", applicationKey: "key")
        _ = try RemoteStore.open(model: model, backend: old.backend, location: .memory(name: nil))
        #expect(throws: StoreError.self) {
            _ = try RemoteStore.open(model: model, backend: client().backend, location: .memory(name: nil))
        }
    }

    @Test("Offline tables push and pull, and a resolver decides conflicts")
    func offline() async throws {
        let folder = try TestFolder()
        script.handle { request in
            guard request.head.method == .get else {
                return .scripted(json: String(decoding: request.body ?? Data(), as: UTF8.self), status: 201)
            }
            return .scripted(json: "[]")
        }
        let (sync, city, items) = try await AzureGuide.offline(try client(), folder: folder.url)
        #expect(items.count == 1 && items[0]["name"] == "Lima")
        #expect(await sync.pendingOperations == 0)
        var changed = try #require(items.first)
        changed["name"] = "mine"
        changed["version"] = "1"
        try await sync.update(changed, in: "City")
        let id = city["id"]?.string ?? ""
        script.answer(json: #"{"id":"\#(id)","name":"theirs","version":"2"}"#, status: 412)
        try await AzureGuide.resolving(sync)
        #expect(await sync.items(in: "City").map { $0["name"] } == ["theirs"])
    }
}
