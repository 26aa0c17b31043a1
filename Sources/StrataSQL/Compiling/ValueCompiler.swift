import StrataStore

/// Translates plans for values to SQL.
package struct ValueCompiler {
    /// The SQL, what is bound to it, and the kinds of its columns.
    package struct Compiled {
        package let sql: String
        package let parameters: [FetchParameter]
        package let constants: [Value]
        package let kinds: [SQLKind]
    }

    private let plan: ValuePlan
    private let compiler: PredicateCompiler
    private let constants: [Value]
    /// The position of the first constant of the sorts.
    private let sortPosition: Int

    /// - Parameter clampsSums: See ``PredicateCompiler/Ways/clampsSums``.
    package init(schema: Schema, plan: ValuePlan, clampsSums: Bool) {
        self.plan = plan
        // One moment for all parts of the answer.
        let environment = plan.fetch.environment ?? EvaluationEnvironment()
        var constants = PredicateShape(plan.fetch.predicate, sorts: [], environment: environment).constants
        for column in plan.columns {
            constants += PredicateShape(column.expression, environment: environment).constants
        }
        for expression in plan.groupBy { constants += PredicateShape(expression, environment: environment).constants }
        constants += PredicateShape(plan.having, sorts: [], environment: environment).constants
        sortPosition = constants.count
        constants += PredicateShape(nil, sorts: plan.fetch.sorts, environment: environment).constants
        self.constants = constants
        compiler = PredicateCompiler(
            schema: schema, entity: schema.layout.model.entities[plan.fetch.entityIndex], constants: constants)
        compiler.ways.clampsSums = clampsSums
    }

    package func compile() throws(StoreError) -> Compiled {
        guard !plan.columns.isEmpty else { throw compiler.unsupported("a fetch of values without a column") }
        try compiler.addConditions(of: plan.fetch)
        var position = plan.fetch.predicate.map { PredicateCompiler.count($0) } ?? 0
        let isGrouped = plan.isGrouped
        compiler.isGrouped = isGrouped
        var columns: [SQLTerm] = []
        for column in plan.columns {
            guard !isGrouped || plan.isSettled(column.expression) else {
                throw compiler.unsupported("the column \(column.name), which groups have no single value of")
            }
            columns.append(try term(column.expression, at: position))
            position += PredicateCompiler.count(column.expression)
        }
        if plan.isDistinct { for column in columns { try compiler.checkCanonical(column) } }
        var groups: [SQLTerm] = []
        for expression in plan.groupBy {
            compiler.isGrouped = false
            groups.append(try term(expression, at: position))
            compiler.isGrouped = isGrouped
            try compiler.checkCanonical(groups[groups.count - 1])
            position += PredicateCompiler.count(expression)
        }
        for (column, term) in zip(plan.columns, columns) {
            compiler.variables[column.name] = term.member.map(SQLOperand.json) ?? .term(term)
        }
        var having = ""
        if let condition = plan.having {
            guard plan.isSettled(condition) else { throw compiler.unsupported("HAVING \(condition) of single objects") }
            having = " HAVING " + (try compiler.condition(condition, at: position))
        }
        let groupTerms = groups.map(compiler.dialect.canonical).map { readsRows ? compiler.dialect.unindexed($0) : $0 }
        let order = try order(columns, groupTerms)
        var sql = "SELECT \(plan.isDistinct ? "DISTINCT " : "")"
        sql += columns.map { plan.isDistinct ? compiler.dialect.canonical($0) : $0.sql }.joined(separator: ", ")
        sql += compiler.root.scope.tail
        if groupTerms.isEmpty, plan.having != nil { sql += compiler.dialect.wholeGroup }
        if !groupTerms.isEmpty {
            sql += " GROUP BY " + groupTerms.joined(separator: ", ")
        }
        sql += having + order + compiler.limit(of: plan.fetch)
        return Compiled(
            sql: sql, parameters: compiler.parameters.all, constants: constants, kinds: columns.map(\.kind))
    }

    private func term(_ expression: FetchExpression, at position: Int) throws(StoreError) -> SQLTerm {
        let operand = try compiler.operand(expression, at: position)
        if case .collection = operand { throw compiler.unsupported("\(expression), which leads to many, as a column") }
        let term = try compiler.term(operand)
        try compiler.checkInline(term)
        return term
    }

    /// Whether the answer has all groups, and more of their rows than an index of the groups has.
    private var readsRows: Bool {
        plan.fetch.limit == nil && !plan.columns.allSatisfy { isOfGroups($0.expression) }
    }

    private func isOfGroups(_ expression: FetchExpression) -> Bool {
        if plan.groupBy.contains(expression) { return true }
        switch expression.node {
        case .constant, .variable, .function(.count, _): return true
        case .function(_, let arguments): return arguments.allSatisfy(isOfGroups)
        default: return false
        }
    }

    private func order(_ columns: [SQLTerm], _ groups: [String]) throws(StoreError) -> String {
        let isMerged = plan.isDistinct || plan.isGrouped
        if !isMerged, plan.fetch.sorts.allSatisfy({ plan.column(of: $0) == nil }) {
            return try compiler.order(of: plan.fetch, at: sortPosition)
        }
        var terms: [String] = []
        var position = sortPosition
        for sort in plan.fetch.sorts {
            defer { position += PredicateCompiler.count(sort.expression) }
            if let index = plan.column(of: sort) {
                terms.append(try compiler.order(by: columns[index], sort))
            } else if !isMerged || (plan.groupBy.contains(sort.expression) && !plan.isDistinct) {
                terms.append(try compiler.order(by: sort, at: position))
            } else {
                throw compiler.unsupported("ordering by \(sort.expression), which is not a column of the answer")
            }
        }
        let merged = plan.isDistinct ? columns.map(compiler.dialect.canonical) : groups
        terms += isMerged ? merged : ["t0._id"]
        return terms.isEmpty ? "" : " ORDER BY " + terms.joined(separator: ", ")
    }
}
