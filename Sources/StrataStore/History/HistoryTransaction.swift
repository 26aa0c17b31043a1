import Foundation

/// The changes that one save, bulk operation or synchronization wrote, with its author, process and time.
///
///     for transaction in try container.history(after: token, where: .all.excluding(authors: "import")) {
///         print(transaction.date, transaction.author ?? "unknown", transaction.processName)
///         for change in transaction.changes { print(change.kind, change.entityName, change.key) }
///     }
///
/// You get transactions from `PersistentContainer.history(after:where:limit:)` and `consumeHistory(as:where:batchSize:_:)`, in
/// the order in which they were committed. Set the author and the name of a context before it saves. In a SQLite file, writes
/// of another program, such as a SQL shell, are part of the transaction that follows.
///
/// Keep ``token`` to continue after this transaction. With a filter, ``changes`` has only the matching changes. A bulk
/// operation on a million objects is one transaction with a million changes.
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

/// What a transaction did to one object: inserted, updated or deleted it.
///
///     for change in try container.history(after: token, where: .changes(of: City.self)).flatMap(\.changes) {
///         guard let id = change.objectID else { continue }
///         switch change.kind {
///         case .deleted: print("remove", id.uri)
///         case .inserted: print("add", id.uri)
///         case .updated where change.properties.contains("name"): print("rename", id.uri)
///         case .updated: break
///         }
///     }
///
/// A change names the properties that an update has changed, not their values. Fetch the object for its present values; it may
/// have been deleted by a later transaction. For attributes with `preservesValueInHistory`, ``oldValues`` has the values of
/// before.
///
/// An object appears once per transaction, however often it was written in it. Changes are recorded before a migration under
/// old names and read under the present ones.
public struct HistoryChange: Sendable, Hashable {
    /// What happened to the object.
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
    /// What happened to the object.
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

/// Some transactions of a history, and the place where to continue.
///
///     guard let history = container.history else { return }
///     var position: HistoryToken?
///     var hasMore = true
///     while hasMore {
///         let page = try history.transactions(after: position, where: .all, limit: 100)
///         for transaction in page.transactions { print(transaction.date, transaction.changes.count) }
///         (position, hasMore) = (page.token, page.hasMore)
///     }
///
/// ``StoreHistory/transactions(after:where:limit:)`` returns it. Read in pages if the history may be long, because a page is in
/// memory as a whole. Continue from ``token`` and not from the token of the last transaction: with a filter, history was read
/// further than that. A page may be empty, if the filter left out everything.
///
/// `PersistentContainer.consumeHistory(as:where:batchSize:_:)` has this loop, and remembers the place in the store.
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
