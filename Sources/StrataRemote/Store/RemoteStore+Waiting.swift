import Foundation
import StrataSQLite
import StrataStore

// What was saved to the mirror and waits to be sent goes before what is asked now, and counts in what is found.

extension Mirror {
    /// The keys of the objects of a hierarchy that have changes which the back end has not taken yet.
    func waitingKeys(rootIndex: Int) throws(StoreError) -> Set<Int64> {
        try store.reading { (connection) throws(StoreError) in
            let statement = try connection.statement("SELECT key FROM _outbox WHERE root = ?")
            statement.bind(entities.numbers[rootIndex], at: 1)
            var result: Set<Int64> = []
            while try statement.step() { if !statement.isNull(0) { result.insert(statement.integer(0)) } }
            return result
        }
    }

    /// The slots that wait to be sent of those of some objects that have changes in the outbox, by topmost entity and key.
    func waitingSlots(of objects: some Sequence<RowIdentity>) throws(StoreError) -> [RowIdentity: SlotSet] {
        try store.reading { (connection) throws(StoreError) in
            try waitingUpdates(of: objects, on: connection).mapValues { entries in
                entries.reduce(into: SlotSet()) { $0.formUnion($1.slots) }
            }
        }
    }

    /// The changes of members that wait to be sent, by topmost entity and key of the owner.
    func waitingMembers(
        of owners: Set<RowIdentity>, on connection: Connection
    ) throws(StoreError) -> [RowIdentity: [MemberChange]] {
        try waitingUpdates(of: owners, on: connection).mapValues { $0.flatMap(\.members) }
    }

    /// The changes of objects that wait to be sent. What the server has refused is not among them, and neither are new objects.
    private func waitingUpdates(
        of objects: some Sequence<RowIdentity>, on connection: Connection
    ) throws(StoreError) -> [RowIdentity: [OutboxEntry]] {
        var result: [RowIdentity: [OutboxEntry]] = [:]
        for (root, list) in Dictionary(grouping: objects, by: \.entityIndex) {
            for (key, found) in try entries(root: root, keys: list.map(\.key).sorted(), on: connection) {
                let updates = found.filter { $0.kind == .update && $0.state != .failed }
                if !updates.isEmpty { result[RowIdentity(entityIndex: root, key: key)] = updates }
            }
        }
        return result
    }
}

extension RemoteStore {
    /// The result of a fetch with what waits on top: objects with changes that the back end has not taken count as they
    /// are here.
    func withWaiting(_ keys: [Int64], _ plan: FetchPlan) throws(StoreError) -> [Int64] {
        let waiting = try mirror.waitingKeys(rootIndex: mirror.root(plan.entityIndex))
        guard !waiting.isEmpty else { return keys }
        var here = plan
        here.sorts = []
        here.limit = nil
        here.offset = 0
        let among = FetchPredicate.isOne(of: waiting.sorted())
        here.predicate = plan.predicate.map { among && $0 } ?? among
        let found = try mirror.store.fetchIdentities(here, cancellation: nil).map(\.key)
        return keys.filter { !waiting.contains($0) } + found
    }

    /// Sends what waits of the objects that a save changes or refers to: the back end hears about changes in their
    /// order.
    func sendWhatGoesBefore(_ changes: ChangeSet) async throws(StoreError) {
        guard try goesBehindWaiting(changes) else { return }
        do throws(SyncError) {
            try await sync.push()
        } catch {
            // What keeps other changes back says nothing of this save.
            guard try goesBehindWaiting(changes) else { return }
            throw StoreError(error)
        }
    }

    private func goesBehindWaiting(_ changes: ChangeSet) throws(StoreError) -> Bool {
        guard try mirror.entryCount(failed: false) > 0 else { return false }
        var waiting: [Int: Set<Int64>] = [:]
        for entity in model.entities where entity.parentIndex == nil {
            waiting[entity.index] = try mirror.waitingKeys(rootIndex: entity.index)
        }
        func waits(_ entityIndex: Int, _ key: Int64) -> Bool {
            waiting[mirror.root(entityIndex)]?.contains(key) == true
        }
        func refersToWaiting(_ row: RowPointer) -> Bool {
            let entity = model.entities[row.entityIndex]
            return entity.relationships.contains { relationship in
                guard let slot = relationship.slot, row.isPresent(slot) else { return false }
                return waits(relationship.destinationIndex, Int64(bitPattern: row.word(slot)))
            }
        }
        return try reusesDeletedKeys(changes) || changes.inserts.contains { refersToWaiting($0.row.row) }
            || changes.updates.contains {
                waits($0.row.row.entityIndex, $0.row.row.key) || refersToWaiting($0.row.row)
            }
            || changes.deletes.contains { waits($0.entityIndex, $0.key) }
            || changes.pairs.contains { pair in
                let end = model.entities[pair.entityIndex].relationships[pair.relationshipIndex].destinationIndex
                return waits(pair.entityIndex, pair.owner) || pair.added.contains { waits(end, $0) }
            }
    }

    /// Whether new objects have primary keys of objects whose deletion waits: that has to go first.
    private func reusesDeletedKeys(_ changes: ChangeSet) throws(StoreError) -> Bool {
        let rows = changes.inserts.map(\.row.row)
        return try mirror.store.reading { (connection) throws(StoreError) in
            for (root, rows) in Dictionary(grouping: rows, by: { mirror.root($0.entityIndex) }) {
                let ids = rows.compactMap { PrimaryKey.id(of: $0, mirror.primaryKeys[root]) }
                let deletions = try mirror.deletions(of: ids, root: root, on: connection)
                if deletions.contains(where: { $0.state != .failed }) { return true }
            }
            return false
        }
    }
}
