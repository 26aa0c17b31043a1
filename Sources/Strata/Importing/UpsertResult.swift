/// The outcome of an upsert: the objects that were inserted, updated, and left as they were.
///
///     let result = try context.upsert(rows, into: City.self, by: City.keys.cityId)
///     print(result)  // 2 inserted, 1 updated, 4,990 unchanged
///     for city in result.inserted { city.note = "new" }
///     try context.save()
///
/// Nothing is saved yet: inserted and updated objects are pending changes of the context, which you can look at, change
/// further, or roll back. ``objects`` has one object for each element of the input, so that you can go through both side by
/// side. The lists belong to the context; to keep the outcome, take the counts or the IDs.
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
