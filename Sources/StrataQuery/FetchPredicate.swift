/// How the two sides of a comparison are compared.
public enum ComparisonOperator: String, Sendable, Hashable, CaseIterable {
    /// Same value. Nil equals nil alone.
    case equal = "=="
    /// Not ``equal``: nil is unequal to every value.
    case notEqual = "!="
    /// Less; false if either side is nil.
    case less = "<"
    /// Less or equal; false if either side is nil.
    case lessOrEqual = "<="
    /// Greater; false if either side is nil.
    case greater = ">"
    /// Greater or equal; false if either side is nil.
    case greaterOrEqual = ">="
    /// The left side equals an element of the list on the right.
    case isIn = "IN"
    /// The left side lies in the closed range of the two elements on the right.
    case between = "BETWEEN"
    /// The text on the left begins with that on the right.
    case beginsWith = "BEGINSWITH"
    /// The text on the left ends with that on the right.
    case endsWith = "ENDSWITH"
    /// The text on the left contains that on the right.
    case contains = "CONTAINS"
}

/// How text is compared.
public struct ComparisonOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8
    /// Makes options of bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// `[c]`: upper and lower case are the same.
    public static let caseInsensitive = ComparisonOptions(rawValue: 1)
    /// `[d]`: accents do not count.
    public static let diacriticInsensitive = ComparisonOptions(rawValue: 2)
}

/// A condition on objects: the one tree that is evaluated in memory and translated by stores.
public indirect enum FetchPredicate: Sendable, Hashable {
    /// Always the same answer.
    case constant(Bool)
    /// Two expressions compared.
    case comparison(FetchExpression, ComparisonOperator, FetchExpression, ComparisonOptions)
    /// All hold; true if there are none.
    case and([FetchPredicate])
    /// At least one holds; false if there are none.
    case or([FetchPredicate])
    /// Does not hold.
    case not(FetchPredicate)

    /// Both conditions.
    public static func && (a: FetchPredicate, b: FetchPredicate) -> FetchPredicate {
        switch (a, b) {
        case (.and(let left), .and(let right)): .and(left + right)
        case (.and(let left), _): .and(left + [b])
        default: .and([a, b])
        }
    }

    /// Either condition.
    public static func || (a: FetchPredicate, b: FetchPredicate) -> FetchPredicate {
        switch (a, b) {
        case (.or(let left), .or(let right)): .or(left + right)
        case (.or(let left), _): .or(left + [b])
        default: .or([a, b])
        }
    }

    /// The opposite.
    public static prefix func ! (a: FetchPredicate) -> FetchPredicate { .not(a) }
}

extension FetchPredicate: CustomStringConvertible {
    /// The condition in the format language.
    public var description: String {
        switch self {
        case .constant(let flag): flag ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let left, let op, let right, let options):
            "\(left) \(op.rawValue)\(options.suffix) \(right)"
        case .and(let parts): parts.isEmpty ? "TRUEPREDICATE" : parts.map { "(\($0))" }.joined(separator: " AND ")
        case .or(let parts): parts.isEmpty ? "FALSEPREDICATE" : parts.map { "(\($0))" }.joined(separator: " OR ")
        case .not(let part): "NOT (\(part))"
        }
    }
}

extension ComparisonOptions {
    fileprivate var suffix: String {
        let letters = (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "")
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}
