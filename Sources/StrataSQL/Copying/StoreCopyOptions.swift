import StrataStore

/// How a store is copied.
public struct StoreCopyOptions: Sendable {
    /// The maximum number of objects that are read at a time, 1 to 100,000. Fewer are read if they are large.
    public var batchSize = 5000
    /// Whether the target gets the identifier of the source, so that IDs of objects that were kept elsewhere, in links for
    /// instance, stay valid. Stores of the target that are open keep the old one: close them, and open the target again.
    public var keepsIdentifier = false
    /// Called on the thread of the copy with what is done so far.
    public var onProgress: (@Sendable (MigrationProgress) -> Void)?
    /// What stops the copy from elsewhere; the target stays empty then.
    public var cancellation: ReadCancellation?

    /// The defaults.
    public init() {}
}

/// What a copy of a store holds. The copy was read again and compared before it became permanent.
public struct StoreCopyReport: Sendable, Hashable {
    /// The objects of an entity, or the pairs of a relationship that is kept as pairs.
    public struct Part: Sendable, Hashable {
        /// The name of the entity, without those that inherit from it; or the relationship, as `Author.books`.
        public let name: String
        /// How many objects or pairs there are.
        public let count: Int
        /// A checksum of keys, versions, values and places in ordered relationships, 32 hexadecimal digits. It depends only on
        /// the content: equal stores of any kind have equal checksums. Dates count to the microsecond. It finds accidents,
        /// not forgeries.
        public let checksum: String
    }

    /// The entities that can have objects, by name.
    public internal(set) var entities: [Part] = []
    /// The relationships that are kept as pairs, by name.
    public internal(set) var relationships: [Part] = []
    /// How many values were kept apart from their rows in the source, and their size in bytes.
    public internal(set) var externalCount = 0
    /// The size of these values in bytes.
    public internal(set) var externalSize = 0
    /// How many objects have dates that the target keeps less exactly: PostgreSQL rounds to microseconds.
    public internal(set) var roundedObjects = 0
    /// How long it took, in seconds.
    public internal(set) var seconds = 0.0

    init() {}
}
