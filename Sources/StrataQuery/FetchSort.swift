/// One criterion of an order. Nil comes before all values in ascending order; text is ordered by its UTF-8 bytes.
public struct FetchSort: Sendable, Hashable {
    /// The property, or the path to it through to-one relationships.
    public var keyPath: [String]
    /// Whether small values come first.
    public var ascending: Bool
    /// How text is compared.
    public var options: ComparisonOptions

    /// Orders by a property.
    public init(_ keyPath: [String], ascending: Bool = true, options: ComparisonOptions = []) {
        self.keyPath = keyPath
        self.ascending = ascending
        self.options = options
    }

    /// Orders by a property given as a dotted path: `country.name`.
    public init(_ keyPath: String, ascending: Bool = true, options: ComparisonOptions = []) {
        self.init(keyPath.split(separator: ".").map(String.init), ascending: ascending, options: options)
    }
}
