@_exported import StrataModel

/// One side of a comparison.
public indirect enum FetchExpression: Sendable, Hashable {
    /// A fixed value.
    case constant(Value)
    /// A property of the object, or of one that to-one relationships lead to: `["country", "name"]`. An element of a
    /// composite is two components, too. A to-one relationship at the end stands for the key of the object it leads to.
    case keyPath([String])
    /// The object itself: its key.
    case evaluatedObject
}

extension FetchExpression: CustomStringConvertible {
    /// The expression in the format language.
    public var description: String {
        switch self {
        case .constant(let value): value.description
        case .keyPath(let path): path.joined(separator: ".")
        case .evaluatedObject: "SELF"
        }
    }
}
