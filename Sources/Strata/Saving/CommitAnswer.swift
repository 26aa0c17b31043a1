import StrataStore

/// The store's answer to a commit, or the parent's: what was saved, what the store did by itself, and what it refused.
struct CommitAnswer {
    /// What was saved, in terms of the change set.
    var changes: ChangeSet
    /// What the store did beyond it.
    var effects: CommitEffects
    /// What had changes when the save began; only needed unless ``isExact``.
    var objects: [ManagedObject]
    /// Why a part was refused, if any was.
    var failure: RemoteFailure?
    /// The error of the save then.
    var error: PersistenceError?
    /// Whether nothing was changed since the change set was made, and all of it was saved: then every object is clean.
    var isExact: Bool

    init(
        changes: ChangeSet, effects: CommitEffects = CommitEffects(), objects: [ManagedObject] = [],
        failure: RemoteFailure? = nil, isExact: Bool = false
    ) {
        self.changes = changes
        self.effects = effects
        self.objects = objects
        self.failure = failure
        self.isExact = isExact
    }

    /// The objects that were refused and keep their changes.
    var refused: Set<ObjectID> { Set((failure?.objects ?? []).map(\.objectID)) }
}
