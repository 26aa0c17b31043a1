import Foundation
import StrataRemoteTesting

/// The store to be tried by the conformance kit: what is saved goes to a server, and what is fetched comes from it.
public final class PlainJSONSubject: ConformanceSubject {
    public let name = "Plain JSON"
    /// Saves are a request for each object, so that some may be done and others not; the server keeps no unique values,
    /// and its values are those of JSON.
    public let omissions: Set<ConformanceFeature> = [.atomicSaves, .uniqueKeys, .composites]
    private let servers = Servers()

    /// Makes the subject.
    public init() {}

    public func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
        var options = RemoteStore.Options()
        options.fetchPolicy = .networkOnly
        options.savePolicy = .networkThenCache
        options.waitsForNetwork = true
        options.finishesLocally = true
        let backend = HTTPBackend(
            dialect: PlainJSONDialect(authority: "localhost"), transport: servers.server(of: place.path))
        return try RemoteStore.open(
            model: model, backend: backend, location: .file(path: place.appendingPathComponent("mirror.sqlite").path),
            options: options)
    }
}

/// The servers by place.
///
/// `@unchecked Sendable`: the servers are touched only while the lock is held.
private final class Servers: @unchecked Sendable {
    private let lock = NSLock()
    private var servers: [String: PlainJSONServer] = [:]

    func server(of place: String) -> PlainJSONServer {
        lock.withLock {
            if let server = servers[place] { return server }
            let server = PlainJSONServer()
            servers[place] = server
            return server
        }
    }
}
