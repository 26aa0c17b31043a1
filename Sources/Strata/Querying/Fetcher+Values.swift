// Values of objects, aggregates and groups.

extension Fetcher {
    func values<T, Row>(_ request: ValueRequest<T, Row>) throws(PersistenceError) -> [Row] {
        core.processPendingChanges()
        let plan = try core.planner.plan(for: request)
        let values: [[Value]]
        let prefetched = try preparedNow(objectsPlan(plan), request.objects, reading: readPaths(plan))
        if asksStore(interest(plan), request.objects) {
            let plan = narrowed(plan, to: prefetched?.result)
            let cancellation = core.settings.readCancellation
            values = try core.readStore { (store) throws(StoreError) in
                try store.values(plan, cancellation: cancellation)
            }
        } else {
            values = try self.values(plan, of: try core.overlay.objects(objectsPlan(plan), prefetched))
        }
        return try rows(values, for: request, plan)
    }

    nonisolated(nonsending) func values<T, Row>(
        _ request: ValueRequest<T, Row>
    ) async throws(PersistenceError) -> [Row] {
        core.processPendingChanges()
        let plan = try core.planner.plan(for: request)
        let values: [[Value]]
        let found = try await prepared(objectsPlan(plan), request.objects, reading: readPaths(plan))
        if asksStore(interest(plan), request.objects) {
            let plan = narrowed(plan, to: found?.plan)
            values = try await core.coordinator.read(from: core.reader) { (store, cancellation) throws(StoreError) in
                try store.values(plan, cancellation: cancellation)
            }
        } else {
            let answer = try await ask(rootPlan(objectsPlan(plan)), found)
            values = try self.values(plan, of: try core.overlay.objects(objectsPlan(plan), answer))
        }
        return try rows(values, for: request, plan)
    }

    /// The values as they are, without applying what others have saved meanwhile.
    func currentValues(_ plan: ValuePlan) throws(PersistenceError) -> [[Value]] {
        guard !needsObjects(interest(plan)) else {
            return try values(plan, of: try core.overlay.objects(objectsPlan(plan)))
        }
        return try core.readStore { (store) throws(StoreError) in try store.values(plan, cancellation: nil) }
    }

    /// The rows that the caller gets.
    func rows<T, Row>(
        _ values: [[Value]], for request: ValueRequest<T, Row>, _ plan: ValuePlan
    ) throws(PersistenceError) -> [Row] {
        let entity = core.model.entities[plan.fetch.entityIndex]
        let destinations = plan.columns.map { core.model.entity(ofObjectsIn: $0.expression, from: entity) }
        var rows: [Row] = []
        rows.reserveCapacity(values.count)
        for row in values {
            let fetched = zip(row, destinations).map { value, destination -> FetchedValue in
                guard case .object(let key) = value, let destination else { return .value(value) }
                return .object(core.coordinator.objectID(destination.index, key))
            }
            do throws(UnfitColumn) {
                rows.append(try request.row(FetchedRow(values: fetched, columns: plan.columns)))
            } catch {
                throw .invalidFetch(entity: entity.name, reason: error.reason)
            }
        }
        return rows
    }

    /// The plan over the objects that the store was told about.
    private func narrowed(_ plan: ValuePlan, to found: FetchPlan?) -> ValuePlan {
        guard let found else { return plan }
        var result = plan
        result.fetch.predicate = found.predicate
        result.fetch.toldSlots = found.toldSlots
        return result
    }

    /// The key paths whose values are read from the objects once they are found.
    private func readPaths(_ plan: ValuePlan) -> [[String]] {
        let sorts = plan.fetch.sorts.filter { plan.column(of: $0) == nil }
        let expressions = plan.columns.map(\.expression) + plan.groupBy + sorts.map(\.expression)
        return expressions.flatMap(\.keyPaths) + (plan.having?.keyPaths ?? [])
    }

    /// A plan that looks at all that the values depend on: it is never run.
    private func interest(_ plan: ValuePlan) -> FetchPlan {
        var result = objectsPlan(plan)
        let expressions = plan.columns.map(\.expression) + plan.groupBy
        let parts = expressions.map { FetchPredicate.comparison($0, .equal, .constant(.null), []) }
        result.predicate = .and([result.predicate, plan.having].compactMap { $0 } + parts)
        result.sorts = plan.fetch.sorts.filter { plan.column(of: $0) == nil }
        return result
    }

    /// The objects that the values are of.
    private func objectsPlan(_ plan: ValuePlan) -> FetchPlan {
        var result = plan.fetch
        result.sorts = []
        result.limit = nil
        result.offset = 0
        return result
    }

    private func values(_ plan: ValuePlan, of objects: [ManagedObject]) throws(PersistenceError) -> [[Value]] {
        do throws(PredicateEvaluationError) {
            return try plan.evaluate(over: objects.map(ObjectSource.init))
        } catch {
            throw .invalidFetch(entity: core.model.entities[plan.fetch.entityIndex].name, reason: error.description)
        }
    }
}
