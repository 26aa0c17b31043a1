import StrataSQL
import StrataStore

extension SQLiteStore {
    public func values(_ plan: ValuePlan, cancellation: ReadCancellation?) throws(StoreError) -> [[Value]] {
        do throws(StoreError) {
            return try values(plan, cancellation, clampsSums: false)
        } catch {
            guard case .io(path: _, code: _, reason: Self.sumOverflow) = error else { throw error }
            return try values(plan, cancellation, clampsSums: true)
        }
    }

    /// What SQLite says where a sum does not fit in 64 bits.
    private static let sumOverflow = "integer overflow"

    private func values(
        _ plan: ValuePlan, _ cancellation: ReadCancellation?, clampsSums: Bool
    ) throws(StoreError) -> [[Value]] {
        let compiled = try ValueCompiler(schema: schema, plan: plan, clampsSums: clampsSums).compile()
        return try pool.read(cancellation) { (connection) throws(StoreError) in
            let fetch = try prepare(compiled.sql, compiled.parameters, on: connection)
            try fetch.bind(compiled.constants, plan.fetch)
            var rows: [[Value]] = []
            while try fetch.statement.step() {
                rows.append(compiled.kinds.indices.map { fetch.statement.value(Int32($0), compiled.kinds[$0]) })
            }
            return rows
        }
    }
}
