import Foundation
import StrataStore

/// A fetch without the values that it compares with. Fetches of one shape are one SQL text with other bindings, so that
/// a connection translates and prepares it once; see ``FetchCache``.
///
/// The kind of a value belongs to the shape, as does whether it is nil or an empty text, since the SQL depends on it;
/// the number of elements of a list does not.
struct FetchShape {
    let plan: FetchPlan
    let answer: FetchCompiler.Answer
    /// The constants of the condition, in the order in which they stand there.
    private(set) var constants: [Value] = []
    /// A quick hash of the shape: names go into it by length and first byte only.
    private(set) var hash: UInt64 = 0
    /// Whether the SQL is the same for all fetches of this shape. Where a value decides more than its kind says, it is
    /// not.
    private(set) var isReusable = true

    init(_ plan: FetchPlan, _ answer: FetchCompiler.Answer) {
        self.plan = plan
        self.answer = answer
        mix(plan.entityIndex)
        mix(answer.rawValue | (plan.limit == nil ? 0 : 4) | (plan.offset > 0 ? 8 : 0))
        for sort in plan.sorts { mix(sort.keyPath) }
        if let predicate = plan.predicate { add(predicate) }
    }

    /// Whether another fetch is the same but for its constants. Both must be reusable.
    func matches(_ other: FetchShape) -> Bool {
        hash == other.hash && answer == other.answer && plan.entityIndex == other.plan.entityIndex
            && plan.includesSubentities == other.plan.includesSubentities
            && (plan.limit == nil) == (other.plan.limit == nil) && (plan.offset > 0) == (other.plan.offset > 0)
            && plan.sorts == other.plan.sorts && Self.matches(plan.predicate, other.plan.predicate)
    }

    // MARK: Walking the condition

    private mutating func add(_ predicate: FetchPredicate) {
        switch predicate {
        case .constant(let flag): mix(flag ? 1 : 2)
        case .and(let parts):
            mix(3 + parts.count << 8)
            for part in parts { add(part) }
        case .or(let parts):
            mix(4 + parts.count << 8)
            for part in parts { add(part) }
        case .not(let part):
            mix(5)
            add(part)
        case .comparison(let left, let op, let right, let options):
            mix(6)
            add(left)
            add(right)
            // Two constants are compared while the SQL is made.
            if case .constant = left, case .constant = right { isReusable = false }
            // A text of accents alone folds to nothing, and a search for nothing is another condition.
            if options.contains(.diacriticInsensitive), op == .contains || op == .beginsWith || op == .endsWith,
                case .constant(.string(let text)) = right, TextComparison.fold(text, options).isEmpty
            {
                isReusable = false
            }
        case .quantified, .geo: isReusable = false
        }
    }

    private mutating func add(_ expression: FetchExpression) {
        switch expression {
        case .keyPath(let path): mix(path)
        case .evaluatedObject: mix(7)
        case .constant(let value):
            constants.append(value)
            if let code = Self.code(value) { mix(Int(code)) } else { isReusable = false }
        default: isReusable = false
        }
    }

    private mutating func mix(_ path: [String]) {
        for name in path { mix(name.utf8.count << 8 | Int(name.utf8.first ?? 0)) }
    }

    private mutating func mix(_ number: Int) {
        // Fibonacci hashing: multiplication by 2⁶⁴ / φ spreads small numbers over the upper bits.
        hash = (hash ^ UInt64(truncatingIfNeeded: number)) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
    }

    // MARK: Comparing

    private static func matches(_ a: FetchPredicate?, _ b: FetchPredicate?) -> Bool {
        switch (a, b) {
        case (nil, nil): true
        case (.constant(let x)?, .constant(let y)?): x == y
        case (.and(let x)?, .and(let y)?), (.or(let x)?, .or(let y)?):
            x.count == y.count && x.indices.allSatisfy { matches(x[$0], y[$0]) }
        case (.not(let x)?, .not(let y)?): matches(x, y)
        case (.comparison(let left, let op, let right, let options)?, .comparison(let l, let o, let r, let p)?):
            op == o && options == p && matches(left, l) && matches(right, r)
        default: false
        }
    }

    private static func matches(_ a: FetchExpression, _ b: FetchExpression) -> Bool {
        switch (a, b) {
        case (.keyPath(let x), .keyPath(let y)): x == y
        case (.evaluatedObject, .evaluatedObject): true
        case (.constant(let x), .constant(let y)): code(x) == code(y)
        default: false
        }
    }

    /// The kind of a value as far as SQL depends on it; nil where it depends on more.
    private static func code(_ value: Value) -> UInt16? {
        switch value {
        case .null: return 0
        case .integer: return 1
        case .boolean: return 2
        case .double(let number): return number.isFinite ? 3 : nil
        case .decimal(let number):
            if number.isNaN { return nil }
            return ComparisonPair.exactInteger(number) == nil ? 4 : 5
        case .string(let text): return text.isEmpty ? 6 : 7
        case .uri: return 8
        case .date(let date): return date.timeIntervalSinceReferenceDate.isNaN ? nil : 9
        case .uuid: return 10
        case .binary: return 11
        case .object: return 12
        case .geoPoint(let point): return point.latitude.isNaN || point.longitude.isNaN ? nil : 13
        case .composite, .set: return nil
        case .list(let elements): return code(of: elements)
        }
    }

    /// Lists of one kind of element are alike whatever their length, save that a range has two ends.
    private static func code(of elements: [Value]) -> UInt16? {
        var shared: UInt16 = 0
        var holdsNull = false
        for element in elements {
            guard var code = code(element), code < 64 else { return nil }
            // An element that is an empty text is compared as any other.
            if code == 6 { code = 7 }
            if code == 0 {
                holdsNull = true
            } else if shared == 0 {
                shared = code
            } else if shared != code {
                return nil
            }
        }
        // Which of the two ends of a range is nil makes a difference.
        if holdsNull, elements.count == 2 { return nil }
        return 64 | shared << 8 | (holdsNull ? 1 : 0) | (elements.count == 2 ? 2 : 0)
    }
}

/// A prepared fetch: what is left to do is to bind the constants.
final class PreparedFetch {
    let statement: Statement
    private let parameters: [FetchParameter]

    init(statement: Statement, parameters: [FetchParameter]) {
        self.statement = statement
        self.parameters = parameters
    }

    func bind(_ shape: FetchShape) {
        var index: Int32 = 0
        for parameter in parameters {
            index += 1
            statement.bind(parameter.value(in: shape.constants), at: index)
        }
        if let limit = shape.plan.limit {
            index += 1
            statement.bind(Int64(max(0, limit)), at: index)
        }
        if shape.plan.offset > 0 { statement.bind(Int64(shape.plan.offset), at: index + 1) }
    }
}

/// The prepared fetches of one connection, by shape.
struct FetchCache {
    private var buckets: [[(shape: FetchShape, fetch: PreparedFetch)]] = Array(repeating: [], count: 64)
    private var count = 0

    /// More shapes than this are not kept; an application that builds ever new requests must not fill the memory.
    private static let limit = 256

    subscript(shape: FetchShape) -> PreparedFetch? {
        for entry in buckets[Int(shape.hash & 63)] where entry.shape.matches(shape) { return entry.fetch }
        return nil
    }

    mutating func insert(_ fetch: PreparedFetch, _ shape: FetchShape) {
        if count >= Self.limit { self = FetchCache() }
        count += 1
        buckets[Int(shape.hash & 63)].append((shape, fetch))
    }
}
