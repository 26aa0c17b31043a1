import Foundation

/// The history of a store: which transaction changed what.
///
///     if let history = container.history {
///         for consumer in try history.consumers() {
///             print(consumer, try history.position(of: consumer) ?? "-")
///         }
///     }
///
/// You get it from `PersistentContainer.history` or ``PersistentStore/history``. Most apps need only the methods of
/// `PersistentContainer`: `history(after:where:limit:)`, `consumeHistory(as:where:batchSize:_:)` and `purgeHistory(before:)`.
/// Use this protocol for pages with a filter, for the list of consumers, for ``origin``, or for a store of your own.
///
/// All methods may be called from any thread, and block until they have finished. They throw
/// ``HistoryError/notRecorded(store:)`` if the store records none, and ``HistoryError/store(_:)`` if it fails.
public protocol StoreHistory: Sendable {
    /// A random number of this instance of the store, which its transactions carry; see ``HistoryFilter/excludedOrigin``.
    var origin: Int64 { get }
    /// The place after the last transaction.
    /// - Throws: ``HistoryError/store(_:)`` if the store fails.
    func currentToken() throws(HistoryError) -> HistoryToken
    /// The place after the last transaction that was committed at a time or before; nil if all that are kept came
    /// later.
    /// - Throws: ``HistoryError/store(_:)`` if the store fails.
    func token(at date: Date) throws(HistoryError) -> HistoryToken?
    /// Reads transactions in order.
    /// - Parameters:
    ///   - token: Where to start; nil for the first transaction that is kept.
    ///   - filter: What to include.
    ///   - limit: The maximum number of transactions, 1 or more; nil for all.
    /// - Throws: ``HistoryError/expired(token:)`` if transactions after the token have been purged.
    func transactions(
        after token: HistoryToken?, where filter: HistoryFilter, limit: Int?
    ) throws(HistoryError) -> HistoryPage

    /// The place up to which a consumer has read; nil for one that is not registered.
    /// - Throws: ``HistoryError/store(_:)`` if the store fails.
    func position(of consumer: String) throws(HistoryError) -> HistoryToken?
    /// Registers a consumer, or moves it forward. A token before its position does not move it, but records that the
    /// consumer is active.
    /// - Throws: ``HistoryError/expired(token:)`` for a token that is not in this history.
    func setPosition(_ token: HistoryToken, of consumer: String) throws(HistoryError)
    /// Forgets a consumer, so that history does not wait for it.
    /// - Throws: ``HistoryError/store(_:)`` if the store fails.
    func removeConsumer(_ consumer: String) throws(HistoryError)
    /// The names of all consumers.
    /// - Throws: ``HistoryError/store(_:)`` if the store fails.
    func consumers() throws(HistoryError) -> [String]

    /// Removes transactions up to a place; the most recent one stays. Consumers are not waited for.
    /// - Returns: How many rows of history were removed.
    /// - Throws: ``HistoryError/expired(token:)`` for a token that is not in this history; ``HistoryError/store(_:)``.
    @discardableResult
    func purge(upTo token: HistoryToken) throws(HistoryError) -> Int
    /// Removes what is not to be kept by the file's ``HistoryRetention``. A store does this by itself.
    /// - Returns: How many rows of history were removed.
    /// - Throws: ``HistoryError/store(_:)`` if the store fails.
    @discardableResult
    func purge() throws(HistoryError) -> Int

    /// An object as it was at a place of history.
    /// - Returns: nil if there was none.
    /// - Throws: ``HistoryError/expired(token:)``.
    func object(_ id: ObjectID, at token: HistoryToken) throws(HistoryError) -> HistoricalObject?
}

/// History that has each transaction as soon as its changes are visible, even if another program wrote them, so that it describes
/// all commits of others.
package protocol CompleteStoreHistory: StoreHistory {}

/// An object as it was at a place of history.
///
///     if let city = try container.object(id, at: token) {
///         print(city.objectID, try city.value(of: "name"), try city.value(of: "population"))
///     }
///
/// `PersistentContainer.object(_:at:)` makes it: it reads the present row, and replaces the values that have changed since by
/// the old ones that the history has. Properties that have not changed are always known. The old values of others are known if
/// their attribute has `preservesValueInHistory`; otherwise ``value(of:)`` throws
/// ``HistoryError/valueNotKept(entity:property:)``.
///
/// To-one relationships are given by key. To-many relationships are not part of it. It is a value and does not change when the
/// object does.
public struct HistoricalObject: Sendable {
    /// The object.
    public let objectID: ObjectID
    /// The known values of attributes and to-one relationships, which are given by key. Elements of composites are
    /// under their path, `address.street`.
    public let values: [String: Value]

    /// Describes an object.
    public init(objectID: ObjectID, values: [String: Value]) {
        self.objectID = objectID
        self.values = values
    }

    /// The value of a property.
    /// - Throws: ``HistoryError/valueNotKept(entity:property:)`` if it changed since and its old values are not kept;
    ///   ``HistoryError/unknownProperty(entity:property:nearest:)``.
    public func value(of property: String) throws(HistoryError) -> Value {
        if let value = values[property] { return value }
        let stored = objectID.entity.slots.filter(\.isStored).map(\.name)
        guard stored.contains(property) else {
            throw .unknownProperty(
                entity: objectID.entity.name, property: property, nearest: Spelling.nearest(to: property, in: stored))
        }
        throw .valueNotKept(entity: objectID.entity.name, property: property)
    }
}
