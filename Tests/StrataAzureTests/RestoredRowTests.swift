import Foundation
import Strata
import StrataAzure
import StrataRemoteTesting
import Testing

/// Rows that are made again in tables that keep deleted rows. Such a table refuses the id of a deleted row, so that a creation may
/// take further requests.
@Suite struct RestoredRowTests {
    private static let model = makeModel()

    private static func makeModel() -> ManagedObjectModel {
        do {
            return try ManagedObjectModel(name: "Notes") {
                Entity("Note") {
                    Attribute("noteId", .string)
                    Attribute("text", .string, optional: true)
                    Attribute("stars", .integer64, optional: true)
                }
            }
        } catch {
            fatalError("\(error)")
        }
    }

    private func open(
        _ server: AzureTestServer, savesOnline: Bool = false, policy: ConflictPolicy? = nil
    ) throws -> (store: RemoteStore, context: ManagedObjectContext) {
        var dialect = try AzureDialect(
            address: "https://notes.example", version: server.version,
            applicationKey: server.version == .mobileServices ? "key" : nil)
        dialect.keepsDeletedRows = true
        var options = RemoteStore.Options()
        options.savePolicy = savesOnline ? .networkThenCache : .cacheOnly
        options.sync.retries = 0
        options.sync.policies.standard = policy
        let store = try RemoteStore.open(
            model: Self.model, backend: HTTPBackend(dialect: dialect, transport: server), location: .memory(name: nil),
            options: options)
        return (store, try PersistentContainer(store: store).newContext(automaticallyMergesChanges: true))
    }

    /// Makes a note that has all values, and deletes it again.
    private func makeDeletedNote(_ server: AzureTestServer) async throws {
        let (store, context) = try open(server)
        let note = try context.insert(entityNamed: "Note")
        note["noteId"] = "a"
        note["text"] = "old"
        note["stars"] = Int64(3)
        try await context.save()
        _ = try await store.sync.synchronize()
        context.delete(note)
        try await context.save()
        _ = try await store.sync.synchronize()
        #expect(deleted(server) == true)
    }

    private func row(_ server: AzureTestServer) -> JSONObject? {
        server.rows(server.version == .datasync ? "note" : "Note")["a"]
    }

    private func deleted(_ server: AzureTestServer) -> Bool? {
        row(server)?[AzureSystemProperty.deleted.column(in: server.version)]?.boolean
    }

    private func makeAgain(_ context: ManagedObjectContext) async throws {
        let note = try context.insert(entityNamed: "Note")
        note["noteId"] = "a"
        note["text"] = "new"
        try await context.save()
    }

    @Test(
        "An object with the primary key of a deleted one takes its place", arguments: AzureVersion.allCases,
        [true, false])
    func madeAgain(version: AzureVersion, tellsRows: Bool) async throws {
        let server = AzureTestServer(version, tellsRows: tellsRows)
        try await makeDeletedNote(server)
        let (store, context) = try open(server)
        try await makeAgain(context)
        let before = server.requests.count
        let report = try await store.sync.push()
        #expect(report.failures.isEmpty, "\(report)")
        let methods = server.requests[before...].map(\.head.method)
        let read: [HTTPRequest.Method] = tellsRows ? [] : [.get]
        // Pushes to Datasync read the row first.
        let first: [HTTPRequest.Method] = version == .datasync ? [.get, .post] : [.post]
        #expect(methods == first + read + (version == .datasync ? [.put] : [.post, .patch]))
        let row = try #require(self.row(server))
        #expect(row["text"] == "new" && row["stars"]?.isNull ?? true && deleted(server) == false, "\(row)")
        // The device knows the version, so that the next change is none of somebody else's.
        let note = try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "Note")).first)
        note["text"] = "newer"
        try await context.save()
        let next = try await store.sync.push()
        #expect(next.failures.isEmpty && self.row(server)?["text"] == "newer", "\(next)")
    }

    @Test(
        "The same in a save that goes to the server immediately", arguments: [AzureVersion.mobileServices, .mobileApps])
    func madeAgainOnline(version: AzureVersion) async throws {
        let server = AzureTestServer(version)
        try await makeDeletedNote(server)
        let (_, context) = try open(server, savesOnline: true)
        try await makeAgain(context)
        #expect(row(server)?["text"] == "new" && deleted(server) == false)
    }

    @Test("A change that wins against a deletion restores the row", arguments: AzureVersion.allCases)
    func changeWins(version: AzureVersion) async throws {
        let server = AzureTestServer(version)
        let (first, context) = try open(server, policy: .clientWins)
        try await makeAgain(context)
        _ = try await first.sync.synchronize()
        let (second, other) = try open(server)
        _ = try await second.sync.synchronize()
        let theirs = try #require(try await other.fetch(FetchRequest<ManagedObject>(entity: "Note")).first)
        let mine = try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "Note")).first)
        other.delete(theirs)
        try await other.save()
        _ = try await second.sync.synchronize()
        #expect(deleted(server) == true)
        mine["stars"] = Int64(5)
        try await context.save()
        let report = try await first.sync.synchronize()
        #expect(report.failures.isEmpty, "\(report)")
        let row = try #require(self.row(server))
        #expect(row["text"] == "new" && row["stars"] == 5 && deleted(server) == false, "\(row)")
    }

    @Test("A server that restores nothing refuses the object, which stays on the device", arguments: [true, false])
    func refused(tellsRows: Bool) async throws {
        let server = AzureTestServer(.mobileApps, undeletes: false, tellsRows: tellsRows)
        try await makeDeletedNote(server)
        let (store, context) = try open(server)
        try await makeAgain(context)
        let report = try await store.sync.push()
        #expect(report.failures.count == 1)
        if case .failed(let error)? = report.failures.first?.action { #expect(error.status == 409) }
        #expect(deleted(server) == true)
        let here = RemoteOptions(fetchPolicy: .cacheOnly)
        let notes = try await context.fetch(FetchRequest<ManagedObject>(entity: "Note").options(here))
        #expect(notes.map { $0["text"] as? String } == ["new"])
    }

    @Test("An object that others made meanwhile is a conflict, and is not overwritten", arguments: [true, false])
    func madeByOthers(tellsRows: Bool) async throws {
        let server = AzureTestServer(.mobileApps, tellsRows: tellsRows)
        let (store, context) = try open(server)
        let (second, other) = try open(server)
        try await makeAgain(other)
        _ = try await second.sync.synchronize()
        try await makeAgain(context)
        let before = server.requests.count
        _ = try await store.sync.push()
        let methods = server.requests[before...].map(\.head.method)
        #expect(!methods.dropFirst().contains(.post), "\(methods)")
    }

    @Test("If the answer to a restoration is lost, the row with its old values is a conflict")
    func lostAnswer() async throws {
        let server = AzureTestServer(.mobileApps)
        try await makeDeletedNote(server)
        let (store, context) = try open(server, policy: .clientWins)
        try await makeAgain(context)
        server.answersLeft = 1
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        #expect(deleted(server) == false)
        server.answersLeft = nil
        let report = try await store.sync.synchronize()
        #expect(report.failures.isEmpty, "\(report)")
        let row = try #require(self.row(server))
        #expect(row["text"] == "new" && deleted(server) == false, "\(row)")
    }
}
