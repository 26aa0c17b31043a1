import Observation

/// The result of a request for values that stays up to date: columns, aggregates, groups.
///
///     let totals = try context.live(
///         FetchRequest<City>().select(City.keys.country.countryId, City.keys.population.sum)
///             .grouped(by: City.keys.country.countryId))
///     for try await rows in totals.updates { show(rows) }
///
/// ``ManagedObjectContext/live(_:)`` returns it. Use it for numbers on the screen: counts, sums, charts. Read ``rows`` in a
/// view that observes it, or follow ``updates``.
///
/// It is computed again, as a whole, only at boundaries at which something changed that it depends on; listeners are notified
/// only if the rows differ. There is no difference between two states, so for lists of objects use ``FetchedResults``. It lives
/// where its context lives, and keeps it alive.
public final class FetchedValues<Object: ManagedObject, Row>: Observable {
    /// The context.
    public let context: ManagedObjectContext
    /// The request that is kept up to date.
    public let request: ValueRequest<Object, Row>
    let list: LiveValues
    private let registrar = ObservationRegistrar()
    /// Made once; see ``FetchedResults``.
    private let rowsPath: KeyPath<FetchedValues, [Row]> = \.rows
    private var current: [Row]

    init(_ request: ValueRequest<Object, Row>, in context: ManagedObjectContext) throws(PersistenceError) {
        self.context = context
        self.request = request
        let core = context.core
        core.processPendingChanges()
        let plan = try core.planner.plan(for: request)
        list = LiveValues(
            try core.fetcher.currentValues(plan), region: LiveRegion(plan, model: core.model)
        ) { (core) throws(PersistenceError) in
            try core.fetcher.currentValues(try core.planner.plan(for: request))
        }
        current = try core.fetcher.rows(list.values, for: request, plan)
        core.someRecorder.add(list)
        list.onStep = { [weak self] in self?.stepped() }
    }

    private func stepped() {
        let core = context.core
        do throws(PersistenceError) {
            let rows = try core.fetcher.rows(list.values, for: request, try core.planner.plan(for: request))
            registrar.withMutation(of: self, keyPath: rowsPath) { current = rows }
        } catch {
            list.fail(error)
        }
    }

    /// The rows as of the last boundary. Observation tracks this property.
    public var rows: [Row] {
        registrar.access(self, keyPath: rowsPath)
        return current
    }

    /// Why the rows no longer follow the context: the store failed while they were computed. Nil as long as they do. The rows
    /// stay as they were; call `live` again to start over.
    public var failure: PersistenceError? {
        registrar.access(self, keyPath: rowsPath)
        return list.failure
    }

    /// The rows at the beginning, and again each time they differ. If you are slow, you get only the newest.
    public var updates: FetchedValueUpdates<Object, Row> { FetchedValueUpdates(values: self) }
}

/// The states of live values as an asynchronous sequence; ``FetchedValues/updates`` returns it.
///
///     let total = try context.live(FetchRequest<City>().select { $0.population.sum })
///     for try await rows in total.updates { print("\(rows[0]) people") }
///
/// The first element is the rows at the beginning; another one follows each time they differ. If you are slow, you get
/// only the newest state. The sequence lives where its context lives, keeps the values alive, and waits until the task is
/// cancelled. If the store fails while the rows are computed, it throws once and ends.
public struct FetchedValueUpdates<Object: ManagedObject, Row>: AsyncSequence {
    /// The rows.
    public typealias Element = [Row]
    /// What may end the answer.
    public typealias Failure = PersistenceError

    let values: FetchedValues<Object, Row>

    /// Gives the states one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let values: FetchedValues<Object, Row>
        let signal: ChangeSignal
        var number = -1
        var hasFailed = false

        /// The next rows; nil once the task is cancelled, or after a failure.
        /// - Throws: What ``FetchedValues/failure`` says, once.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(PersistenceError) -> [Row]? {
            while !hasFailed, !signal.hasEnded {
                if number != values.list.number {
                    number = values.list.number
                    return values.rows
                }
                if let failure = values.list.failure {
                    hasFailed = true
                    throw failure
                }
                if values.list.hasEnded { return nil }
                _ = await signal.wait(isolation: actor)
            }
            return nil
        }

        /// The next rows; nil once the task is cancelled, or after a failure.
        /// - Throws: What ``FetchedValues/failure`` says, once.
        public mutating func next() async throws(PersistenceError) -> [Row]? { try await next(isolation: nil) }
    }

    /// Reads from the state as it is now.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(values: values, signal: values.list.makeSignal())
    }
}

extension ManagedObjectContext {
    /// Fetches values, and keeps the answer up to date for as long as you keep it.
    ///
    ///     let counts = try context.live(
    ///         FetchRequest<City>().select { ($0.country.name.optional, $0.name.valueCount) }
    ///             .grouped(by: City.keys.country.name))
    ///     for (country, count) in counts.rows { print(country ?? "-", count) }
    ///
    /// See ``FetchedValues`` for what it costs and when it changes; for objects, there is ``live(_:sectionedBy:)``.
    /// - Throws: As `fetchValues`.
    public func live<T, Row>(_ request: ValueRequest<T, Row>) throws(PersistenceError) -> FetchedValues<T, Row> {
        try FetchedValues(request, in: self)
    }
}
