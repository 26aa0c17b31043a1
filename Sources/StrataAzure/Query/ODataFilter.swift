import Foundation

/// Writes predicates as the text of `$filter`, not escaped.
///
/// Without a schema it writes what the client libraries wrote: names of columns are taken as they are. With one it writes
/// for the properties of an entity, and so that the server's answer is the one that the same predicate has here: nil is
/// unequal to every value.
struct ODataFilter {
    let version: AzureVersion
    var schema: AzureSchema?
    /// Values of variables, by name without the `$`.
    var variables: [String: AzureLiteral] = [:]

    /// - Throws: ``RemoteError`` of code ``AzureError/predicateNotSupported``; nothing is left out. What the protocol has no
    ///   words for stands among the underlying errors.
    func text(_ predicate: FetchPredicate) throws(RemoteError) -> String {
        switch predicate.node {
        case .constant(let answer): return answer ? "(1 eq 1)" : "(1 eq 0)"
        case .and(let parts): return try joined(parts, "and", none: "(1 eq 1)")
        case .or(let parts): return try joined(parts, "or", none: "(1 eq 0)")
        case .not(let part):
            return schema == nil ? "not(\(try text(part)))" : try negated(part)
        case .comparison(let left, let op, let right, let options):
            return try comparison(left, op, right, options, predicate)
        case .quantified: throw unsupported("ANY, ALL and NONE", predicate)
        case .geo: throw unsupported("conditions on positions", predicate)
        case .tooDeep: throw unsupported("conditions that are nested too deeply", predicate)
        }
    }

    private func joined(_ parts: [FetchPredicate], _ word: String, none: String) throws(RemoteError) -> String {
        guard parts.count != 1 else { return try text(parts[0]) }
        var texts: [String] = []
        for part in parts { texts.append(try text(part)) }
        return texts.isEmpty ? none : "(" + texts.joined(separator: " \(word) ") + ")"
    }

    // MARK: Comparisons

    private static let words: [ComparisonOperator: String] = [
        .equal: "eq", .notEqual: "ne", .less: "lt", .lessOrEqual: "le", .greater: "gt", .greaterOrEqual: "ge",
    ]

    private func comparison(
        _ left: FetchExpression, _ op: ComparisonOperator, _ right: FetchExpression, _ options: ComparisonOptions,
        _ whole: FetchPredicate
    ) throws(RemoteError) -> String {
        guard options.isSubset(of: .caseInsensitive) else {
            throw unsupported("comparisons with options other than [c]", whole)
        }
        let isNilTest = (op == .equal || op == .notEqual) && [left, right].contains(.constant(.null))
        guard isNilTest || !isJSON(left) && !isJSON(right) else {
            // The service may keep the text of JSON, in which words are quoted and numbers are digits.
            throw unsupported("conditions on the content of arrays and JSON", whole)
        }
        let folds = options.contains(.caseInsensitive)
        let a = try operand(left, against: right, folds, whole)
        switch op {
        case .isIn:
            var texts: [String] = []
            // Nil is in nothing here, and null in a list that names it there.
            for element in try elements(right, whole) where schema == nil || !element.isNull {
                texts.append("(\(a) eq \(try operand(element, against: left, folds, whole)))")
            }
            return texts.isEmpty ? "(1 eq 0)" : texts.count == 1 ? texts[0] : "(\(texts.joined(separator: " or ")))"
        case .between:
            let bounds = try elements(right, whole)
            guard bounds.count == 2 else { throw unsupported("BETWEEN without exactly two bounds", whole) }
            let low = try operand(bounds[0], against: left, folds, whole)
            return "((\(a) ge \(low)) and (\(a) le \(try operand(bounds[1], against: left, folds, whole))))"
        default: break
        }
        let b = try operand(right, against: left, folds, whole)
        switch op {
        case .beginsWith: return "startswith(\(a),\(b))"
        case .endsWith: return "endswith(\(a),\(b))"
        case .contains: return version == .datasync ? "contains(\(a),\(b))" : "substringof(\(b),\(a))"
        default: break
        }
        guard let word = Self.words[op] else { throw unsupported("the operator \(op.rawValue)", whole) }
        guard schema != nil, op == .equal || op == .notEqual else { return "(\(a) \(word) \(b))" }
        return try equality(left, right, (a, b), word, whole)
    }

    /// Databases hold that nothing is equal or unequal to null; here nil equals nil and no value.
    private func equality(
        _ left: FetchExpression, _ right: FetchExpression, _ texts: (String, String), _ word: String,
        _ whole: FetchPredicate
    ) throws(RemoteError) -> String {
        let plain = "(\(texts.0) \(word) \(texts.1))"
        let optional = optionalColumns(left) + optionalColumns(right)
        if texts.0 == "null" || texts.1 == "null" || optional.isEmpty { return plain }
        guard optionalColumns(left).isEmpty || optionalColumns(right).isEmpty else {
            throw unsupported("whether two properties are equal that may both be nil", whole)
        }
        return word == "eq" ? plain : orNull(plain, optional)
    }

    private func orNull(_ text: String, _ columns: [String]) -> String {
        columns.isEmpty
            ? text : "(\(text) or " + columns.map { "(\($0) eq null)" }.joined(separator: " or ") + ")"
    }

    /// The opposite of a condition for a schema: what is nil in it makes it true.
    private func negated(_ predicate: FetchPredicate) throws(RemoteError) -> String {
        switch predicate.node {
        case .constant(let answer): return answer ? "(1 eq 0)" : "(1 eq 1)"
        case .and(let parts): return try text(.or(parts.map { .not($0) }))
        case .or(let parts): return try text(.and(parts.map { .not($0) }))
        case .not(let part): return try text(part)
        case .comparison(let left, .equal, let right, let options):
            return try comparison(left, .notEqual, right, options, predicate)
        case .comparison(let left, .notEqual, let right, let options):
            return try comparison(left, .equal, right, options, predicate)
        case .comparison(let left, let op, let right, _):
            var columns = optionalColumns(left)
            if op != .isIn && op != .between { columns += optionalColumns(right) }
            return orNull("not(\(try text(predicate)))", columns)
        default: return "not(\(try text(predicate)))"
        }
    }

    /// The columns of an operand that may be null, and make it null.
    private func optionalColumns(_ expression: FetchExpression) -> [String] {
        switch expression.node {
        case .keyPath(let path):
            guard path.count == 1, let schema, let column = schema.column(of: path[0]) else { return [] }
            switch schema.properties[path[0]] {
            case .attribute(_, isOptional: true), .toOne(isOptional: true, _), .system: return [column]
            default: return []
            }
        case .function(_, let arguments): return arguments.flatMap(optionalColumns)
        default: return []
        }
    }

    // MARK: Operands

    /// Whether an operand is made from an array or other JSON of an entity.
    private func isJSON(_ expression: FetchExpression) -> Bool {
        if case .function(_, let arguments) = expression.node { return arguments.contains(where: isJSON) }
        guard case .keyPath(let path) = expression.node, path.count == 1,
            case .attribute(let type, _)? = schema?.properties[path[0]]
        else { return false }
        return type.isJSON
    }

    private func elements(
        _ expression: FetchExpression, _ whole: FetchPredicate
    ) throws(RemoteError) -> [FetchOperand] {
        switch expression.node {
        case .aggregate(let parts): return parts.map(FetchOperand.expression)
        case .constant(let value):
            if let elements = AzureLiteral.value(value).elements { return elements.map(FetchOperand.literal) }
        case .variable(let name):
            if let elements = variables[name]?.elements { return elements.map(FetchOperand.literal) }
        default: break
        }
        throw unsupported("IN and BETWEEN with anything but a list of values", whole)
    }

    private func operand(
        _ operand: FetchOperand, against other: FetchExpression, _ folds: Bool, _ whole: FetchPredicate
    ) throws(RemoteError) -> String {
        switch operand {
        case .expression(let expression): return try self.operand(expression, against: other, folds, whole)
        case .literal(let literal): return folded(try text(literal, against: other, whole), folds)
        }
    }

    private func operand(
        _ expression: FetchExpression, against other: FetchExpression, _ folds: Bool, _ whole: FetchPredicate
    ) throws(RemoteError) -> String {
        folded(try text(expression, against: other, whole), folds)
    }

    private func folded(_ text: String, _ folds: Bool) -> String { folds ? "tolower(\(text))" : text }

    private static let functions: [FetchFunction: String] = [
        .floor: "floor", .ceiling: "ceiling", .lowercase: "tolower", .uppercase: "toupper",
    ]
    private static let operators: [FetchFunction: String] = [
        .add: "add", .subtract: "sub", .multiply: "mul", .divide: "div", .modulus: "mod",
    ]

    private func text(
        _ expression: FetchExpression, against other: FetchExpression?, _ whole: FetchPredicate
    ) throws(RemoteError) -> String {
        switch expression.node {
        case .constant(let value): return try text(.value(value), against: other, whole)
        case .variable(let name):
            guard let literal = variables[name] else {
                throw unsupported("the variable $\(name), which has no value", whole)
            }
            return try text(literal, against: other, whole)
        case .keyPath(let path): return try column(path, whole)
        case .evaluatedObject where schema != nil: return "id"
        case .function(let function, let arguments):
            if arguments.count == 1, let name = Self.functions[function] {
                return "\(name)(\(try text(arguments[0], against: nil, whole)))"
            }
            if arguments.count == 2, let name = Self.operators[function] {
                let a = try text(arguments[0], against: arguments[1], whole)
                return "(\(a) \(name) \(try text(arguments[1], against: arguments[0], whole)))"
            }
            throw unsupported("the function \(function.rawValue)", whole)
        default: throw unsupported("\(expression)", whole)
        }
    }

    private func column(_ path: [String], _ whole: FetchPredicate) throws(RemoteError) -> String {
        guard !path.isEmpty, !path.contains(where: { $0.hasPrefix("@") || $0.isEmpty }) else {
            throw unsupported("operators of collections", whole)
        }
        guard let schema else { return path.joined(separator: version == .datasync ? "/" : ".") }
        guard path.count == 1, let column = schema.column(of: path[0]) else {
            throw unsupported(
                "\(schema.entity).\(path.joined(separator: ".")), which is not a column of the table", whole)
        }
        return column
    }

    /// A fixed value, with the type of the property that it is compared with.
    private func text(
        _ literal: AzureLiteral, against other: FetchExpression?, _ whole: FetchPredicate
    ) throws(RemoteError) -> String {
        guard let text = typed(literal, against: other).text(in: version) else {
            throw unsupported("a comparison with \(literal)", whole)
        }
        return text
    }

    private func typed(_ literal: AzureLiteral, against other: FetchExpression?) -> AzureLiteral {
        guard case .value(let value) = literal, case .keyPath(let path)? = other?.node, path.count == 1,
            let property = schema?.properties[path[0]]
        else { return literal }
        switch (property, value) {
        case (.system, .date(let date)): return .dateOffset(date)
        // Stores have the keys of other objects as text.
        case (.toOne(_, let keys), .string(let id)): return keys.literal(id) ?? literal
        case (.attribute(.boolean, _), .integer(let number)): return .value(.boolean(number != 0))
        case (.attribute(.boolean, _), .double(let number)): return .value(.boolean(number != 0))
        case (.attribute(let type, _), .boolean(let flag)) where type.isNumeric: return .value(.integer(flag ? 1 : 0))
        case (.attribute(.float, _), .double(let number)): return .float(Float(number))
        case (.attribute(.decimal, _), .integer(let number)): return .value(.decimal(Decimal(number)))
        case (.attribute(.decimal, _), .double(let number)):
            return JSONValue.double(number).decimal.map { .value(.decimal($0)) } ?? literal
        // Columns of servers without types keep what was sent: text.
        case (.attribute(.uuid, _), .uuid(let uuid)) where version != .datasync: return .value(.string(uuid.uuidString))
        default: return literal
        }
    }

    private func unsupported(_ what: String, _ predicate: FetchPredicate) -> RemoteError {
        let detail = RemoteError(
            .unsupported, domain: "Strata", message: "the protocol cannot express \(what): \(predicate)")
        // Stores put the message besides the condition; the client libraries had one for all.
        return AzureError.predicateNotSupported.error(
            schema == nil ? nil : "the service cannot express \(what)", version: version, underlying: [detail])
    }
}

/// An element of a list: an expression, or a value with its type.
private enum FetchOperand {
    case expression(FetchExpression)
    case literal(AzureLiteral)

    var isNull: Bool {
        switch self {
        case .expression(let expression): expression == .constant(.null)
        case .literal(let literal): literal.isNull
        }
    }
}
