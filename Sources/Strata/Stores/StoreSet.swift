import Foundation
import StrataStore

/// The stores of a container that has several, as one store: each call goes to the store that keeps the entity. No
/// relationship leads from one to another, so that a fetch, its conditions and the members of a relationship are always in
/// one store.
///
/// ``StoreNetwork`` brings rows from elsewhere, for the entities of a remote store.
///
/// A change set must be about one store; ``SaveCoordinator`` divides those of a context with ``next(in:after:)``.
final class StoreSet: PersistentStore, PartReader {
    /// One of the stores.
    struct Part: Sendable {
        /// The name of the configuration.
        let configuration: String
        let store: any PersistentStore
        let translation: EntityTranslation

        /// The configuration and the store, for messages.
        var name: String { "\(configuration) (\(store.name))" }
    }

    let model: ManagedObjectModel
    /// In the order in which the application has described them.
    let parts: [Part]
    let identifier: UUID
    let changes: StoreChangeFeed?
    /// By position of the entity, the position of its store.
    private let partIndexes: [Int]
    /// Keeps this one listening to the stores.
    private let observations: [StoreObservation]

    init(model: ManagedObjectModel, parts: [Part]) {
        self.model = model
        self.parts = parts
        partIndexes = model.entities.map { entity in
            parts.firstIndex { $0.translation.keeps(entity.index) } ?? 0
        }
        // The same for the same stores, in whatever order.
        let bytes = parts.map { withUnsafeBytes(of: $0.store.identifier.uuid) { Array($0) } }
        let mixed = bytes.reduce(Array(repeating: UInt8(0), count: 16)) { zip($0, $1).map { $0 ^ $1 } }
        identifier = mixed.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        let feed = parts.contains { $0.store.changes != nil } ? StoreChangeFeed() : nil
        changes = feed
        observations = parts.compactMap { part in
            part.store.changes?.observe { [weak feed] change in
                if let change = part.translation.told(change) { feed?.post(change) }
            }
        }
    }

    func close() {
        for part in parts { part.store.close() }
    }

    /// The store of an entity.
    func part(of entityIndex: Int) -> Part { parts[partIndexes[entityIndex]] }

    /// The position of the store of an entity.
    func position(of entityIndex: Int) -> Int { partIndexes[entityIndex] }

    // MARK: What the stores are

    var name: String { parts.map(\.name).joined(separator: ", ") }

    /// What all of them can do.
    var capabilities: StoreCapabilities {
        parts.dropFirst().reduce(parts[0].store.capabilities) { $0.intersection($1.store.capabilities) }
    }

    var isReadOnly: Bool { parts.allSatisfy(\.store.isReadOnly) }

    // MARK: Reading

    var set: StoreSet { self }

    func reader(at position: Int) -> any StoreReader { parts[position].store }

    func replicaReader(isFresh: Bool) -> (any ReplicaReader)? { StoreSetReplica(self, isFresh: isFresh) }

    /// The names of files are random, so that only one store has the file. Contexts ask the store of the object instead.
    func externalData(named name: String) throws(StoreError) -> Data {
        var failure: StoreError?
        for part in parts where part.store.capabilities.contains(.externalStorage) {
            do throws(StoreError) { return try part.store.externalData(named: name) } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? .unsupported(store: self.name, feature: "values in files of their own")
    }

    // MARK: Writing

    func allocateKeys(_ count: Int, rootIndex: Int) throws(StoreError) -> Range<Int64> {
        let part = part(of: rootIndex)
        return try part.store.allocateKeys(count, rootIndex: part.translation.inner(rootIndex))
    }

    func perform(_ operation: BulkOperation, by origin: ChangeOrigin) throws(StoreError) -> BulkResult {
        let entityIndex =
            switch operation {
            case .update(let update): update.fetch.entityIndex
            case .delete(let plan): plan.entityIndex
            }
        let part = part(of: entityIndex)
        return part.translation.outer(try part.store.perform(part.translation.inner(operation), by: origin))
    }

    // MARK: Observing

    func observeForeignCommits(_ handler: @escaping @Sendable () -> Void) -> StoreObservation? {
        joined(parts.compactMap { $0.store.observeForeignCommits(handler) })
    }

    func foreignCommitCount() -> ForeignCommitCount {
        var result = ForeignCommitCount.none
        for part in parts {
            switch (result, part.store.foreignCommitCount()) {
            case (_, .none): break
            case (.known(let before), .known(let count)): result = .known(before + count)
            case (.none, let count): result = count
            default: return .unknown
            }
        }
        return result
    }

    func observeStatements(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> StoreObservation? {
        joined(parts.compactMap { $0.store.observeStatements(handler) })
    }

    /// One observation that keeps several.
    private func joined(_ observations: [StoreObservation]) -> StoreObservation? {
        observations.isEmpty ? nil : StoreObservation { withExtendedLifetime(observations) {} }
    }
}
