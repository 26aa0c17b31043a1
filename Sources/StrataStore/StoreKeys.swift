/// The ranges of keys that a store may give to objects.
///
///     func reserve(_ count: Int64, after last: Int64) throws(StoreError) -> Range<Int64> {
///         guard last + count < StoreKeys.firstUnreserved else {
///             throw .constraint(entity: "City", reason: "there are no keys left")
///         }
///         return last + 1..<last + count + 1
///     }
///
/// A key is a positive number that names an object within its store and hierarchy.
/// ``PersistentStore/allocateKeys(_:rootIndex:)`` gives only keys below ``firstUnreserved``. A context that cannot reserve any,
/// because the store is busy, full or read-only, takes random keys from there to ``end``, so that its new objects have IDs
/// immediately. A store must accept these keys in a commit, and must not count on from them.
public enum StoreKeys {
    /// A store reserves keys below this one only. A context that could not reserve keys, because the store was busy, full or
    /// read-only, takes random ones from here on.
    public static let firstUnreserved: Int64 = 1 << 61
    /// All keys are below this one.
    public static let end: Int64 = 1 << 62
}
