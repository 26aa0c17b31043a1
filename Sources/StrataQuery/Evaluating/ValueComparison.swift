import Foundation

/// Equality and order of values as predicates and sorts see them: numbers by their value whatever their type, text by
/// its bytes.
///
///     print(ValueComparison.areEqual(.integer(1), .double(1)), Value.integer(1) == .double(1))  // true false
///     let sorted = [Value.string("b"), .null, .string("A")].sorted {
///         ValueComparison.sortOrder($0, $1) == .orderedAscending
///     }
///     print(sorted)  // [nil, "A", "b"]
///
/// Use it to compare or sort values in Swift with the result that a fetch would have. Truth values count as 1 and 0,
/// and a URI equals its text. ``order(_:_:_:)`` gives nil for values without an order, such as a date and a text;
/// ``sortOrder(_:_:_:)`` always decides, with nil first. Geo points, composites and collections have equality, but no
/// order.
public enum ValueComparison {
    /// Whether two values are equal. Nil equals only nil. Values of different kinds are unequal, except numbers, truth
    /// values as 1 and 0, and a URI and its text.
    public static func areEqual(_ a: Value, _ b: Value, _ options: ComparisonOptions = []) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.null, _), (_, .null): false
        case (.list(let x), .list(let y)):
            x.count == y.count && zip(x, y).allSatisfy { areEqual($0, $1, options) }
        case (.set(let x), .set(let y)):
            x.members.count == y.members.count
                && x.members.allSatisfy { member in y.members.contains { areEqual(member, $0, options) } }
        case (.uuid(let x), .uuid(let y)): x == y
        case (.geoPoint(let x), .geoPoint(let y)): x == y
        case (.object(let x), .object(let y)): x == y
        case (.composite(let x), .composite(let y)):
            x.count == y.count && x.allSatisfy { name, value in y[name].map { areEqual(value, $0, options) } ?? false }
        default: order(a, b, options) == .orderedSame
        }
    }

    /// The order of two values that have one; nil if either is nil, or if they cannot be ordered.
    public static func order(_ a: Value, _ b: Value, _ options: ComparisonOptions = []) -> ComparisonResult? {
        switch (a, b) {
        case (.integer(let x), .integer(let y)): return order(x, y)
        case (.string(let x), .string(let y)):
            return text(TextComparison.fold(x, options), TextComparison.fold(y, options))
        case (.date(let x), .date(let y)):
            return order(x.timeIntervalSinceReferenceDate, y.timeIntervalSinceReferenceDate)
        case (.uri(let x), .uri(let y)): return text(x.absoluteString, y.absoluteString)
        case (.uri(let x), .string(let y)): return text(x.absoluteString, y)
        case (.string(let x), .uri(let y)): return text(x, y.absoluteString)
        case (.boolean(let x), .boolean(let y)): return order(x ? 1 : 0, y ? 1 : 0)
        case (.binary(let x), .binary(let y)):
            return x == y ? .orderedSame : x.lexicographicallyPrecedes(y) ? .orderedAscending : .orderedDescending
        case (.uuid(let x), .uuid(let y)):
            return withUnsafeBytes(of: x.uuid) { left in
                withUnsafeBytes(of: y.uuid) { right in
                    left.elementsEqual(right)
                        ? .orderedSame : left.lexicographicallyPrecedes(right) ? .orderedAscending : .orderedDescending
                }
            }
        case (.object(let x), .object(let y)): return order(x, y)
        default: return numbers(a, b)
        }
    }

    /// The order for sorting: nil first, then by ``order(_:_:_:)``.
    public static func sortOrder(_ a: Value, _ b: Value, _ options: ComparisonOptions = []) -> ComparisonResult {
        switch (a.isNull, b.isNull) {
        case (true, true): .orderedSame
        case (true, false): .orderedAscending
        case (false, true): .orderedDescending
        default: order(a, b, options) ?? order(rank(a), rank(b)) ?? .orderedSame
        }
    }

    /// Which kinds come first where values of several kinds are sorted, as members of JSON may be: numbers, then text.
    private static func rank(_ value: Value) -> Int {
        switch value {
        case .integer, .double, .decimal, .boolean: 1
        case .string, .uri: 2
        default: 3
        }
    }

    private static func numbers(_ a: Value, _ b: Value) -> ComparisonResult? {
        if let x = exactInteger(a), let y = exactInteger(b) { return order(x, y) }
        if case .decimal = a, let y = decimal(b), case .decimal(let x) = a { return order(x, y) }
        if case .decimal(let y) = b, let x = decimal(a) { return order(x, y) }
        switch (a, b) {
        case (.integer(let x), .double(let y)): return order(x, y)
        case (.double(let x), .integer(let y)): return order(y, x).map(reversed)
        case (.double(let x), .double(let y)): return order(x, y)
        case (.boolean(let x), .double(let y)): return order(Int64(x ? 1 : 0), y)
        case (.double(let x), .boolean(let y)): return order(Int64(y ? 1 : 0), x).map(reversed)
        default: return nil
        }
    }

    /// An integer against a double without rounding the integer.
    private static func order(_ x: Int64, _ y: Double) -> ComparisonResult? {
        if y.isNaN { return nil }
        if y >= 0x1p63 { return .orderedAscending }
        if y < -0x1p63 { return .orderedDescending }
        let whole = Int64(y.rounded(.towardZero))
        // The type is spelled out: a bare 0 would be an Int64 and call this function for ever.
        return x != whole ? order(x, whole) : order(0 as Double, y - Double(whole))
    }

    private static func exactInteger(_ value: Value) -> Int64? {
        switch value {
        case .integer(let number): number
        case .boolean(let flag): flag ? 1 : 0
        default: nil
        }
    }

    private static func decimal(_ value: Value) -> Decimal? {
        switch value {
        case .decimal(let number): number
        case .integer(let number): Decimal(number)
        case .boolean(let flag): flag ? 1 : 0
        case .double(let number): number.isFinite ? Decimal(number) : nil
        default: nil
        }
    }

    private static func text(_ x: String, _ y: String) -> ComparisonResult {
        TextComparison.isEqual(x, y)
            ? .orderedSame : TextComparison.isLess(x, y) ? .orderedAscending : .orderedDescending
    }

    private static func order<T: Comparable>(_ x: T, _ y: T) -> ComparisonResult? {
        if x < y { return .orderedAscending }
        if x > y { return .orderedDescending }
        return x == y ? .orderedSame : nil
    }

    private static func reversed(_ result: ComparisonResult) -> ComparisonResult {
        switch result {
        case .orderedAscending: .orderedDescending
        case .orderedDescending: .orderedAscending
        case .orderedSame: .orderedSame
        }
    }
}
