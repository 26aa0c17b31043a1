import StrataSQLite
import StrataStore

/// The updates that a save has sent. A server that compares versions carries out a write only if nobody has
/// written since the version that the write was made to, so any other version that an answer has told meanwhile contains
/// the write, or follows it.
struct SentUpdates: Sendable {
    private struct Update {
        let name: RemoteIdentity
        /// The versions that the object's writes were made to. The first attempt and what is left of it may have different ones.
        var bases: Set<String>
        /// The properties that were sent.
        var properties: Set<String>
    }

    private var updates: [RowIdentity: Update] = [:]

    /// - Parameters:
    ///   - writes: What the save was to send.
    ///   - sent: What was left of that after earlier writes of the same objects.
    init(_ writes: [MirrorWrite], sent: [MirrorWrite], _ capabilities: RemoteCapabilities) {
        for write in writes where write.kind == .update {
            guard let base = write.write.baseVersion,
                capabilities.features(of: write.entity).contains(.conditionalWrites)
            else { continue }
            let properties = Set(write.write.values.keys).union(write.write.operations.keys)
            updates[write.rootedIdentity] = Update(name: write.rootedName, bases: [base], properties: properties)
        }
        for write in sent {
            updates[write.rootedIdentity]?.bases.formUnion(write.write.baseVersion.map { [$0] } ?? [])
            updates[write.rootedIdentity]?.properties.formUnion(write.write.values.keys)
        }
    }

    /// The name of an object that was updated, with the topmost entity.
    func name(of identity: RowIdentity) -> RemoteIdentity? { updates[identity]?.name }

    /// The properties that answers have told since the updates were sent, as the server has them after the updates.
    func toldLater(_ order: AnswerOrder, _ ticket: ReadTicket) -> [RowIdentity: Set<String>] {
        var result: [RowIdentity: Set<String>] = [:]
        for (identity, update) in updates {
            guard let record = order.record(of: update.name, since: ticket), let version = record.version,
                !update.bases.contains(version)
            else { continue }
            let names = update.properties.intersection(record.values.keys)
            if !names.isEmpty { result[identity] = names }
        }
        return result
    }
}

extension ChangeSet {
    /// The changes without what the mirror has from later answers.
    /// - Parameters:
    ///   - told: The properties that such answers have told, by topmost entity and key.
    ///   - rows: The objects as the mirror has them.
    func below(
        _ told: [RowIdentity: Set<String>], _ rows: [RowIdentity: RowReference], _ model: ManagedObjectModel
    ) -> ChangeSet {
        func isTold(_ entityIndex: Int, _ owner: Int64, _ relationshipIndex: Int) -> Bool {
            let entity = model.entities[entityIndex]
            let names = told[RowIdentity(entityIndex: entity.rootIndex, key: owner)]
            return names?.contains(entity.relationships[relationshipIndex].name) == true
        }
        var result = self
        result.updates = updates.map { update in
            let entity = model.entities[update.row.row.entityIndex]
            guard let names = told[update.row.identity(model)], let now = rows[update.row.identity(model)] else {
                return update
            }
            var slab = RowSlab.copy(of: update.row.row, room: 64)
            var slots = update.slots
            for slot in names.flatMap(entity.slots(of:)) where slots.contains(slot) {
                // Both ends of a one-to-one relationship change together.
                if let index = entity.slots[slot].relationshipIndex,
                    model.inverse(of: entity.relationships[index])?.isToMany == false
                {
                    continue
                }
                slots.remove(slot)
                RowEditing.copySlot(slot, layout: entity.slots, from: now.row, to: &slab)
            }
            return Update(row: RowReference(slab: slab, row: slab.row), slots: slots, baseVersion: update.baseVersion)
        }
        result.pairs = pairs.filter { !isTold($0.entityIndex, $0.owner, $0.relationshipIndex) }
        result.orders = orders.filter { !isTold($0.entityIndex, $0.owner, $0.relationshipIndex) }
        return result
    }
}
