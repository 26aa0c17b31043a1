/// What values of an attribute must satisfy when their object is saved. Rules are not part of the version hash.
public struct ValidationRules: Sendable, Hashable {
    /// The least number or date (inclusive), or nil. Dates are ``Value/date(_:)``.
    public var minimum: Value?
    /// The greatest number or date (inclusive), or nil.
    public var maximum: Value?
    /// The least length: characters of text, bytes of binary data.
    public var minimumLength: Int?
    /// The greatest length: characters of text, bytes of binary data.
    public var maximumLength: Int?
    /// A regular expression that the whole text must match, in the syntax of `NSRegularExpression` (ICU).
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
