/// Why a text is not a predicate, and where.
public struct PredicateParseError: Error, Sendable, Hashable {
    /// How many characters (Unicode scalars) of the format come before the fault; at most their number.
    public let position: Int
    /// The line of the fault, counted from 1.
    public let line: Int
    /// The character in that line, counted from 1.
    public let column: Int
    /// The text that was found, shortened.
    public let found: String
    /// What was expected, or what is wrong with the text there.
    public let expected: String
}

extension PredicateParseError: CustomStringConvertible {
    /// Where it is, what was expected, and what was found.
    public var description: String {
        let place = line > 1 ? "at character \(position) (line \(line), column \(column))" : "at character \(position)"
        return "\(place): \(expected); found \(found)"
    }
}
