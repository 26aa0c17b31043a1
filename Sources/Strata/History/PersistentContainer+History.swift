import Foundation

extension PersistentContainer {
    private func recorded() throws(HistoryError) -> any StoreHistory {
        if let set = coordinator.set {
            throw .store(
                .unsupported(
                    store: set.name,
                    feature: "one history of several stores; ask store(forConfiguration:)?.history of one"))
        }
        guard let history = store.history else { throw .notRecorded(store: store.name) }
        return history
    }

    /// The history of the store, with all that it can do; nil for kinds of stores that have none, and for several stores,
    /// each of which has its own: see ``store(forConfiguration:)``.
    public var history: (any StoreHistory)? { store.history }

    /// The place after the last transaction, to ask later what came after it.
    /// - Throws: ``HistoryError/notRecorded(store:)`` if the store does not record; see ``SQLiteStore/Options/history``.
    public func currentHistoryToken() throws(HistoryError) -> HistoryToken { try recorded().currentToken() }

    /// The transactions after a place, in order.
    ///
    ///     for transaction in try container.history(after: token, where: .changes(of: City.self)) {
    ///         for change in transaction.changes { print(change.kind, change.objectID ?? "", change.properties) }
    ///     }
    ///
    /// - Parameters:
    ///   - token: The place; nil for all transactions that are kept.
    ///   - filter: What to include.
    ///   - limit: The maximum number of transactions; nil for all. To go on, ask again after the last one's token.
    /// - Throws: ``HistoryError/expired(token:)`` if transactions after the token have been purged: read the objects
    ///   themselves, take the current token, and start over. ``HistoryError/notRecorded(store:)``;
    ///   ``HistoryError/store(_:)``.
    public func history(
        after token: HistoryToken?, where filter: HistoryFilter = .all, limit: Int? = nil
    ) throws(HistoryError) -> [HistoryTransaction] {
        try recorded().transactions(after: token, where: filter, limit: limit).transactions
    }

    // MARK: Consumers

    /// The place up to which a consumer has read history; nil if there is no such consumer.
    /// - Throws: ``HistoryError/notRecorded(store:)`` if the store does not record history; ``HistoryError/store(_:)`` if it fails.
    public func historyPosition(of consumer: String) throws(HistoryError) -> HistoryToken? {
        try recorded().position(of: consumer)
    }

    /// Registers a consumer at a place, or moves it forward. History that a consumer has not read is kept for it until the
    /// ``HistoryRetention/patience`` of the store is over. A place before its own leaves a consumer where it is.
    /// - Throws: ``HistoryError/expired(token:)`` for a token that is not in this history.
    public func setHistoryPosition(_ token: HistoryToken, of consumer: String) throws(HistoryError) {
        try recorded().setPosition(token, of: consumer)
    }

    /// Forgets a consumer, so that history does not wait for it.
    /// - Throws: ``HistoryError/notRecorded(store:)`` if the store does not record history; ``HistoryError/store(_:)`` if it fails.
    public func removeHistoryConsumer(_ consumer: String) throws(HistoryError) {
        try recorded().removeConsumer(consumer)
    }

    /// Passes a consumer the transactions that it has not read, in batches, and moves it forward after each call that
    /// does not throw. A new consumer is registered and starts with the oldest transaction that is kept.
    ///
    ///     try container.consumeHistory(as: "search") { transactions in
    ///         for change in transactions.flatMap(\.changes) { try index.update(change) }
    ///     }
    ///
    /// If the process dies between the work and the move, the same transactions come again: make the work idempotent.
    /// - Parameters:
    ///   - consumer: A name of your choice.
    ///   - filter: What to include. The consumer moves past what is not.
    ///   - batchSize: The maximum number of transactions of a call, 1 or more; no more are in memory at a time.
    ///   - body: Does the work.
    /// - Returns: How many transactions were processed.
    /// - Throws: ``HistoryError``, among others ``HistoryError/expired(token:)`` if the consumer has waited for too long: call
    ///   ``restartHistory(of:)``, and read the objects themselves. Also what the closure throws; the consumer stays where it is
    ///   then.
    @discardableResult
    public func consumeHistory(
        as consumer: String, where filter: HistoryFilter = .all, batchSize: Int = 100,
        _ body: ([HistoryTransaction]) throws -> Void
    ) throws -> Int {
        let history = try recorded()
        var position = try history.position(of: consumer)
        var count = 0
        while true {
            let page = try history.transactions(after: position, where: filter, limit: batchSize)
            if !page.transactions.isEmpty { try body(page.transactions) }
            count += page.transactions.count
            if page.token != position { try history.setPosition(page.token, of: consumer) }
            position = page.token
            if !page.hasMore { return count }
        }
    }

    /// Moves a consumer to the end of history: it skips the transactions that it has not read.
    /// - Returns: The place. Whatever you read from now on includes everything before it.
    /// - Throws: ``HistoryError/notRecorded(store:)`` if the store does not record history; ``HistoryError/store(_:)`` if it fails.
    @discardableResult
    public func restartHistory(of consumer: String) throws(HistoryError) -> HistoryToken {
        let history = try recorded()
        let token = try history.currentToken()
        try history.setPosition(token, of: consumer)
        return token
    }

    // MARK: Purging

    /// Removes transactions up to a place, whatever consumers have read; the most recent one stays.
    /// - Returns: How many rows of history were removed.
    /// - Throws: ``HistoryError/expired(token:)`` for a token that is not in this history; ``HistoryError/notRecorded(store:)``;
    ///   ``HistoryError/store(_:)`` if the store fails.
    @discardableResult
    public func purgeHistory(upTo token: HistoryToken) throws(HistoryError) -> Int {
        try recorded().purge(upTo: token)
    }

    /// Removes transactions that were committed before a date, whatever consumers have read; the most recent one stays.
    ///
    ///     try container.purgeHistory(before: .now - 30 * 86_400)
    ///
    /// - Returns: How many rows of history were removed.
    /// - Throws: ``HistoryError/notRecorded(store:)`` if the store does not record history; ``HistoryError/store(_:)`` if it fails.
    @discardableResult
    public func purgeHistory(before date: Date) throws(HistoryError) -> Int {
        let history = try recorded()
        guard let token = try history.token(at: date) else { return 0 }
        return try history.purge(upTo: token)
    }

    // MARK: Objects as they were

    /// An object as it was at a place of history. Values that have not changed since are known, and so are old values
    /// of attributes that the model preserves; see ``Attribute/isPreservedInHistory``.
    /// - Returns: nil if there was no such object.
    /// - Throws: ``HistoryError/expired(token:)``; ``HistoryError/notRecorded(store:)``.
    public func object(_ id: ObjectID, at token: HistoryToken) throws(HistoryError) -> HistoricalObject? {
        try recorded().object(id, at: token)
    }

    /// An object as it was at a time.
    /// - Returns: nil if there was no such object.
    /// - Throws: As ``object(_:at:)-(_,HistoryToken)``; ``HistoryError/expired(token:)`` with the current token if the time is
    ///   before all that is kept.
    public func object(_ id: ObjectID, at date: Date) throws(HistoryError) -> HistoricalObject? {
        let history = try recorded()
        guard let token = try history.token(at: date) else { throw .expired(token: try history.currentToken()) }
        return try history.object(id, at: token)
    }
}
