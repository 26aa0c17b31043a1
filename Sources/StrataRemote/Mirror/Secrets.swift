import StrataSQLite
import StrataStore

/// Secrets of objects until they are sent.
final class Secrets: Sendable {
    private let values = Guarded<[RowIdentity: [String: String]]>([:])

    func set(_ value: String?, _ name: String, _ identity: RowIdentity) {
        values.withLock { $0[identity, default: [:]][name] = value }
    }

    /// The secrets of an object. Identities name the topmost entity.
    func of(_ identity: RowIdentity) -> [String: String] { values.withLock { $0[identity] ?? [:] } }

    /// Whose secrets are held, and what they are called.
    var names: [RowIdentity: Set<String>] {
        values.withLock { $0.filter { !$0.value.isEmpty }.mapValues { Set($0.keys) } }
    }

    func forget(_ identity: RowIdentity) { values.withLock { $0[identity] = nil } }

    func forgetAll() { values.withLock { $0 = [:] } }
}
