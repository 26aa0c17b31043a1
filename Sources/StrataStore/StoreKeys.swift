/// The ranges of keys.
public enum StoreKeys {
    /// A store reserves keys below this one only. A context that could not reserve keys, because the store was busy, full or
    /// read-only, takes random ones from here on.
    public static let firstUnreserved: Int64 = 1 << 61
    /// All keys are below this one.
    public static let end: Int64 = 1 << 62
}
