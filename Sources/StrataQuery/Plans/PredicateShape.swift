import Foundation

/// The common shape of conditions, with their orders, that differ only in constants: the structure, and the kind of
/// each constant.
///
///     let first = PredicateShape(try FetchPredicate(format: "population > %d", 5))
///     let second = PredicateShape(try FetchPredicate(format: "population > %d", 9))
///     print(first == second, first.constants, second.constants)  // true [5] [9]
///
/// Stores cache compiled statements by it, because the same fetch is usually repeated with other values: compile for
/// the shape, then bind ``constants``. Equal shapes have their constants in the same order.
///
/// A `now()` counts as a constant: the same date for all of them. Of a list of constants of one kind the shape knows
/// whether it has none, one, two or more elements; of a mixed list the kind of each. Empty text and numbers that are
/// not finite are kinds of their own.
public struct PredicateShape: Sendable, Hashable {
    /// The structure in preorder.
    public private(set) var bytes: [UInt8] = []
    /// The constants in the order in which they are in the tree. They are not part of equality.
    public private(set) var constants: [Value] = []
    /// What `now()` means; made when the first one is met.
    private var now: Date?

    /// Takes structure and constants apart, in one walk.
    public init(_ predicate: FetchPredicate) {
        bytes.reserveCapacity(64)
        add(predicate)
    }

    /// Takes structure and constants of a condition and an order apart, in one walk.
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - sorts: The order.
    ///   - environment: What `now()` means; nil for the present moment.
    public init(_ predicate: FetchPredicate?, sorts: [FetchSort], environment: EvaluationEnvironment? = nil) {
        now = environment?.now
        if predicate == nil, sorts.isEmpty { return }
        bytes.reserveCapacity(64)
        if let predicate { add(predicate) }
        for sort in sorts {
            bytes.append(sort.ascending ? 11 : 12)
            bytes.append(sort.options.rawValue)
            add(sort.expression)
        }
    }

    /// Takes structure and constants apart, in one walk.
    /// - Parameters:
    ///   - expression: The expression.
    ///   - environment: What `now()` means; nil for the present moment.
    public init(_ expression: FetchExpression, environment: EvaluationEnvironment? = nil) {
        now = environment?.now
        add(expression)
    }

    /// Whether the structures are the same.
    public static func == (a: PredicateShape, b: PredicateShape) -> Bool { a.bytes == b.bytes }

    /// Feeds the structure.
    public func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }

    private mutating func add(_ predicate: FetchPredicate) {
        switch predicate.node {
        case .constant(let flag): bytes.append(flag ? 1 : 2)
        case .tooDeep: bytes.append(13)
        case .and(let parts):
            bytes.append(3)
            add(parts.count)
            for part in parts { add(part) }
        case .or(let parts):
            bytes.append(4)
            add(parts.count)
            for part in parts { add(part) }
        case .not(let part):
            bytes.append(5)
            add(part)
        case .comparison(let left, let op, let right, let options):
            bytes.append(6)
            add(op.rawValue)
            bytes.append(options.rawValue)
            add(left)
            add(right)
        case .quantified(let quantifier, let left, let op, let right, let options):
            bytes.append(7)
            add(quantifier.rawValue)
            add(op.rawValue)
            bytes.append(options.rawValue)
            add(left)
            add(right)
        case .geo(.near(let place, let point, let radius)):
            bytes.append(8)
            add(place)
            add(point)
            add(.double(radius))
        case .geo(.within(let place, let point, let distance, let unit, let radius)):
            bytes.append(9)
            add(unit.rawValue)
            add(place)
            add(point)
            add(distance)
            add(.double(radius))
        case .geo(.box(let place, let southWest, let northEast)):
            bytes.append(10)
            add(place)
            add(southWest)
            add(northEast)
        }
    }

    private mutating func add(_ expression: FetchExpression) {
        switch expression.node {
        case .constant(let value): add(value)
        case .evaluatedObject: bytes.append(20)
        case .tooDeep: bytes.append(32)
        case .keyPath(let names):
            bytes.append(21)
            add(names)
        case .variable(let name):
            bytes.append(22)
            add(name)
        case .path(let base, let names):
            bytes.append(23)
            add(base)
            add(names)
        case .aggregate(let parts):
            bytes.append(24)
            add(parts)
        case .function(.now, _):
            bytes.append(33)
            let date = now ?? Date()
            now = date
            constants.append(.date(date))
        case .function(let function, let arguments):
            bytes.append(25)
            add(function.rawValue)
            add(arguments)
        case .index(let base, let index):
            bytes.append(26)
            add(base)
            add(index)
        case .subquery(let collection, let name, let condition):
            bytes.append(27)
            add(collection)
            add(name)
            add(condition)
        case .ternary(let condition, let first, let second):
            bytes.append(28)
            add(condition)
            add(first)
            add(second)
        case .cast(let value, let type):
            bytes.append(29)
            add(type.rawValue)
            add(value)
        case .method(let receiver, let method, let arguments):
            bytes.append(30)
            add(method.rawValue)
            add(receiver)
            add(arguments)
        case .distance(let a, let b, let radius):
            bytes.append(31)
            add(a)
            add(b)
            add(.double(radius))
        }
    }

    private mutating func add(_ index: FetchIndex) {
        switch index {
        case .first: bytes.append(1)
        case .last: bytes.append(2)
        case .size: bytes.append(3)
        case .at(let position):
            bytes.append(4)
            add(position)
        }
    }

    private mutating func add(_ value: Value) {
        constants.append(value)
        bytes.append(Self.kind(value))
        switch value {
        case .list(let elements): add(kindsOf: elements)
        case .set(let elements): add(kindsOf: elements.members)
        default: break
        }
    }

    private mutating func add(kindsOf elements: [Value]) {
        let first = elements.first.map(Self.kind) ?? 0
        let isUniform =
            first != Self.kind(.list([])) && first != Self.kind(.set(ValueSet([])))
            && elements.allSatisfy { Self.kind($0) == first }
        if isUniform {
            bytes.append(UInt8(min(elements.count, 3)))
            bytes.append(first)
        } else {
            bytes.append(255)
            add(elements.count)
            for element in elements { bytes.append(Self.kind(element)) }
        }
    }

    private mutating func add(_ parts: [FetchExpression]) {
        add(parts.count)
        for part in parts { add(part) }
    }

    private mutating func add(_ names: [String]) {
        add(names.count)
        for name in names { add(name) }
    }

    private mutating func add(_ text: String) {
        add(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func add(_ count: Int) {
        if count < 255 {
            bytes.append(UInt8(count))
        } else {
            bytes.append(255)
            withUnsafeBytes(of: count) { bytes.append(contentsOf: $0) }
        }
    }

    /// The kind of a constant as far as it may decide how a store compares it.
    private static func kind(_ value: Value) -> UInt8 {
        switch value {
        case .null: 40
        case .integer: 41
        case .double(let number): number.isFinite ? 42 : number.isNaN ? 43 : 44
        case .decimal(let number): number.isNaN ? 45 : 46
        case .string(let text): text.isEmpty ? 47 : 48
        case .boolean: 49
        case .date(let date): date.timeIntervalSinceReferenceDate.isNaN ? 50 : 51
        case .binary: 52
        case .uuid: 53
        case .uri: 54
        case .geoPoint(let point): point.latitude.isNaN || point.longitude.isNaN ? 55 : 56
        case .composite: 57
        case .object: 58
        case .list: 59
        case .set: 60
        }
    }
}
