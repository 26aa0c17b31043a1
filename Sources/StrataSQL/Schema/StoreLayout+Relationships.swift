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

    /// The keys of the rows whose versions the change set compares and sets by itself, those of its updates and deletes, by the
    /// positions of their hierarchies' topmost entities.
    package func versionedKeys(in model: ManagedObjectModel) -> [Int: Set<Int64>] {
        var result = deletedKeys(in: model).mapValues(Set.init)
        for update in updates {
            result[model.entities[update.row.row.entityIndex].rootIndex, default: []].insert(update.row.row.key)
        }
        return result
    }
}
