import Foundation
import StrataStore

/// Makes a change set of the pending changes of a context.
struct ChangeSetBuilder {
    let core: ContextCore
    /// The moment of the save.
    let now: Date

    /// How the versions of rows are set that are about to be written.
    enum Rows {
        /// The objects' own rows, with the version that they will have. Quick; the objects must not change meanwhile.
        case inPlace
        /// Copies, with the version that they will have. The objects may change meanwhile.
        case copied
        /// The objects' own rows as they are: a parent context has no versions.
        case unversioned
        /// Copies of the rows as they are, for a parent in another isolation domain. The objects may change meanwhile.
        case detached
        /// The same, for children in other isolation domains, which look at what is pending here: nothing is computed for it.
        case shown

        /// Whether a parent gets them, which assigns only what was assigned here.
        var isForParent: Bool { self == .unversioned || self == .detached || self == .shown }
        /// Whether operations that are added later come after those of the change set.
        var seals: Bool { self == .copied || self == .detached }
    }

    /// Everything that is pending, as values.
    /// - Throws: ``PersistenceError/store(_:)`` with ``StoreError/corrupt(path:reason:)`` for a row that was written too
    ///   often to have a next version; ``PersistenceError/invalidOperation(entity:property:reason:)`` for an operation
    ///   that cannot be done to what others have made of the value.
    func build(_ rows: Rows) throws(PersistenceError) -> ChangeSet {
        var changes = ChangeSet()
        changes.author = core.settings.author
        changes.contextName = core.settings.name
        changes.source = core.saves.source
        let objects = core.tracker.objects
        changes.inserts.reserveCapacity(objects.count { $0.isInserted && !$0.flags.contains(.deleted) })
        for object in objects where object.hasChanges && !object.isStillborn {
            if object.flags.contains(.deleted) {
                changes.deletes.append(
                    .init(entityIndex: object.binding.entity.index, key: object.key, baseVersion: object.version))
                continue
            }
            if rows != .shown { object.computeDerived(now: now) }
            if object.isInserted {
                // Their results are part of the row.
                if object.flags.contains(.operated), rows != .shown { object.operations = [:] }
                let version = object.extras?.firstVersion ?? 1
                changes.inserts.append(.init(row: row(of: object, version: version, rows)))
                if rows.isForParent { changes.assigned.append(object.changedSlots) }
            } else {
                let slots = object.storedChanges
                var isSent = !slots.isEmpty
                // Children show an object that others have deleted as long as this context does.
                if rows == .shown, object.flags.contains(.deletedElsewhere) { isSent = true }
                if isSent {
                    if object.flags.contains(.operated) { try add(object, to: &changes, rows) }
                    let base = object.version
                    let (next, overflow) = base.addingReportingOverflow(1)
                    guard !overflow else { throw unwritable(object) }
                    changes.updates.append(
                        .init(row: row(of: object, version: next, rows), slots: slots, baseVersion: base))
                }
            }
            object.appendToManyChanges(to: &changes)
        }
        changes.clearings = core.nullifications.forSave
        if rows != .unversioned, rows != .shown {
            changes.checks = core.saves.checks.forSave(includesOperated: rows == .detached)
        }
        return changes
    }

    /// Adds the operations of an object.
    private func add(
        _ object: ManagedObject, to changes: inout ChangeSet, _ rows: Rows
    ) throws(PersistenceError) {
        try object.checkOperations()
        let identity = RowIdentity(entityIndex: object.binding.entity.index, key: object.key)
        changes.operations[identity] = object.operations
        // Operations that are added during the save come after these.
        if rows.seals { object.operations = object.operations.mapValues { $0.sealed } }
    }

    private func row(of object: ManagedObject, version: Int64, _ rows: Rows) -> RowReference {
        switch rows {
        case .inPlace: object.setRowVersion(version)
        case .unversioned: break
        case .detached, .shown:
            let slab = RowSlab.copy(of: object.row)
            // An object that is made again after others deleted it says so to the parent.
            if let first = object.extras?.firstVersion, object.isInserted { RowEditing.setVersion(first, in: slab) }
            return RowReference(slab: slab, row: slab.row)
        case .copied:
            let slab = RowSlab.copy(of: object.row)
            RowEditing.setVersion(version, in: slab)
            return RowReference(slab: slab, row: slab.row)
        }
        return RowReference(slab: object.slab, row: object.row)
    }

    private func unwritable(_ object: ManagedObject) -> PersistenceError {
        .store(
            .corrupt(
                path: core.coordinator.store(of: object.binding.entity.index).name,
                reason: "the version of \(object.objectID) is the highest there is; set _version of its row to 1"))
    }

    /// After a failed attempt with ``Rows/inPlace``: the version in a row is that of the snapshot again.
    func resetVersions() {
        for object in core.tracker.objects
        where object.flags.contains(.ownsRow) && !object.flags.contains(.deleted) {
            object.setRowVersion(object.isInserted ? 0 : object.version)
        }
    }
}

extension ManagedObject {
    /// Inserted and deleted before any save: nothing to write.
    final var isStillborn: Bool { flags.contains(.inserted) && flags.contains(.deleted) }

    /// Writes the version into the row, which becomes this object's own.
    final func setRowVersion(_ version: Int64) {
        if !flags.contains(.ownsRow) {
            slab = RowSlab.copy(of: row)
            row = slab.row
            flags.insert(.ownsRow)
        }
        RowEditing.setVersion(version, in: slab)
    }

    /// Adds changed pairs and orders to a change set.
    final func appendToManyChanges(to changes: inout ChangeSet) {
        guard let extras, !flags.contains(.deleted) else { return }
        for (index, state) in extras.toManys.enumerated() {
            guard let state, state.hasChanges else { continue }
            let relationship = relationship(toMany: index)
            let entityIndex = binding.model.entity(named: relationship.declaringEntity)?.index ?? binding.entity.index
            if case .pairs(isPrimary: true) = relationship.storage, !state.added.isEmpty || !state.removed.isEmpty {
                changes.pairs.append(
                    .init(
                        entityIndex: entityIndex, relationshipIndex: relationship.index, owner: key,
                        added: state.added.values.filter { !$0.isDeleted }.map(\.key).sorted(),
                        removed: state.removed.keys.sorted()))
            }
            guard relationship.isOrdered else { continue }
            let kind: ChangeSet.OrderChange.Kind
            if state.isRearranged {
                let members = state.members?.objects ?? state.arrangement
                kind = .arrange(members.filter { !$0.isDeleted }.map(\.key))
            } else if !state.appended.isEmpty {
                kind = .append(state.appended.objects.filter { !$0.isDeleted }.map(\.key))
            } else {
                continue
            }
            changes.orders.append(
                .init(entityIndex: entityIndex, relationshipIndex: relationship.index, owner: key, kind: kind))
        }
    }
}
