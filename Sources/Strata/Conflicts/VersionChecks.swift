import StrataStore

/// Objects that the next save checks although it does not change them.
struct VersionChecks {
    private var objects: Set<ManagedObject> = []
    /// What child contexts have looked at, in the versions that they read.
    private var ofChildren: [RowIdentity: ChangeSet.Check] = [:]

    mutating func add(_ object: ManagedObject) { objects.insert(object) }

    mutating func removeAll() { self = VersionChecks() }

    /// Whether the next save checks an object.
    func contains(_ object: ManagedObject) -> Bool {
        objects.contains(object)
            || ofChildren[RowIdentity(entityIndex: object.binding.entity.index, key: object.key)] != nil
    }

    /// The checks of a save. Objects whose rows the save writes are checked anyway.
    /// - Parameter includesOperated: Whether objects to which operations were applied are checked, too: these operations are
    ///   added to what others have saved.
    func forSave(includesOperated: Bool = false) -> [ChangeSet.Check] {
        guard !objects.isEmpty || !ofChildren.isEmpty else { return [] }
        var result = ofChildren
        for object in objects
        where !object.isFault && object.flags.isDisjoint(with: .hidden)
            && (object.storedChanges.isEmpty || (includesOperated && object.flags.contains(.operated)))
        {
            let check = ChangeSet.Check(
                entityIndex: object.binding.entity.index, key: object.key, version: object.version)
            let identity = RowIdentity(entityIndex: check.entityIndex, key: check.key)
            result[identity] = result[identity] ?? check
        }
        return result.values.sorted { ($0.entityIndex, $0.key) < ($1.entityIndex, $1.key) }
    }

    /// Takes over the checks of a child context, which has saved.
    mutating func take(_ child: VersionChecks) {
        take(child.forSave(includesOperated: true))
    }

    /// Takes over checks of a child context, which has saved.
    mutating func take(_ checks: [ChangeSet.Check]) {
        for check in checks {
            let identity = RowIdentity(entityIndex: check.entityIndex, key: check.key)
            ofChildren[identity] = ofChildren[identity] ?? check
        }
    }

    /// Forgets what a child has looked at: the policy has resolved that others changed it.
    mutating func forget(_ conflict: StoreConflict) {
        guard !ofChildren.isEmpty else { return }
        ofChildren[RowIdentity(entityIndex: conflict.entityIndex, key: conflict.key)] = nil
    }

    /// Forgets what a save has checked or written. Other objects may have been added while it waited for the store.
    mutating func remove(_ changes: ChangeSet) {
        guard !objects.isEmpty || !ofChildren.isEmpty else { return }
        var done: Set<RowIdentity> = []
        for check in changes.checks { done.insert(RowIdentity(entityIndex: check.entityIndex, key: check.key)) }
        for update in changes.updates {
            done.insert(RowIdentity(entityIndex: update.row.row.entityIndex, key: update.row.row.key))
        }
        objects = objects.filter {
            !$0.flags.contains(.missing)
                && !done.contains(RowIdentity(entityIndex: $0.binding.entity.index, key: $0.key))
        }
        ofChildren = ofChildren.filter { !done.contains($0.key) }
    }
}
