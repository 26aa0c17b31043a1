/// The rules that values of an attribute must satisfy when you save.
///
///     Entity("Country") {
///         Attribute("countryId", .string).matching("[A-Z]{2}")
///         Attribute("name", .string).length(1...80)
///         Attribute("population", .integer64).range(0...)
///     }
///
/// Modifiers of ``Attribute`` set the rules. A save checks new objects and the attributes that have changed, and throws
/// ``PersistenceError/validation(_:)`` with every violation. Nil satisfies all rules; whether a value is required is a
/// separate declaration. An attribute that is derived at a save is checked with its new value. Bulk operations check
/// bounds and lengths only with `validating: true`.
///
/// Rules are not part of the version hash. Objects that an earlier version of the model allowed stay in the store and
/// can be read; they must satisfy the rules when the attribute next changes.
public struct ValidationRules: Sendable, Hashable {
    /// The minimum number or date (inclusive), or nil. Dates are ``Value/date(_:)``.
    public var minimum: Value?
    /// The maximum number or date (inclusive), or nil.
    public var maximum: Value?
    /// The minimum length: characters of text, bytes of binary data, elements of an array.
    public var minimumLength: Int?
    /// The maximum length: characters of text, bytes of binary data, elements of an array.
    public var maximumLength: Int?
    /// A regular expression that the whole text must match, line breaks at its end included. The syntax and the promise
    /// about its cost are those of `MATCHES`; see the guide `Documentation/Predicates.md`.
    public var pattern: String?

    /// Collects rules; all that are nil are not checked.
    public init(
        minimum: Value? = nil, maximum: Value? = nil, minimumLength: Int? = nil, maximumLength: Int? = nil,
        pattern: String? = nil
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.minimumLength = minimumLength
        self.maximumLength = maximumLength
        self.pattern = pattern
    }

    /// Whether there is nothing to check.
    public var isEmpty: Bool { self == ValidationRules() }
}
