/// What a back end can do. What it cannot is done here if the request allows it, or refused with an error that names the
/// part.
public struct RemoteCapabilities: Sendable, Hashable {
    /// Yes-or-no abilities.
    public struct Features: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt64
        /// Makes features of bits.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// Queries with an order.
        public static let sorting = Features(rawValue: 1 << 0)
        /// Queries with a limit and an offset.
        public static let paging = Features(rawValue: 1 << 1)
        /// Counting without reading.
        public static let counting = Features(rawValue: 1 << 2)
        /// Answers with only some properties.
        public static let selecting = Features(rawValue: 1 << 3)
        /// Answers with related objects.
        public static let expanding = Features(rawValue: 1 << 4)
        /// Several objects by primary key in one request.
        public static let readingMany = Features(rawValue: 1 << 5)
        /// Several new objects in one request.
        public static let creatingMany = Features(rawValue: 1 << 6)
        /// Writes of several kinds in one request.
        public static let batches = Features(rawValue: 1 << 7)
        /// A batch is done as a whole or not at all.
        public static let atomicBatches = Features(rawValue: 1 << 8)
        /// A write can name the version that it was made to; see ``RemoteWrite/baseVersion``.
        public static let conditionalWrites = Features(rawValue: 1 << 9)
        /// A write is done once however often it is sent; see ``RemoteWrite/token``.
        public static let idempotencyTokens = Features(rawValue: 1 << 10)
        /// ``FieldOperation/increment(_:)``.
        public static let increments = Features(rawValue: 1 << 11)
        /// The other kinds of ``FieldOperation``.
        public static let arrayOperations = Features(rawValue: 1 << 12)
        /// Changes of to-many relationships by member.
        public static let relating = Features(rawValue: 1 << 13)
        /// The server keeps both ends of a relationship right by itself.
        public static let inverses = Features(rawValue: 1 << 14)
        /// What has changed since a time or version.
        public static let incrementalPull = Features(rawValue: 1 << 15)
        /// A pull reports deletions.
        public static let deletions = Features(rawValue: 1 << 16)
        /// Files.
        public static let files = Features(rawValue: 1 << 17)
        /// Sessions of users.
        public static let sessions = Features(rawValue: 1 << 18)
        /// Calls of code on the server.
        public static let calls = Features(rawValue: 1 << 19)
        /// Conditions on positions.
        public static let geoQueries = Features(rawValue: 1 << 20)
    }

    /// Yes-or-no abilities.
    public var features: Features
    /// The most objects in one request that writes.
    public var maximumBatch: Int
    /// The most primary keys in one request that reads.
    public var maximumIDs: Int
    /// The most objects in one answer; nil if the server sets no limit.
    public var maximumPage: Int?
    /// The smallest difference between dates that the back end keeps, in seconds.
    public var datePrecision: Double

    /// Describes abilities.
    public init(
        features: Features = [], maximumBatch: Int = 1, maximumIDs: Int = 1, maximumPage: Int? = nil,
        datePrecision: Double = 0.001
    ) {
        self.features = features
        self.maximumBatch = maximumBatch
        self.maximumIDs = maximumIDs
        self.maximumPage = maximumPage
        self.datePrecision = datePrecision
    }
}
