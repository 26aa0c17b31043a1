/// How the two sides of a comparison are compared. The raw value is the spelling in the format language.
///
///     let name = FetchExpression.keyPath(["name"])
///     let condition = FetchPredicate.comparison(name, .beginsWith, .constant("li"), [.caseInsensitive])
///     print(try ComparisonOperator.like.evaluate("Lima", "L?m*"))  // true
///
/// Typed keys and formats give you these operators. Use the enumeration when you build a condition from parts, such as
/// the rows of a search form, or read one by its ``FetchPredicate/node``. ``evaluate(_:_:_:)`` compares two values in
/// memory.
///
/// Every comparison is true or false, even with nil: nil equals only nil, and is neither less nor greater than
/// anything. Numbers compare by value whatever their type. An order of different kinds, such as a text and a date, is a
/// ``PredicateEvaluationError/incomparable(left:right:context:)``. ``ComparisonOptions`` apply to text.
public enum ComparisonOperator: String, Sendable, Hashable, CaseIterable {
    /// Same value. Nil equals only nil.
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
    /// The left side equals an element of the collection on the right, or is a part of the text on the right. Nil is in
    /// nothing.
    case isIn = "IN"
    /// The left side lies in the closed range of the two elements on the right: `BETWEEN {1, 5}`. False if the left
    /// side or a bound is nil.
    case between = "BETWEEN"
    /// The text on the left begins with that on the right.
    case beginsWith = "BEGINSWITH"
    /// The text on the left ends with that on the right.
    case endsWith = "ENDSWITH"
    /// The text on the left contains that on the right, or the collection on the left has it as an element.
    case contains = "CONTAINS"
    /// The whole text on the left has the form on the right, where `?` stands for one Unicode scalar and `*` for any
    /// number of them. All other characters match literally.
    case like = "LIKE"
    /// The whole text on the left matches the regular expression on the right, in the syntax of ICU.
    case matches = "MATCHES"
    /// The text on the left has the words on the right; see ``TextQuery``.
    ///
    /// In a store the left side is an attribute of a full-text index, or `SELF` for all attributes of the index. The
    /// word is not a reserved one: it means the operator only where an operator stands.
    case matchesText = "MATCHESTEXT"
}

extension ComparisonOperator {
    /// The operator that says the same with the sides exchanged; itself where there is none.
    public var mirrored: ComparisonOperator {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        default: self
        }
    }

    /// Whether the operator asks which side comes first.
    public var isOrdering: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual: true
        default: false
        }
    }
}

/// How text is compared. Without options, by its bytes.
///
///     City.where { $0.name.hasPrefix("são", [.caseInsensitive, .diacriticInsensitive]) }
///     try FetchPredicate(format: "name BEGINSWITH[cd] %@", "são")
///     FetchSort("name", options: [.caseInsensitive])
///
/// Options work with every operator on text, and with orders. They have no effect on other values. The same function,
/// ``TextComparison/fold(_:_:)``, serves memory and SQL, so the answers agree, whatever the locale of the machine.
///
/// They cost speed: an index on the text cannot be used. For `[cd]`, declare an attribute with
/// ``Derivation/canonical(_:)``; fetches then use it and its index automatically.
public struct ComparisonOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8
    /// Makes options of bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// `[c]`: upper and lower case are the same, over all of Unicode.
    public static let caseInsensitive = ComparisonOptions(rawValue: 1)
    /// `[d]`: accents do not count.
    public static let diacriticInsensitive = ComparisonOptions(rawValue: 2)
    /// `[n]`: both sides have been brought to one form before, so they are compared as they are stored. It overrules
    /// the other options.
    public static let normalized = ComparisonOptions(rawValue: 4)
    /// `[l]`: by a locale. To give one answer on all machines this is always the root locale, whose rule here is
    /// canonical equivalence: `é` and `e` with a combining accent are the same letter, and text is ordered by the
    /// scalars of its decomposed form.
    public static let locale = ComparisonOptions(rawValue: 8)

    /// The options in the format language, such as `[cd]`; nothing if there are none.
    public var suffix: String {
        let letters =
            (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "")
            + (contains(.normalized) ? "n" : "") + (contains(.locale) ? "l" : "")
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}

/// How many elements of a collection on the left a comparison must hold for.
///
///     try FetchPredicate(format: "ANY cities.population > %d", 1_000_000)
///     try FetchPredicate(format: "NONE cities.isPort == YES")
///
/// The collection is mostly a path over a to-many relationship. A comparison looks at one value of each member, so two
/// of them joined by `AND` may hold for different members. To ask for one member that has several properties, use a
/// `SUBQUERY`, or the typed form `$0.cities.any { … }`. A path over an unordered relationship leaves out members in
/// which the value is nil; one over an ordered relationship keeps them.
///
/// On the left of anything but a collection, evaluation throws
/// ``PredicateEvaluationError/noCollection(found:context:)``. A nil collection has no elements.
public enum ComparisonQuantifier: String, Sendable, Hashable, CaseIterable {
    /// At least one; false if there are none. `SOME` is another word for it.
    case any = "ANY"
    /// Every one; true if there are none.
    case all = "ALL"
    /// Not one; true if there are none.
    case none = "NONE"
}
