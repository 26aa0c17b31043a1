public import Foundation

/// The circumstances of an evaluation, apart from the objects and the variables: the moment that `now()` means.
///
///     let condition = try FetchPredicate(format: "due < now()")
///     let newYear = EvaluationEnvironment(now: Date(timeIntervalSinceReferenceDate: 0))
///     print(try condition.evaluate(on: Value.composite(["due": .date(.distantPast)]), environment: newYear))  // true
///
/// A fetch or a save has one environment for everything that it evaluates, in memory and in SQL, so that `now()` means
/// one moment throughout; see ``FetchPlan/environment``. You pass one in tests that need a fixed time, and to evaluate
/// several objects at the same moment: the default is a new environment for each call.
public struct EvaluationEnvironment: Sendable, Hashable {
    /// What `now()` means.
    public var now: Date

    /// An environment at a moment, by default the present one.
    public init(now: Date = Date()) { self.now = now }
}
