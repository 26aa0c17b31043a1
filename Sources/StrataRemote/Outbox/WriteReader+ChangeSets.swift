import Foundation
import StrataSQLite
import StrataStore

/// What back ends are told about change sets that have not been saved.
extension WriteReader {
    func writes(
        for changes: ChangeSet, refused: [RowIdentity: OutboxEntry]
    ) throws(StoreError) -> [MirrorWrite] {
        var wanted: Set<RowIdentity> = []
        for insert in changes.inserts {
            let row = insert.row.row
            if let id = PrimaryKey.id(of: row, mirror.primaryKeys[row.entityIndex]) {
                names[RowIdentity(entityIndex: mirror.root(row.entityIndex), key: row.key)] = RemoteIdentity(
                    entity: model.entities[row.entityIndex].name, id: id)
            }
            note(row, in: &wanted)
        }
        for update in changes.updates { note(update.row.row, in: &wanted) }
        for pair in changes.pairs {
            let relationship = model.entities[pair.entityIndex].relationships[pair.relationshipIndex]
            let root = mirror.root(relationship.destinationIndex)
            for key in pair.added + pair.removed { wanted.insert(RowIdentity(entityIndex: root, key: key)) }
            wanted.insert(RowIdentity(entityIndex: mirror.root(pair.entityIndex), key: pair.owner))
        }
        for delete in changes.deletes {
            wanted.insert(RowIdentity(entityIndex: mirror.root(delete.entityIndex), key: delete.key))
        }
        let updated = Set(changes.updates.map { rooted($0.row.row) })
        let repeated = try rows(of: refused.filter { $1.kind == .insert && !updated.contains($0) }.map(\.key))
            .sorted { ($0.key.entityIndex, $0.key.key) < ($1.key.entityIndex, $1.key.key) }
        for (_, reference) in repeated { note(reference.row, in: &wanted) }
        try learn(wanted)
        try learnVersions(of: changes)
        let bases = try rows(of: changes.operations.keys.map(rooted))
        let queued = try queuedOperations(of: updated.union(repeated.map(\.key)))
        var result: [MirrorWrite] = []
        var positions: [RowIdentity: Int] = [:]
        for insert in changes.inserts {
            var write = try write(insert.row.row, kind: .insert, slots: nil, token: UUID())
            write.write.isWhole = true
            positions[rooted(write.identity)] = result.count
            result.append(write)
        }
        for update in changes.updates {
            let identity = rooted(update.row.row)
            let passed = PassedOperations(
                entries: queued[identity] ?? [], slots: update.slots,
                own: changes.operations(of: update).mapValues(\.opened))
            positions[identity] = result.count
            result.append(
                try write(
                    without(passed, update.row), base: bases[identity].map { without(passed.before, $0) }, passed,
                    refused[identity]))
        }
        for (identity, reference) in repeated {
            positions[identity] = result.count
            result.append(try creation(of: without(PassedOperations(entries: queued[identity] ?? []), reference)))
        }
        try addPairs(changes.pairs, to: &result, &positions)
        try addClearings(changes.clearings, to: &result, &positions)
        try addOrders(of: changes, to: &result, &positions)
        for delete in changes.deletes {
            let identity = RowIdentity(entityIndex: mirror.root(delete.entityIndex), key: delete.key)
            guard let name = names[identity] else { continue }
            let version = try version(name.id, root: identity.entityIndex)
            result.append(
                MirrorWrite(
                    kind: .delete, entity: model.entities[delete.entityIndex],
                    identity: RowIdentity(entityIndex: delete.entityIndex, key: delete.key),
                    write: RemoteWrite(id: name.id, baseVersion: version)))
        }
        return result
    }

    /// The change of an object.
    /// - Parameters:
    ///   - base: The object as the mirror has it, for operations.
    ///   - earlier: An entry of the outbox that the server refused.
    private func write(
        _ reference: RowReference, base: RowReference?, _ passed: PassedOperations, _ earlier: OutboxEntry?
    ) throws(StoreError) -> MirrorWrite {
        // The server has never had it: what the save makes of the object is what it is asked to create.
        if earlier?.kind == .insert { return try creation(of: reference) }
        // What the server refused before goes along as values. Operations stay in the outbox.
        let values = earlier?.assignedSlots ?? SlotSet()
        var slots = passed.slots
        slots.formUnion(values)
        var write = try write(reference.row, kind: .update, slots: slots, token: UUID())
        for change in earlier?.members ?? [] { try add(change, of: reference.row, to: &write) }
        // Operations on a refused value are part of that value.
        compute(passed.own.filter { !values.contains($0.key) }, base, in: &write)
        return write
    }

    /// The creation of an object that is here with its members.
    private func creation(of reference: RowReference) throws(StoreError) -> MirrorWrite {
        let row = reference.row
        var write = try write(row, kind: .insert, slots: nil, token: UUID())
        try addMembers(of: row, to: &write)
        write.write.isWhole = true
        write.write.baseVersion = nil
        return write
    }

    private func rooted(_ row: RowPointer) -> RowIdentity {
        RowIdentity(entityIndex: mirror.root(row.entityIndex), key: row.key)
    }

    private func rooted(_ identity: RowIdentity) -> RowIdentity {
        RowIdentity(entityIndex: mirror.root(identity.entityIndex), key: identity.key)
    }

    private func addPairs(
        _ pairs: [ChangeSet.PairChange], to result: inout [MirrorWrite], _ positions: inout [RowIdentity: Int]
    ) throws(StoreError) {
        for pair in pairs {
            let owner = RowIdentity(entityIndex: mirror.root(pair.entityIndex), key: pair.owner)
            let relationship = model.entities[pair.entityIndex].relationships[pair.relationshipIndex]
            let root = mirror.root(relationship.destinationIndex)
            let added = pair.added.compactMap { names[RowIdentity(entityIndex: root, key: $0)] }
            let removed = pair.removed.compactMap { names[RowIdentity(entityIndex: root, key: $0)] }
            guard let position = try position(of: owner, in: &result, &positions) else { continue }
            if result[position].kind == .insert {
                var members = result[position].write.values.members(of: relationship.name)
                members.removeAll { id in removed.contains { $0.id == id } || added.contains { $0.id == id } }
                result[position].write.values[relationship.name] = .references(members + added.map(\.id))
            } else {
                result[position].relate(
                    RemoteRelation(
                        id: result[position].write.id, relationship: relationship.name, added: added.map(\.id),
                        removed: removed.map(\.id)))
            }
            result[position].references.formUnion(added)
        }
    }

    private func learnVersions(of changes: ChangeSet) throws(StoreError) {
        var ids: [Int: [String]] = [:]
        for row in changes.inserts.map(\.row.row) + changes.updates.map(\.row.row) {
            guard let id = PrimaryKey.id(of: row, mirror.primaryKeys[row.entityIndex]) else { continue }
            ids[mirror.root(row.entityIndex), default: []].append(id)
        }
        for delete in changes.deletes {
            let root = mirror.root(delete.entityIndex)
            if let name = names[RowIdentity(entityIndex: root, key: delete.key)] {
                ids[root, default: []].append(name.id)
            }
        }
        try learnVersions(ids)
    }

    /// Where the write of an object stands; of one that had none it is an update without values.
    /// - Returns: nil for an object that the back end does not know.
    private func position(
        of owner: RowIdentity, in result: inout [MirrorWrite], _ positions: inout [RowIdentity: Int]
    ) throws(StoreError) -> Int? {
        if let known = positions[owner] { return known }
        guard let name = names[owner], let entity = model.entity(named: name.entity) else { return nil }
        positions[owner] = result.count
        let version = try version(name.id, root: owner.entityIndex)
        result.append(
            MirrorWrite(
                kind: .update, entity: entity, identity: RowIdentity(entityIndex: entity.index, key: owner.key),
                write: RemoteWrite(id: name.id, baseVersion: version)))
        return positions[owner]
    }

    /// References that become nil with what they lead to.
    private func addClearings(
        _ clearings: [ChangeSet.Clearing], to result: inout [MirrorWrite], _ positions: inout [RowIdentity: Int]
    ) throws(StoreError) {
        for clearing in clearings {
            let root = mirror.root(clearing.entityIndex)
            let entity = model.entities[clearing.entityIndex]
            guard let index = entity.slots[clearing.slot].relationshipIndex else { continue }
            let targets = Set(clearing.targets)
            let owners = clearing.keys.map { RowIdentity(entityIndex: root, key: $0) }
            try learn(Set(owners))
            let rows = try rows(of: owners)
            for owner in owners {
                guard let row = rows[owner]?.row, row.isPresent(clearing.slot),
                    targets.contains(Int64(bitPattern: row.word(clearing.slot))),
                    let position = try position(of: owner, in: &result, &positions)
                else { continue }
                result[position].write.values[entity.relationships[index].name] = .reference(nil)
            }
        }
    }

    /// Members whose order changed: a back end is told the whole list.
    private func addOrders(
        of changes: ChangeSet, to result: inout [MirrorWrite], _ positions: inout [RowIdentity: Int]
    ) throws(StoreError) {
        for order in changes.orders {
            let owner = RowIdentity(entityIndex: mirror.root(order.entityIndex), key: order.owner)
            let relationship = model.entities[order.entityIndex].relationships[order.relationshipIndex]
            let root = mirror.root(relationship.destinationIndex)
            let members: [Int64]
            switch order.kind {
            case .arrange(let keys): members = keys
            case .append(let keys):
                let new = Set(keys)
                members =
                    try mirror.store.memberKeys(
                        entityIndex: order.entityIndex, relationshipIndex: order.relationshipIndex,
                        owners: [order.owner], on: connection
                    ).map(\.member).filter { !new.contains($0) } + keys
            }
            let gone = Set(changes.deletes.filter { mirror.root($0.entityIndex) == root }.map(\.key))
            let identities = members.filter { !gone.contains($0) }.map { RowIdentity(entityIndex: root, key: $0) }
            try learn(Set(identities + [owner]))
            guard let position = try position(of: owner, in: &result, &positions) else { continue }
            // After a save that was done in part, an object may be among them by two keys: its own, and the one by which the
            // server's answer brought it.
            var told: Set<String> = []
            let found = identities.compactMap { names[$0] }.filter { told.insert($0.id).inserted }
            result[position].write.values[relationship.name] = .references(found.map(\.id))
            result[position].relations.removeAll { $0.relationship == relationship.name }
            if mirror.depends(on: relationship) { result[position].references.formUnion(found) }
        }
    }
}
