import Foundation
import StrataStore

/// Sessions that end with the process: for tests and tools.
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
