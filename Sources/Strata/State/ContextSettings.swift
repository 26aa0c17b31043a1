/// What the application can set on a context, and what it can ask back.
struct ContextSettings {
    var mergePolicy: MergePolicy
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
    var onFaultError: ((PersistenceError, ManagedObject) -> Void)?
    var lastFaultError: PersistenceError?
    /// The number of failures of the store that were reported because nothing could be thrown, and the last one. A computation
    /// that reads properties compares the number before and after, so that it gives no answer that is based on data which
    /// could not be read.
    var faultErrorCount = 0
    var lastReadFailure: PersistenceError?

    init(mergePolicy: MergePolicy, observesObjects: Bool, name: String? = nil) {
        self.mergePolicy = mergePolicy
        self.observesObjects = observesObjects
        self.name = name
    }
}
