import Foundation
import StrataAzure
import StrataRemoteTesting
import Testing

@Suite struct AzureSyncContextTests {
    private let server = AzureTestServer(.mobileApps)
    private let storage = MemorySessionStorage()

    private func client(_ transport: (any HTTPTransport)? = nil) throws -> AzureClient {
        var configuration = try AzureConfiguration("https://notes.example")
        configuration.transport = transport ?? server
        configuration.sessionStorage = MemorySessionStorage()
        return AzureClient(configuration)
    }

    private func context(_ client: AzureClient, _ name: String = "a") throws -> AzureSyncContext {
        try AzureSyncContext(client, keptIn: storage, named: name)
    }

    @Test func changesOfOneDeviceReachAnother() async throws {
        let first = try context(try client(), "first")
        let second = try context(try client(), "second")
        let note = try await first.insert(["text": "1"], into: "Note")
        let id = try #require(note["id"]?.string)
        try await first.insert(["id": "b", "text": "2"], into: "Note")
        try await first.push()
        try await second.pull("Note", queryID: "all")
        #expect(await second.items(in: "Note").count == 2)
        var other = try #require(await second.item("b", in: "Note"))
        other["text"] = "3"
        try await second.update(other, in: "Note")
        try await second.delete(try #require(await second.item(id, in: "Note")), in: "Note")
        #expect(await second.pendingOperations == 2)
        try await second.push()
        try await first.pull("Note", queryID: "all")
        #expect(await first.items(in: "Note").map { $0["text"] } == ["3"])
    }

    @Test func whatWaitsIsThereAtTheNextLaunch() async throws {
        try await context(try client()).insert(["id": "a", "text": "1"], into: "Note")
        let next = try context(try client())
        #expect(await next.pendingOperations == 1)
        #expect(await next.item("A", in: "Note")?["text"] == "1")
        try await next.push()
        #expect(server.rows("Note")["a"]?["text"] == "1")
        #expect(try await context(try client()).pendingOperations == 0)
    }

    @Test func damagedTablesAreAnErrorAndStay() async throws {
        storage.keep(Data("{".utf8), named: "a.tables")
        let error = #expect(throws: RemoteError.self) { try context(try client()) }
        #expect(error?.code == AzureError.syncTableInternal.rawValue)
        #expect(storage.session(named: "a.tables") == Data("{".utf8))
    }

    @Test func aConflictIsResolvedByWhatTheResolverSays() async throws {
        for resolution in ["server", "client"] {
            let server = AzureTestServer(.mobileApps)
            let client = try client(server)
            let sync = try context(client, resolution)
            var note = try await client.table("Note").insert(["id": "a", "text": "0"])
            try await sync.pull("Note")
            note["text"] = "theirs"
            try await client.table("Note").update(note)
            var mine = try #require(await sync.item("a", in: "Note"))
            mine["text"] = "mine"
            try await sync.update(mine, in: "Note")
            do throws(AzureFailure) {
                try await sync.push()
                Issue.record("the server has another version")
            } catch {
                #expect(error.code == .pushCompleteWithErrors)
                #expect(error.pushResult.first?.serverItem?["text"] == "theirs")
                #expect(error.pushResult.first?.error.code == AzureError.preconditionFailed.rawValue)
            }
            try await sync.push { failure in
                guard let theirs = failure.serverItem else { return .leave }
                guard resolution == "client", var mine = failure.item else { return .cancelAndUpdate(theirs) }
                mine["version"] = theirs["version"]
                return .modify(mine)
            }
            try await sync.push()
            #expect(await sync.pendingOperations == 0)
            #expect(server.rows("Note")["a"]?["text"] == (resolution == "client" ? "mine" : "theirs"))
            #expect(await sync.item("a", in: "Note")?["text"] == (resolution == "client" ? "mine" : "theirs"))
        }
    }

    @Test func aChangeMadeDuringAPushWaitsBehindIt() async throws {
        let transport = ScriptedTransport()
        let sync = try context(try client(transport))
        try await sync.insert(["id": "a", "text": "1"], into: "Note")
        transport.handle { request in
            if request.head.method == .post {
                try? await sync.update(["id": "a", "text": "2"], in: "Note")
                return .scripted(json: #"{"id":"a","text":"1","version":"v1"}"#, status: 201)
            }
            return .scripted(json: #"{"id":"a","text":"2","version":"v2"}"#)
        }
        try await sync.push()
        #expect(transport.requests.map(\.head.method) == [.post, .patch])
        #expect(await sync.item("a", in: "Note")?["text"] == "2")
        #expect(await sync.pendingOperations == 0)
    }

    @Test func withoutANetworkNothingIsLost() async throws {
        let transport = ScriptedTransport()
        let sync = try context(try client(transport))
        try await sync.insert(["id": "a"], into: "Note")
        transport.fail(.requestLost)
        do throws(AzureFailure) {
            try await sync.pull("Note", queryID: "all")
            Issue.record("there is no network")
        } catch {
            #expect(error.code == .pushAbortedNetwork)
        }
        #expect(await sync.pendingOperations == 1)
        #expect(transport.requests.count == 1)
    }

    @Test func aPurgeSparesWhatWaitsUnlessForced() async throws {
        let sync = try context(try client())
        try await sync.insert(["id": "a"], into: "Note")
        do throws(RemoteError) {
            try await sync.purge("Note")
            Issue.record("a change waits")
        } catch {
            #expect(error.code == AzureError.purgeAbortedPendingChanges.rawValue)
        }
        try await sync.purge("Note", force: true)
        #expect(await sync.items(in: "Note").isEmpty)
        #expect(await sync.pendingOperations == 0)
    }
}
