import Foundation
import StrataStore

extension PredicateCompiler {
    package func call(_ function: FetchFunction, _ arguments: [SQLOperand]) throws(StoreError) -> SQLOperand {
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
            guard kind == .json || (isText ? kind == .text : kind.isNumber) else {
                throw .invalidPredicate(.wrongOperand(found: argument.kindName, context: name))
            }
        }
        let kinds = terms.map { $0.kind == .json ? .number : $0.kind }
        if kinds.contains(.decimal), kinds.contains(.number) {
            throw unsupported("\(name) of decimal and other numbers")
        }
        var result = try evaluated(.function(function), terms, kind: Self.kind(of: function, kinds)) { (values) in
            .function(function, values)
        }
        // What is a decimal for certain makes the result one.
        result.isDecimalText = result.kind == .decimal && terms.contains { $0.kind == .decimal && $0.isDecimalText }
        return .term(result)
    }

    /// An argument that is a single value.
    package func single(_ operand: SQLOperand, _ name: String) throws(StoreError) -> SQLTerm {
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
                try evaluated(.draw, [SQLTerm(sql: "0", kind: .integer)], kind: .double) { _ in .function(.random, []) }
            )
        }
        if limit.isNull { return .null }
        let term = try single(limit, "random")
        guard term.kind.isNumber || term.kind == .json else {
            throw .invalidPredicate(.wrongOperand(found: limit.kindName, context: "random"))
        }
        return .term(try evaluated(.draw, [term], kind: .integer) { .function(.random, $0) })
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
        try checkCanonical(x)
        try checkCanonical(y)
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
        let first = x.kind == y.kind ? dialect.canonical(x) : dialect.side(x, as: kind)
        let second = x.kind == y.kind ? dialect.canonical(y) : dialect.side(y, as: kind)
        guard let first, let second else { throw unsupported("\(function.rawValue) of different kinds") }
        let select = "SELECT \(first) AS v\(a.scope.tail) \(word) SELECT \(second)\(b.scope.tail)"
        replace(&result, by: select, like: SQLTerm(sql: "", kind: kind))
        result.isSet = true
        result.guards = a.guards + b.guards
        // Nil makes the whole nil, not only its side.
        result.scope.conditions = result.guards.map { "\($0) IS NOT NULL" }
        return .collection(result)
    }

    // MARK: Methods

    package func call(
        _ method: FetchMethod, on receiver: SQLOperand, _ arguments: [SQLOperand]
    ) throws(StoreError) -> SQLOperand {
        let name = method.rawValue
        guard arguments.count == method.arity else {
            throw .invalidPredicate(.wrongArgumentCount(function: name, count: arguments.count))
        }
        if receiver.isNull || arguments.contains(where: \.isNull) { return .null }
        switch method {
        case .count:
            if case .json(let member) = receiver {
                return .term(
                    try evaluated(.method(method), [term(of: member)], kind: .integer) { .method($0[0], method, []) })
            }
            guard case .collection(let collection) = receiver else { throw unsupported(name) }
            return .term(try count(collection))
        case .firstObject, .lastObject:
            if case .json(let member) = receiver {
                return try element(method == .firstObject ? .first : .last, of: member, at: 0)
            }
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
            terms[0].kind == .text || terms[0].kind == .json || (takesNumber && terms[0].kind.isNumber)
                || (method == .length && terms[0].kind == .bytes)
        else { throw .invalidPredicate(.wrongOperand(found: receiver.kindName, context: name)) }
        for (term, argument) in zip(terms.dropFirst(), arguments) {
            guard term.kind == .json || term.kind == (takesIndex ? .integer : .text) else {
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
        return .term(
            try evaluated(.method(method), terms, kind: kind) { .method($0[0], method, Array($0.dropFirst())) })
    }
}
