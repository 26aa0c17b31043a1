import Strata
import StrataStore

/// The error of a piece of code that ran another number of statements than a test expects.
///
///     do {
///         try expectStatements(1, in: container) { try context.fetch(FetchRequest<City>()).map(\.country.name) }
///     } catch let error as UnexpectedStatements {
///         for statement in error.statements { print(statement.sql, statement.rows) }
///     }
///
/// ``expectStatements(_:in:_:)`` throws it, so that the test fails with a list of the statements that ran. Many similar ones
/// mean that a loop reads row by row: prefetch the relationship, or fetch the objects in one request. Fewer than ``expected``
/// are reported as well, so that you notice when a limit can be lowered.
public struct UnexpectedStatements: Error, Sendable, CustomStringConvertible {
    /// How many statements the test expects.
    public let expected: Int
    /// The statements that ran, in their order.
    public let statements: [StatementTrace]

    /// Both numbers, and the text of each statement.
    public var description: String {
        let list = statements.enumerated().map { "\n\($0.offset + 1). \($0.element.sql) (\($0.element.rows) rows)" }
        return "expected \(expected) statement\(expected == 1 ? "" : "s"), but \(statements.count) ran:\(list.joined())"
    }
}

/// Collects the statements of a container while a closure runs.
private final class StatementRecording {
    private let list = Guarded<[StatementTrace]>([])
    private let observation: StoreObservation

    init(_ container: PersistentContainer) throws(StoreError) {
        let list = list
        guard
            let observation = container.store.observeStatements({ trace in
                if !trace.isTransactionControl { list.withLock { $0.append(trace) } }
            })
        else {
            throw .unsupported(store: container.store.name, feature: "counting statements; test with a SQLite store")
        }
        self.observation = observation
    }

    var statements: [StatementTrace] { withExtendedLifetime(observation) { list.withLock(\.self) } }

    func expect(_ count: Int) throws(UnexpectedStatements) {
        let statements = statements
        if statements.count != count { throw UnexpectedStatements(expected: count, statements: statements) }
    }
}

/// Runs a closure and checks how many SQL statements the container ran meanwhile, on any thread.
///
///     let countries = try expectStatements(2, in: container) {
///         try context.fetch(FetchRequest<Country>(prefetch: [Country.keys.cities]))
///     }
///
/// A statement that runs several times counts each time. Those that begin and end transactions, and `PRAGMA`s, do not count.
/// Nobody else should use the container meanwhile.
/// - Parameters:
///   - count: The number of statements that the closure may run: exactly so many.
///   - container: The container on a SQLite store, or on a mirror.
/// - Returns: The result of the closure.
/// - Throws: ``UnexpectedStatements`` with the statements that ran; the error of the closure if it throws;
///   ``StoreError/unsupported(store:feature:)`` for a store that runs no statements.
@discardableResult
public func expectStatements<R>(_ count: Int, in container: PersistentContainer, _ body: () throws -> R) throws -> R {
    let recording = try StatementRecording(container)
    let result = try body()
    try recording.expect(count)
    return result
}

/// As ``expectStatements(_:in:_:)``, for a closure that waits.
/// - Throws: As ``expectStatements(_:in:_:)``.
@discardableResult
public func expectStatements<R>(
    _ count: Int, in container: PersistentContainer, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> sending R
) async throws -> sending R {
    let recording = try StatementRecording(container)
    let result = try await body()
    try recording.expect(count)
    return result
}
