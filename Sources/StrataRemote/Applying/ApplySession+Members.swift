import Foundation
import StrataSQLite

/// Puts the members that records tell into to-many relationships, below what was changed here.
extension ApplySession {
    mutating func placeMembers(_ item: Item, _ key: Int64, entries: [OutboxEntry]) throws(StoreError) {
        for (name, value) in item.record.values {
            guard case .references(let ids) = value, let relationship = item.entity.relationship(named: name),
                relationship.isToMany
            else { continue }
            let destination = model.destination(of: relationship)
            var members: [Int64] = []
            for id in ids {
                let identity = named(id, destination)
                if !gone.contains(identity), let member = keys[identity], !members.contains(member) {
                    members.append(member)
                }
            }
            switch relationship.storage {
            case .pairs(let isPrimary):
                guard isPrimary || mirror.keepsInverses else { continue }
                try placePairs(relationship, item.entity, key, members, isPrimary: isPrimary, entries)
            case .inverseSlot(let slot): try adopt(members, destination, slot: slot, owner: key)
            case .slot: break
            }
            let isArrangedHere = entries.contains { $0.members.contains { $0.relationship == name && $0.isOrder } }
            guard relationship.isOrdered, !isArrangedHere, !members.isEmpty else { continue }
            changes.orders.append(
                .init(
                    entityIndex: item.entity.index, relationshipIndex: relationship.index, owner: key,
                    kind: .arrange(members)))
        }
    }

    /// Makes the pairs of an object those that the server tells, with what was added and removed here on top.
    mutating func placePairs(
        _ relationship: RelationshipDescription, _ entity: EntityDescription, _ key: Int64, _ members: [Int64],
        isPrimary: Bool, _ entries: [OutboxEntry]
    ) throws(StoreError) {
        let present = Set(
            try transaction.memberKeys(
                entityIndex: entity.index, relationshipIndex: relationship.index, owners: [key]
            ).map(\.member))
        let wanted = Set(members)
        let different = present.symmetricDifference(wanted).sorted()
        guard !different.isEmpty else { return }
        guard !isPrimary else {
            let waiting = entries.flatMap(\.members).filter { $0.relationship == relationship.name }
            let free = different.filter { key in
                !waiting.contains { $0.added.contains(key) || $0.removed[key] != nil }
            }
            return addPairs(
                relationship, entity.index, key, free.filter(wanted.contains), free.filter { !wanted.contains($0) })
        }
        // The other side has the changes that wait.
        guard let inverse = model.inverse(of: relationship) else { return }
        for owner in different {
            let identity = RowIdentity(entityIndex: mirror.root(relationship.destinationIndex), key: owner)
            if settling.contains(identity) { continue }
            let waiting =
                outboxIsEmpty
                ? [] : try mirror.entries(root: mirror.root(relationship.destinationIndex), key: owner, on: connection)
            let isTaken = waiting.flatMap(\.members).contains {
                $0.relationship == inverse.name && ($0.added.contains(key) || $0.removed[key] != nil)
            }
            // A new object tells its members itself.
            if isTaken || waiting.contains(where: { $0.kind == .insert }) { continue }
            addPairs(
                inverse, relationship.destinationIndex, owner, wanted.contains(owner) ? [key] : [],
                wanted.contains(owner) ? [] : [key])
        }
    }

    mutating func addPairs(
        _ relationship: RelationshipDescription, _ entityIndex: Int, _ owner: Int64, _ added: [Int64],
        _ removed: [Int64]
    ) {
        guard !added.isEmpty || !removed.isEmpty else { return }
        changes.pairs.append(
            .init(
                entityIndex: model.entity(named: relationship.declaringEntity)?.index ?? entityIndex,
                relationshipIndex: relationship.index, owner: owner, added: added, removed: removed))
    }

    /// Members of which nothing is known yet refer to their owner. Others tell by themselves where they belong.
    func adopt(
        _ members: [Int64], _ destination: EntityDescription, slot: Int, owner: Int64
    ) throws(StoreError) {
        guard !members.isEmpty, let place = mirror.store.place(entityIndex: destination.index, slot: slot) else {
            return
        }
        let statement = try connection.statement(
            """
            UPDATE \(place.table) SET \(place.column) = ? WHERE _version = 0 \
            AND _id IN (SELECT value FROM strata_list(?))
            """)
        statement.bind(owner, at: 1)
        statement.bind(ValueList(keys: members), at: 2)
        try statement.run()
    }
}
