import Foundation
import StrataStore

/// A storage whose sessions end with the process: for tests, tools and servers.
///
///     let storage: any SessionStorage = MemorySessionStorage()
///     try storage.keep(Data("token".utf8), named: "notes")
///     print(try storage.session(named: "notes")?.count ?? 0)  // 5
///
/// Set it as `sessionStorage` in the configuration of a client. Nothing is written to the disk, and no user of an earlier launch is logged in. Share one instance between two clients to let
/// the second begin with the session of the first, as after a new launch.
public final class MemorySessionStorage: SessionStorage {
    private let sessions = Guarded<[String: Data]>([:])

    /// Makes an empty storage.
    public init() {}

    /// What is kept under a name.
    public func session(named name: String) -> Data? { sessions.withLock { $0[name] } }
    /// Keeps a session.
    public func keep(_ session: Data, named name: String) { sessions.withLock { $0[name] = session } }
    /// Forgets a session.
    public func forget(named name: String) { sessions.withLock { $0[name] = nil } }
}
