/// What values of an attribute must satisfy when their object is saved. Rules are not part of the version hash. Those of an
/// attribute that is derived at a save are checked with its new value.
public struct ValidationRules: Sendable, Hashable {
    /// The minimum number or date (inclusive), or nil. Dates are ``Value/date(_:)``.
    public var minimum: Value?
    /// The maximum number or date (inclusive), or nil.
    public var maximum: Value?
    /// The minimum length: characters of text, bytes of binary data.
    public var minimumLength: Int?
    /// The maximum length: characters of text, bytes of binary data.
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
