import StrataSQLite
import StrataStore

/// A record of the server that cannot be applied: it has a value of another type than the model declares, or an invalid primary
/// key.
///
///     for record in store.sync.unreadableRecords() {
///         print(record.identity?.description ?? "-", record.error.message)
///     }
///
/// The record is set aside, and all others are applied, so that one bad row does not stop a synchronization. Each pull requests
/// it again, until it is corrected on the server, or the model declares what the server has. ``SyncReport/unreadable`` has
/// those of one pull. Log them: usually they mean that the model and the server's schema differ.
public struct UnreadableRecord: Sendable, Hashable {
    /// The object; nil if the record does not tell its primary key.
    public var identity: RemoteIdentity?
    /// What is wrong, naming entity and property.
    public var error: RemoteError

    /// Describes a record.
    public init(identity: RemoteIdentity?, error: RemoteError) {
        self.identity = identity
        self.error = error
    }
}

/// The records that could not be applied since the mirror was opened, by object.
final class UnreadableRecords: Sendable {
    private let records = Guarded<[RemoteIdentity: RemoteError]>([:])

    func add(_ record: UnreadableRecord) {
        guard let identity = record.identity else { return }
        records.withLock { $0[identity] = record.error }
    }

    /// The server has told these, and they were applied.
    func remove(_ identities: some Sequence<RemoteIdentity>) {
        records.withLock { records in
            if records.isEmpty { return }
            for identity in identities { records[identity] = nil }
        }
    }

    func removeAll() { records.withLock { $0 = [:] } }

    var all: [UnreadableRecord] {
        records.withLock { $0 }.map { UnreadableRecord(identity: $0.key, error: $0.value) }
            .sorted { ($0.identity?.description ?? "") < ($1.identity?.description ?? "") }
    }
}
