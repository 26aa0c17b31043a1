import Foundation
import StrataStore

/// Translates conditions and expressions to SQL that holds for exactly the rows for which the evaluator's answer is
/// true; see ``FetchPredicate/evaluate(on:variables:)``.
///
/// What SQL cannot say is refused while it is made, and so is whatever the evaluator may find to be an error, since SQL
/// would not tell: kinds of values are known from the model.
package final class PredicateCompiler {
    package let schema: Schema
    /// The object that the condition is about.
    package let root: SQLObject
    /// The constants of the condition; see ``PredicateShape/constants``. The SQL depends on their kind only, or the
    /// translation is not ``isReusable``.
    package let constants: [Value]
    package var parameters: FetchParameters
    /// Whether the SQL is the same for all conditions of one shape.
    package var isReusable = true
    /// What `$names` stand for inside of subqueries.
    package var variables: [String: SQLOperand] = [:]
    /// The subselects around what is being translated, and the fetch itself.
    package var scopes: [SQLScope]
    /// The innermost comparison, for messages.
    package var context: FetchPredicate?
    package var ways = Ways()
    /// Whether aggregate functions over single values mean those of a group of rows.
    package var isGrouped = false
    /// The entities whose tables are in the SQL, by alias.
    package var entities: [String: String]
    private var aliasCount = 0

    /// Which of two ways something is said in SQL.
    package struct Ways {
        /// Whether sums of whole numbers are clamped to 64 bits. SQLite's own sum is quicker, but fails there.
        package var clampsSums = true
        /// Whether each row is asked whether it is in a list, instead of looking up each element; see ``ListScan``.
        package var scansLists = false
    }

    package var dialect: any SQLDialect { schema.layout.dialect }
    package var layout: StoreLayout { schema.layout }

    /// Begins a statement whose rows are objects of an entity.
    package init(schema: Schema, entity: EntityDescription, constants: [Value]) {
        self.schema = schema
        self.constants = constants
        parameters = FetchParameters(dialect: schema.layout.dialect)
        let scope = SQLScope(from: "\(schema.layout.table(entity.index).quoted) AS t0")
        root = SQLObject(scope: scope, entity: entity, key: "t0._id", alias: "t0", isOptional: false)
        scopes = [scope]
        entities = ["t0": entity.name]
    }

    package func newAlias() -> String {
        aliasCount += 1
        return "t\(aliasCount)"
    }

    /// An error that names a part of the condition and where it stands.
    package func unsupported(_ feature: String) -> StoreError {
        let place = context.map(\.description)
        return dialect.unsupported(place.map { feature == $0 ? feature : "\(feature), in \($0)" } ?? feature)
    }

    /// How many constants are in a part of the condition.
    package static func count(_ expression: FetchExpression) -> Int {
        switch expression.node {
        case .keyPath, .evaluatedObject, .variable: 0
        case .constant: 1
        default: PredicateShape(expression).constants.count
        }
    }

    package static func count(_ predicate: FetchPredicate) -> Int { PredicateShape(predicate).constants.count }

    // MARK: Conditions

    /// A condition in SQL that is true where the predicate holds, and false or NULL where it does not, which is the same
    /// at the top and under AND and OR. NOT is pushed to the comparisons, so that it never meets NULL.
    /// - Parameters:
    ///   - position: The position of the first constant of the predicate.
    ///   - negated: Whether the opposite is asked for.
    package func condition(_ predicate: FetchPredicate, at position: Int, negated: Bool = false) throws(StoreError)
        -> String
    {
        switch predicate.node {
        case .constant(let flag): return dialect.constant(flag != negated)
        case .and(let parts): return try join(parts, isAnd: !negated, at: position, negated: negated)
        case .or(let parts): return try join(parts, isAnd: negated, at: position, negated: negated)
        case .not(let part): return try condition(part, at: position, negated: !negated)
        default: break
        }
        let outer = context
        context = predicate
        defer { context = outer }
        switch predicate.node {
        case .comparison(let left, let op, let right, let options):
            let a = try operand(left, at: position)
            let b = try operand(right, at: position + Self.count(left))
            return try comparison(a, op, b, options, negated: negated)
        case .quantified(let quantifier, let left, let op, let right, let options):
            let a = try operand(left, at: position)
            let b = try operand(right, at: position + Self.count(left))
            return try quantified(quantifier, a, op, b, options, negated: negated)
        case .geo(let condition):
            return negate(try geo(condition, at: position), negated)
        case .tooDeep: throw .invalidPredicate(.nestedTooDeeply)
        default: return dialect.constant(false)
        }
    }

    /// The opposite of a condition, where it is asked for.
    package func negate(_ sql: String, _ negated: Bool) -> String {
        if !negated { return sql }
        for flag in [false, true] where sql == dialect.constant(flag) { return dialect.constant(!flag) }
        return "NOT \(dialect.coalesced(sql))"
    }

    private func join(
        _ parts: [FetchPredicate], isAnd: Bool, at position: Int, negated: Bool
    ) throws(StoreError) -> String {
        var list: [String] = []
        var place = position
        if let group = try equalities(parts, isAnd: isAnd, at: position, negated: negated) {
            list = group
        } else {
            for part in parts {
                list.append(try condition(part, at: place, negated: negated))
                place += Self.count(part)
            }
        }
        if list.isEmpty { return dialect.constant(isAnd) }
        return Self.balanced(list[...], isAnd ? " AND " : " OR ")
    }

    /// Many conditions as a tree of little depth, because SQLite limits the depth of expressions to 1,000.
    package static func balanced(_ list: ArraySlice<String>, _ word: String) -> String {
        if list.count == 1, let only = list.first { return only }
        if list.count <= 4 { return "(" + list.joined(separator: word) + ")" }
        let middle = list.startIndex + list.count / 2
        return "(" + balanced(list[..<middle], word) + word + balanced(list[middle...], word) + ")"
    }

    /// Alternatives that compare one path with very many constants become one list, as they would by IN; nil if there
    /// are few or none such.
    private func equalities(
        _ parts: [FetchPredicate], isAnd: Bool, at position: Int, negated: Bool
    ) throws(StoreError) -> [String]? {
        guard parts.count > 50 else { return nil }
        let wanted: ComparisonOperator = isAnd == negated ? .equal : .notEqual
        var rest: [(FetchPredicate, Int)] = []
        var groups: [FetchPredicate: [SQLConstant]] = [:]
        var place = position
        for part in parts {
            if case .comparison(let left, wanted, let right, let options) = part.node,
                case .keyPath(let path) = left.node, case .constant(let value) = right.node, !value.isNull,
                SQLConstant.elements(of: value) == nil
            {
                let key = FetchPredicate.comparison(.keyPath(path), wanted, .constant(.null), options)
                groups[key, default: []].append(SQLConstant(value: value, position: place))
            } else {
                rest.append((part, place))
            }
            place += Self.count(part)
        }
        if rest.count == parts.count { return nil }
        var list: [String] = []
        for (part, place) in rest { list.append(try condition(part, at: place, negated: negated)) }
        for (key, constants) in groups.sorted(by: { ($0.value[0].position ?? 0) < ($1.value[0].position ?? 0) }) {
            guard case .comparison(let left, _, _, let options) = key.node else { continue }
            let outer = context
            context = .comparison(left, wanted, .constant(constants[0].value), options)
            defer { context = outer }
            let sql = try membership(try operand(left, at: 0), constants, options)
            // An AND of inequalities is the opposite of an OR of equalities.
            list.append(negate(sql, isAnd))
        }
        return list
    }

    // MARK: Quantifiers

    private func quantified(
        _ quantifier: ComparisonQuantifier, _ left: SQLOperand, _ op: ComparisonOperator, _ right: SQLOperand,
        _ options: ComparisonOptions, negated: Bool
    ) throws(StoreError) -> String {
        let isAll = quantifier == .all
        let isTrue = (quantifier != .any) != negated
        let elements: [SQLOperand]
        switch left {
        case .collection(let collection):
            scopes.append(collection.scope)
            defer { scopes.removeLast() }
            collection.scope.conditions.append(
                try comparison(collection.operand, op, right, options, negated: isAll))
            // ALL says that there is none for which the opposite holds, NONE that there is none.
            return "\(isTrue ? "NOT " : "")EXISTS (SELECT 1\(collection.scope.tail))"
        case .list(let parts): elements = parts
        case .constant(let constant):
            // How many elements a list has decides the SQL here.
            isReusable = false
            if constant.value.isNull {
                elements = []
            } else if let parts = constant.elements {
                elements = parts.map(SQLOperand.constant)
            } else {
                throw .invalidPredicate(.noCollection(found: left.kindName, context: quantifier.rawValue))
            }
        case .choice: throw unsupported("the elements of one of two values")
        case .json(let member):
            return try quantified(ofJSON: member, quantifier, op, right, options, negated: negated)
        default: throw .invalidPredicate(.noCollection(found: left.kindName, context: quantifier.rawValue))
        }
        var list: [String] = []
        for element in elements { list.append(try comparison(element, op, right, options, negated: isAll != isTrue)) }
        if list.isEmpty { return dialect.constant(isTrue) }
        return Self.balanced(list[...], isTrue ? " AND " : " OR ")
    }
}
