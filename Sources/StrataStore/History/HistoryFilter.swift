import Foundation

/// Which part of history is requested: by entity, object, kind, property, author, process or date.
///
///     let deletes = HistoryFilter(entities: ["City"], kinds: [.deleted])
///     let others = HistoryFilter(excludedAuthors: ["import"])
///     for transaction in try container.history(after: token, where: deletes) { print(transaction.changes.count) }
///
/// All parts that are set must match. A transaction contains only the changes that match, and is left out if none does.
/// `import Strata` has typed forms, `.changes(of: City.self, to: City.keys.population)`, and `excluding(authors:)` and
/// `kinds(_:)` to add parts.
///
/// To skip what your own process has written, set ``excludedOrigin`` to the ``StoreHistory/origin`` of your store, or exclude
/// your author. A consumer with a filter also advances past the transactions that it does not see.
public struct HistoryFilter: Sendable, Hashable {
    /// The names of entities; objects of entities that inherit from them count. nil for all.
    public var entities: Set<String>?
    /// The objects. nil for all.
    public var objects: Set<ObjectID>?
    /// The kinds of changes. nil for all.
    public var kinds: Set<HistoryChange.Kind>?
    /// Properties of which an update must have changed at least one; inserts and deletes match. nil for any.
    public var properties: Set<String>?
    /// The authors. nil for all, and for transactions without an author.
    public var authors: Set<String>?
    /// Authors whose transactions are left out.
    public var excludedAuthors: Set<String>
    /// The names of contexts. nil for all.
    public var contextNames: Set<String>?
    /// The numbers of processes. nil for all.
    public var processIDs: Set<Int32>?
    /// The dates of transactions. nil for all.
    public var dates: Range<Date>?
    /// The store instance whose transactions are left out, to get only the changes of others.
    public var excludedOrigin: Int64?

    /// Creates a filter; a change must match all of its parts.
    public init(
        entities: Set<String>? = nil, objects: Set<ObjectID>? = nil, kinds: Set<HistoryChange.Kind>? = nil,
        properties: Set<String>? = nil, authors: Set<String>? = nil, excludedAuthors: Set<String> = [],
        contextNames: Set<String>? = nil, processIDs: Set<Int32>? = nil, dates: Range<Date>? = nil,
        excludedOrigin: Int64? = nil
    ) {
        self.entities = entities
        self.objects = objects
        self.kinds = kinds
        self.properties = properties
        self.authors = authors
        self.excludedAuthors = excludedAuthors
        self.contextNames = contextNames
        self.processIDs = processIDs
        self.dates = dates
        self.excludedOrigin = excludedOrigin
    }

    /// Everything.
    public static let all = HistoryFilter()
}
