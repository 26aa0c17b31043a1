import Foundation
import StrataStore

extension PredicateCompiler {
    /// An expression in SQL.
    /// - Parameter position: The position of its first constant.
    package func operand(_ expression: FetchExpression, at position: Int) throws(StoreError) -> SQLOperand {
        switch expression.node {
        case .constant(let value): return .constant(SQLConstant(value: value, position: position))
        case .evaluatedObject: return .object(root)
        case .keyPath(let names): return try walk(.object(root), names[...])
        case .variable(let name):
            guard let operand = variables[name] else { throw .invalidPredicate(.unboundVariable(name: name)) }
            return operand
        case .path(let base, let names): return try walk(try operand(base, at: position), names[...])
        case .aggregate(let parts): return .list(try operands(parts, at: position))
        case .function(.now, let arguments):
            guard arguments.isEmpty else {
                throw .invalidPredicate(
                    .wrongArgumentCount(function: FetchFunction.now.rawValue, count: arguments.count))
            }
            return .constant(SQLConstant(value: constants[position], position: position))
        case .function(let function, let arguments): return try call(function, try operands(arguments, at: position))
        case .index(let base, let index):
            return try element(index, of: try operand(base, at: position), at: position + Self.count(base))
        case .subquery(let collection, let name, let condition):
            return try select(
                try operand(collection, at: position), name, condition, at: position + Self.count(collection))
        case .ternary(let condition, let first, let second):
            let sql = try self.condition(condition, at: position)
            let place = position + Self.count(condition)
            return try choice(
                sql, try operand(first, at: place), try operand(second, at: place + Self.count(first)))
        case .cast(let value, let type): return try cast(try operand(value, at: position), type)
        case .method(let receiver, let method, let arguments):
            return try call(
                method, on: try operand(receiver, at: position),
                try operands(arguments, at: position + Self.count(receiver)))
        case .distance(let a, let b, _):
            let places = Self.count(a) + Self.count(b)
            return try distance(
                try operand(a, at: position), try operand(b, at: position + Self.count(a)),
                radius: SQLConstant(value: constants[position + places], position: position + places))
        case .tooDeep: throw .invalidPredicate(.nestedTooDeeply)
        }
    }

    private func operands(_ parts: [FetchExpression], at position: Int) throws(StoreError) -> [SQLOperand] {
        var list: [SQLOperand] = []
        var place = position
        for part in parts {
            list.append(try operand(part, at: place))
            place += Self.count(part)
        }
        return list
    }

    /// An operand as a single value.
    package func term(_ operand: SQLOperand) throws(StoreError) -> SQLTerm {
        switch operand {
        case .term(let term): return term
        case .object(let object): return SQLTerm(sql: object.key, kind: .object)
        case .json(let member): return term(of: member)
        case .choice: throw unsupported("TERNARY with values of different kinds")
        case .constant(let constant):
            guard let kind = SQLKind(constant.value) else {
                guard constant.value.isNull else { throw unsupported("\(constant.value) as a single value") }
                return SQLTerm(sql: "NULL", kind: .integer)
            }
            if case .double(let number) = constant.value, number.isNaN {
                throw unsupported("a number that is not a number (NaN)")
            }
            let sql = parameters.add(kind) { (constants: [Value]) throws(StoreError) -> SQLValue in
                SQLCoding.encode(constant.value(in: constants)) ?? .null
            }
            return SQLTerm(sql: sql, kind: kind, isDecimalText: true)
        case .collection: throw unsupported("a collection as a single value")
        case .composite: throw unsupported("a composite as a whole")
        case .list: throw unsupported("a list as a single value")
        }
    }

    /// What an operation gives for each row.
    package func call(
        _ operation: SQLOperation, _ terms: [SQLTerm], _ kind: SQLKind = .boolean,
        _ body: @escaping @Sendable ([Value]) throws(PredicateEvaluationError) -> Value
    ) throws(StoreError) -> String {
        let call = SQLCall(kinds: terms.map(\.kind), body: body)
        guard let sql = dialect.call(operation, terms, kind, &parameters, { (_: [Value]) in call }) else {
            throw unsupported(operation.name)
        }
        return sql
    }

    // MARK: Choices

    private func choice(
        _ condition: String, _ first: SQLOperand, _ second: SQLOperand
    ) throws(StoreError) -> SQLOperand {
        if first.isNull, second.isNull { return .null }
        if first.isJSON || second.isJSON {
            return try jsonChoice(condition, first, second)
        }
        let a = try term(first)
        let b = try term(second)
        guard let kind = Self.common(first.isNull ? b.kind : a.kind, second.isNull ? a.kind : b.kind) else {
            throw unsupported("TERNARY with values of different kinds")
        }
        let isDecimalText = a.isDecimalText && b.isDecimalText && a.kind == .decimal && b.kind == .decimal
        guard let x = first.isNull ? a.sql : dialect.unified(a, as: kind),
            let y = second.isNull ? b.sql : dialect.unified(b, as: kind)
        else { throw unsupported("TERNARY with values of different kinds") }
        return .term(
            SQLTerm(
                sql: "CASE WHEN \(condition) THEN \(x) ELSE \(y) END", kind: kind, isDecimalText: isDecimalText))
    }

    /// The kind that has all values of two kinds.
    package static func common(_ a: SQLKind, _ b: SQLKind) -> SQLKind? {
        if a == b { return a }
        guard a.isNumber, b.isNumber else { return nil }
        if a != .decimal, b != .decimal { return .number }
        // Floating-point numbers compare with each other in another way than with decimals.
        return [a, b].contains { $0 == .double || $0 == .number } ? nil : .decimal
    }

    // MARK: Elements and subqueries

    private func select(
        _ operand: SQLOperand, _ name: String, _ condition: FetchPredicate, at position: Int
    ) throws(StoreError) -> SQLOperand {
        guard case .collection(var collection) = operand else {
            switch operand {
            case .constant(let constant) where constant.elements != nil || constant.value.isNull:
                throw unsupported("SUBQUERY of a fixed list")
            case .list: throw unsupported("SUBQUERY of a fixed list")
            case .json, .choice: throw unsupported("SUBQUERY of an array in JSON")
            default: throw .invalidPredicate(.noCollection(found: operand.kindName, context: "SUBQUERY"))
            }
        }
        let outer = variables
        variables[name] = collection.operand
        scopes.append(collection.scope)
        defer {
            scopes.removeLast()
            variables = outer
        }
        collection.scope.conditions.append(try self.condition(condition, at: position))
        // Of nil it selects nothing.
        collection.guards = []
        return .collection(collection)
    }

    private func element(
        _ index: FetchIndex, of base: SQLOperand, at position: Int
    ) throws(StoreError) -> SQLOperand {
        if base.isNull { return .null }
        if case .json(let member) = base { return try element(index, of: member, at: position) }
        if case .at(let position) = index, case .constant(.string(let key)) = position.node {
            switch base {
            case .object, .composite:
                // The key decides the SQL.
                isReusable = false
                return try walk(base, [key])
            default: break
            }
        }
        guard case .collection(let collection) = base else {
            switch base {
            case .constant, .list: throw unsupported("an element of a fixed list")
            case .choice: throw unsupported("an index of one of two values")
            case .composite: throw unsupported("an index of a composite other than a name")
            default: throw .invalidPredicate(.noCollection(found: base.kindName, context: "an index"))
            }
        }
        switch index {
        case .size: return .term(try count(collection))
        case _ where collection.isSet:
            throw .invalidPredicate(.wrongOperand(found: "set", context: "an index other than [SIZE]"))
        case .first: return try element(of: collection, offset: "0", backwards: false)
        case .last: return try element(of: collection, offset: "0", backwards: true)
        case .at(let expression):
            let place = try operand(expression, at: position)
            if place.isNull { return .null }
            // SQLite takes no columns after OFFSET.
            guard case .constant(let constant) = place, case .integer = constant.value else {
                throw unsupported("an index that is not a fixed whole number")
            }
            let offset = parameters.add(.integer) { (constants: [Value]) throws(StoreError) -> SQLValue in
                guard case .integer(let place) = constant.value(in: constants), place >= 0 else {
                    // Before the first there is nothing, which the engine may take for the first.
                    return .integer(.max)
                }
                return .integer(place)
            }
            return try element(of: collection, offset: offset, backwards: false)
        }
    }

    /// The element at a position of an array.
    package func element(
        of collection: SQLCollection, offset: String, backwards: Bool
    ) throws(StoreError) -> SQLOperand {
        guard let order = collection.order else { throw unsupported("an element of a collection without an order") }
        let value = try term(collection.operand)
        try checkInline(value)
        let terms = order.map { backwards ? "\($0) DESC" : $0 }.joined(separator: ", ")
        let sql = "(SELECT \(value.sql)\(collection.scope.tail) ORDER BY \(terms)\(dialect.limit("1", offset: offset)))"
        if value.kind == .json { return .json(SQLMember(text: sql)) }
        guard case .object(let object) = collection.operand else {
            return .term(SQLTerm(sql: sql, kind: value.kind, isDecimalText: value.isDecimalText))
        }
        guard let scope = scopes.last else { throw unsupported("an element") }
        return .object(SQLObject(scope: scope, entity: object.entity, key: sql, isOptional: true))
    }

    // MARK: Casts

    private func cast(_ operand: SQLOperand, _ type: CastType) throws(StoreError) -> SQLOperand {
        if operand.isNull { return .null }
        if case .collection(var collection) = operand {
            switch type {
            case .array:
                collection = try distinct(collection)
                if collection.isSet { collection.order = nil }
                collection.isSet = false
                return .collection(collection)
            case .set:
                if !collection.isSet { throw unsupported("a set of a list") }
                return operand
            default: break
            }
        }
        switch operand {
        case .collection, .composite, .list: throw unsupported("CAST of a \(operand.kindName)")
        case .constant(let constant) where SQLKind(constant.value) == nil:
            throw unsupported("CAST of a \(operand.kindName)")
        default: break
        }
        let value = try term(operand)
        try checkInline(value)
        let kind: SQLKind
        switch type {
        case .date: kind = .date
        case .number:
            switch value.kind {
            case .date: kind = .double
            case .boolean, .integer: kind = .integer
            case .double, .decimal: kind = value.kind
            default: kind = .number
            }
        case .decimal: kind = .decimal
        case .string: kind = .text
        case .boolean: kind = .boolean
        case .uuid: kind = .uuid
        case .uri: kind = .uri
        case .data: kind = .bytes
        case .geoPoint: kind = .point
        case .object: kind = .object
        case .set, .array, .dictionary: throw unsupported("CAST of a \(operand.kindName) as \(type.rawValue)")
        }
        let sql = try call(.cast(type), [value], kind) { (values) throws(PredicateEvaluationError) in
            type.convert(values[0])
        }
        return .term(SQLTerm(sql: sql, kind: kind))
    }
}
