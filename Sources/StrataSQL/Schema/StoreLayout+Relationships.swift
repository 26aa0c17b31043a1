import StrataStore

extension StoreLayout {
    /// The table with the places of the members of an ordered relationship, and its columns as they appear in SQL.
    package struct OrderColumns {
        package let table: String
        /// Leads to the owner.
        package let owner: String
        package let member: String
        package let place: String
    }

    /// Where the places that a change is about are kept; nil if the relationship has no order.
    package func orderColumns(of change: ChangeSet.OrderChange) -> OrderColumns? {
        if let side = pairs(change.entityIndex, change.relationshipIndex) {
            return side.order.map {
                OrderColumns(table: side.table.quoted, owner: side.near, member: side.far, place: $0)
            }
        }
        let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
        guard case .inverseSlot(let slot) = relationship.storage,
            let place = orderColumn(change.entityIndex, change.relationshipIndex),
            let owner = column(relationship.destinationIndex, slot)?.quoted
        else { return nil }
        return OrderColumns(
            table: table(relationship.destinationIndex).quoted, owner: owner, member: "_id", place: place)
    }

    /// The columns with the places of an entity's objects, by the slots of the references to the owners.
    package func orderColumns(of entity: EntityDescription) -> [Int: String] {
        var result: [Int: String] = [:]
        for other in model.entities {
            for relationship in other.relationships {
                guard case .inverseSlot(let slot) = relationship.storage,
                    let order = orderColumn(other.index, relationship.index),
                    entity.isKind(of: model.entities[relationship.destinationIndex])
                else { continue }
                result[slot] = order
            }
        }
        return result
    }

    /// The column that leads from the members of a to-many relationship to their owner.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` if the relationship is kept in another way.
    package func inverseColumn(of relationship: RelationshipDescription) throws(StoreError) -> String {
        guard case .inverseSlot(let slot) = relationship.storage,
            let column = column(relationship.destinationIndex, slot)
        else {
            throw dialect.unsupported(
                "members of \(relationship.declaringEntity).\(relationship.name) by a column of their rows")
        }
        return column.quoted
    }
}

extension ChangeSet {
    /// The keys of the objects that are deleted, by the positions of their hierarchies' topmost entities.
    package func deletedKeys(in model: ManagedObjectModel) -> [Int: [Int64]] {
        var result: [Int: [Int64]] = [:]
        for delete in deletes { result[model.entities[delete.entityIndex].rootIndex, default: []].append(delete.key) }
        return result
    }

    /// Those of some rows of a hierarchy that the change set neither updates nor deletes, in their order. It compares and sets the
    /// versions of the others by itself.
    /// - Parameters:
    ///   - root: The position of the hierarchy's topmost entity.
    ///   - deleted: What ``deletedKeys(in:)`` has for the hierarchy.
    package func unwritten(
        _ keys: [Int64], root: Int, deleted: [Int64]?, in model: ManagedObjectModel
    ) -> [Int64] {
        let deleted = Set(deleted ?? [])
        let kept = keys.filter { !deleted.contains($0) }
        // Almost always, all of them go together.
        if kept.isEmpty { return [] }
        let updated = updates.map(\.row.row).filter { model.entities[$0.entityIndex].rootIndex == root }
        return Set(kept).subtracting(updated.map(\.key)).sorted()
    }
}
