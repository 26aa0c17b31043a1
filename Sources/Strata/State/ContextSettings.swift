/// What the application can set on a context, and what it can ask back.
struct ContextSettings {
    var merging: MergeRules
    /// Whether the objects report reads and writes to Observation.
    let observesObjects: Bool
    var name: String?
    var author: String?
    /// Stops the reads that the context waits for.
    var readCancellation: ReadCancellation?
    /// Posts to a notification center, if the container has one.
    var notifications: ChangeNotifications?
    /// Called at the first change after a boundary if there are listeners, by contexts whose boundaries come
    /// automatically.
    var onFirstChange: (() -> Void)?
    /// Remembers edits, if the application wants to undo them.
    var undoManager: UndoHistory?
    var faultErrors = FaultErrors()
    /// What the context reads in place of the last commit of the store.
    private var origin = ReadOrigin()
    /// The way to the parent, if that lives in another isolation domain. The context that is the parent in this one shows what
    /// the parent shows.
    var parentLink: ParentLink?
    /// Reports unplanned loads; nil until a handler or a scope asks for them.
    var loads: LoadWatch?

    init(
        merging: MergeRules, observesObjects: Bool, name: String? = nil,
        onUnplannedLoad: ((UnplannedLoad) -> Void)? = nil
    ) {
        self.merging = merging
        self.observesObjects = observesObjects
        self.name = name
        guard let onUnplannedLoad else { return }
        let loads = LoadWatch()
        loads.handler = onUnplannedLoad
        self.loads = loads
    }
}

/// What a context reads in place of the last commit of the store.
private struct ReadOrigin {
    var pin: VersionPin?
    var replica: ReplicaSource?
}

extension ContextSettings {
    /// Which version of the store the context reads; nil if it reads the last commit.
    var pin: VersionPin? {
        get { origin.pin }
        set { origin.pin = newValue }
    }

    /// Reads copies of the store; nil if the context reads the store itself.
    var replica: ReplicaSource? {
        get { origin.replica }
        set { origin.replica = newValue }
    }
}

/// The failures that were reported because nothing could be thrown: in an accessor.
struct FaultErrors {
    /// Called with each.
    var handler: ((PersistenceError, ManagedObject) -> Void)?
    var last: PersistenceError?
    /// The number of those that were failures of the store, and the last one. A computation that reads properties compares the
    /// number before and after, so that it gives no answer that is based on data which could not be read.
    var readFailureCount = 0
    var lastReadFailure: PersistenceError?
}
