#if Postgres
    import Foundation
    import StrataStore

    extension PostgresStore {
        public func fetch(
            _ plan: FetchPlan, known: KnownRows?, cancellation: ReadCancellation?
        ) throws(StoreError) -> RowBatch {
            let entity = plans[plan.entityIndex]
            let (query, result) = try answer(plan) { (query, connection) throws(PostgresError) in
                try pack(
                    query.rows(entity), query.parameters, entity, known: known, expectedRows: plan.limit,
                    isKept: query.isReusable, cancellation: cancellation, on: connection)
            }
            if let result { return try result.get() }
            let rows = try remaining(query, cancellation)
            guard let known else { return RowBatch(rows) }
            return RowBatch(rows.map { Self.header(of: $0, known) })
        }

        private static func header(of row: RowReference, _ known: KnownRows) -> RowReference {
            guard known(row.entityIndex, row.key, row.version) else { return row }
            var builder = RowBatchBuilder(expectedRows: 1)
            builder.addHeader(entityIndex: row.entityIndex, key: row.key, version: row.version)
            return builder.finish()[0]
        }

        public func fetchIdentities(
            _ plan: FetchPlan, cancellation: ReadCancellation?
        ) throws(StoreError) -> [RowIdentity] {
            let entity = plans[plan.entityIndex]
            let columns = entity.hasEntityColumn ? "t0.\"_id\", t0.\"_entity\"" : "t0.\"_id\""
            let (query, result) = try answer(plan) { (query, connection) throws(PostgresError) in
                try connection.execute(
                    query.select(columns), query.parameters, isKept: query.isReusable, cancellation: cancellation)
            }
            guard let result else {
                return try remaining(query, cancellation).map {
                    RowIdentity(entityIndex: $0.entityIndex, key: $0.key)
                }
            }
            var identities: [RowIdentity] = []
            identities.reserveCapacity(result.rowCount)
            for row in 0..<result.rowCount {
                let key = result.integer(row, 0)
                var shape = entity.shapes.first
                if entity.hasEntityColumn {
                    let name = result.bytes(row, 1)
                    shape = entity.shapes.first { name.elementsEqual($0.name) }
                }
                guard let shape, key > 0 else {
                    throw .invalidData(
                        entity: model.entities[entity.rootIndex].name, property: "_entity", key: key,
                        reason: "the row has an invalid key, or an entity that does not belong here")
                }
                identities.append(RowIdentity(entityIndex: shape.entityIndex, key: key))
            }
            return identities
        }

        public func count(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> Int {
            var plan = plan
            plan.sorts = []
            let (query, result) = try answer(plan, isOrdered: false) { (query, connection) throws(PostgresError) in
                try connection.execute(
                    query.count, query.parameters, isKept: query.isReusable, cancellation: cancellation)
            }
            guard let result else { return try remaining(query, cancellation).count }
            return Int(result.integer(0, 0))
        }

        /// Runs the statement of a plan by a closure.
        /// - Returns: No result if a part of the plan is to be evaluated in memory.
        private func answer<T>(
            _ plan: FetchPlan, isOrdered: Bool = true,
            _ run: (FetchQuery, PostgresConnection) throws(PostgresError) -> T
        ) throws(StoreError) -> (FetchQuery, T?) {
            let query = try FetchQuery(store: self, plan: plan, isOrdered: isOrdered)
            guard query.isExact else { return (query, nil) }
            let outcome: Result<T, PostgresError> = try reading { (connection) throws(PostgresError) in
                do throws(PostgresError) {
                    return .success(try run(query, connection))
                } catch {
                    // A value that PostgreSQL cannot compute with, or an operator that it lacks: memory has an answer.
                    guard error.sqlState.hasPrefix("22") || error.sqlState == "42883" else { throw error }
                    return .failure(error)
                }
            }
            if case .success(let result) = outcome { return (query, result) }
            let partial = try FetchQuery(store: self, plan: plan, isOrdered: isOrdered, isCompiled: false)
            guard partial.isExact else { return (partial, nil) }
            return (partial, try reading { (connection) throws(PostgresError) in try run(partial, connection) })
        }

        /// What ``values(_:cancellation:)`` gives, computed in memory.
        func valuesInMemory(_ plan: ValuePlan, _ cancellation: ReadCancellation?) throws(StoreError) -> [[Value]] {
            var candidates = plan.fetch
            candidates.sorts = []
            candidates.limit = nil
            candidates.offset = 0
            let query = try FetchQuery(store: self, plan: candidates, isCompiled: false)
            return try residual(query, cancellation) { (reader, sources) throws(PredicateEvaluationError) in
                try plan.evaluate(over: sources.sorted { $0.reference.key < $1.reference.key })
            }
        }

        /// The rows that a plan asks for, as a transaction sees them, in its order.
        func sources(
            of plan: FetchPlan, _ reader: ResidualReader, on connection: PostgresConnection
        ) throws -> [RowObject] {
            // An error of a statement would end the transaction.
            let query = try FetchQuery(store: self, plan: plan, isCompiled: false)
            let entity = plans[plan.entityIndex]
            let rows = try pack(
                query.candidates(entity.columns), query.parameters, entity, expectedRows: nil, isKept: query.isReusable,
                on: connection)
            let all = reader.add(try rows.get())
            let found = try matching(all, query, reader, nil)
            do throws(PredicateEvaluationError) {
                return try Self.limited(found, query)
            } catch {
                throw reader.failure ?? .invalidPredicate(error)
            }
        }

        // MARK: What PostgreSQL does not do

        /// The rows of a query of which a part is evaluated in memory: all that meet the other part are read.
        private func remaining(
            _ query: FetchQuery, _ cancellation: ReadCancellation?
        ) throws(StoreError) -> [RowReference] {
            try residual(query, cancellation) { (reader, sources) throws(PredicateEvaluationError) in
                try Self.limited(sources, query).map(\.reference)
            }
        }

        /// Sorts what PostgreSQL has not sorted, and applies the limit and the offset.
        private static func limited(
            _ sources: [RowObject], _ query: FetchQuery
        ) throws(PredicateEvaluationError) -> [RowObject] {
            let sorted = query.sortsInMemory ? try sorted(sources, query) : sources
            let rest = sorted.dropFirst(max(0, query.plan.offset))
            return Array(query.plan.limit.map { rest.prefix(max(0, $0)) } ?? rest)
        }

        /// Reads the rows that may be meant, in the order of their keys, and hands on those that are.
        private func residual<T>(
            _ query: FetchQuery, _ cancellation: ReadCancellation?,
            _ body: (ResidualReader, [RowObject]) throws(PredicateEvaluationError) -> T
        ) throws(StoreError) -> T {
            let outcome: Result<T, StoreError> = try reading { (connection) throws(PostgresError) in
                try connection.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
                defer { connection.rollback() }
                let entity = plans[query.plan.entityIndex]
                let rows = try pack(
                    query.candidates(entity.columns), query.parameters, entity, expectedRows: nil,
                    isKept: query.isReusable, cancellation: cancellation, on: connection)
                let reader = ResidualReader(store: self, connection: connection)
                do throws(StoreError) {
                    let sources = try matching(reader.add(try rows.get()), query, reader, cancellation)
                    let answer: T
                    do throws(PredicateEvaluationError) {
                        answer = try body(reader, sources)
                    } catch {
                        if let failure = reader.failure { throw failure }
                        throw .invalidPredicate(error)
                    }
                    if let failure = reader.failure { throw failure }
                    return .success(answer)
                } catch {
                    return .failure(error)
                }
            }
            return try outcome.get()
        }

        private func matching(
            _ sources: [RowObject], _ query: FetchQuery, _ reader: ResidualReader, _ cancellation: ReadCancellation?
        ) throws(StoreError) -> [RowObject] {
            guard let rest = query.rest else { return sources }
            let prepared = PreparedPredicate(rest, query.environment)
            var result: [RowObject] = []
            do throws(PredicateEvaluationError) {
                // What has no meaning is an error even if there is no row to evaluate it for.
                if sources.isEmpty { _ = try prepared.evaluate(on: Value.null) }
                for source in sources {
                    if cancellation?.isCancelled == true { break }
                    if try prepared.evaluate(on: source) { result.append(source) }
                }
            } catch {
                if let failure = reader.failure { throw failure }
                throw .invalidPredicate(error)
            }
            if cancellation?.isCancelled == true { throw .cancelled }
            if let failure = reader.failure { throw failure }
            return result
        }

        private static func sorted(
            _ sources: [RowObject], _ query: FetchQuery
        ) throws(PredicateEvaluationError) -> [RowObject] {
            var keyed: [(source: RowObject, values: [Value])] = []
            for source in sources {
                var values: [Value] = []
                for sort in query.sorts { values.append(try sort.value(of: source, environment: query.environment)) }
                keyed.append((source, values))
            }
            return keyed.sorted { a, b in
                for (index, sort) in query.sorts.enumerated() {
                    switch ValueComparison.sortOrder(a.values[index], b.values[index], sort.options) {
                    case .orderedSame: continue
                    case .orderedAscending: return sort.ascending
                    case .orderedDescending: return !sort.ascending
                    }
                }
                return a.source.reference.key < b.source.reference.key
            }.map(\.source)
        }
    }
#endif
