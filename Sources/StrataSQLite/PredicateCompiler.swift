import Foundation
import StrataStore

/// Translates a predicate to a condition that is never NULL where that matters, and holds for exactly the rows for
/// which ``FetchPredicate/evaluate(on:)`` does.
struct PredicateCompiler {
    var paths: PathResolver
    private(set) var parameters: [FetchParameter] = []
    /// How many constants of the condition came so far; see ``FetchShape/constants``.
    private var constantCount = 0

    init(paths: PathResolver) { self.paths = paths }

    /// A constant on one side of a comparison.
    private struct Constant {
        let value: Value
        let position: Int
        var element: Int?

        func element(_ index: Int, _ value: Value) -> Constant {
            Constant(value: value, position: position, element: index)
        }
    }

    /// The condition for a predicate. It may be NULL instead of false, which is the same at the top and under AND and
    /// OR.
    mutating func condition(_ predicate: FetchPredicate) throws(StoreError) -> String {
        switch predicate {
        case .constant(let flag): return flag ? "1" : "0"
        case .and(let parts): return try join(parts, " AND ", empty: "1")
        case .or(let parts): return try join(parts, " OR ", empty: "0")
        case .not(let part): return try negation(of: part)
        case .comparison(let left, let op, let right, let options):
            return try comparison(left, op, right, options, context: predicate)
        case .quantified, .geo: throw unsupported(predicate)
        }
    }

    private func unsupported(_ part: some CustomStringConvertible) -> StoreError {
        .unsupported(store: "SQLite", feature: part.description)
    }

    private mutating func join(_ parts: [FetchPredicate], _ word: String, empty: String) throws(StoreError) -> String {
        if parts.isEmpty { return empty }
        if parts.count == 1 { return try condition(parts[0]) }
        var list: [String] = []
        for part in parts { list.append(try condition(part)) }
        return Self.balanced(list[...], word)
    }

    /// Many conditions as a tree of little depth, because SQLite limits the depth of expressions to 1,000.
    private static func balanced(_ list: ArraySlice<String>, _ word: String) -> String {
        if list.count <= 100 { return "(" + list.joined(separator: word) + ")" }
        let middle = list.startIndex + list.count / 2
        return "(" + balanced(list[..<middle], word) + word + balanced(list[middle...], word) + ")"
    }

    /// NOT is pushed to the leaves, so that an index can still serve, and NULL never meets a NOT.
    private mutating func negation(of predicate: FetchPredicate) throws(StoreError) -> String {
        switch predicate {
        case .constant(let flag): return flag ? "0" : "1"
        case .not(let part): return try condition(part)
        case .and(let parts): return try condition(.or(parts.map { .not($0) }))
        case .or(let parts): return try condition(.and(parts.map { .not($0) }))
        case .comparison(let left, .equal, let right, let options):
            return try condition(.comparison(left, .notEqual, right, options))
        case .comparison(let left, .notEqual, let right, let options):
            return try condition(.comparison(left, .equal, right, options))
        case .comparison, .quantified, .geo:
            return "NOT coalesce(\(try condition(predicate)), 0)"
        }
    }

    // MARK: Comparisons

    private mutating func comparison(
        _ left: FetchExpression, _ op: ComparisonOperator, _ right: FetchExpression, _ options: ComparisonOptions,
        context: FetchPredicate
    ) throws(StoreError) -> String {
        switch op {
        case .like, .matches, .matchesText: throw unsupported(context)
        default: break
        }
        let position = constantCount
        for side in [left, right] {
            if case .constant = side { constantCount += 1 }
        }
        switch (left, right) {
        case (.constant(let a), .constant(let b)):
            do throws(PredicateEvaluationError) {
                return try op.evaluate(a, b, options) ? "1" : "0"
            } catch {
                throw .unsupported(store: "SQLite", feature: "\(context): \(error)")
            }
        case (.constant(let value), _):
            let constant = Constant(value: value, position: position)
            switch op {
            case .isIn, .between: return "0"
            case .beginsWith, .endsWith, .contains:
                guard case .string = value else { return "0" }
                let term = try self.term(right, context)
                guard term.kind == .text else { return "0" }
                return textSearch(bound(constant, .text(options)), op, folded(term, options))
            default:
                return try against(try term(right, context), op.mirrored, constant, options, context: context)
            }
        case (_, .constant(let value)):
            let term = try self.term(left, context)
            let constant = Constant(value: value, position: position)
            switch op {
            case .isIn: return try membership(term, constant, options, context: context)
            case .between:
                guard case .list(let bounds) = value, bounds.count == 2 else { return "0" }
                if let a = ComparisonPair(term, bounds[0], options), let b = ComparisonPair(term, bounds[1], options),
                    a.isOrdered, a.sql == b.sql, a.collation.isEmpty, b.collation.isEmpty
                {
                    // SQLite takes the column out of the row once, where two comparisons do so twice.
                    let low = bound(constant.element(0, bounds[0]), .compared(term, options))
                    let high = bound(constant.element(1, bounds[1]), .compared(term, options))
                    return "\(a.sql) BETWEEN \(low) AND \(high)"
                }
                let low = try against(
                    term, .greaterOrEqual, constant.element(0, bounds[0]), options, context: context)
                let high = try against(term, .lessOrEqual, constant.element(1, bounds[1]), options, context: context)
                return "(\(low) AND \(high))"
            case .beginsWith, .endsWith, .contains:
                guard case .string(let text) = value, term.kind == .text else { return "0" }
                return constantSearch(term, op, text, constant, options)
            default: return try against(term, op, constant, options, context: context)
            }
        default:
            return try columns(try term(left, context), op, try term(right, context), options, context: context)
        }
    }

    private mutating func term(_ expression: FetchExpression, _ context: FetchPredicate) throws(StoreError) -> SQLTerm {
        switch expression {
        case .keyPath(let path): return try paths.resolve(path, in: context.description)
        case .evaluatedObject: return SQLTerm(sql: "t0._id", kind: .object)
        case .constant: return SQLTerm(sql: "NULL", kind: .object)
        default: throw unsupported(expression)
        }
    }

    private mutating func bound(_ constant: Constant, _ form: FetchParameter.Form) -> String {
        parameters.append(FetchParameter(constant: constant.position, element: constant.element, form: form))
        return "?"
    }

    private func folded(_ term: SQLTerm, _ options: ComparisonOptions) -> String {
        options.isEmpty ? term.sql : "strata_fold(\(term.sql), \(options.rawValue))"
    }

    // MARK: A column against a constant

    /// Equality and order of a column and a constant.
    private mutating func against(
        _ term: SQLTerm, _ op: ComparisonOperator, _ constant: Constant, _ options: ComparisonOptions,
        context: FetchPredicate
    ) throws(StoreError) -> String {
        if constant.value.isNull {
            switch op {
            case .equal: return "\(term.sql) IS NULL"
            case .notEqual: return "\(term.sql) IS NOT NULL"
            default: return "0"
            }
        }
        guard term.kind != .external else {
            throw .unsupported(
                store: "SQLite", feature: "comparing a binary value that may stand in a file of its own, in \(context)")
        }
        guard let pair = ComparisonPair(term, constant.value, options),
            pair.isOrdered || op == .equal || op == .notEqual
        else { return op == .notEqual ? "1" : "0" }
        let bound = bound(constant, .compared(term, options))
        switch op {
        case .equal: return "\(pair.sql) = \(bound)\(pair.collation)"
        case .notEqual: return "\(pair.sql) IS NOT \(bound)\(pair.collation)"
        default: return "\(pair.sql) \(op.rawValue) \(bound)\(pair.collation)"
        }
    }

    private mutating func membership(
        _ term: SQLTerm, _ constant: Constant, _ options: ComparisonOptions, context: FetchPredicate
    ) throws(StoreError) -> String {
        guard case .list(let elements) = constant.value else { return "0" }
        let shared = ComparisonPair.shared(term, elements, options)
        var parts: [String] = []
        for (index, element) in elements.enumerated() where !shared.isShared[index] {
            // Nil is in no collection.
            if element.isNull { continue }
            // A number that must be compared in another way than the rest, or a value of another kind.
            parts.append(try against(term, .equal, constant.element(index, element), options, context: context))
        }
        if let pair = shared.pair {
            // On the left of IN the collation belongs to the column.
            let bound = bound(constant, .list(term, options))
            parts.append("\(pair.sql)\(pair.collation) IN (SELECT value FROM strata_list(\(bound)))")
        }
        // The bindings of the single comparisons come first, so they must stand first.
        return parts.isEmpty ? "0" : parts.count == 1 ? parts[0] : Self.balanced(parts[...], " OR ")
    }

    // MARK: Text

    private mutating func constantSearch(
        _ term: SQLTerm, _ op: ComparisonOperator, _ part: String, _ constant: Constant, _ options: ComparisonOptions
    ) -> String {
        if TextComparison.fold(part, options).isEmpty { return "\(term.sql) IS NOT NULL" }
        if op == .beginsWith, options.isEmpty {
            // A range that an index serves.
            let low = bound(constant, .text([]))
            let high = bound(constant, .endOfPrefix)
            return "(\(term.sql) >= \(low) AND \(term.sql) < \(high))"
        }
        let text = folded(term, options)
        let bound = bound(constant, .text(options))
        switch op {
        case .contains: return "instr(\(text), \(bound)) > 0"
        case .beginsWith: return "instr(\(text), \(bound)) = 1"
        default: return "strata_ends(\(text), \(bound))"
        }
    }

    private func textSearch(_ text: String, _ op: ComparisonOperator, _ part: String) -> String {
        switch op {
        case .contains: "instr(\(text), \(part)) > 0"
        case .beginsWith: "instr(\(text), \(part)) = 1"
        default: "strata_ends(\(text), \(part))"
        }
    }

    // MARK: Two columns

    private mutating func columns(
        _ a: SQLTerm, _ op: ComparisonOperator, _ b: SQLTerm, _ options: ComparisonOptions, context: FetchPredicate
    ) throws(StoreError) -> String {
        switch op {
        case .isIn, .between: return "0"
        case .beginsWith, .endsWith, .contains:
            guard a.kind == .text, b.kind == .text else { return "0" }
            return textSearch(folded(a, options), op, folded(b, options))
        default: break
        }
        guard a.kind != .external, b.kind != .external else {
            throw .unsupported(
                store: "SQLite", feature: "comparing a binary value that may stand in a file of its own, in \(context)")
        }
        guard let (left, right, collation) = comparable(a, b, options),
            a.kind != .point || op == .equal || op == .notEqual
        else {
            // Values of different kinds are unequal, but nil equals nil.
            switch op {
            case .equal: return "(\(a.sql) IS NULL AND \(b.sql) IS NULL)"
            case .notEqual: return "(\(a.sql) IS NOT NULL OR \(b.sql) IS NOT NULL)"
            default: return "0"
            }
        }
        if !collation.isEmpty, op == .equal || op == .notEqual {
            // An infinite number has no decimal form, but is not nil.
            let equal = "((\(a.sql) IS NULL AND \(b.sql) IS NULL) OR coalesce(\(left) = \(right)\(collation), 0))"
            return op == .equal ? equal : "NOT \(equal)"
        }
        switch op {
        case .equal: return "\(left) IS \(right)\(collation)"
        case .notEqual: return "\(left) IS NOT \(right)\(collation)"
        default: return "\(left) \(op.rawValue) \(right)\(collation)"
        }
    }

    private func comparable(
        _ a: SQLTerm, _ b: SQLTerm, _ options: ComparisonOptions
    ) -> (String, String, String)? {
        if a.kind.isPlainNumber, b.kind.isPlainNumber { return (a.sql, b.sql, "") }
        if a.kind.isNumber, b.kind.isNumber {
            return ("strata_decimal(\(a.sql))", "strata_decimal(\(b.sql))", " COLLATE \(SQLFunctions.decimalCollation)")
        }
        if a.kind == .text, b.kind == .text { return (folded(a, options), folded(b, options), "") }
        if a.kind.isText, b.kind.isText { return (a.sql, b.sql, "") }
        if a.kind == .point, b.kind == .point { return ("strata_point(\(a.sql))", "strata_point(\(b.sql))", "") }
        return a.kind == b.kind ? (a.sql, b.sql, "") : nil
    }
}
