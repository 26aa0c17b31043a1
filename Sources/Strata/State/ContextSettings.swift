/// What the application can set on a context, and what it can ask back.
struct ContextSettings {
    var mergePolicy: MergePolicy
    /// Whether the objects report reads and writes to Observation.
    let observesObjects: Bool
    var name: String?
    var author: String?
    /// Stops the reads that the context waits for.
    var readCancellation: ReadCancellation?
    var onFaultError: ((PersistenceError, ManagedObject) -> Void)?
    var lastFaultError: PersistenceError?
    /// How many errors were reported because nothing could be thrown. A computation that reads properties compares it before
    /// and after, so that it gives no answer that is based on data which could not be read.
    var faultErrorCount = 0

    init(mergePolicy: MergePolicy, observesObjects: Bool, name: String? = nil) {
        self.mergePolicy = mergePolicy
        self.observesObjects = observesObjects
        self.name = name
    }
}
