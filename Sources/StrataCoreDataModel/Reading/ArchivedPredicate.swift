import Foundation
import StrataModel
import StrataQuery

/// Reads predicates and expressions out of keyed archives. Core Data archives those of fetch requests, of partial indexes, of
/// derived attributes and of validation rules.
///
/// Archives can be damaged or hostile: they can contain themselves and can double in size with each level. Depth and number of
/// parts are bounded.
struct ArchivedPredicate {
    /// Why a predicate cannot be read.
    struct Unreadable: Error { var reason: String }

    let archive: KeyedArchive
    /// How many more parts may follow.
    private var budget = 10_000

    init(archive: KeyedArchive) { self.archive = archive }

    /// The predicate in the format language.
    static func format(_ value: PropertyList?, in archive: KeyedArchive) throws(Unreadable) -> String {
        var reader = ArchivedPredicate(archive: archive)
        let text = try reader.predicate(value, depth: 0).description
        // A tree that is too high prints as something that is not a format.
        guard (try? FetchPredicate(format: text)) != nil else { throw Unreadable(reason: "it is nested too deeply") }
        return text
    }

    /// An expression as derived attributes spell it: a key path, `now()` or `canonical:(name)`.
    static func derivation(_ value: PropertyList?, in archive: KeyedArchive) throws(Unreadable) -> String {
        var reader = ArchivedPredicate(archive: archive)
        if let path = archive.string(archive.member("NSKeyPath", of: value)) { return path }
        guard let selector = archive.string(archive.member("NSSelectorName", of: value)) else {
            throw reader.unknown("the expression", value)
        }
        if selector.hasPrefix("now") { return "now()" }
        if ["canonical:", "uppercase:", "lowercase:"].contains(selector) {
            let arguments = archive.elements(archive.member("NSArguments", of: value)) ?? []
            guard arguments.count == 1 else { throw Unreadable(reason: "\(selector) has \(arguments.count) arguments") }
            return "\(selector)(\(try reader.expression(arguments[0], depth: 0)))"
        }
        return try reader.expression(value, depth: 0).description
    }

    private func unknown(_ what: String, _ value: PropertyList?) -> Unreadable {
        Unreadable(reason: "\(what) of the class \(archive.className(of: value) ?? "nil") is not known")
    }

    private mutating func enter(_ depth: Int) throws(Unreadable) {
        budget -= 1
        guard budget >= 0 else { throw Unreadable(reason: "it has too many parts") }
        guard depth < PredicateLimits.nesting else { throw Unreadable(reason: "it is nested too deeply") }
    }

    private mutating func predicate(_ value: PropertyList?, depth: Int) throws(Unreadable) -> FetchPredicate {
        try enter(depth)
        switch archive.className(of: value) {
        case "NSTruePredicate": return .constant(true)
        case "NSFalsePredicate": return .constant(false)
        case "NSCompoundPredicate":
            var parts: [FetchPredicate] = []
            for part in archive.elements(archive.member("NSSubpredicates", of: value)) ?? [] {
                parts.append(try predicate(part, depth: depth + 1))
            }
            switch archive.member("NSCompoundPredicateType", of: value)?.integer ?? 0 {
            case 0 where parts.count == 1: return .not(parts[0])
            case 1: return .and(parts)
            case 2: return .or(parts)
            case let type: throw Unreadable(reason: "a compound of type \(type) with \(parts.count) parts is not known")
            }
        case "NSComparisonPredicate": return try comparison(value, depth: depth)
        default: throw unknown("a predicate", value)
        }
    }

    private mutating func comparison(_ value: PropertyList?, depth: Int) throws(Unreadable) -> FetchPredicate {
        let left = try expression(archive.member("NSLeftExpression", of: value), depth: depth + 1)
        let right = try expression(archive.member("NSRightExpression", of: value), depth: depth + 1)
        let kind = archive.member("NSPredicateOperator", of: value)
        let type = archive.member("NSOperatorType", of: kind)?.integer
        guard let type, var op = Self.operators[type] else {
            throw Unreadable(reason: "the operator \(type.map(String.init) ?? "without a type") is not known")
        }
        if op == .equal, archive.member("NSNegate", of: kind)?.boolean ?? false { op = .notEqual }
        let bits = archive.member("NSOptions", of: kind)?.integer ?? archive.member("NSFlags", of: kind)?.integer ?? 0
        guard (0...15).contains(bits) else { throw Unreadable(reason: "the options \(bits) are not known") }
        let options = ComparisonOptions(rawValue: UInt8(bits))
        switch archive.member("NSModifier", of: kind)?.integer ?? 0 {
        case 0: return .comparison(left, op, right, options)
        case 1: return .quantified(.all, left, op, right, options)
        case 2: return .quantified(.any, left, op, right, options)
        case let modifier: throw Unreadable(reason: "the modifier \(modifier) is not known")
        }
    }

    private static let operators: [Int64: ComparisonOperator] = [
        0: .less, 1: .lessOrEqual, 2: .greater, 3: .greaterOrEqual, 4: .equal, 5: .notEqual, 6: .matches, 7: .like,
        8: .beginsWith, 9: .endsWith, 10: .isIn, 99: .contains, 100: .between,
    ]

    private mutating func expression(_ value: PropertyList?, depth: Int) throws(Unreadable) -> FetchExpression {
        try enter(depth)
        switch archive.className(of: value) {
        case "NSSelfExpression": return .evaluatedObject
        case "NSConstantValueExpression":
            return .constant(try constant(archive.member("NSConstantValue", of: value), depth: depth + 1))
        case "NSVariableExpression", "NSVariableAssignmentExpression":
            guard let name = archive.string(archive.member("NSVariable", of: value)) else {
                throw Unreadable(reason: "a variable has no name")
            }
            return .variable(name)
        case "NSKeyPathSpecifierExpression":
            guard let path = archive.string(archive.member("NSKeyPath", of: value)) else {
                throw Unreadable(reason: "a key path is missing")
            }
            return .keyPath(Self.names(path))
        case "NSKeyPathExpression", "NSFunctionExpression": return try function(value, depth: depth)
        case "NSAggregateExpression":
            var parts: [FetchExpression] = []
            for part in archive.elements(archive.member("NSCollection", of: value)) ?? [] {
                parts.append(try expression(part, depth: depth + 1))
            }
            let values = parts.compactMap { part in
                if case .constant(let value) = part.node { value } else { Value?.none }
            }
            return values.count == parts.count ? .constant(.list(values)) : .aggregate(parts)
        case "NSSetExpression":
            let operators: [Int64: FetchFunction] = [5: .union, 6: .intersect, 7: .minus]
            let type = archive.member("NSExpressionType", of: value)?.integer ?? 0
            guard let found = operators[type] else { throw Unreadable(reason: "the set operator \(type) is not known") }
            let left = try expression(archive.member("NSLeftExpression", of: value), depth: depth + 1)
            let right = try expression(archive.member("NSRightExpression", of: value), depth: depth + 1)
            return .function(found, [left, right])
        default: throw unknown("an expression", value)
        }
    }

    /// A key path, which is archived as a call of `valueForKeyPath:`, or a function.
    private mutating func function(_ value: PropertyList?, depth: Int) throws(Unreadable) -> FetchExpression {
        guard let selector = archive.string(archive.member("NSSelectorName", of: value)) else {
            throw Unreadable(reason: "a function has no name")
        }
        var arguments: [FetchExpression] = []
        for argument in archive.elements(archive.member("NSArguments", of: value)) ?? [] {
            arguments.append(try expression(argument, depth: depth + 1))
        }
        if ["valueForKey:", "valueForKeyPath:"].contains(selector) {
            guard arguments.count == 1 else { throw Unreadable(reason: "\(selector) has no key path") }
            let names: [String]
            switch arguments[0].node {
            case .keyPath(let path): names = path
            case .constant(.string(let path)): names = Self.names(path)
            default: throw Unreadable(reason: "\(selector) has a key path that is computed")
            }
            let operand = try expression(archive.member("NSOperand", of: value), depth: depth + 1)
            if case .evaluatedObject = operand.node { return .keyPath(names) }
            return .path(operand, names)
        }
        if selector == "castObject:toType:", arguments.count == 2,
            case .constant(.string(let name)) = arguments[1].node, let type = CastType(rawValue: name)
        {
            return .cast(arguments[0], type)
        }
        guard let found = FetchFunction.named(selector), found.arity.contains(arguments.count) else {
            throw Unreadable(reason: "the function \(selector) with \(arguments.count) arguments is not known")
        }
        return .function(found, arguments)
    }

    private static func names(_ path: String) -> [String] {
        path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    private mutating func constant(_ value: PropertyList?, depth: Int) throws(Unreadable) -> Value {
        try enter(depth)
        switch value {
        case nil, .null?: return .null
        case .boolean(let flag)?: return .boolean(flag)
        case .integer(let number)?: return .integer(number)
        case .real(let number)?: return .double(number)
        case .string(let text)?: return .string(text)
        case .data(let bytes)?: return .binary(bytes)
        case .date(let seconds)?: return .date(Date(timeIntervalSinceReferenceDate: seconds))
        default: break
        }
        switch archive.className(of: value) {
        case "NSNull": return .null
        case "NSString", "NSMutableString": if let text = archive.string(value) { return .string(text) }
        case "NSDate":
            switch archive.member("NS.time", of: value) {
            case .real(let seconds)?: return .date(Date(timeIntervalSinceReferenceDate: seconds))
            case .integer(let seconds)?: return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
            default: break
            }
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder":
            if let number = archive.decimal(value) { return .decimal(number) }
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet":
            var values: [Value] = []
            for element in archive.elements(value) ?? [] {
                values.append(try constant(archive.resolve(element), depth: depth + 1))
            }
            return .list(values)
        default: break
        }
        throw unknown("a constant", value)
    }
}
