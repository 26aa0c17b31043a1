import Foundation
import StrataStore

extension PredicateCompiler {
    func call(_ function: FetchFunction, _ arguments: [SQLOperand]) throws(StoreError) -> SQLOperand {
        let name = function.rawValue
        guard function.arity.contains(arguments.count) else {
            throw .invalidPredicate(.wrongArgumentCount(function: name, count: arguments.count))
        }
        switch function {
        case .random: return try random(arguments)
        case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation:
            return try aggregate(function, arguments)
        default: break
        }
        if arguments.contains(where: \.isNull) { return .null }
        if [.union, .intersect, .minus].contains(function) { return try combine(function, arguments[0], arguments[1]) }
        var terms: [SQLTerm] = []
        for argument in arguments {
            terms.append(try single(argument, name))
            let kind = terms[terms.count - 1].kind
            let isText = function == .uppercase || function == .lowercase
            guard isText ? kind == .text : kind.isNumber else {
                throw .invalidPredicate(.wrongOperand(found: argument.kindName, context: name))
            }
        }
        let kinds = terms.map(\.kind)
        if kinds.contains(.decimal), kinds.contains(.number) {
            throw unsupported("\(name) of decimal and other numbers")
        }
        var result = evaluated(terms, kind: Self.kind(of: function, kinds)) { (values) in .function(function, values) }
        // What is a decimal for certain makes the result one.
        result.isDecimalText = result.kind == .decimal && terms.contains { $0.kind == .decimal && $0.isDecimalText }
        return .term(result)
    }

    /// An argument that is a single value.
    private func single(_ operand: SQLOperand, _ name: String) throws(StoreError) -> SQLTerm {
        switch operand {
        case .collection, .list, .composite:
            throw .invalidPredicate(.wrongOperand(found: operand.kindName, context: name))
        case .constant(let constant) where SQLKind(constant.value) == nil && !constant.value.isNull:
            throw .invalidPredicate(.wrongOperand(found: operand.kindName, context: name))
        default:
            let term = try term(operand)
            try checkInline(term)
            return term
        }
    }

    /// An expression over values that the evaluator computes.
    private func evaluated(
        _ terms: [SQLTerm], kind: SQLKind, function: String = "strata_call",
        _ expression: @escaping @Sendable ([FetchExpression]) -> FetchExpression
    ) -> SQLTerm {
        let call = call(terms.map(\.kind)) { (values) throws(PredicateEvaluationError) in
            try expression(values.map(FetchExpression.constant)).evaluate(on: Value.null)
        }
        return SQLTerm(sql: "\(function)(\(([call] + terms.map(\.sql)).joined(separator: ", ")))", kind: kind)
    }

    private static func kind(of function: FetchFunction, _ kinds: [SQLKind]) -> SQLKind {
        func isWhole(_ kind: SQLKind) -> Bool { kind == .integer || kind == .boolean }
        switch function {
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement: return .integer
        case .squareRoot, .logarithm, .naturalLogarithm, .exponential: return .double
        case .uppercase, .lowercase: return .text
        case .absolute, .floor, .ceiling, .truncate: return isWhole(kinds[0]) ? .integer : kinds[0]
        default: break
        }
        // A floating-point operand makes the result one.
        if kinds.contains(.double) { return .double }
        if kinds.contains(.decimal), function != .power, function != .modulus { return .decimal }
        // A negative exponent makes a number that is not whole.
        return kinds.allSatisfy(isWhole) && function != .power ? .integer : .number
    }

    private func random(_ arguments: [SQLOperand]) throws(StoreError) -> SQLOperand {
        guard let limit = arguments.first else {
            return .term(
                evaluated([SQLTerm(sql: "0", kind: .integer)], kind: .double, function: "strata_draw") { _ in
                    .function(.random, [])
                })
        }
        if limit.isNull { return .null }
        let term = try single(limit, "random")
        guard term.kind.isNumber else {
            throw .invalidPredicate(.wrongOperand(found: limit.kindName, context: "random"))
        }
        return .term(
            evaluated([term], kind: .integer, function: "strata_draw") { .function(.random, $0) })
    }

    // MARK: Aggregates

    private func aggregate(_ function: FetchFunction, _ arguments: [SQLOperand]) throws(StoreError) -> SQLOperand {
        let name = function.rawValue
        if function == .mode { throw unsupported("mode, whose result is a list") }
        let parts: [SQLOperand]
        if arguments.count > 1 {
            parts = arguments
        } else {
            if arguments[0].isNull { return .null }
            switch arguments[0] {
            case .collection(let collection):
                if function == .count { return .term(try count(collection)) }
                var elements = try distinct(collection)
                elements.isSet = false
                var term = try aggregate(function, elements, name)
                term = SQLTerm(sql: collection.guarded(term.sql), kind: term.kind, isDecimalText: term.isDecimalText)
                return .term(term)
            case .list(let elements): parts = elements
            case .constant(let constant):
                guard let elements = constant.elements else {
                    throw .invalidPredicate(.noCollection(found: arguments[0].kindName, context: name))
                }
                // How many there are decides the SQL.
                isReusable = false
                parts = elements.map(SQLOperand.constant)
            case .term, .object:
                if isGrouped { return .term(try overGroup(function, try term(arguments[0]), arguments[0].kindName)) }
                throw .invalidPredicate(.noCollection(found: arguments[0].kindName, context: name))
            case .composite: throw .invalidPredicate(.noCollection(found: "composite", context: name))
            }
        }
        if function == .count {
            guard arguments.count == 1 else { throw unsupported("\(name) of several values") }
            return .constant(SQLConstant(value: .integer(Int64(parts.count)), position: nil))
        }
        if let values = Self.fixedValues(parts) {
            // Computed while it is bound; SQL need not know how many there are. The values decide the kind of the result.
            isReusable = false
            let bound = parameters.add { (constants: [Value]) throws(StoreError) -> SQLValue in
                try Self.aggregate(function, values.map { $0.value(in: constants) })
            }
            let result = try Self.value(of: function, values.map(\.value))
            guard let kind = SQLKind(result) else { return .null }
            return .term(SQLTerm(sql: bound, kind: kind, isDecimalText: true))
        }
        guard parts.count <= Self.argumentLimit else {
            throw unsupported("\(name) of more than \(Self.argumentLimit) values")
        }
        var terms: [SQLTerm] = []
        var kind: SQLKind?
        for part in parts where !part.isNull {
            let term = try single(part, name)
            terms.append(term)
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
        return .term(evaluated(terms, kind: result) { (values) in .function(function, [.aggregate(values)]) })
    }

    /// SQLite takes 127 arguments in a call; one is the function.
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

    private static func aggregate(_ function: FetchFunction, _ values: [Value]) throws(StoreError) -> SQLValue {
        SQLCoding.encode(try value(of: function, values)) ?? .null
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
    func aggregate(
        _ function: FetchFunction, _ collection: SQLCollection, _ name: String
    ) throws(StoreError) -> SQLTerm {
        let value = try term(collection.operand)
        try checkInline(value)
        let result = try overRows(function, value, name)
        return SQLTerm(
            sql: collection.guarded("(SELECT \(result.sql)\(collection.scope.tail))"), kind: result.kind,
            isDecimalText: result.isDecimalText)
    }

    /// An aggregate function of SQL.
    private func overRows(_ function: FetchFunction, _ value: SQLTerm, _ name: String) throws(StoreError) -> SQLTerm {
        let kind = try Self.kind(ofAggregate: function, value.kind, name)
        let isExtreme = function == .minimum || function == .maximum
        if isExtreme, value.kind != .decimal || value.isDecimalText {
            let word = function == .minimum ? "min" : "max"
            return SQLTerm(sql: "\(word)(\(value.comparedSQL))", kind: kind, isDecimalText: value.isDecimalText)
        }
        if function == .sum, kind == .integer {
            return SQLTerm(sql: "strata_sum(\(value.sql))", kind: kind)
        }
        let isDecimalText = function != .sum && value.isDecimalText
        let call = call([value.kind]) { (values) throws(PredicateEvaluationError) in
            try FetchExpression.function(function, [.constant(.list(values))]).evaluate(on: Value.null)
        }
        let sql = "strata_aggregate(\(call), \(value.sql))"
        return SQLTerm(sql: function == .sum ? "coalesce(\(sql), 0)" : sql, kind: kind, isDecimalText: isDecimalText)
    }

    /// An aggregate function over the rows of a group; `count:` counts those that have a value.
    private func overGroup(_ function: FetchFunction, _ value: SQLTerm, _ kindName: String) throws(StoreError)
        -> SQLTerm
    {
        if function == .count { return SQLTerm(sql: "count(\(value.sql))", kind: .integer) }
        try checkInline(value)
        return try overRows(function, value, function.rawValue)
    }

    // MARK: Set operators

    private func combine(
        _ function: FetchFunction, _ left: SQLOperand, _ right: SQLOperand
    ) throws(StoreError) -> SQLOperand {
        guard case .collection(let a) = left, case .collection(let b) = right else {
            for side in [left, right] {
                switch side {
                case .collection, .list: continue
                case .constant(let constant) where constant.elements != nil: continue
                default: throw .invalidPredicate(.noCollection(found: side.kindName, context: function.rawValue))
                }
            }
            throw unsupported("\(function.rawValue) with a fixed list")
        }
        let x = try term(a.operand)
        let y = try term(b.operand)
        try checkInline(x)
        try checkInline(y)
        guard x.kind == y.kind || (x.kind.isPlainNumber && y.kind.isPlainNumber), let kind = Self.common(x.kind, y.kind)
        else { throw unsupported("\(function.rawValue) of different kinds") }
        var result = a
        if case .object(let first) = a.operand, case .object(let second) = b.operand {
            guard first.entity.rootIndex == second.entity.rootIndex else {
                throw unsupported("\(function.rawValue) of \(first.entity.name) and \(second.entity.name)")
            }
            if first.entity.isKind(of: second.entity) {
                result.element = b.element
            } else if !second.entity.isKind(of: first.entity) {
                throw unsupported("\(function.rawValue) of \(first.entity.name) and \(second.entity.name)")
            }
        }
        let word = function == .union ? "UNION" : function == .intersect ? "INTERSECT" : "EXCEPT"
        // A column of floating-point numbers would make its own of the whole numbers of the other side, and round them.
        let sign = x.kind == y.kind ? "" : "+"
        let select =
            "SELECT \(sign)\(x.canonicalSQL) AS v\(a.scope.tail) \(word) SELECT \(sign)\(y.canonicalSQL)\(b.scope.tail)"
        replace(&result, by: select, like: SQLTerm(sql: "", kind: kind))
        result.isSet = true
        result.guards = a.guards + b.guards
        // Nil makes the whole nil, not only its side.
        result.scope.conditions = result.guards.map { "\($0) IS NOT NULL" }
        return .collection(result)
    }

    // MARK: Methods

    func call(
        _ method: FetchMethod, on receiver: SQLOperand, _ arguments: [SQLOperand]
    ) throws(StoreError) -> SQLOperand {
        let name = method.rawValue
        guard arguments.count == method.arity else {
            throw .invalidPredicate(.wrongArgumentCount(function: name, count: arguments.count))
        }
        if receiver.isNull || arguments.contains(where: \.isNull) { return .null }
        switch method {
        case .count:
            guard case .collection(let collection) = receiver else { throw unsupported(name) }
            return .term(try count(collection))
        case .firstObject, .lastObject:
            guard case .collection(let collection) = receiver, !collection.isSet else { throw unsupported(name) }
            return try element(
                of: collection, offset: "0", backwards: method == .lastObject)
        case .valueForKey:
            guard case .constant(let constant) = arguments[0], case .string(let key) = constant.value else {
                throw unsupported("\(name) with a key that is not fixed")
            }
            // The key decides the SQL.
            isReusable = false
            return try walk(receiver, [key])
        default: break
        }
        var terms = [try single(receiver, name)]
        for argument in arguments { terms.append(try single(argument, name)) }
        let takesNumber = method == .integerValue || method == .doubleValue
        let takesIndex = method == .substringFromIndex || method == .substringToIndex
        guard
            terms[0].kind == .text || (takesNumber && terms[0].kind.isNumber)
                || (method == .length && terms[0].kind == .bytes)
        else { throw .invalidPredicate(.wrongOperand(found: receiver.kindName, context: name)) }
        for (term, argument) in zip(terms.dropFirst(), arguments) {
            guard term.kind == (takesIndex ? .integer : .text) else {
                throw .invalidPredicate(.wrongOperand(found: argument.kindName, context: name))
            }
        }
        let kind: SQLKind =
            switch method {
            case .length, .integerValue: .integer
            case .doubleValue: .double
            case .hasPrefix, .hasSuffix: .boolean
            default: .text
            }
        return .term(evaluated(terms, kind: kind) { .method($0[0], method, Array($0.dropFirst())) })
    }
}
