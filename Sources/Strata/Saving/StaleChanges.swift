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
    /// - Parameter changes: Changes whose objects the parent has loaded.
    func conflicts(in changes: ChangeSet) -> [StoreConflict] {
        changes.conflicts { entityIndex, key in
            guard let mine = child.object(entityIndex, key), mine.flags.isDisjoint(with: Self.unknown) else {
                return .same
            }
            guard let object = parent.object(entityIndex, key), !object.flags.contains(.missing) else { return .gone }
            guard object.flags.isDisjoint(with: Self.unknown), mine.readRow.version < object.readRow.version,
                !object.binding.entity.hasSameValues(mine.readRow.row, object.readRow.row)
            else { return .same }
            return .other(object.sharedRow)
        }
    }

    /// What has no row to compare, or whose conflict is known already.
    private static let unknown: ObjectFlags = [.fault, .inserted, .deletedElsewhere]
}

/// What a parent has of an object, next to the row that a child's change is based on.
enum StateInParent {
    case same
    case other(RowReference)
    case gone
}

extension ChangeSet {
    /// The conflicts of its updates and deletes with what a parent has. A delete of an object that is gone does not conflict.
    func conflicts(_ state: (_ entityIndex: Int, _ key: Int64) -> StateInParent) -> [StoreConflict] {
        func conflict(_ entityIndex: Int, _ key: Int64, isDeleted: Bool) -> StoreConflict? {
            switch state(entityIndex, key) {
            case .same: nil
            case .other(let row):
                StoreConflict(reason: .version, entityIndex: entityIndex, key: key, storeRow: row)
            case .gone:
                isDeleted ? nil : StoreConflict(reason: .version, entityIndex: entityIndex, key: key, storeRow: nil)
            }
        }
        return updates.compactMap { conflict($0.row.row.entityIndex, $0.row.row.key, isDeleted: false) }
            + deletes.compactMap { conflict($0.entityIndex, $0.key, isDeleted: true) }
    }
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
    var mergesCommits: Bool { parent?.core.mergesCommits ?? inbox.isOpen }
}
