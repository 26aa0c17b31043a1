import Foundation
import StrataStore

extension PredicateCompiler {
    /// `BEGINSWITH`, `ENDSWITH` and `CONTAINS` of texts; anything else does not contain anything.
    package func text(
        _ left: SQLOperand, _ op: ComparisonOperator, _ right: SQLOperand, _ options: ComparisonOptions
    ) throws(StoreError) -> String {
        guard let whole = try textTerm(left), let part = try textTerm(right) else { return dialect.constant(false) }
        let text = try folded(whole, options)
        guard case .constant(let constant) = right else {
            return dialect.search(text, op, try folded(part, options))
        }
        if case .string(let part) = constant.value, part.isEmpty { return "\(whole.sql) IS NOT NULL" }
        let bound = parameters.add(.text) { (constants: [Value]) throws(StoreError) -> SQLValue in
            Self.folded(constant.value(in: constants), options)
        }
        guard op == .beginsWith, whole.origin != nil, isColumn(whole, text) else {
            return dialect.search(text, op, bound)
        }
        // A range that an index serves.
        let end = parameters.add(.text) { [dialect] (constants: [Value]) throws(StoreError) -> SQLValue in
            guard case .text(let part) = Self.folded(constant.value(in: constants), options) else { return .null }
            return dialect.endOfPrefix(part)
        }
        return "(\(text) >= \(bound) AND \(text) < \(end))"
    }

    /// Text without the differences that the options ignore. Where the model keeps the attribute in canonical form, that
    /// is the text without case and accents, and an index may serve.
    package func folded(_ term: SQLTerm, _ options: ComparisonOptions) throws(StoreError) -> String {
        guard let comparand = dialect.comparand(term, .folded, with: .text, options) else {
            throw unsupported("text compared by [\(options)]")
        }
        return comparand.sql
    }

    /// Whether a folded term is nothing but a column, which may have an index.
    private func isColumn(_ term: SQLTerm, _ sql: String) -> Bool { sql == term.sql || sql == term.canonicalColumn }

    private static func folded(_ value: Value, _ options: ComparisonOptions) -> SQLValue {
        guard case .string(let text) = value else { return .null }
        return .text(TextComparison.fold(text, options))
    }

    /// An operand as text; nil if its values are not text.
    private func textTerm(_ operand: SQLOperand) throws(StoreError) -> SQLTerm? {
        switch operand {
        case .term(let term): return term.kind == .text ? term : nil
        case .constant(let constant):
            guard case .string = constant.value else { return nil }
            return try term(operand)
        default: return nil
        }
    }

    package func like(
        _ left: SQLOperand, _ right: SQLOperand, _ options: ComparisonOptions
    ) throws(StoreError) -> String {
        guard let text = try textTerm(left), let pattern = try textTerm(right) else { return dialect.constant(false) }
        return try call(.like(options), [text, pattern]) { (values) throws(PredicateEvaluationError) in
            .boolean(try ComparisonOperator.like.evaluate(values[0], values[1], options))
        }
    }

    package func matches(
        _ left: SQLOperand, _ right: SQLOperand, _ options: ComparisonOptions
    ) throws(StoreError) -> String {
        guard case .constant(let constant) = right else {
            // A faulty pattern must be an error before there is an answer.
            guard try textTerm(right) == nil else {
                throw unsupported("MATCHES with a pattern that is not fixed")
            }
            return dialect.constant(false)
        }
        guard case .string(let pattern) = constant.value else { return dialect.constant(false) }
        try Self.check(pattern, options)
        guard let text = try textTerm(left) else {
            // The pattern is not in the SQL, where the next one would be checked.
            isReusable = false
            return dialect.constant(false)
        }
        let bound = parameters.add(.text) { (constants: [Value]) throws(StoreError) -> SQLValue in
            guard case .string(let pattern) = constant.value(in: constants) else { return .null }
            try Self.check(pattern, options)
            return .text(pattern)
        }
        let terms = [text, SQLTerm(sql: bound, kind: .text)]
        return try call(.matches(options), terms) { (values) throws(PredicateEvaluationError) in
            .boolean(try ComparisonOperator.matches.evaluate(values[0], values[1], options))
        }
    }

    private static func check(_ pattern: String, _ options: ComparisonOptions) throws(StoreError) {
        do throws(PredicateEvaluationError) {
            try RegularExpressions.shared.check(pattern, options)
        } catch {
            throw .invalidPredicate(error)
        }
    }

    /// Words of a full-text index, or of any text where there is none.
    package func matchesText(_ left: SQLOperand, _ right: SQLOperand) throws(StoreError) -> String {
        if case .object(let object) = left { return try matchesText(object, right) }
        if case .term(let term) = left, term.kind == .object { throw unsupported("the words of one of two objects") }
        guard let text = try textTerm(left), let query = try textTerm(right) else { return dialect.constant(false) }
        if case .constant(let constant) = right, let origin = text.origin,
            let index = schema.fullTextIndexes.first(where: { $0.covers(origin) }),
            let column = index.column(origin)
        {
            let bound = parameters.add(.text) { (constants: [Value]) throws(StoreError) -> SQLValue in
                guard case .string(let query) = constant.value(in: constants) else { return .null }
                return .text(index.query(TextQuery(query), columns: [column]))
            }
            return dialect.wordSearch(index, key: origin.object.key, bound)
        }
        return try call(.matchesText, [text, query]) { (values) throws(PredicateEvaluationError) in
            .boolean(try ComparisonOperator.matchesText.evaluate(values[0], values[1]))
        }
    }

    private func matchesText(_ object: SQLObject, _ right: SQLOperand) throws(StoreError) -> String {
        guard case .constant(let constant) = right else { throw unsupported("a query that is not fixed") }
        let entity = object.entity
        let slots = entity.indexedTextSlots
        guard !slots.isEmpty else {
            throw unsupported("the words of \(entity.name), which has no full-text index")
        }
        let columns = slots.compactMap { layout.columnOfSlot[entity.index][$0.index] }
        let table = layout.tableOfEntity[entity.index]
        guard let index = schema.fullTextIndexes.first(where: { $0.table == table && $0.columns == columns }) else {
            return try matchesText(slots, of: object, constant)
        }
        let bound = parameters.add(.text) { (constants: [Value]) throws(StoreError) -> SQLValue in
            guard case .string(let query) = constant.value(in: constants) else { return .null }
            return .text(index.query(TextQuery(query), columns: index.columnNames))
        }
        return dialect.wordSearch(index, key: object.key, bound)
    }

    /// The words of several texts in a file that lacks the index and may only be read.
    private func matchesText(
        _ slots: [SlotDescription], of object: SQLObject, _ constant: SQLConstant
    ) throws(StoreError) -> String {
        guard case .string = constant.value else { return dialect.constant(false) }
        let expressions = SlotExpression(layout: layout)
        var terms = [try term(.constant(constant))]
        for slot in slots {
            terms.append(SQLTerm(sql: try expressions.sql(object.entity, slot, alias: alias(of: object)), kind: .text))
        }
        return try call(.matchesText, terms) { (values) throws(PredicateEvaluationError) in
            guard case .string(let query) = values[0] else { return .boolean(false) }
            return .boolean(
                TextQuery(query).matches(
                    values.dropFirst().compactMap { if case .string(let text) = $0 { text } else { nil } }))
        }
    }
}
