import Foundation
import StrataStore

/// JSON text in SQL, and the path of a member of it. The kind of the member is not known; see
/// ``PropertyValue/json(_:)``.
package struct SQLMember {
    /// What gives the text.
    package let text: String
    /// The way to the member.
    package var path: [Step] = []

    /// A step on the way to a member.
    package enum Step {
        case name(String)
        case first, last
        /// A parameter with the position of an element.
        case position(String)
    }
}

/// The operands of a condition that SQL leaves to the evaluator.
private struct EvaluatedOperands: PropertySource {
    let values: [PropertyValue]
    /// Anything but nil, of which all properties would be nil.
    var evaluatedObject: Value { .object(0) }

    func property(_ name: String) -> PropertyValue { Int(name).map { values[$0] } ?? .value(.null) }

    static func path(_ index: Int) -> FetchExpression { .keyPath([String(index)]) }
}

extension PredicateCompiler {
    // MARK: Terms

    /// A member as JSON text.
    package func term(of member: SQLMember) -> SQLTerm {
        SQLTerm(sql: dialect.member(member, as: .fragment), kind: .json, member: member)
    }

    /// A member where it is text, and nil elsewhere.
    private func textTerm(of member: SQLMember) -> SQLTerm {
        SQLTerm(sql: dialect.member(member, as: .text), kind: .text)
    }

    /// A member where it is a number or a truth value, and nil elsewhere.
    private func numberTerm(of member: SQLMember) -> SQLTerm {
        SQLTerm(sql: dialect.member(member, as: .number), kind: .number)
    }

    // MARK: Paths

    /// A member of a member.
    package func member(_ name: String, of member: SQLMember) throws(StoreError) -> SQLOperand {
        // SQL ends where the name would go on.
        if name.utf8.contains(0) { throw unsupported("the key \(name.debugDescription) of JSON") }
        return step(.name(name), from: member)
    }

    /// An element of an array.
    package func element(_ index: FetchIndex, of member: SQLMember, at position: Int) throws(StoreError) -> SQLOperand {
        switch index {
        case .size:
            return .term(try evaluated(.function(.count), [term(of: member)], kind: .integer) { .index($0[0], .size) })
        case .first: return step(.first, from: member)
        case .last: return step(.last, from: member)
        case .at(let expression):
            let place = try operand(expression, at: position)
            if place.isNull { return .null }
            guard case .constant(let constant) = place else {
                throw unsupported("an index of JSON that is not fixed")
            }
            switch constant.value {
            case .string(let key):
                // The key decides the SQL.
                isReusable = false
                return try self.member(key, of: member)
            case .integer:
                let position = parameters.add(.integer) { (constants: [Value]) throws(StoreError) -> SQLValue in
                    guard case .integer(let place) = constant.value(in: constants), place >= 0 else {
                        // Before the first there is nothing, which the function takes for the last.
                        return .integer(.max)
                    }
                    return .integer(place)
                }
                return step(.position(position), from: member)
            default: throw unsupported("an index of JSON that is neither a name nor a whole number")
            }
        }
    }

    private func step(_ step: SQLMember.Step, from member: SQLMember) -> SQLOperand {
        // Deeper nesting is not read.
        member.path.count >= JSONText.depthLimit
            ? .null : .json(SQLMember(text: member.text, path: member.path + [step]))
    }

    /// One of two operands of which one is JSON.
    package func jsonChoice(
        _ condition: String, _ first: SQLOperand, _ second: SQLOperand
    ) throws(StoreError) -> SQLOperand {
        func isText(_ operand: SQLOperand) -> Bool {
            if case .json = operand { true } else { operand.isNull }
        }
        if isText(first), isText(second) {
            let texts = (try term(first).sql, try term(second).sql)
            return .json(SQLMember(text: "CASE WHEN \(condition) THEN \(texts.0) ELSE \(texts.1) END"))
        }
        for operand in [first, second] {
            switch operand {
            case .collection, .composite, .list: throw unsupported("TERNARY with values of different kinds")
            default: continue
            }
        }
        let count = Self.count(of: first) + Self.count(of: second)
        guard count <= 32 else { throw unsupported("TERNARY of \(count) members of JSON and other values") }
        return .choice(condition, first, second)
    }

    private static func count(of operand: SQLOperand) -> Int {
        if case .choice(_, let first, let second) = operand { count(of: first) + count(of: second) } else { 1 }
    }

    // MARK: Comparisons

    /// A comparison of which one side at least is a member of JSON.
    package func comparison(
        ofJSON left: SQLOperand, _ op: ComparisonOperator, _ right: SQLOperand, _ options: ComparisonOptions,
        negated: Bool
    ) throws(StoreError) -> String {
        if case .choice(let condition, let first, let second) = left {
            let (a, b) = (
                try comparison(first, op, right, options, negated: negated),
                try comparison(second, op, right, options, negated: negated)
            )
            return "CASE WHEN \(condition) THEN \(a) ELSE \(b) END"
        }
        if case .choice(let condition, let first, let second) = right {
            let (a, b) = (
                try comparison(left, op, first, options, negated: negated),
                try comparison(left, op, second, options, negated: negated)
            )
            return "CASE WHEN \(condition) THEN \(a) ELSE \(b) END"
        }
        switch op {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            if case .json(let member) = left, case .constant(let constant) = right {
                if let sql = try comparison(member, op, constant, options, negated: negated) { return sql }
            } else if case .constant(let constant) = left, case .json(let member) = right {
                if let sql = try comparison(member, op.mirrored, constant, options, negated: negated) { return sql }
            }
        case .isIn, .between:
            if case .json(let member) = left, case .constant(let constant) = right,
                let term = try self.term(member, comparableWith: constant)
            {
                return try comparison(.term(term), op, right, options, negated: negated)
            }
        case .contains:
            if case .constant(let constant) = left {
                if constant.elements != nil {
                    return try comparison(ofJSON: right, .isIn, left, options, negated: negated)
                }
                return try comparison(left, op, text(right), options, negated: negated)
            }
        case .beginsWith, .endsWith, .like, .matches, .matchesText:
            return try comparison(text(left), op, text(right), options, negated: negated)
        }
        let call = try call([left, right]) { .comparison($0[0], op, $0[1], options) }
        return negate(call, negated)
    }

    /// A quantified comparison of the elements of an array.
    package func quantified(
        ofJSON left: SQLMember, _ quantifier: ComparisonQuantifier, _ op: ComparisonOperator, _ right: SQLOperand,
        _ options: ComparisonOptions, negated: Bool
    ) throws(StoreError) -> String {
        let call = try call([.json(left), right]) { .quantified(quantifier, $0[0], op, $0[1], options) }
        return negate(call, negated)
    }

    private func text(_ operand: SQLOperand) -> SQLOperand {
        if case .json(let member) = operand { .term(textTerm(of: member)) } else { operand }
    }

    /// A comparison with a constant of which SQL knows enough; nil for lists and composites.
    private func comparison(
        _ member: SQLMember, _ op: ComparisonOperator, _ constant: SQLConstant, _ options: ComparisonOptions,
        negated: Bool
    ) throws(StoreError) -> String? {
        let isEquality = op == .equal || op == .notEqual
        switch constant.value {
        case .null:
            guard isEquality else { return dialect.constant(negated) }
            return "\(term(of: member).sql) IS \((op == .equal) == negated ? "NOT " : "")NULL"
        case .composite, .list, .set: return nil
        default: break
        }
        if let term = term(member, comparableWith: constant.value) {
            return try comparison(.term(term), op, .constant(constant), options, negated: negated)
        }
        // Dates, bytes and identifiers have no form in JSON.
        return dialect.constant((op == .notEqual) != negated)
    }

    private func term(_ member: SQLMember, comparableWith value: Value) -> SQLTerm? {
        switch value {
        case .string, .uri: textTerm(of: member)
        case .integer, .double, .boolean, .decimal: numberTerm(of: member)
        default: nil
        }
    }

    /// A member as text or as a number, where all elements of a list are.
    private func term(_ member: SQLMember, comparableWith list: SQLConstant) throws(StoreError) -> SQLTerm? {
        guard let elements = list.elements, let first = elements.first else { return nil }
        guard let term = term(member, comparableWith: first.value) else { return nil }
        for element in elements.dropFirst() {
            guard self.term(member, comparableWith: element.value)?.kind == term.kind else { return nil }
        }
        return term
    }

    /// A condition that the evaluator decides, row by row.
    private func call(
        _ operands: [SQLOperand], _ condition: @escaping @Sendable ([FetchExpression]) -> FetchPredicate
    ) throws(StoreError) -> String {
        var terms: [SQLTerm] = []
        // Of constants, the position; of the rest, which argument of the call it is.
        var places: [(constant: SQLConstant?, argument: Int, isJSON: Bool)] = []
        for operand in operands {
            switch operand {
            case .constant(let constant): places.append((constant, 0, false))
            case .json, .term, .object:
                let term = try term(operand)
                try checkInline(term)
                places.append((nil, terms.count, term.kind == .json))
                terms.append(term)
            case .composite, .collection, .list, .choice:
                throw unsupported("comparing a member of JSON with a \(operand.kindName)")
            }
        }
        let kinds = terms.map(\.kind)
        let sql = dialect.call(.json, terms, .boolean, &parameters) { [places] (constants: [Value]) -> SQLCall in
            let fixed = places.map { $0.constant?.value(in: constants) }
            let arguments = places.map { (index: $0.argument, isJSON: $0.isJSON) }
            return SQLCall(kinds: kinds) { (values) throws(PredicateEvaluationError) in
                let source = EvaluatedOperands(
                    values: zip(fixed, arguments).map { constant, argument in
                        if let constant { return .value(constant) }
                        let value = values[argument.index]
                        return argument.isJSON ? .json(value) : .value(value)
                    })
                let paths = source.values.indices.map(EvaluatedOperands.path)
                return .boolean(try condition(paths).evaluate(on: source))
            }
        }
        guard let sql else { throw unsupported(SQLOperation.json.name) }
        return sql
    }

    // MARK: Functions

    /// An expression over values that the evaluator computes.
    package func evaluated(
        _ operation: SQLOperation, _ terms: [SQLTerm], kind: SQLKind,
        _ expression: @escaping @Sendable ([FetchExpression]) -> FetchExpression
    ) throws(StoreError) -> SQLTerm {
        let kinds = terms.map(\.kind)
        let sql = try call(operation, terms, kind) { (values) throws(PredicateEvaluationError) in
            let source = EvaluatedOperands(values: values.map(PropertyValue.json))
            // What comes of JSON may be of any kind, which is not an error then.
            let operands = zip(kinds, values).enumerated().map { index, operand in
                operand.0 == .json ? EvaluatedOperands.path(index) : FetchExpression.constant(operand.1)
            }
            return try expression(operands).evaluate(on: source)
        }
        return SQLTerm(sql: sql, kind: kind)
    }
}
