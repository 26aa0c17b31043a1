import Foundation

extension FetchPredicate: CustomStringConvertible {
    /// The condition in the format language. Parsing the text gives this tree again; only an `and` or `or` of fewer
    /// than two parts comes back as the simpler condition that it amounts to.
    ///
    /// Values for which the language has no literal are written as casts of constants, which the parser makes constants
    /// again: `CAST(0.0, 'NSDate')`, `CAST('00ff', 'NSData')`, `CAST('…', 'NSUUID')`, `CAST('1.5', 'NSDecimalNumber')`,
    /// `CAST('48.8,2.3', 'GeoPoint')`, `CAST({1, 2}, 'NSSet')`, `CAST('nan', 'NSNumber')` and so on by ``CastType``.
    /// A constant in parentheses is never joined with what stands around it.
    public var description: String {
        var printer = PredicatePrinter()
        printer.write(self, .or)
        return printer.text
    }
}

extension FetchExpression: CustomStringConvertible {
    /// The expression in the format language; see ``FetchPredicate/description``.
    public var description: String {
        var printer = PredicatePrinter()
        printer.write(self, .set)
        return printer.text
    }
}

/// How tightly the parts of a format bind, loosest first.
enum FormatPrecedence: Int, Comparable {
    case or, and, not, comparison, set, sum, product, power, operand, postfix

    static func < (a: FormatPrecedence, b: FormatPrecedence) -> Bool { a.rawValue < b.rawValue }

    var tighter: FormatPrecedence { FormatPrecedence(rawValue: rawValue + 1) ?? .postfix }
}

extension FetchFunction {
    /// How tightly the sign between the operands binds.
    var precedence: FormatPrecedence? {
        switch self {
        case .add, .subtract: .sum
        case .multiply, .divide: .product
        case .power: .power
        case .union, .intersect, .minus: .set
        default: nil
        }
    }
}

/// Writes trees as text.
struct PredicatePrinter {
    /// What a tree prints as that is too high to be kept. It is not a format.
    private static let tooDeep = "<nested too deeply>"

    private(set) var text = ""

    mutating func write(_ predicate: FetchPredicate, _ around: FormatPrecedence) {
        switch predicate.node {
        case .constant(let flag): text += flag ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and(let parts): join(parts, " AND ", .and, around, empty: "TRUEPREDICATE")
        case .or(let parts): join(parts, " OR ", .or, around, empty: "FALSEPREDICATE")
        case .not(let part):
            text += "NOT "
            write(part, .comparison)
        case .comparison(let left, let op, let right, let options):
            compare(left, op, right, options)
        case .quantified(let quantifier, let left, let op, let right, let options):
            text += quantifier.rawValue + " "
            compare(left, op, right, options)
        case .geo(let condition): write(condition)
        case .tooDeep: text += Self.tooDeep
        }
    }

    private mutating func join(
        _ parts: [FetchPredicate], _ word: String, _ own: FormatPrecedence, _ around: FormatPrecedence, empty: String
    ) {
        if parts.isEmpty {
            text += empty
        } else if parts.count == 1 {
            write(parts[0], around)
        } else {
            let isInside = own < around
            if isInside { text += "(" }
            for (index, part) in parts.enumerated() {
                if index > 0 { text += word }
                write(part, own.tighter)
            }
            if isInside { text += ")" }
        }
    }

    private mutating func compare(
        _ left: FetchExpression, _ op: ComparisonOperator, _ right: FetchExpression, _ options: ComparisonOptions
    ) {
        write(left, .set)
        text += " \(op.rawValue)\(options.suffix) "
        write(right, .set)
    }

    private mutating func write(_ condition: GeoCondition) {
        switch condition {
        case .near(let place, let point, let radius): call("near", [place, point], radius: radius)
        case .within(let place, let point, let distance, let unit, let radius):
            call(unit.rawValue, [place, point, distance], radius: radius)
        case .box(let place, let southWest, let northEast): call("withinBox", [place, southWest, northEast])
        }
    }

    // MARK: Expressions

    mutating func write(_ expression: FetchExpression, _ around: FormatPrecedence) {
        switch expression.node {
        case .constant(let value):
            // A sign in front of a number and a point after it would be read as part of it.
            inParentheses(around == .postfix) { $0.write(value) }
        case .keyPath(let names): path(names, around)
        case .evaluatedObject: text += around == .postfix ? "(SELF)" : "SELF"
        case .variable(let name):
            text += "$"
            if PredicateScanner.isIdentifier(name) { text += name } else { quote(name) }
        case .path(let base, let names):
            inParentheses(around == .postfix) { printer in
                printer.write(base, .postfix)
                for name in names {
                    printer.text += "."
                    printer.key(name)
                }
            }
        case .aggregate(let parts):
            text += "{"
            // Were all of them bare constants, they would be read as one constant.
            let areFixed = parts.allSatisfy { if case .constant = $0.node { true } else { false } }
            list(parts, guarded: areFixed)
            text += "}"
        case .function(let function, let arguments): write(function, arguments, around)
        case .index(let base, let index): write(index, of: base)
        case .subquery(let collection, let name, let condition):
            text += "SUBQUERY("
            write(collection, .set)
            text += ", "
            write(.variable(name), .set)
            text += ", "
            write(condition, .or)
            text += ")"
        case .ternary(let condition, let first, let second):
            text += "TERNARY("
            write(condition, .or)
            text += ", "
            list([first, second])
            text += ")"
        case .cast(let value, let type):
            text += "CAST("
            list([value], guarded: true)
            text += ", '\(type.rawValue)')"
        case .method(let receiver, let method, let arguments): write(method, of: receiver, arguments)
        case .distance(let a, let b, let radius): call("distance", [a, b], radius: radius)
        case .tooDeep: text += Self.tooDeep
        }
    }

    private mutating func inParentheses(_ areNeeded: Bool, _ write: (inout PredicatePrinter) -> Void) {
        if areNeeded { text += "(" }
        write(&self)
        if areNeeded { text += ")" }
    }

    private mutating func write(
        _ function: FetchFunction, _ arguments: [FetchExpression], _ around: FormatPrecedence
    ) {
        guard let sign = function.infix, let own = function.precedence, arguments.count == 2 else {
            let name = function.rawValue
            return call(name.count { $0 == ":" } == 1 ? String(name.dropLast()) : name, arguments)
        }
        inParentheses(own < around) { printer in
            printer.write(arguments[0], own)
            printer.text += " \(sign) "
            printer.write(arguments[1], own.tighter)
        }
    }

    private mutating func write(_ index: FetchIndex, of base: FetchExpression) {
        write(base, base.isPlainPath ? .comparison : .postfix)
        text += "["
        switch index {
        case .first: text += "FIRST"
        case .last: text += "LAST"
        case .size: text += "SIZE"
        case .at(let position): write(position, .set)
        }
        text += "]"
    }

    private mutating func write(_ method: FetchMethod, of receiver: FetchExpression, _ arguments: [FetchExpression]) {
        text += "FUNCTION("
        write(receiver, .set)
        text += ", '\(method.rawValue)'"
        for argument in arguments {
            text += ", "
            write(argument, .set)
        }
        text += ")"
    }

    private mutating func call(_ name: String, _ arguments: [FetchExpression], radius: Double? = nil) {
        text += name + "("
        list(arguments)
        if let radius, radius != GeoCondition.meanEarthRadius {
            text += ", "
            write(radius)
        }
        text += ")"
    }

    private mutating func list(_ parts: [FetchExpression], guarded: Bool = false) {
        for (index, part) in parts.enumerated() {
            if index > 0 { text += ", " }
            if guarded, case .constant = part.node { write(part, .postfix) } else { write(part, .set) }
        }
    }

    private mutating func path(_ names: [String], _ around: FormatPrecedence) {
        guard !names.isEmpty else {
            text += "SELF"
            return
        }
        if around == .postfix { text += "(" }
        for (index, name) in names.enumerated() {
            if index > 0 { text += "." }
            key(name)
        }
        if around == .postfix { text += ")" }
    }

    private mutating func key(_ name: String) {
        if CollectionOperator(rawValue: name) != nil {
            text += name
        } else if !PredicateScanner.isIdentifier(name) {
            text += "#"
            quote(name)
        } else {
            text += PredicateScanner.isReserved(name) ? "#\(name)" : name
        }
    }

    // MARK: Constants

    private mutating func write(_ value: Value) {
        switch value {
        case .null: text += "NULL"
        case .integer(let number): text += String(number)
        case .double(let number): write(number)
        case .decimal(let number): cast(number.isNaN ? "NaN" : number.description, .decimal)
        case .string(let content): quote(content)
        case .boolean(let flag): text += flag ? "TRUE" : "FALSE"
        case .date(let date): cast(.date) { $0.write(date.timeIntervalSinceReferenceDate) }
        case .binary(let data): cast(HexadecimalText.of(data), .data)
        case .uuid(let uuid): cast(uuid.uuidString, .uuid)
        case .uri(let uri): cast(uri.absoluteString, .uri)
        case .geoPoint(let point): cast(point.description, .geoPoint)
        case .object(let key): cast(.object) { $0.text += String(key) }
        case .list(let values): write(values)
        case .set(let values): cast(.set) { $0.write(values.members) }
        case .composite(let values):
            cast(.dictionary) { printer in
                printer.write(values.sorted { $0.key < $1.key }.flatMap { [.string($0.key), $0.value] })
            }
        }
    }

    private mutating func write(_ values: [Value]) {
        text += "{"
        for (index, value) in values.enumerated() {
            if index > 0 { text += ", " }
            write(value)
        }
        text += "}"
    }

    private mutating func write(_ number: Double) {
        if number.isFinite { text += String(number) } else { cast(number.description, .number) }
    }

    private mutating func cast(_ content: String, _ type: CastType) { cast(type) { $0.quote(content) } }

    private mutating func cast(_ type: CastType, _ write: (inout PredicatePrinter) -> Void) {
        text += "CAST("
        write(&self)
        text += ", '\(type.rawValue)')"
    }

    private mutating func quote(_ content: String) {
        var scalars = "'".unicodeScalars
        for scalar in content.unicodeScalars {
            switch scalar {
            case "'", "\\":
                scalars.append("\\")
                scalars.append(scalar)
            case "\n": scalars.append(contentsOf: "\\n".unicodeScalars)
            case "\r": scalars.append(contentsOf: "\\r".unicodeScalars)
            case "\t": scalars.append(contentsOf: "\\t".unicodeScalars)
            case "\u{0}": scalars.append(contentsOf: "\\000".unicodeScalars)
            default: scalars.append(scalar)
            }
        }
        scalars.append("'")
        text.unicodeScalars.append(contentsOf: scalars)
    }
}

extension FetchExpression {
    /// Whether a postfix may follow without parentheses and still leave this as its base.
    fileprivate var isPlainPath: Bool {
        switch node {
        case .keyPath, .evaluatedObject, .path, .index: true
        default: false
        }
    }
}
