import Foundation
import StrataSQL
import StrataSQLite
import StrataStore

/// The members that records tell, in the order in which they were told.
struct ToldMembers {
    /// The members of one owner in a relationship that is kept as pairs.
    struct Pairs {
        let relationship: RelationshipDescription
        let entity: EntityDescription
        let owner: Int64
        let members: [Int64]
        let isPrimary: Bool
    }

    /// The relationship, by entity and position, that pairs are read and written by.
    struct Place: Hashable {
        let entityIndex: Int
        let relationshipIndex: Int
    }

    var pairs: [Pairs] = []
    /// By entity and slot: the owners of members that refer to them.
    var owners: [Place: [Int64: Int64]] = [:]
}

/// Puts the members that records tell into to-many relationships, below what was changed here.
extension ApplySession {
    /// Notes the members that a record tells; ``placeMembers()`` places those of all.
    mutating func noteMembers(_ item: Item, _ key: Int64, entries: [OutboxEntry]) {
        for (name, value) in item.record.values {
            guard case .references(let ids) = value, let relationship = item.entity.relationship(named: name),
                relationship.isToMany
            else { continue }
            let destination = model.destination(of: relationship)
            var found: [Int64] = []
            var seen: Set<Int64> = []
            for id in ids {
                let identity = named(id, destination)
                if !gone.contains(identity), let member = keys[identity], seen.insert(member).inserted {
                    found.append(member)
                }
            }
            switch relationship.storage {
            case .pairs(let isPrimary):
                // The other end is not written, so what is told about it is whatever others put there.
                guard isPrimary else { continue }
                members.pairs.append(
                    .init(
                        relationship: relationship, entity: item.entity, owner: key, members: found,
                        isPrimary: isPrimary))
            case .inverseSlot(let slot):
                let place = ToldMembers.Place(entityIndex: destination.index, relationshipIndex: slot)
                for member in found { members.owners[place, default: [:]][member] = key }
            case .slot: break
            }
            let isArrangedHere = entries.contains { $0.members.contains { $0.relationship == name && $0.isOrder } }
            guard relationship.isOrdered, !isArrangedHere, !found.isEmpty else { continue }
            written.changes.orders.append(
                .init(
                    entityIndex: item.entity.index, relationshipIndex: relationship.index, owner: key,
                    kind: .arrange(found)))
        }
    }

    /// Makes the members of all objects those that records tell, with what was added and removed here on top.
    mutating func placeMembers() throws(StoreError) {
        let told = members
        members = ToldMembers()
        for (place, owners) in told.owners.sorted(by: { $0.key.entityIndex < $1.key.entityIndex }) {
            try adopt(owners, model.entities[place.entityIndex], slot: place.relationshipIndex)
        }
        guard !told.pairs.isEmpty else { return }
        let present = try presentMembers(told.pairs)
        var differences: [[Int64]] = []
        for pairs in told.pairs {
            let here = present[place(of: pairs)]?[pairs.owner] ?? []
            differences.append(here.symmetricDifference(pairs.members).sorted())
        }
        try lookForOwners(told.pairs, differences)
        for (pairs, different) in zip(told.pairs, differences) where !different.isEmpty { place(pairs, different) }
    }

    private func place(of pairs: ToldMembers.Pairs) -> ToldMembers.Place {
        .init(entityIndex: pairs.entity.index, relationshipIndex: pairs.relationship.index)
    }

    /// The members that are here, by relationship and owner.
    private func presentMembers(
        _ list: [ToldMembers.Pairs]
    ) throws(StoreError) -> [ToldMembers.Place: [Int64: Set<Int64>]] {
        var result: [ToldMembers.Place: [Int64: Set<Int64>]] = [:]
        for (place, list) in Dictionary(grouping: list, by: { self.place(of: $0) }) {
            let found = try transaction.memberKeys(
                entityIndex: place.entityIndex, relationshipIndex: place.relationshipIndex, owners: list.map(\.owner))
            for (owner, member) in found { result[place, default: [:]][owner, default: []].insert(member) }
        }
        return result
    }

    /// Reads the entries that have changes of the same pairs: those of the primary side.
    private mutating func lookForOwners(
        _ list: [ToldMembers.Pairs], _ differences: [[Int64]]
    ) throws(StoreError) {
        var wanted: [Int: Set<Int64>] = [:]
        for (pairs, different) in zip(list, differences) where !different.isEmpty {
            if pairs.isPrimary {
                wanted[pairs.entity.rootIndex, default: []].insert(pairs.owner)
            } else {
                wanted[mirror.root(pairs.relationship.destinationIndex), default: []].formUnion(different)
            }
        }
        for (root, keys) in wanted { try lookForEntries(root, keys.sorted()) }
    }

    /// - Parameter different: The members that are here or told, but not both.
    private mutating func place(_ pairs: ToldMembers.Pairs, _ different: [Int64]) {
        let relationship = pairs.relationship
        let wanted = Set(pairs.members)
        guard !pairs.isPrimary else {
            let own = entries(pairs.entity.rootIndex, pairs.owner).filter { $0.kind != .delete }
            let changed = own.flatMap(\.members).filter { $0.relationship == relationship.name }
            let free = different.filter { key in !changed.contains { $0.concerns(key) } }
            return addPairs(
                relationship, pairs.entity.index, pairs.owner, free.filter(wanted.contains),
                free.filter { !wanted.contains($0) })
        }
        // The other side has the changes that wait.
        guard let inverse = model.inverse(of: relationship) else { return }
        let root = mirror.root(relationship.destinationIndex)
        for owner in different {
            if occasion.settling.contains(RowIdentity(entityIndex: root, key: owner)) { continue }
            let changed = entries(root, owner)
            let isTaken = changed.flatMap(\.members).contains {
                $0.relationship == inverse.name && $0.concerns(pairs.owner)
            }
            // A new object tells its members itself.
            if isTaken || changed.contains(where: { $0.kind == .insert }) { continue }
            addPairs(
                inverse, relationship.destinationIndex, owner, wanted.contains(owner) ? [pairs.owner] : [],
                wanted.contains(owner) ? [] : [pairs.owner])
        }
    }

    /// The entries of an object that were looked for.
    func entries(_ root: Int, _ key: Int64) -> [OutboxEntry] {
        local.waiting[RowIdentity(entityIndex: root, key: key)] ?? []
    }

    mutating func addPairs(
        _ relationship: RelationshipDescription, _ entityIndex: Int, _ owner: Int64, _ added: [Int64],
        _ removed: [Int64]
    ) {
        guard !added.isEmpty || !removed.isEmpty else { return }
        written.changes.pairs.append(
            .init(
                entityIndex: model.entity(named: relationship.declaringEntity)?.index ?? entityIndex,
                relationshipIndex: relationship.index, owner: owner, added: added, removed: removed))
    }

    /// Members of which nothing is known yet refer to their owner. Others tell by themselves where they belong.
    private func adopt(
        _ owners: [Int64: Int64], _ destination: EntityDescription, slot: Int
    ) throws(StoreError) {
        guard let place = mirror.store.place(entityIndex: destination.index, slot: slot) else { return }
        let list = try connection.statement(
            "SELECT _id FROM \(place.table) WHERE _version = 0 AND _id IN (SELECT value FROM strata_list(?))")
        list.bind(ValueList(keys: owners.keys.sorted()), at: 1)
        var adopted: [(member: Int64, owner: Int64)] = []
        while try list.step() {
            if let owner = owners[list.integer(0)] { adopted.append((list.integer(0), owner)) }
        }
        for part in StatementRows.parts(adopted[...], columns: 2) {
            let statement = try connection.statement(
                """
                \(StatementRows.update) \(place.table) SET \(place.column) = _v.column2 \
                FROM (VALUES \(StatementRows.text("(?, ?)", part.count))) AS _v WHERE _id = _v.column1
                """)
            var parameter: Int32 = 0
            for (member, owner) in part {
                statement.bind(member, at: parameter + 1)
                statement.bind(owner, at: parameter + 2)
                parameter += 2
            }
            try statement.run()
        }
    }
}
