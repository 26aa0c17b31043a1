import StrataStore

/// Finds what a child changes without having seen what others have saved since the child read it.
///
/// A child reads through its parent, which need not hold the object: then nobody but the child knows the row that its change is
/// based on, and the parent would put the change on top of a row that the child has never seen.
struct StaleChanges {
    let child: ContextCore
    let parent: ContextCore

    /// The objects that the parent has in a later version than the child, with other values. What is pending in the parent does not
    /// count: the child's save wins over that.
    /// - Parameter objects: Gets the parent's objects that the changes are for, loaded.
    func conflicts(
        in changes: ChangeSet, holding objects: inout [ManagedObject]
    ) throws(PersistenceError) -> [StoreConflict] {
        // There, the later save of a property wins.
        if parent.mergesCommits { return [] }
        objects += try parent.parentSave.load(changes)
        return changes.updates.compactMap { conflict($0.row.row.entityIndex, $0.row.row.key, isDeleted: false) }
            + changes.deletes.compactMap { conflict($0.entityIndex, $0.key, isDeleted: true) }
    }

    private func conflict(_ entityIndex: Int, _ key: Int64, isDeleted: Bool) -> StoreConflict? {
        guard let mine = child.object(entityIndex, key), mine.flags.isDisjoint(with: Self.unknown) else { return nil }
        guard let object = parent.object(entityIndex, key), !object.flags.contains(.missing) else {
            // Both have deleted it.
            if isDeleted { return nil }
            return StoreConflict(reason: .version, entityIndex: entityIndex, key: key, storeRow: nil)
        }
        let entity = object.binding.entity
        guard object.flags.isDisjoint(with: Self.unknown), mine.readRow.version < object.readRow.version,
            !entity.hasSameValues(mine.readRow.row, object.readRow.row)
        else { return nil }
        return StoreConflict(
            reason: .version, entityIndex: entity.index, key: object.key, storeRow: object.sharedRow)
    }

    /// What has no row to compare, or whose conflict is known already.
    private static let unknown: ObjectFlags = [.fault, .inserted, .deletedElsewhere]
}

extension ManagedObject {
    /// The row as it was read, without what was changed since.
    fileprivate final var readRow: RowReference { changes?.snapshot ?? sharedRow }
}

extension EntityDescription {
    /// Whether two rows have the same values of all attributes and to-one relationships that are assigned, not derived.
    func hasSameValues(_ row: RowPointer, _ other: RowPointer) -> Bool {
        slots.allSatisfy { slot in
            !slot.isStored || slot.derivation != nil
                || row.hasSameValue(as: other, slot: slot.index, storage: slot.storage)
        }
    }
}

extension ContextCore {
    /// Whether the context, or the one that its outermost parent is, merges the commits of others.
    fileprivate var mergesCommits: Bool { parent?.core.mergesCommits ?? inbox.isOpen }
}
