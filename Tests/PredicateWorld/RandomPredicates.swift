import Foundation
import SeededRandom
import StrataStore

/// Makes random conditions about the objects of a ``RandomWorld``: mostly of kinds that fit, sometimes of any.
struct RandomPredicates {
    let model: ManagedObjectModel
    let entity: EntityDescription
    var random: SplitMix64
    /// Where constants come from: conditions that differ only in this have one structure.
    var values: SplitMix64
    /// The variables of subqueries around what is being made, with the entity of their elements.
    private var variables: [(name: String, entity: EntityDescription)] = []

    init(model: ManagedObjectModel, entity: EntityDescription, random: SplitMix64, values: SplitMix64) {
        self.model = model
        self.entity = entity
        self.random = random
        self.values = values
    }

    enum Kind: CaseIterable { case number, text, date, boolean, uuid, uri, bytes, point, object, json }

    private mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func pickValue<T>(_ list: [T]) -> T { list.randomElement(using: &values)! }

    private mutating func pick<T>(_ list: [T]) -> T { list.randomElement(using: &random)! }

    mutating func options() -> ComparisonOptions {
        one(in: 2) ? [] : ComparisonOptions(rawValue: .random(in: 0...15, using: &random))
    }

    // MARK: Paths

    private static func kind(_ slot: SlotDescription) -> Kind {
        switch slot.storage {
        case .integer, .double, .decimal: .number
        case .boolean: .boolean
        case .date: .date
        case .key: .object
        case .text: slot.type == .uri ? .uri : slot.type?.isJSON == true ? .json : .text
        case .bytes: .bytes
        case .uuid: .uuid
        case .geoPoint: .point
        }
    }

    /// A path through to-one relationships to a property of a kind; nil if chance finds none.
    mutating func path(from start: EntityDescription, _ kind: Kind?) -> [String]? {
        var entity = start
        var path: [String] = []
        for _ in 0..<3 {
            let fitting = entity.slots.filter { kind == nil || Self.kind($0) == kind }
            if let slot = fitting.randomElement(using: &random), !one(in: 3) {
                let names = slot.name.split(separator: ".").map(String.init)
                if slot.type?.isJSON != true { return path + names }
                return path + names
                    + (0..<Int.random(in: 0...2, using: &random)).map { _ in pick(RandomValues.members) }
            }
            guard
                let next = entity.relationships.filter({ !$0.isToMany }).randomElement(using: &random)
            else { return nil }
            path.append(next.name)
            entity = model.destination(of: next)
        }
        return nil
    }

    /// A path that leads to many objects, with their entity.
    mutating func many(from start: EntityDescription) -> ([String], EntityDescription)? {
        var entity = start
        var path: [String] = []
        var found = false
        for _ in 0..<4 {
            if found, !one(in: 3) { return (path, entity) }
            let wanted = found || one(in: 4) ? entity.relationships : entity.relationships.filter(\.isToMany)
            guard let next = wanted.randomElement(using: &random) else { break }
            path.append(next.name)
            found = found || next.isToMany
            entity = model.destination(of: next)
        }
        return found ? (path, entity) : nil
    }

    /// Where a path may start: the object itself, or a variable.
    private mutating func start() -> (FetchExpression?, EntityDescription) {
        guard let variable = variables.randomElement(using: &random), !one(in: 3) else { return (nil, entity) }
        return (.variable(variable.name), variable.entity)
    }

    private func expression(_ base: FetchExpression?, _ path: [String]) -> FetchExpression {
        if let base {
            path.isEmpty ? base : .path(base, path)
        } else {
            path.isEmpty ? .evaluatedObject : .keyPath(path)
        }
    }

    // MARK: Expressions

    mutating func constant(_ kind: Kind) -> Value {
        if Int.random(in: 0..<12, using: &values) == 0 { return .null }
        switch kind {
        case .number: return RandomValues.number(&values)
        case .text: return RandomValues.value(.string, &values)
        case .date: return RandomValues.value(.date, &values)
        case .boolean: return .boolean(.random(using: &values))
        case .uuid: return RandomValues.value(.uuid, &values)
        case .uri: return RandomValues.value(.uri, &values)
        case .bytes: return RandomValues.value(.binary, &values)
        case .point: return RandomValues.value(.geoPoint, &values)
        case .object: return .object(.random(in: 1...10, using: &values))
        case .json:
            return Int.random(in: 0..<4, using: &values) == 0
                ? RandomValues.json(&values, depth: 2) : RandomValues.jsonScalar(&values)
        }
    }

    mutating func value(_ wanted: Kind, depth: Int) -> FetchExpression {
        let kind = one(in: 12) ? .json : one(in: 25) ? pick(Kind.allCases) : wanted
        if depth > 0, one(in: 3) { return computed(kind, depth: depth - 1) }
        if one(in: 3) { return .constant(constant(kind)) }
        let (base, entity) = start()
        if let path = path(from: entity, kind) { return expression(base, path) }
        if kind == .object { return expression(base, []) }
        return .constant(constant(kind))
    }

    /// A collection, and the entity of its elements if they are objects.
    mutating func collection(depth: Int) -> (FetchExpression, EntityDescription)? {
        let (base, entity) = start()
        guard let (path, destination) = many(from: entity) else { return nil }
        let plain = expression(base, path)
        if depth > 0 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                let name = pick(["x", "y"])
                variables.append((name, destination))
                let condition = predicate(depth: depth - 1)
                variables.removeLast()
                return (.subquery(plain, name, condition), destination)
            case 1:
                if let (other, second) = collection(depth: 0), second.rootIndex == destination.rootIndex {
                    return (.function(pick([.union, .intersect, .minus]), [plain, other]), destination)
                }
            case 2:
                if let next = destination.relationships.randomElement(using: &random) {
                    let op = pick(["@unionOfObjects", "@distinctUnionOfObjects"])
                    return (expression(base, path + [op, next.name]), model.destination(of: next))
                }
            default: break
            }
        }
        return (plain, destination)
    }

    /// Values of a kind: a collection mapped over.
    private mutating func values(_ kind: Kind, depth: Int) -> FetchExpression? {
        guard let (collection, entity) = collection(depth: depth) else { return nil }
        if kind == .object, one(in: 2) { return collection }
        guard let path = path(from: entity, kind) else { return nil }
        if depth > 0, one(in: 6), let other = values(kind, depth: 0) {
            return .function(pick([.union, .intersect, .minus]), [joined(collection, path), other])
        }
        return joined(collection, one(in: 6) ? [pick(["@unionOfObjects", "@distinctUnionOfObjects"])] + path : path)
    }

    private func joined(_ base: FetchExpression, _ path: [String]) -> FetchExpression {
        if case .keyPath(let names) = base.node { return .keyPath(names + path) }
        if case .path(let start, let names) = base.node { return .path(start, names + path) }
        return .path(base, path)
    }

    private mutating func computed(_ kind: Kind, depth: Int) -> FetchExpression {
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return .ternary(predicate(depth: depth), value(kind, depth: depth), value(kind, depth: depth))
        case 1:
            if let (collection, entity) = collection(depth: depth), let path = path(from: entity, kind) {
                return .path(
                    .index(
                        collection,
                        pick([.first, .last, .at(.constant(.integer(.random(in: -1...3, using: &values))))])), path)
            }
        case 3:
            if let values = values(kind, depth: depth) {
                return .method(values, pick([.firstObject, .lastObject]), [])
            }
        case 2:
            if let values = values(kind, depth: depth), kind != .point {
                return .function(pick([.minimum, .maximum]), [values])
            }
        default: break
        }
        switch kind {
        case .number: return number(depth: depth)
        case .text:
            let text = value(.text, depth: depth)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: return .function(pick([.uppercase, .lowercase]), [text])
            case 1: return .method(text, pick([.uppercaseString, .lowercaseString]), [])
            case 2: return .method(text, .stringByAppendingString, [value(.text, depth: depth)])
            case 3:
                return .method(
                    text, pick([.substringFromIndex, .substringToIndex]),
                    [.constant(.integer(.random(in: -1...3, using: &values)))])
            default:
                return .cast(
                    value(pick([.number, .boolean, .date, .uuid, .uri, .bytes, .point, .object]), depth: depth), .string
                )
            }
        case .date: return .cast(value(pick([.number, .text]), depth: depth), .date)
        case .boolean:
            return one(in: 2)
                ? .method(value(.text, depth: depth), pick([.hasPrefix, .hasSuffix]), [value(.text, depth: depth)])
                : .cast(value(.number, depth: depth), .boolean)
        case .uuid: return .cast(value(.text, depth: depth), .uuid)
        case .uri: return .cast(value(.uri, depth: depth), .uri)
        case .bytes: return .cast(value(.text, depth: depth), .data)
        case .point: return .cast(value(.text, depth: depth), .geoPoint)
        case .object: return .cast(value(.number, depth: depth), .object)
        case .json:
            let base = value(.json, depth: depth)
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                return .index(
                    base, pick([.first, .last, .at(.constant(.integer(.random(in: -1...3, using: &values))))]))
            case 1: return .index(base, .at(.constant(.string(pick(RandomValues.members)))))
            case 2: return .method(base, pick([.firstObject, .lastObject]), [])
            case 3: return .path(base, [pick(RandomValues.members)])
            default: return base
            }
        }
    }

    private mutating func number(depth: Int) -> FetchExpression {
        switch Int.random(in: 0..<17, using: &random) {
        case 0...3:
            let functions: [FetchFunction] = [
                .add, .subtract, .multiply, .divide, .power, .modulus, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
                .rightShift,
            ]
            return .function(pick(functions), [value(.number, depth: depth), value(.number, depth: depth)])
        case 4:
            let functions: [FetchFunction] = [
                .absolute, .squareRoot, .floor, .ceiling, .truncate, .onesComplement, .naturalLogarithm, .logarithm,
                .exponential,
            ]
            return .function(pick(functions), [value(.number, depth: depth)])
        case 5, 6:
            if let (collection, _) = collection(depth: depth) {
                return one(in: 2) ? joined(collection, ["@count"]) : .function(.count, [collection])
            }
        case 7:
            if let values = values(pick(Kind.allCases), depth: depth) {
                return one(in: 2) ? joined(values, ["@count"]) : .index(values, .size)
            }
        case 8, 9:
            if let (collection, entity) = collection(depth: depth), let path = path(from: entity, .number) {
                return joined(collection, [pick(["@sum", "@min", "@max", "@avg"])] + path)
            }
        case 10:
            if let values = values(.number, depth: depth) {
                return .function(pick([.sum, .average, .median, .standardDeviation]), [values])
            }
        case 11:
            return .function(
                pick([.sum, .minimum, .maximum, .average]),
                [value(.number, depth: depth), value(.number, depth: depth)])
        case 13:
            return .distance(
                value(.point, depth: depth), value(.point, depth: depth), earthRadius: pickValue([6371.0088, 1]))
        case 14:
            let parts = (0..<Int.random(in: 0...3, using: &random)).map { _ in value(.number, depth: depth) }
            return .function(pick([.sum, .count, .minimum, .average, .median]), [.aggregate(parts)])
        case 15:
            if let (collection, _) = collection(depth: depth) {
                return .method(one(in: 2) ? .cast(collection, pick([.set, .array])) : collection, .count, [])
            }
        case 12: return .method(value(.text, depth: depth), pick([.length, .integerValue, .doubleValue]), [])
        case 16:
            return one(in: 2)
                ? .index(value(.json, depth: depth), .size) : .function(.count, [value(.json, depth: depth)])
        default: return .cast(value(pick([.number, .date, .text, .boolean]), depth: depth), pick([.number, .decimal]))
        }
        return .constant(constant(.number))
    }

    // MARK: Conditions

    mutating func predicate(depth: Int) -> FetchPredicate {
        if depth > 0 {
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1: return .not(predicate(depth: depth - 1))
            case 2: return .and((0..<Int.random(in: 0...3, using: &random)).map { _ in predicate(depth: depth - 1) })
            case 3: return .or((0..<Int.random(in: 0...3, using: &random)).map { _ in predicate(depth: depth - 1) })
            default: break
            }
        }
        switch Int.random(in: 0..<20, using: &random) {
        case 0: return .constant(.random(using: &random))
        case 1...4: return quantified(depth: depth)
        case 5, 6: return geo(depth: depth)
        case 7...10: return text(depth: depth)
        case 11, 12: return membership(depth: depth)
        case 13:
            let kind = pick([Kind.number, .text, .date])
            return .comparison(
                value(kind, depth: depth), .between,
                one(in: 3)
                    ? .aggregate([value(kind, depth: depth), value(kind, depth: depth)])
                    : .constant(.list([constant(kind), constant(kind)])), options())
        case 14:
            if let (collection, _) = collection(depth: depth) {
                return .comparison(collection, pick([.equal, .notEqual]), .constant(.null), [])
            }
        case 15 where one(in: 2):
            let kind = pick(Kind.allCases)
            let parts = (0..<Int.random(in: 0...2, using: &random)).map { _ in value(kind, depth: depth) }
            let constants = parts.map { _ in constant(kind) }
            return .comparison(.aggregate(parts), pick([.equal, .notEqual]), .constant(.list(constants)), options())
        case 16 where one(in: 2):
            let kind = pick(Kind.allCases)
            let constants = (0..<Int.random(in: 0...3, using: &random)).map { _ in constant(kind) }
            return .quantified(
                pick([.any, .all, .none]), .constant(.list(constants)), pick([.equal, .notEqual]),
                value(kind, depth: depth), options())
        case 17 where one(in: 4):
            let kind = pick(Kind.allCases)
            let left = value(kind, depth: 0)
            let shared = options()
            let op = pick([ComparisonOperator.equal, .notEqual])
            let parts = (0..<60).map { _ in
                FetchPredicate.comparison(left, op, .constant(constant(kind)), shared)
            }
            return one(in: 2) ? .or(parts) : .and(parts)
        default: break
        }
        let kind = pick(Kind.allCases + [.number, .number, .text])
        let isOrdering = kind != .point && one(in: 2)
        let op: ComparisonOperator =
            isOrdering ? pick([.less, .lessOrEqual, .greater, .greaterOrEqual]) : pick([.equal, .notEqual])
        return .comparison(value(kind, depth: depth), op, value(kind, depth: depth), options())
    }

    private mutating func quantified(depth: Int) -> FetchPredicate {
        let kind = pick(Kind.allCases.filter { $0 != .point } + [.number, .text])
        guard let values = one(in: 6) ? value(.json, depth: depth) : values(kind, depth: depth) else {
            return .constant(true)
        }
        let quantifier = pick([ComparisonQuantifier.any, .all, .none])
        if kind == .text, one(in: 2) {
            return .quantified(
                quantifier, values, pick([.beginsWith, .contains, .like, .endsWith]), value(.text, depth: depth),
                options())
        }
        if one(in: 5) {
            return .quantified(
                quantifier, values, .isIn, .constant(.list((0..<3).map { _ in constant(kind) })), options())
        }
        let op = pick([ComparisonOperator.equal, .notEqual, .less, .greaterOrEqual])
        return .quantified(quantifier, values, op, value(kind, depth: depth), options())
    }

    private mutating func text(depth: Int) -> FetchPredicate {
        let left = value(.text, depth: depth)
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            return .comparison(
                left, .like, .constant(.string(pickValue(["*", "a?", "a*c", "?", "*b*", "%_", "Ä?", "ß", "s*y"]))),
                options()
            )
        case 1:
            let patterns = ["a.*", "[a-z]+", ".", "(?i)STORM.*", "\\d", "(", "ä|ß"]
            return .comparison(left, .matches, .constant(.string(pickValue(patterns))), options())
        case 2:
            let queries = ["storm", "storm*", "\"storm cloud\"", "cloud stormy", "", "a", "ab", "ss", "*", "athenai"]
            let whole = one(in: 3) ? value(.object, depth: 0) : left
            return .comparison(whole, .matchesText, .constant(.string(pickValue(queries))), [])
        default:
            return .comparison(
                left, pick([.beginsWith, .endsWith, .contains, .isIn]), value(.text, depth: depth), options())
        }
    }

    private mutating func membership(depth: Int) -> FetchPredicate {
        let kind = pick(Kind.allCases)
        if one(in: 2), let values = values(kind, depth: depth) {
            return one(in: 2)
                ? .comparison(value(kind, depth: depth), .isIn, values, options())
                : .comparison(values, .contains, value(kind, depth: depth), options())
        }
        let count = Int.random(in: 0...6, using: &random)
        if one(in: 4) {
            let parts = (0..<count).map { _ in value(kind, depth: depth) }
            return .comparison(value(kind, depth: depth), .isIn, .aggregate(parts), options())
        }
        let elements = (0..<count).map { _ in constant(one(in: 8) ? pick(Kind.allCases) : kind) }
        let list = one(in: 4) ? Value.set(ValueSet(elements)) : .list(elements)
        return .comparison(value(kind, depth: depth), .isIn, .constant(list), options())
    }

    private mutating func geo(depth: Int) -> FetchPredicate {
        let place = value(.point, depth: depth)
        let center = one(in: 3) ? value(.point, depth: depth) : .constant(constant(.point))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .geo(.near(place, center))
        case 1, 2:
            let unit = pick([GeoUnit.kilometers, .miles, .radians])
            let distances: [Double] = unit == .radians ? [0, 0.01, 0.5, 2, 4] : [0, 1, 200, 5000, 15000, 30000, -1]
            return .geo(
                .within(
                    place, center, distance: .constant(.double(pickValue(distances))), unit,
                    earthRadius: pickValue([GeoCondition.meanEarthRadius, 6378.137])))
        default: return .geo(.box(place, southWest: .constant(constant(.point)), northEast: center))
        }
    }

    /// A criterion of an order: a property, the distance to a point, or an aggregate of a to-many relationship.
    mutating func sort() -> FetchSort? {
        let ascending = Bool.random(using: &random)
        let options = options()
        let key: FetchExpression?
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            key = path(from: entity, .point).map {
                .distance(.keyPath($0), .constant(constant(.point)), earthRadius: 1)
            }
        case 1, 2:
            guard let (path, destination) = many(from: entity) else { return nil }
            let op = pick(CollectionOperator.allCases.filter(\.isAggregate))
            let kind: Kind = [.minimum, .maximum].contains(op) ? pick(Kind.allCases) : .number
            let rest = op == .count ? [] : self.path(from: destination, kind)
            key = rest.map { .keyPath(path + [op.rawValue] + $0) }
        default: key = path(from: entity, nil).map(FetchExpression.keyPath)
        }
        return key.map { FetchSort($0, ascending: ascending, options: options) }
    }
}
