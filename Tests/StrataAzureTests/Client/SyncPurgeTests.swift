import Foundation
import StrataAzure
import StrataRemoteTesting
import Testing

/// Rows that are forgotten on the device, by their ids and by queries.
@Suite struct AzureSyncPurgeTests {
    private let transport = ScriptedTransport()

    /// A table with four rows from the server, and another one with a change that waits.
    private func context() async throws -> AzureSyncContext {
        var configuration = try AzureConfiguration("https://notes.example")
        configuration.transport = transport
        configuration.sessionStorage = MemorySessionStorage()
        let sync = try AzureSyncContext(
            AzureClient(configuration), keptIn: MemorySessionStorage(), named: "purge")
        transport.answer(
            json: #"""
                [{"id":"a","done":true,"count":3,"due":"2020-02-01T00:00:00.1234567Z","updatedAt":"2021-01-01T00:00:00.000Z"},
                {"id":"b","done":true,"count":1,"due":"2020-06-01T00:00:00Z","updatedAt":"2021-01-01T00:00:00.000Z"},
                {"id":"c","done":false,"count":2,"due":"2019-01-01T00:00:00.000Z","updatedAt":"2021-01-01T00:00:00.000Z"},
                {"id":"d","done":true,"updatedAt":"2021-01-01T00:00:00.000Z"}]
                """#)
        transport.answer(json: "[]")
        try await sync.pull("Note", queryID: "all")
        try await sync.insert(["id": "x"], into: "Other")
        return sync
    }

    private func ids(_ sync: AzureSyncContext) async -> [String] {
        await sync.items(in: "Note").compactMap { $0["id"]?.string }
    }

    private func code(_ sync: AzureSyncContext, _ query: AzureQuery) async -> Int? {
        do throws(RemoteError) {
            try await sync.purge("Note", matching: query)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func rowsAreForgottenByTheirIDs() async throws {
        let sync = try await context()
        try await sync.purge("Note", ids: ["B", "none"])
        #expect(await ids(sync) == ["a", "c", "d"])
        try await sync.purge("Note")
        #expect(await ids(sync) == [])
        #expect(await sync.state.token(of: "Note", queryID: "all") != nil)
        #expect(await sync.items(in: "Other").count == 1)
    }

    @Test func rowsAreForgottenThatAQueryFinds() async throws {
        let date = Value.date(Date(timeIntervalSince1970: 1_577_836_800))  // 2020-01-01
        let cases: [(format: String, arguments: [Value], left: [String])] = [
            ("done == YES", [], ["c"]), ("done == YES AND count > 1", [], ["b", "c", "d"]),
            ("count == nil", [], ["a", "b", "c"]), ("due > %@", [date], ["c", "d"]),
            ("due <= %@", [date], ["a", "b", "d"]),
            ("id IN {'a', 'd'}", [], ["b", "c"]), ("due BEGINSWITH '2020'", [], ["c", "d"]),
            ("NOT done == YES OR id ==[c] 'D'", [], ["a", "b"]), ("FALSEPREDICATE", [], ["a", "b", "c", "d"]),
        ]
        for (format, arguments, left) in cases {
            let sync = try await context()
            try await sync.purge("Note", matching: AzureQuery(try FetchPredicate(format: format, arguments: arguments)))
            #expect(await ids(sync) == left, "\(format)")
            #expect(await sync.items(in: "Other").count == 1)
        }
    }

    @Test func orderOffsetAndLimitCount() async throws {
        let sync = try await context()
        var query = AzureQuery()
        query.filter = .predicate(try FetchPredicate(format: "count > $least"), ["least": .int32(0)])
        query.order("count", ascending: false)
        query.skip = 1
        query.top = 1
        try await sync.purge("Note", matching: query)
        #expect(await ids(sync) == ["a", "b", "d"])
        var oldest = AzureQuery()
        oldest.order("due")
        oldest.top = 2
        // A row without the column comes first.
        try await sync.purge("Note", matching: oldest)
        #expect(await ids(sync) == ["b"])
    }

    @Test func aQueryThatOnlyAServerCanAnswerIsRefused() async throws {
        let sync = try await context()
        var text = AzureQuery()
        text.filter = .text("year(due) eq 2020")
        #expect(await code(sync, text) == AzureError.invalidParameter.rawValue)
        var tenant = AzureQuery()
        tenant.parameters = ["tenant": "a"]
        #expect(await code(sync, tenant) == AzureError.invalidParameter.rawValue)
        var negative = AzureQuery()
        negative.top = -1
        #expect(await code(sync, negative) == AzureError.invalidParameter.rawValue)
        let unbound = AzureQuery(try FetchPredicate(format: "count > $least"))
        #expect(await code(sync, unbound) == AzureError.predicateNotSupported.rawValue)
        #expect(await ids(sync) == ["a", "b", "c", "d"])
    }

    @Test func changesThatWaitPreventAPurgeUnlessItIsForced() async throws {
        let sync = try await context()
        try await sync.update(["id": "a", "done": false], in: "Note")
        #expect(await code(sync, AzureQuery()) == AzureError.purgeAbortedPendingChanges.rawValue)
        do throws(RemoteError) {
            try await sync.purge("Note", ids: ["b"])
            Issue.record("a change of the table waits")
        } catch {
            #expect(error.code == AzureError.purgeAbortedPendingChanges.rawValue)
        }
        #expect(await ids(sync) == ["a", "b", "c", "d"])
        try await sync.purge("Note", force: true)
        #expect(await ids(sync) == [])
        #expect(await sync.state.token(of: "Note", queryID: "all") == nil)
        // The change of the other table waits on.
        #expect(await sync.pendingOperations == 1)
    }
}
