/// A part of a Foundation predicate that has no meaning for stores.
public struct UnreadablePredicateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What cannot be read: the kind of expression, and what it is applied to.
    public let part: String
    /// Why, and what to do.
    public let reason: String

    /// Names the part and the reason.
    public init(part: String, reason: String) {
        self.part = part
        self.reason = reason
    }

    /// Part and reason.
    public var description: String { "the predicate's part \(part) cannot be read: \(reason)" }
}
