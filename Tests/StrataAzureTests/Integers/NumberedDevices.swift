import Foundation
import Strata
import StrataAzure
import StrataRemoteTesting
import Testing

/// A server of Mobile Services with integer tables, and devices that keep its rows in SQLite files.
final class NumberedDevices {
    let server: AzureTestServer
    private let folder: URL
    private var count = 0

    /// Notes in folders, both with integers as ids, and people with texts, who have a favorite note.
    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Numbered") {
            Entity("Folder", primaryKey: "folderId") {
                Attribute("folderId", .integer64, optional: true)
                Attribute("name", .string, optional: true)
                Relationship("notes", to: "Note", .toMany, inverse: "folder")
            }
            Entity("Note", primaryKey: "noteId") {
                Attribute("noteId", .integer64, optional: true)
                Attribute("text", .string, optional: true)
                Attribute("stars", .integer64, optional: true)
                Attribute("mark", .uuid, optional: true)
                Attribute("changed", .date, optional: true)
                Relationship("folder", to: "Folder", .optionalToOne, inverse: "notes")
                Relationship("owner", to: "Person", .optionalToOne, inverse: "notes")
                Relationship("fans", to: "Person", .toMany, inverse: "favorite")
            }
            Entity("Person") {
                Attribute("personId", .string)
                Attribute("name", .string, optional: true)
                Relationship("notes", to: "Note", .toMany, inverse: "owner")
                Relationship("favorite", to: "Note", .optionalToOne, inverse: "fans")
            }
        }
    }

    init(page: Int = 50, uniqueColumn: String? = nil) throws {
        server = AzureTestServer(
            .mobileServices, keepsDeleted: true, page: page, integerTables: ["Folder", "Note"],
            uniqueColumn: uniqueColumn)
        folder = FileManager.default.temporaryDirectory.appending(path: "strata-azure-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        // The folder is in the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: folder)
    }

    /// A new device.
    func open(
        isOnline: Bool, keepsDeletedRows: Bool = true, policy: ConflictPolicy? = nil, modified: String? = nil
    ) throws -> (store: RemoteStore, context: ManagedObjectContext) {
        var configuration = try AzureConfiguration("https://notes.example", applicationKey: "key")
        configuration.transport = server
        configuration.sessionStorage = MemorySessionStorage()
        configuration.dialect.keepsDeletedRows = keepsDeletedRows
        var options = RemoteStore.Options()
        options.savePolicy = isOnline ? .networkThenCache : .cacheOnly
        options.fetchPolicy = .cacheOnly
        options.sync.retries = 0
        options.sync.pageSize = 3
        options.sync.policies.standard = policy
        options.sync.modificationAttribute = modified
        count += 1
        let store = try RemoteStore.open(
            model: try Self.model(), backend: AzureClient(configuration).backend,
            location: .file(path: folder.appending(path: "\(count).sqlite").path), options: options)
        let context = try PersistentContainer(store: store).newContext(automaticallyMergesChanges: true)
        return (store, context)
    }

    /// The requests of a kind: method and path, without the query, and the body.
    func requests(_ method: HTTPRequest.Method) -> [(path: String, body: JSONValue?)] {
        server.requests.filter { $0.head.method == method }.map { request in
            let path = (request.head.path ?? "").split(separator: "?").first.map(String.init) ?? ""
            return (path, request.body.flatMap { try? JSONValue(parsing: $0) })
        }
    }

    /// The values of a parameter in requests for a table.
    func parameters(_ name: String, of table: String) -> [String] {
        server.requests.compactMap { request in
            let parts = (request.head.path ?? "").split(separator: "?")
            guard parts.count == 2, parts[0] == "/tables/\(table)" else { return nil }
            return QueryParameters.read(parts[1])?.first { $0.name == name }?.value
        }
    }
}

extension ManagedObjectContext {
    /// The notes that meet a condition, by id.
    func notes(_ condition: FetchPredicate? = nil) throws -> [ManagedObject] {
        var request = FetchRequest<ManagedObject>(entity: "Note")
        request.predicate = condition
        return try fetch(request).sorted { ($0["noteId"] as? Int64 ?? 0) < ($1["noteId"] as? Int64 ?? 0) }
    }

    /// A new note in a new folder.
    func insertNote(_ text: String) throws -> (note: ManagedObject, folder: ManagedObject) {
        let folder = try insert(entityNamed: "Folder")
        folder["name"] = "Work"
        let note = try insert(entityNamed: "Note")
        note["text"] = text
        note["folder"] = folder
        return (note, folder)
    }

    /// Saves without waiting for the network.
    func saveHere() throws { try save() }
}
