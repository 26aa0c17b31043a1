import Foundation
import StrataStore

/// Functions that make one value of many.
extension PredicateCompiler {
    package func aggregate(_ function: FetchFunction, _ arguments: [SQLOperand]) throws(StoreError) -> SQLOperand {
        let name = function.rawValue
        if function == .mode { throw unsupported("mode, whose result is a list") }
        if arguments.count > 1 { return try aggregate(function, over: arguments, of: arguments.count) }
        if arguments[0].isNull { return .null }
        switch arguments[0] {
        case .collection(let collection):
            if function == .count { return .term(try count(collection)) }
            var elements = try distinct(collection)
            elements.isSet = false
            var term = try aggregate(function, elements, name)
            term = SQLTerm(sql: collection.guarded(term.sql), kind: term.kind, isDecimalText: term.isDecimalText)
            return .term(term)
        case .list(let elements): return try aggregate(function, over: elements, of: 1)
        case .constant(let constant):
            guard let elements = constant.elements else {
                throw .invalidPredicate(.noCollection(found: arguments[0].kindName, context: name))
            }
            // How many there are decides the SQL.
            isReusable = false
            return try aggregate(function, over: elements.map(SQLOperand.constant), of: 1)
        case .term, .object:
            if isGrouped { return .term(try overGroup(function, try term(arguments[0]), arguments[0].kindName)) }
            throw .invalidPredicate(.noCollection(found: arguments[0].kindName, context: name))
        case .json(let member):
            if isGrouped, function == .count {
                return .term(SQLTerm(sql: "count(\(term(of: member).sql))", kind: .integer))
            }
            guard function == .count, !isGrouped else { throw unsupported("\(name) of members of JSON") }
            return .term(
                try evaluated(.function(function), [term(of: member)], kind: .integer) { .function(function, $0) })
        case .choice: throw unsupported("\(name) of one of two values")
        case .composite: throw .invalidPredicate(.noCollection(found: "composite", context: name))
        }
    }

    /// An aggregate function over single values.
    /// - Parameter argumentCount: With how many arguments the function was written: one list, or several values.
    private func aggregate(
        _ function: FetchFunction, over parts: [SQLOperand], of argumentCount: Int
    ) throws(StoreError) -> SQLOperand {
        let name = function.rawValue
        if function == .count {
            guard argumentCount == 1 else { throw unsupported("\(name) of several values") }
            return .constant(SQLConstant(value: .integer(Int64(parts.count)), position: nil))
        }
        if let values = Self.fixedValues(parts) { return try aggregate(function, overFixed: values) }
        guard parts.count <= Self.argumentLimit else {
            throw unsupported("\(name) of more than \(Self.argumentLimit) values")
        }
        var terms: [SQLTerm] = []
        var kind: SQLKind?
        for part in parts where !part.isNull {
            let term = try single(part, name)
            terms.append(term)
            if term.kind == .json { throw unsupported("\(name) of members of JSON") }
            guard let common = Self.common(kind ?? term.kind, term.kind) else {
                throw .invalidPredicate(.incomparable(left: parts[0].kindName, right: part.kindName, context: name))
            }
            kind = common
        }
        if terms.isEmpty {
            return function == .sum ? .constant(SQLConstant(value: .integer(0), position: nil)) : .null
        }
        let result = try Self.kind(ofAggregate: function, kind ?? .integer, name)
        // Several arguments are a list to all of these.
        return .term(
            try evaluated(.aggregate(function), terms, kind: result) { (values) in
                .function(function, [.aggregate(values)])
            })
    }

    /// An aggregate function over constants. It is computed while it is bound, so that SQL need not know how many there
    /// are; the values decide the kind of the result.
    private func aggregate(
        _ function: FetchFunction, overFixed values: [SQLConstant]
    ) throws(StoreError) -> SQLOperand {
        isReusable = false
        let result = try Self.value(of: function, values.map(\.value))
        guard let kind = SQLKind(result) else {
            guard case .null = result else { throw unsupported("\(function.rawValue) that gives \(result.kind)") }
            return .null
        }
        let bound = parameters.add(kind) { (constants: [Value]) throws(StoreError) -> SQLValue in
            SQLCoding.encode(try Self.value(of: function, values.map { $0.value(in: constants) })) ?? .null
        }
        guard SQLCoding.encode(result) != nil else { throw unsupported("\(function.rawValue) that gives NaN") }
        return .term(SQLTerm(sql: bound, kind: kind, isDecimalText: true))
    }

    /// SQLite takes 127 arguments in a call, and one may be the function.
    private static let argumentLimit = 120

    /// The constants of an aggregate function that is taken over nothing else.
    private static func fixedValues(_ parts: [SQLOperand]) -> [SQLConstant]? {
        var values: [SQLConstant] = []
        for part in parts {
            guard case .constant(let constant) = part else { return nil }
            values.append(constant)
        }
        return values
    }

    /// An aggregate function over constants, as the evaluator computes it.
    private static func value(of function: FetchFunction, _ values: [Value]) throws(StoreError) -> Value {
        do throws(PredicateEvaluationError) {
            return try FetchExpression.function(function, [.constant(.list(values))]).evaluate(on: Value.null)
        } catch {
            throw .invalidPredicate(error)
        }
    }

    /// The kind of an aggregate over values of a kind.
    private static func kind(
        ofAggregate function: FetchFunction, _ kind: SQLKind, _ name: String
    ) throws(StoreError) -> SQLKind {
        switch function {
        case .minimum, .maximum:
            if kind == .point {
                throw .invalidPredicate(.incomparable(left: "geoPoint", right: "geoPoint", context: name))
            }
            return kind
        default:
            guard kind.isNumber else { throw .invalidPredicate(.wrongOperand(found: kind.name, context: name)) }
        }
        let isWhole = kind == .integer || kind == .boolean
        switch function {
        // The sum of no decimals is a whole 0, and so is that of no doubles.
        case .sum: return isWhole ? .integer : kind == .double ? .number : kind
        case .average: return kind == .decimal ? .decimal : .double
        case .median: return kind == .decimal ? .decimal : .number
        default: return .double
        }
    }

    /// An aggregate function over the elements of a collection, nil left out.
    package func aggregate(
        _ function: FetchFunction, _ collection: SQLCollection, _ name: String
    ) throws(StoreError) -> SQLTerm {
        let value = try term(collection.operand)
        try checkInline(value)
        if value.kind == .json { throw unsupported("\(name) of members of JSON") }
        let result = try overRows(function, value, name)
        return SQLTerm(
            sql: collection.guarded("(SELECT \(result.sql)\(collection.scope.tail))"), kind: result.kind,
            isDecimalText: result.isDecimalText)
    }

    /// An aggregate function of SQL.
    private func overRows(_ function: FetchFunction, _ value: SQLTerm, _ name: String) throws(StoreError) -> SQLTerm {
        let kind = try Self.kind(ofAggregate: function, value.kind, name)
        let call = SQLCall(kinds: [value.kind]) { (values) throws(PredicateEvaluationError) in
            try FetchExpression.function(function, [.constant(.list(values))]).evaluate(on: Value.null)
        }
        let result = dialect.aggregate(
            function, value, kind, clampsSums: ways.clampsSums, &parameters, { (_: [Value]) in call })
        guard let result else { throw unsupported(name) }
        return result
    }

    /// An aggregate function over the rows of a group; `count:` counts those that have a value.
    private func overGroup(_ function: FetchFunction, _ value: SQLTerm, _ kindName: String) throws(StoreError)
        -> SQLTerm
    {
        if function == .count {
            // Rows are counted faster than values that all of them have.
            return SQLTerm(sql: value.isRequiredAttribute ? "count(*)" : "count(\(value.sql))", kind: .integer)
        }
        try checkInline(value)
        return try overRows(function, value, function.rawValue)
    }
}
