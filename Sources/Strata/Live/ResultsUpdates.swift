/// The steps of a live result as an asynchronous sequence; ``FetchedResults/updates`` returns it.
///
///     let results = try context.live(City.where { $0.population > 100_000 })
///     for try await update in results.updates {
///         if update.isInitial { show(update.snapshot) } else { table.apply(update.difference) }
///     }
///
/// The first element is the state at the beginning. Each one after that has the state before, the state after, and the exact
/// difference. If you are slow, you get one difference from the last state that you saw to the newest, however much
/// happened. Each iterator is independent, and costs nothing once you leave the loop.
///
/// The sequence lives where its context lives, keeps it alive, and waits until the task is cancelled. If the store fails while
/// the result is brought up to date, the sequence throws once and ends; see ``FetchedResults/failure``.
public struct ResultsUpdates: AsyncSequence {
    /// A step.
    public typealias Element = ResultsUpdate
    /// What may end the result.
    public typealias Failure = PersistenceError

    let context: ManagedObjectContext
    let list: LiveList

    /// Gives the steps one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let context: ManagedObjectContext
        let list: LiveList
        let cursor: LiveCursor
        var hasFailed = false

        /// The next step; nil once the task is cancelled, or after a failure.
        /// - Throws: What ``FetchedResults/failure`` says, once.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(PersistenceError) -> ResultsUpdate? {
            while !hasFailed {
                if cursor.signal.hasEnded { return nil }
                if let update = cursor.take(from: list) { return update }
                if let failure = list.failure {
                    hasFailed = true
                    throw failure
                }
                if list.hasEnded { return nil }
                _ = await cursor.signal.wait(isolation: actor)
            }
            return nil
        }

        /// The next step; nil once the task is cancelled, or after a failure.
        /// - Throws: What ``FetchedResults/failure`` says, once.
        public mutating func next() async throws(PersistenceError) -> ResultsUpdate? { try await next(isolation: nil) }
    }

    /// Reads from the state as it is now.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(context: context, list: list, cursor: list.makeCursor())
    }
}
