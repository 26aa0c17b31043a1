import StrataStore

/// A `?` in the SQL of a fetch: which constant of the condition it stands for, and how that becomes a value of SQLite.
///
/// The SQL does not hold the constants, so that one translation serves all fetches of a ``FetchShape``.
struct FetchParameter {
    enum Form {
        /// Compared with a term.
        case compared(SQLTerm, ComparisonOptions)
        /// All elements of a list that compare with a term in the same way.
        case list(SQLTerm, ComparisonOptions)
        /// Text as it is searched for.
        case text(ComparisonOptions)
        /// The least bytes behind all texts that begin with the constant.
        case endOfPrefix
    }

    /// The position of the constant in the condition.
    let constant: Int
    /// The element, where a single one of a list is meant.
    let element: Int?
    let form: Form

    func value(in constants: [Value]) -> SQLValue {
        var value = constants[constant]
        if let element, case .list(let elements) = value { value = elements[element] }
        switch form {
        case .compared(let term, let options): return ComparisonPair(term, value, options)?.value ?? .null
        case .list(let term, let options):
            guard case .list(let elements) = value else { return .null }
            return .list(ValueList(sqlValues: ComparisonPair.shared(term, elements, options).values))
        case .text(let options):
            guard case .string(let text) = value else { return .null }
            return .text(TextComparison.fold(text, options))
        case .endOfPrefix:
            guard case .string(let text) = value else { return .null }
            // The last byte of UTF-8 is at most 0xBF, so the next one always exists; the bytes need not be text,
            // because they are compared one by one.
            var end = Array(text.utf8)
            end[end.count - 1] += 1
            return .utf8(end)
        }
    }
}

extension ComparisonPair {
    /// What the elements of a list are compared with, and those that compare so. Others, and nil, are left out: a
    /// number that must be compared in another way than the first, or a value of another kind.
    static func shared(
        _ term: SQLTerm, _ elements: [Value], _ options: ComparisonOptions
    ) -> (pair: ComparisonPair?, values: [SQLValue], isShared: [Bool]) {
        var shared: ComparisonPair?
        var values: [SQLValue] = []
        var isShared = Array(repeating: false, count: elements.count)
        guard term.kind != .external else { return (nil, [], isShared) }
        for (index, element) in elements.enumerated() {
            guard !element.isNull, let pair = ComparisonPair(term, element, options),
                shared.map({ $0.sql == pair.sql }) ?? true
            else { continue }
            shared = pair
            isShared[index] = true
            values.append(pair.value)
        }
        return (shared, values, isShared)
    }
}
