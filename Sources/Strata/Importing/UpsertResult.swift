/// The outcome of an upsert: the objects that were inserted, updated, and left as they were. Nothing is saved yet.
public struct UpsertResult<Object: ManagedObject> {
    /// The objects that did not exist, in the order of the input.
    public internal(set) var inserted: [Object] = []
    /// The objects that existed and have other values now, in the order of the input.
    public internal(set) var updated: [Object] = []
    /// The objects that existed and had all the values already, in the order of the input.
    public internal(set) var unchanged: [Object] = []
    /// One object for each element of the input, in its order. An object is there twice if two elements have its key.
    public internal(set) var objects: [Object] = []

    init() {}

    /// The result of objects that are all of the class.
    init(_ other: UpsertResult<ManagedObject>) {
        inserted = other.inserted.compactMap { $0 as? Object }
        updated = other.updated.compactMap { $0 as? Object }
        unchanged = other.unchanged.compactMap { $0 as? Object }
        objects = other.objects.compactMap { $0 as? Object }
    }
}

extension UpsertResult: CustomStringConvertible {
    /// The three numbers.
    public var description: String {
        "\(inserted.count) inserted, \(updated.count) updated, \(unchanged.count) unchanged"
    }
}
