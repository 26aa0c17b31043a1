import StrataStore

/// The capabilities of a back end: what it can do, and how much at a time.
///
///     let capabilities = RemoteCapabilities(
///         features: [.readingMany, .conditionalWrites, .incrementalPull, .deletions],
///         maximumBatch: 1, maximumIDs: 50, maximumPage: 500)
///
/// A store asks for nothing that is not declared. Missing capabilities are replaced by work on this side if the request allows
/// it, or refused with an error that names the part: without ``Features/sorting``, the mirror sorts; without
/// ``Features/incrementalPull``, a pull reads everything.
///
/// Declare only what the service really guarantees. ``Features/idempotencyTokens`` and ``Features/conditionalWrites`` decide
/// whether a lost answer can create an object twice, or overwrite a change of somebody else.
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
        /// Answers with related objects; see ``RemoteQuery/includes``.
        public static let expanding = Features(rawValue: 1 << 4)
        /// Several objects by primary key in one request.
        public static let readingMany = Features(rawValue: 1 << 5)
        /// Several new objects in one request.
        public static let creatingMany = Features(rawValue: 1 << 6)
        /// Writes of several kinds in one request; see ``RemoteOperation/batch(_:)``.
        public static let batches = Features(rawValue: 1 << 7)
        /// A write can name the version that it was made to; see ``RemoteWrite/baseVersion``.
        public static let conditionalWrites = Features(rawValue: 1 << 9)
        /// A write is carried out once, however often it is sent; see ``RemoteWrite/token``.
        public static let idempotencyTokens = Features(rawValue: 1 << 10)
        /// ``FieldOperation/increment(_:)``.
        public static let increments = Features(rawValue: 1 << 11)
        /// The other kinds of ``FieldOperation``.
        public static let arrayOperations = Features(rawValue: 1 << 12)
        /// Changes of to-many relationships by member.
        public static let relating = Features(rawValue: 1 << 13)
        /// What has changed since a time or version.
        public static let incrementalPull = Features(rawValue: 1 << 15)
        /// A pull reports deletions.
        public static let deletions = Features(rawValue: 1 << 16)
        /// Files that properties refer to; see ``RemoteOperation/upload(entity:_:)`` and ``RemoteBackend/delivery(of:)``.
        public static let files = Features(rawValue: 1 << 17)
        /// The server gives new objects primary keys of its own, in the answers to their creation. What refers to a new object
        /// is sent once that is known, by the server's key.
        public static let assignsIDs = Features(rawValue: 1 << 18)
        /// Calls of code on the server.
        public static let calls = Features(rawValue: 1 << 19)
        /// Conditions on what other queries find; see ``RemoteQuery/subqueries``.
        public static let subqueries = Features(rawValue: 1 << 21)
        /// Queries for the members of a relationship; see ``RemoteQuery/memberOf``.
        public static let memberQueries = Features(rawValue: 1 << 22)
    }

    /// Yes-or-no abilities.
    public var features: Features
    /// The yes-or-no abilities for entities whose primary keys are integers, if they differ: databases often number the rows of
    /// such tables themselves, and know less about their changes. These may differ: ``Features/assignsIDs``,
    /// ``Features/conditionalWrites``, ``Features/incrementalPull`` and ``Features/deletions``. See ``features(of:)``.
    public var integerKeyFeatures: Features?
    /// The maximum number of objects in one write request.
    public var maximumBatch: Int
    /// The maximum number of primary keys in one read request.
    public var maximumIDs: Int
    /// The maximum number of objects in one answer; nil if the server has no limit.
    public var maximumPage: Int?

    /// Describes abilities.
    public init(
        features: Features = [], maximumBatch: Int = 1, maximumIDs: Int = 1, maximumPage: Int? = nil,
        integerKeyFeatures: Features? = nil
    ) {
        self.features = features
        self.integerKeyFeatures = integerKeyFeatures
        self.maximumBatch = maximumBatch
        self.maximumIDs = maximumIDs
        self.maximumPage = maximumPage
    }

    /// The yes-or-no abilities for objects of an entity.
    public func features(of entity: EntityDescription) -> Features {
        guard let integerKeyFeatures, entity.primaryKeyType?.isInteger == true else { return features }
        return integerKeyFeatures
    }
}

extension RemoteCapabilities {
    /// The positions of the entities whose new objects get their primary keys from the server.
    func assigning(in model: ManagedObjectModel) -> Set<Int> {
        Set(model.entities.filter { features(of: $0).contains(.assignsIDs) }.map(\.index))
    }
}
