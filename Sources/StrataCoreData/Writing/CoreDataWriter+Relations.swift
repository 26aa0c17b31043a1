import StrataSQL
import StrataSQLite

extension CoreDataWriter {
    /// Adds and removes pairs. Adding a pair that exists, or removing one that does not, is not an error.
    func writePairs() throws(StoreError) {
        for change in changes.pairs {
            guard let (pairs, _) = plan.pairs(change.entityIndex, change.relationshipIndex) else { continue }
            let entity = plan.model.entities[change.entityIndex]
            let name = "\(entity.name).\(entity.relationships[change.relationshipIndex].name)"
            guard !pairs.isOwnInverse else {
                throw .unsupported(
                    store: "Core Data",
                    feature:
                        "changes of \(name), because it is its own inverse, and how Core Data keeps such pairs is not known"
                )
            }
            let remove = try connection.statement(
                "DELETE FROM \(pairs.table) WHERE \(pairs.owner) = ? AND \(pairs.member) = ?")
            for member in change.removed {
                remove.bind(change.owner, at: 1)
                remove.bind(member, at: 2)
                try remove.run()
            }
            for member in change.added { try add(change.owner, member, pairs, name) }
        }
    }

    private func add(
        _ owner: Int64, _ member: Int64, _ pairs: WritingPlan.Pairs, _ name: String
    ) throws(StoreError) {
        for (key, root) in [(owner, pairs.ownerRoot), (member, pairs.memberRoot)] {
            let table = try entity(root).table
            let find = try connection.statement("SELECT 1 FROM \(table) WHERE Z_PK = ?")
            find.bind(key, at: 1)
            guard try find.step() else {
                throw .constraint(
                    entity: plan.model.entities[root].name,
                    reason: "a pair of \(name) refers to an object \(key) that is not in the store")
            }
            find.reset()
        }
        // New pairs come last in each order until the change of the order says otherwise.
        var names = [pairs.owner, pairs.member]
        var values = ["?1", "?2"]
        for (order, column, key) in [
            (pairs.memberOrder, pairs.owner, "?1"), (pairs.ownerOrder, pairs.member, "?2"),
        ] {
            guard let order else { continue }
            names.append(order)
            values.append("(SELECT coalesce(max(\(order)), 1024) + 1024 FROM \(pairs.table) WHERE \(column) = \(key))")
        }
        let insert = try connection.statement(
            """
            INSERT INTO \(pairs.table)(\(names.joined(separator: ", "))) VALUES(\(values.joined(separator: ", "))) \
            ON CONFLICT DO NOTHING
            """)
        insert.bind(owner, at: 1)
        insert.bind(member, at: 2)
        try insert.run()
    }

    /// Writes the places of members of ordered relationships.
    func writeOrders() throws(StoreError) {
        for change in changes.orders {
            guard let (read, write) = try orderStatements(change.entityIndex, change.relationshipIndex) else {
                continue
            }
            read.bind(change.owner, at: 1)
            var members: [OrderedPlaces.Member] = []
            while try read.step() {
                members.append((read.integer(0), read.isNull(1) ? nil : read.integer(1)))
            }
            for (member, place) in OrderedPlaces.changes(change.kind, to: members, start: 1024) {
                write.bind(place, at: 1)
                write.bind(change.owner, at: 2)
                write.bind(member, at: 3)
                try write.run()
            }
        }
    }

    private func orderStatements(
        _ entityIndex: Int, _ relationshipIndex: Int
    ) throws(StoreError) -> (read: Statement, write: Statement)? {
        let relationship = plan.model.entities[entityIndex].relationships[relationshipIndex]
        let table: String
        let near: String
        let far: String
        let order: String
        if let (pairs, isPrimary) = plan.pairs(entityIndex, relationshipIndex) {
            guard let column = isPrimary ? pairs.memberOrder : pairs.ownerOrder else { return nil }
            (table, order) = (pairs.table, column)
            (near, far) = isPrimary ? (pairs.owner, pairs.member) : (pairs.member, pairs.owner)
        } else {
            guard case .inverseSlot(let slot) = relationship.storage,
                let field = try entity(relationship.destinationIndex).field(slot),
                let column = field.reference?.orderColumn
            else { return nil }
            table = try entity(relationship.destinationIndex).table
            (near, far, order) = (field.column, "Z_PK", column)
        }
        let read = try connection.statement(
            "SELECT \(far), \(order) FROM \(table) WHERE \(near) = ? ORDER BY \(order) IS NULL, \(order), \(far)")
        let write = try connection.statement("UPDATE \(table) SET \(order) = ?1 WHERE \(near) = ?2 AND \(far) = ?3")
        return (read, write)
    }
}
