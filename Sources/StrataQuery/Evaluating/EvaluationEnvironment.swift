public import Foundation

/// What an evaluation depends on besides the objects and the variables.
///
/// A fetch or a save has one environment for everything that it evaluates, in memory and in SQL, so that `now()` means
/// one moment throughout; see ``FetchPlan/environment``.
public struct EvaluationEnvironment: Sendable, Hashable {
    /// What `now()` means.
    public var now: Date

    /// An environment at a moment, by default the present one.
    public init(now: Date = Date()) { self.now = now }
}
