import StrataSQL

/// The SQL that a dialect makes of conditions about the people of ``DialectModel``.
struct DialectText {
    /// A statement and the kinds of its parameters, or why there is none.
    enum Answer: Equatable {
        case sql(String, [String])
        case refused(String)

        var text: String {
            switch self {
            case .sql(let sql, _): sql
            case .refused(let reason): "-- " + reason
            }
        }
    }

    let dialect: any SQLDialect
    let schema: Schema
    let rowPlans: [RowPlan]

    init(_ dialect: any SQLDialect) throws {
        self.dialect = dialect
        let model = try DialectModel.make()
        let schema = Schema(layout: try StoreLayout(model: model, dialect: dialect))
        self.schema = schema
        rowPlans = try model.entities.map { try RowPlan(layout: schema.layout, entityIndex: $0.index) }
    }

    /// The keys of the people who meet a condition.
    func keys(_ condition: String) throws -> Answer {
        var plan = FetchPlan(entityIndex: 0)
        plan.predicate = try FetchPredicate(format: condition)
        return try answer(plan, .keys)
    }

    func answer(_ plan: FetchPlan, _ answer: FetchCompiler.Answer) throws -> Answer {
        try compiled { () throws(StoreError) in
            let shape = FetchShape(plan, answer)
            let compiled = try FetchCompiler(schema: schema, rowPlans: rowPlans).compile(shape, of: plan)
            for parameter in compiled.parameters { _ = try parameter.value(shape.constants) }
            let limits = [plan.limit, plan.offset > 0 ? plan.offset : nil].compactMap(\.self).map { _ in "bigint" }
            return (compiled.sql, types(compiled.parameters) + limits)
        }
    }

    func values(_ plan: ValuePlan) throws -> Answer {
        try compiled { () throws(StoreError) in
            let compiled = try ValueCompiler(schema: schema, plan: plan, clampsSums: true).compile()
            return (compiled.sql, types(compiled.parameters))
        }
    }

    private func types(_ parameters: [FetchParameter]) -> [String] {
        parameters.map { parameter in
            guard let kind = parameter.kind else { return "function" }
            let text = dialect.parameter(0, kind, isList: parameter.isList)
            return text.firstRange(of: "::").map { String(text[$0.upperBound...]) } ?? text
        }
    }

    private func compiled(_ body: () throws(StoreError) -> (String, [String])) throws -> Answer {
        do throws(StoreError) {
            let (sql, types) = try body()
            return .sql(sql, types)
        } catch {
            switch error {
            case .unsupported(_, let feature): return .refused("unsupported: \(feature)")
            case .invalidPredicate(let reason): return .refused("invalid: \(reason)")
            default: throw error
            }
        }
    }
}
