/// One criterion of an order: an expression, a direction, and options for text.
///
///     let request = FetchRequest<City>(sortedBy: [
///         FetchSort("country.name", options: [.caseInsensitive]),
///         City.keys.population.descending,
///     ])
///
/// Typed keys make criteria with `ascending` and `descending`. Use the initializers for paths that you know only at run
/// time, and for aggregates such as `cities.@count`. The first criterion in a request decides; the next ones break its
/// ties, and the key breaks the last.
///
/// Nil comes before all values in ascending order; text is ordered by its UTF-8 bytes, not by the rules of a language.
/// An order needs one value for each object: a path to many objects makes the fetch fail. A matching ``Index`` spares
/// the store the sorting.
public struct FetchSort: Sendable, Hashable {
    /// The value that objects are ordered by: a property, even through to-one relationships, or any other single value,
    /// such as the distance to a point or the number of members of a to-many relationship.
    public var expression: FetchExpression
    /// The property that objects are ordered by, by the names that lead to it; nil for other expressions.
    public var keyPath: [String]? { if case .keyPath(let names) = expression.node { names } else { nil } }
    /// Whether small values come first.
    public var ascending: Bool
    /// How text is compared.
    public var options: ComparisonOptions

    /// Orders by the value of an expression: `FetchSort(try FetchExpression(format: "population / area"))`.
    /// - Parameters:
    ///   - expression: The value of an object.
    ///   - ascending: Whether small values, and nil, come first.
    ///   - options: How text is compared.
    public init(_ expression: FetchExpression, ascending: Bool = true, options: ComparisonOptions = []) {
        self.expression = expression
        self.ascending = ascending
        self.options = options
    }

    /// Orders by a property, or by an aggregate of a to-many relationship: `["cities", "@count"]`. Use it for names
    /// that you have one by one; a dotted text is shorter otherwise.
    public init(_ keyPath: [String], ascending: Bool = true, options: ComparisonOptions = []) {
        self.init(.keyPath(keyPath), ascending: ascending, options: options)
    }

    /// Orders by a dotted path: `country.name`, `cities.@count`, `cities.@sum.population`. The path is not a format: a
    /// `-` before it has no meaning; see ``init(format:)``.
    /// - Parameters:
    ///   - keyPath: The names that lead to the property. The fetch checks that they exist.
    ///   - ascending: Whether small values, and nil, come first.
    ///   - options: How text is compared.
    public init(_ keyPath: String, ascending: Bool = true, options: ComparisonOptions = []) {
        self.init(keyPath.split(separator: ".").map(String.init), ascending: ascending, options: options)
    }

    /// Reads a criterion as model files and tools write it: a dotted path or an expression of the format language, `-`
    /// before it for descending order, options for text after it.
    ///
    ///     try FetchSort(format: "-population")
    ///     try FetchSort(format: "country.name[cd]")
    ///     try FetchSort(format: "distance(position, {48.86, 2.35})")
    /// - Throws: A ``PredicateParseError`` with the place of the fault.
    public init(format: String) throws(PredicateParseError) {
        var text = format[...]
        let isDescending = text.first == "-"
        if isDescending { text = text.dropFirst() }
        var options: ComparisonOptions = []
        if let bracket = text.lastIndex(of: "["), text.last == "]", bracket > text.startIndex {
            let letters = text[text.index(after: bracket)...].dropLast()
            let found = letters.map { letter in Self.options.first { $0.letter == letter }?.option }
            if !found.isEmpty, !found.contains(nil) {
                options = found.reduce(into: []) { $0.formUnion($1 ?? []) }
                text = text[..<bracket]
            }
        }
        // In a path, unlike in an expression, the name of a property may be that of a keyword.
        let isPath = !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || "_.@".contains($0) }
        if isPath {
            self.init(String(text), ascending: !isDescending, options: options)
        } else {
            self.init(try FetchExpression(format: String(text)), ascending: !isDescending, options: options)
        }
    }

    private static let options: [(letter: Character, option: ComparisonOptions)] = [
        ("c", .caseInsensitive), ("d", .diacriticInsensitive), ("n", .normalized), ("l", .locale),
    ]
}

extension FetchSort: CustomStringConvertible {
    /// The criterion as ``init(format:)`` reads it.
    public var description: String { "\(ascending ? "" : "-")\(expression)\(options.suffix)" }
}

extension FetchSort {
    /// What an object is ordered by.
    /// - Parameters:
    ///   - source: The object.
    ///   - environment: What `now()` means; the same one for all objects that are ordered.
    /// - Throws: A ``PredicateEvaluationError`` for an expression that has no meaning or leads to many.
    public func value(
        of source: some PropertySource, environment: EvaluationEnvironment = EvaluationEnvironment()
    ) throws(PredicateEvaluationError) -> Value {
        // Nearly all orders are by properties, which need no evaluator.
        if case .keyPath(let path) = expression.node, !path.contains(where: { $0.utf8.first == UInt8(ascii: "@") }) {
            switch source.propertyValue(at: path) {
            // Objects and arrays have no order among each other.
            case .json(.composite), .json(.list), .objects: return .null
            case .value(let value), .json(let value): return value
            case .object(let object): return object.evaluatedObject
            }
        }
        let value = try expression.evaluate(on: source, environment: environment)
        switch value {
        case .list, .set: throw .wrongOperand(found: value.kind, context: "an order")
        default: return value
        }
    }
}
