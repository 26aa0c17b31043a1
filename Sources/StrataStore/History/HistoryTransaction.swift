import Foundation

/// What one save, bulk operation or synchronization wrote.
public struct HistoryTransaction: Sendable, Hashable {
    /// The place after the transaction.
    public let token: HistoryToken
    /// When it was committed, by the clock of the process that did. Clocks may be set back: the order is that of the tokens.
    public let date: Date
    /// The author of the context that wrote it; nil if none was set.
    public let author: String?
    /// The name of the context that wrote it; nil if it has none.
    public let contextName: String?
    /// The name of the process that wrote it.
    public let processName: String
    /// The number of the process that wrote it.
    public let processID: Int32
    /// A random number of the store instance that wrote it; see ``StoreHistory/origin``.
    public let origin: Int64
    /// What changed: each object once.
    public let changes: [HistoryChange]

    /// Describes a transaction.
    public init(
        token: HistoryToken, date: Date, author: String?, contextName: String?, processName: String, processID: Int32,
        origin: Int64, changes: [HistoryChange]
    ) {
        self.token = token
        self.date = date
        self.author = author
        self.contextName = contextName
        self.processName = processName
        self.processID = processID
        self.origin = origin
        self.changes = changes
    }
}

/// What a transaction did to one object.
public struct HistoryChange: Sendable, Hashable {
    /// What became of the object.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It is new.
        case inserted
        /// Some of its properties have other values.
        case updated
        /// It is gone.
        case deleted
    }

    /// The name of the entity in the present model; the recorded name if the model no longer has the entity.
    public let entityName: String
    /// The key of the object, unique in the hierarchy of the entity.
    public let key: Int64
    /// The ID of the object; nil if the model no longer has the entity.
    public let objectID: ObjectID?
    /// What became of the object.
    public let kind: Kind
    /// The properties that an update changed, by their present names, in alphabetical order; empty for inserts and deletes.
    /// An unordered one-to-many relationship is not among them: the many keep the reference, and change. Ordered relationships
    /// are properties of their owner, too, and many-to-many relationships of both ends.
    public let properties: [String]
    /// The values before the change of the attributes whose old values the model preserves; see
    /// ``Attribute/isPreservedInHistory``. Of an update those that changed, of a delete all of them. Elements of composites
    /// are under their path, `address.street`.
    public let oldValues: [String: Value]

    /// Describes a change.
    public init(
        entityName: String, key: Int64, objectID: ObjectID?, kind: Kind, properties: [String] = [],
        oldValues: [String: Value] = [:]
    ) {
        self.entityName = entityName
        self.key = key
        self.objectID = objectID
        self.kind = kind
        self.properties = properties
        self.oldValues = oldValues
    }
}

/// Some transactions, and where to go on.
public struct HistoryPage: Sendable, Hashable {
    /// The transactions, in order.
    public let transactions: [HistoryTransaction]
    /// The place up to which history was read; after transactions that a filter left out, too.
    public let token: HistoryToken
    /// Whether history goes on after ``token``.
    public let hasMore: Bool

    /// Describes a page.
    public init(transactions: [HistoryTransaction], token: HistoryToken, hasMore: Bool) {
        self.transactions = transactions
        self.token = token
        self.hasMore = hasMore
    }
}
