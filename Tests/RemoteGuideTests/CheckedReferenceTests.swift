import Foundation
import Strata
import StrataRemote
import StrataStore
import Testing

/// What the reference for back ends says of services that refuse references to missing objects.
@Suite struct CheckedReferenceTests {
    /// Shelf with foreign keys: it answers 400 to a write that refers to what it does not have.
    private struct CheckingServer: HTTPTransport {
        let server = ShelfServer()

        func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
            let json = request.body.flatMap { try? JSONValue(parsing: $0) }
            for (field, entity) in [("folder", "Folder"), ("cover", "Note")] {
                guard let id = json?[field]?.string else { continue }
                let question = try WireRequest(.get, authority: "shelf.example", path: "/\(entity)?id=\(id)")
                let found = try await server.send(question, timeout: timeout).json(domain: "Shelf").elements
                if found?.isEmpty == false { continue }
                return WireResponse(
                    HTTPResponse(status: 400, headerFields: [.contentType: "application/json"]),
                    body: Data(#"{"error": "no such object"}"#.utf8))
            }
            return try await server.send(request, timeout: timeout)
        }
    }

    /// Shelf as a service that gives new objects their keys: here the ones that it was sent.
    private struct Naming: RemoteDialect {
        let shelf = ShelfDialect(authority: "shelf.example")
        let assignsIDs: Bool
        var name: String { shelf.name }
        var capabilities: RemoteCapabilities {
            var capabilities = shelf.capabilities
            if assignsIDs { capabilities.features.insert(.assignsIDs) }
            return capabilities
        }
        func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
            try shelf.request(for: operation, options: options)
        }
        func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
            try shelf.answer(response, to: operation)
        }
    }

    private let server = CheckingServer()

    private func store(assignsIDs: Bool = false) throws -> RemoteStore {
        let model = try ManagedObjectModel(name: "Notes") {
            Entity("Note") {
                Attribute("noteId", .string)
                Attribute("title", .string, optional: true)
                Relationship("folder", to: "Folder", .optionalToOne, inverse: "notes")
            }
            Entity("Folder") {
                Attribute("folderId", .string)
                Relationship("notes", to: "Note", .toMany, inverse: "folder")
                Relationship("cover", to: "Note", .optionalToOne)
            }
        }
        let backend = HTTPBackend(dialect: Naming(assignsIDs: assignsIDs), transport: server)
        return try RemoteStore.open(model: model, backend: backend, location: .memory(name: nil))
    }

    /// A note in a folder whose cover it is.
    private func makeCircle(in context: ManagedObjectContext) throws -> (note: ManagedObject, folder: ManagedObject) {
        let note = try context.insert(entityNamed: "Note")
        let folder = try context.insert(entityNamed: "Folder")
        note["folder"] = folder
        folder["cover"] = note
        return (note, folder)
    }

    /// The references that the server has.
    private func references() async throws -> [String?] {
        var result: [String?] = []
        for (entity, field) in [("Note", "folder"), ("Folder", "cover")] {
            let request = try WireRequest(.get, authority: "shelf.example", path: "/\(entity)")
            let list = try await server.send(request, timeout: 1).json(domain: "Shelf").elements ?? []
            result += list.map { $0[field]?.string }
        }
        return result
    }

    @Test(arguments: [SavePolicy.networkThenCache, .cacheOnly])
    func aBackEndThatAssignsKeysCutsCircles(policy: SavePolicy) async throws {
        let store = try store(assignsIDs: true)
        store.savePolicy = policy
        let context = try PersistentContainer(store: store).newContext()
        let (note, folder) = try makeCircle(in: context)
        try await context.save()
        let report = try await store.sync.synchronize()
        #expect(report.failures.isEmpty)
        #expect(try await references() == [folder["folderId"] as? String, note["noteId"] as? String])
    }

    @Test func otherBackEndsDoNot() async throws {
        let store = try store()
        store.savePolicy = .cacheOnly
        let context = try PersistentContainer(store: store).newContext()
        _ = try makeCircle(in: context)
        try await context.save()
        _ = try? await store.sync.synchronize()
        #expect(try store.sync.failedChanges().map(\.error.kind) == [.rejected])
    }

    @Test func aReferenceToADeletedObjectLosesNothing() async throws {
        let store = try store()
        store.savePolicy = .cacheOnly
        let context = try PersistentContainer(store: store).newContext()
        let folder = try context.insert(entityNamed: "Folder")
        try await context.save()
        try await store.sync.synchronize()
        let id = try #require(folder["folderId"] as? String)
        let deletion = try WireRequest(.delete, authority: "shelf.example", path: "/Folder/\(id)")
        #expect(try await server.send(deletion, timeout: 1).status == 204)

        let note = try context.insert(entityNamed: "Note")
        note["title"] = "Call Ann"
        note["folder"] = folder
        try await context.save()
        _ = try? await store.sync.synchronize()
        #expect(try store.sync.failedChanges().map(\.error.kind) == [.rejected])
        #expect(try await references() == [])

        note["folder"] = nil
        try await context.save()
        try await store.sync.synchronize()
        #expect(try store.sync.failedChanges().isEmpty)
        #expect(try await references() == [nil])
    }
}
