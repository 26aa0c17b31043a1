import Foundation
import KintoStore
import StrataRemoteTesting
import Testing

/// Stores that work offline and synchronize with a real server.
@Suite(.enabled("Kinto needs Python 3 with venv and pip", { await KintoInstallation.isThere() }))
struct SyncTests {
    /// An app with a mirror in memory.
    final class App {
        let store: RemoteStore
        let container: PersistentContainer
        let context: ManagedObjectContext

        init(_ backend: any RemoteBackend) throws {
            var options = RemoteStore.Options()
            options.fetchPolicy = .cacheOnly
            options.savePolicy = .cacheOnly
            options.sync.retries = 0
            store = try RemoteStore.open(
                model: try notes(), backend: backend, location: .memory(name: nil), options: options)
            container = try PersistentContainer(store: store)
            context = container.newContext()
        }

        func insert(_ id: String, _ text: String) throws {
            let note = try context.insert(entityNamed: "Note")
            try note.setValue(id, forKey: "noteId")
            try note.setValue(text, forKey: "text")
        }

        /// Saves to the mirror.
        func save() throws { try context.save() }

        func texts() throws -> [String: String] {
            let notes = try container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Note"))
            return Dictionary(
                notes.map { ($0["noteId"] as? String ?? "?", $0["text"] as? String ?? "nil") }, uniquingKeysWith: { $1 }
            )
        }

        func change(_ id: String, _ text: String?) throws {
            let request = FetchRequest<ManagedObject>(
                entity: "Note", where: try FetchPredicate(format: "noteId == %@", id))
            let found = try context.fetchFirst(request)
            let note = try #require(found)
            if let text { try note.setValue(text, forKey: "text") } else { context.delete(note) }
        }
    }

    @Test func twoAppsEndWithTheSameNotes() async throws {
        let user = UUID().uuidString
        let apps = [try App(try await kinto(user: user)), try App(try await kinto(user: user))]
        // More than a batch takes, and more than a page has.
        for number in 0..<230 { try apps[0].insert("n\(number)", "\(number)") }
        try apps[0].save()
        let report = try await apps[0].store.sync.synchronize()
        #expect(report.failures.isEmpty)
        _ = try await apps[1].store.sync.synchronize()
        #expect(try apps[1].texts() == apps[0].texts())
        #expect(try apps[1].texts().count == 230)
        try apps[1].change("n7", "changed there")
        try apps[1].change("n8", nil)
        try apps[0].change("n9", "changed here")
        for app in apps { try app.save() }
        for app in [apps[1], apps[0], apps[1]] { _ = try await app.store.sync.synchronize() }
        for app in apps {
            let texts = try app.texts()
            #expect(texts["n7"] == "changed there" && texts["n8"] == nil && texts["n9"] == "changed here")
            #expect(texts.count == 229)
        }
    }

    @Test func aConflictIsSeenAndDecided() async throws {
        let user = UUID().uuidString
        let apps = [try App(try await kinto(user: user)), try App(try await kinto(user: user))]
        try apps[0].insert("a", "first")
        try apps[0].save()
        for app in apps { _ = try await app.store.sync.synchronize() }
        try apps[0].change("a", "mine")
        try apps[1].change("a", "yours")
        for app in apps { try app.save() }
        _ = try await apps[1].store.sync.synchronize()
        // Both sides changed the same property: by default, the server's value stays.
        _ = try await apps[0].store.sync.synchronize()
        for app in apps { #expect(try app.texts() == ["a": "yours"]) }
    }

    @Test func withoutAServerChangesWait() async throws {
        let server = try await KintoServer()
        let address = server.address
        let backend = HTTPBackend(
            dialect: try KintoDialect(address), transport: URLSessionTransport(),
            authorizer: KintoCredentials(user: "a", password: "b"))
        let app = try App(backend)
        try app.insert("a", "first")
        try app.save()
        _ = try await app.store.sync.synchronize()
        try await server.stop()
        try app.change("a", "offline")
        try app.save()
        await #expect(throws: SyncError.self) { try await app.store.sync.synchronize() }
        #expect(try app.texts() == ["a": "offline"])
        #expect(try app.store.sync.failedChanges().isEmpty)
    }

    @Test func withoutCredentialsNothingIsLost() async throws {
        let app = try App(
            HTTPBackend(
                dialect: try KintoDialect(try await KintoServer.shared().address), transport: URLSessionTransport()))
        try app.insert("a", "first")
        try app.save()
        await #expect(throws: SyncError.self) { try await app.store.sync.synchronize() }
        #expect(try app.texts() == ["a": "first"])
        #expect(try app.store.sync.failedChanges().isEmpty)
    }
}
