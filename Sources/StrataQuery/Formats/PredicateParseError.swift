/// An error in the text of a format: where it is, what was expected there, and what was found.
///
///     do {
///         let condition = try FetchPredicate(format: "population >")
///         print(condition)
///     } catch {
///         print(error)  // at character 12: expected a value or a condition; found the end of the format
///     }
///
/// ``FetchPredicate/init(format:_:)``, ``FetchExpression/init(format:_:)`` and ``FetchSort/init(format:)`` throw it.
/// So do missing arguments, too many of them, and those of the wrong type. Use ``position``, or ``line`` and ``column``, to
/// mark the place in a text field. The parser stops at the first error. It knows no model: the fetch, or the model
/// file, reports properties that do not exist.
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
