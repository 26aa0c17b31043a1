import Foundation
import StrataSQLite

/// A save on its way to a back end: new objects first, then changed, then deleted ones. A kind of which some failed
/// stops the kinds behind it.
struct SaveSending {
    let store: RemoteStore
    let options: RemoteStore.Options
    let writes: [MirrorWrite]
    /// What the server has now of what was written, as far as it told.
    private(set) var records: [RemoteRecord] = []
    /// The objects whose writes are not done, by topmost entity and key.
    private(set) var undone: Set<RowIdentity> = []
    /// What happened to those that were tried.
    private var failures: [(write: MirrorWrite, error: RemoteError)] = []

    init(store: RemoteStore, options: RemoteStore.Options, writes: [MirrorWrite]) {
        self.store = store
        self.options = options
        self.writes = writes
    }

    /// Whether everything is done.
    var isComplete: Bool { undone.isEmpty }

    /// The error that all writes met before any of them was looked at.
    var commonError: RemoteError? {
        guard let first = failures.first?.error, first.concernsAll, failures.allSatisfy({ $0.error == first }) else {
            return nil
        }
        return first
    }

    /// All failures as one.
    var failure: RemoteFailure {
        func objects(_ kind: OutboxEntry.Kind) -> [RemoteFailure.Object] {
            failures.filter { $0.write.kind == kind }.map { write, error in
                let id = ObjectID(
                    entity: write.entity, key: write.identity.key, storeIdentifier: store.identifier)
                return RemoteFailure.Object(objectID: id, failure: RemoteFailure(error))
            }
        }
        var result = RemoteFailure(
            kind: RemoteFailure.saveKind, domain: "Strata", code: RemoteFailure.saveCode,
            message: "\(store.backend.name) did not save \(failures.count) of \(writes.count) objects")
        result.inserted = objects(.insert)
        result.updated = objects(.update)
        result.deleted = objects(.delete)
        return result
    }

    private func rooted(_ write: MirrorWrite) -> RowIdentity {
        RowIdentity(entityIndex: write.entity.rootIndex, key: write.identity.key)
    }

    mutating func run() async {
        for kind in [OutboxEntry.Kind.insert, .update, .delete] {
            let list = writes.filter { $0.kind == kind }
            if failures.isEmpty {
                await send(kind == .insert ? Self.referencedFirst(list) : list)
            } else {
                undone.formUnion(list.map(rooted))
            }
        }
    }

    /// New objects in an order in which those that others refer to come first, as far as there is one.
    private static func referencedFirst(_ list: [MirrorWrite]) -> [MirrorWrite] {
        var left = Dictionary(
            list.map { (RemoteIdentity(entity: $0.entity.name, id: $0.write.id), $0) }, uniquingKeysWith: { $1 })
        var result: [MirrorWrite] = []
        for write in list {
            var stack = [(write: write, isOpen: true)]
            while let top = stack.popLast() {
                let name = RemoteIdentity(entity: top.write.entity.name, id: top.write.write.id)
                guard top.isOpen else {
                    result.append(top.write)
                    continue
                }
                guard left.removeValue(forKey: name) != nil else { continue }
                stack.append((top.write, false))
                for reference in top.write.references {
                    if let other = left[reference] { stack.append((other, true)) }
                }
            }
        }
        return result
    }

    // MARK: Requests

    /// Sends writes of one kind: as many in a request as the back end takes.
    private mutating func send(_ list: [MirrorWrite]) async {
        let features = store.backend.capabilities.features
        let size = max(1, store.backend.capabilities.maximumBatch)
        var rest = list[...]
        while let first = rest.first {
            var count = 1
            if features.contains(.batches) {
                count = min(size, rest.count)
            } else if first.kind == .insert, features.contains(.creatingMany) {
                count = min(size, rest.prefix { $0.entity === first.entity }.count)
            }
            let group = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            await send(together: group)
            if let last = failures.last?.error, last.concernsAll {
                for write in rest { fail(write, last) }
                return
            }
        }
    }

    private mutating func fail(_ write: MirrorWrite, _ error: RemoteError) {
        undone.insert(rooted(write))
        failures.append((write, error))
    }

    private mutating func send(together group: [MirrorWrite]) async {
        var operations: [(operation: RemoteOperation, count: Int)] = []
        var owners: [MirrorWrite] = []
        do throws(StoreError) {
            if group.count > 1, !store.backend.capabilities.features.contains(.batches) {
                operations = [(.create(entity: group[0].entity, group.map(complete)), group.count)]
                owners = group
            } else {
                for write in group {
                    let list = try self.operations(of: write)
                    operations += list.map { ($0, 1) }
                    owners += Array(repeating: write, count: list.count)
                }
            }
        } catch {
            for write in group {
                fail(write, RemoteError(.invalidRequest, domain: "Strata", message: error.description))
            }
            return
        }
        let isBatch = group.count > 1 && operations.count > 1
        let requests = isBatch ? [(RemoteOperation.batch(operations.map(\.operation)), owners.count)] : operations
        var position = 0
        for (operation, count) in requests {
            let concerned = owners[position..<position + count]
            position += count
            // The second request of an object whose first one failed.
            if concerned.allSatisfy({ undone.contains(rooted($0)) }) { continue }
            await send(operation, for: concerned)
        }
    }

    private mutating func send(_ operation: RemoteOperation, for concerned: ArraySlice<MirrorWrite>) async {
        let outcomes: [RemoteOutcome]
        do throws(RemoteError) {
            let answer = try await store.backend.perform(operation, options: options.request)
            switch answer {
            case .outcomes(let list) where list.count == concerned.count: outcomes = list
            case .nothing: outcomes = concerned.map { _ in .done(nil) }
            default:
                throw RemoteError(
                    .invalidAnswer, domain: "Strata",
                    message: "\(store.backend.name) did not say what became of \(concerned.count) writes")
            }
        } catch {
            outcomes = concerned.map { _ in .failed(error) }
        }
        for (write, outcome) in zip(concerned, outcomes) {
            switch outcome {
            case .done(let record): if let record, write.kind != .delete { records.append(record) }
            case .failed(let error):
                // What was to be deleted is gone.
                if write.kind == .delete, error.kind == .notFound { continue }
                if let record = error.serverRecord { records.append(record) }
                if !undone.contains(rooted(write)) { fail(write, error) }
            }
        }
    }

    /// What an object's writes are at the back end.
    private func operations(of write: MirrorWrite) throws(StoreError) -> [RemoteOperation] {
        let complete = complete(write)
        switch write.kind {
        case .insert: return [.create(entity: write.entity, [complete])]
        case .delete: return [.delete(entity: write.entity, complete)]
        case .update:
            if store.backend.capabilities.features.contains(.relating) {
                let isEmpty = complete.values.isEmpty && complete.secrets.isEmpty && !write.relations.isEmpty
                return (isEmpty ? [] : [.update(entity: write.entity, complete)])
                    + write.relations.map { .relate(entity: write.entity, $0) }
            }
            var whole = complete
            for relation in write.relations {
                whole.values[relation.relationship] = .references(try members(relation, of: write))
            }
            return [.update(entity: write.entity, whole)]
        }
    }

    private func complete(_ write: MirrorWrite) -> RemoteWrite {
        var result = write.write
        result.secrets = store.secrets.of(rooted(write))
        return result
    }

    /// All members of a relationship after a change, for a back end that takes them as a whole alone.
    private func members(_ relation: RemoteRelation, of write: MirrorWrite) throws(StoreError) -> [String] {
        guard let relationship = write.entity.relationship(named: relation.relationship) else { return relation.added }
        let keys = try store.mirror.store.memberKeys(
            entityIndex: write.entity.index, relationshipIndex: relationship.index, owners: [write.identity.key]
        ).map(\.member)
        let names = try store.mirror.ids(entityIndex: relationship.destinationIndex, keys: keys.sorted())
        let removed = Set(relation.removed + relation.added)
        return keys.compactMap { names[$0]?.id }.filter { !removed.contains($0) } + relation.added
    }
}
