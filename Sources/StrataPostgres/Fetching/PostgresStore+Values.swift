#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    extension PostgresStore {
        public func values(_ plan: ValuePlan, cancellation: ReadCancellation?) throws(StoreError) -> [[Value]] {
            var plan = plan
            plan.fetch.environment = plan.fetch.environment ?? EvaluationEnvironment()
            if let answer = try compiledValues(plan, cancellation) { return answer }
            return try valuesInMemory(plan, cancellation)
        }

        /// What PostgreSQL computes; nil if a part of the plan has no SQL, or a value has no form that is known.
        func compiledValues(
            _ plan: ValuePlan, _ cancellation: ReadCancellation?
        ) throws(StoreError) -> [[Value]]? {
            let sql: String
            let kinds: [SQLKind]
            var parameters: StatementParameters
            do throws(StoreError) {
                let compiled = try ValueCompiler(schema: translator.compiler.schema, plan: plan, clampsSums: true)
                    .compile()
                parameters = try ParameterCoding.encode(compiled.parameters, compiled.constants)
                (sql, kinds) = (compiled.sql, compiled.kinds)
            } catch {
                guard case .unsupported = error else { throw error }
                return nil
            }
            if let limit = plan.fetch.limit { parameters.add(Int64(max(0, limit))) }
            if plan.fetch.offset > 0 { parameters.add(Int64(plan.fetch.offset)) }
            let outcome: Result<PostgresResult, PostgresError> = try reading { (connection) throws(PostgresError) in
                do throws(PostgresError) {
                    return .success(try connection.execute(sql, parameters, cancellation: cancellation))
                } catch {
                    guard error.sqlState.hasPrefix("22") || error.sqlState.hasPrefix("42") else { throw error }
                    return .failure(error)
                }
            }
            guard case .success(let result) = outcome else { return nil }
            var rows: [[Value]] = []
            rows.reserveCapacity(result.rowCount)
            for row in 0..<result.rowCount {
                var values: [Value] = []
                for (column, kind) in kinds.enumerated() {
                    guard let value = Self.value(result, row, column, kind) else { return nil }
                    values.append(value)
                }
                rows.append(values)
            }
            return rows
        }

        /// A value by its type in the answer, and by what it is to conditions.
        private static func value(_ result: PostgresResult, _ row: Int, _ column: Int, _ kind: SQLKind) -> Value? {
            if result.isNull(row, column) { return .null }
            let bytes = result.bytes(row, column)
            switch (PostgresType(rawValue: result.type(column)), kind) {
            case (.integer, .integer), (.integer, .number): return .integer(result.integer(row, column))
            case (.integer, .object): return .object(result.integer(row, column))
            case (.boolean, .boolean): return .boolean(bytes.first == 1)
            case (.double, .double), (.double, .number):
                return .double(Double(bitPattern: UInt64(bitPattern: result.integer(row, column))))
            case (.numeric, .decimal):
                return NumericCoding.text(bytes).flatMap { Decimal(string: String(decoding: $0, as: UTF8.self)) }
                    .map(Value.decimal)
            case (.text, .text): return .string(result.text(row, column))
            case (.text, .uri): return URL(string: result.text(row, column)).map(Value.uri)
            case (.timestamp, .date):
                return .date(
                    Date(timeIntervalSinceReferenceDate: TimestampCoding.seconds(result.integer(row, column))))
            case (.uuid, .uuid) where bytes.count == 16:
                return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
            case (.bytes, .bytes): return .binary(Data(bytes))
            default: return nil
            }
        }
    }
#endif
