extension ManagedObjectContext {
    /// The values that a request asks for.
    ///
    /// One statement, where nothing unsaved matters in this context and its parents. Unsaved changes of the objects, or
    /// of objects that columns look at, count all the same: then the objects are fetched, and the values computed from
    /// them in memory, by the same rules.
    /// - Throws: As ``fetch(_:)``, and ``PersistenceError/invalidFetch(entity:reason:)`` for a column that groups have no
    ///   single value of.
    public func fetchValues<T>(_ request: ValueRequest<T>) throws(PersistenceError) -> [FetchedRow] {
        processPendingChanges()
        let plan = try plan(for: request)
        let values: [[Value]]
        let answer = try preparedNow(objectsPlan(plan), request.objects.storeOptions)
        if asksStore(interest(plan), request.objects) {
            let plan = narrowed(plan, to: answer?.result)
            values = try store { () throws(StoreError) in try coordinator.store.values(plan, cancellation: nil) }
        } else {
            values = try self.values(plan, of: try effectiveObjects(objectsPlan(plan), answer))
        }
        return values.map { FetchedRow(values: $0, columns: plan.columns) }
    }

    /// As the method that waits, without blocking the caller; see ``fetch(_:)``.
    /// - Throws: As the method that waits, and ``PersistenceError/cancelled``.
    public nonisolated(nonsending) func fetchValues<T>(
        _ request: ValueRequest<T>
    ) async throws(PersistenceError) -> [FetchedRow] {
        processPendingChanges()
        let plan = try plan(for: request)
        let values: [[Value]]
        let found = try await prepared(objectsPlan(plan), request.objects.storeOptions)
        if asksStore(interest(plan), request.objects) {
            let plan = narrowed(plan, to: found)
            values = try await coordinator.read { (store, cancellation) throws(StoreError) in
                try store.values(plan, cancellation: cancellation)
            }
        } else {
            let answer = try await ask(rootPlan(objectsPlan(plan)), found)
            values = try self.values(plan, of: try effectiveObjects(objectsPlan(plan), answer))
        }
        return values.map { FetchedRow(values: $0, columns: plan.columns) }
    }

    /// The plan over the objects that the store was told of.
    private func narrowed(_ plan: ValuePlan, to found: FetchPlan?) -> ValuePlan {
        guard let found else { return plan }
        var result = plan
        result.fetch.predicate = found.predicate
        return result
    }

    private func plan<T>(for request: ValueRequest<T>) throws(PersistenceError) -> ValuePlan {
        var plan = ValuePlan(
            try plan(for: request.objects, columns: Set(request.columns.map(\.name))), columns: request.columns)
        plan.isDistinct = request.isDistinct
        plan.groupBy = request.groupBy
        plan.having = request.having
        let entity = model.entities[plan.fetch.entityIndex]
        func fail(_ reason: String) -> PersistenceError { .invalidFetch(entity: entity.name, reason: reason) }
        guard !plan.columns.isEmpty else { throw fail("a fetch of values without a column") }
        guard Set(plan.columns.map(\.name)).count == plan.columns.count else {
            throw fail("two columns have one name; give each its own")
        }
        let paths =
            (plan.columns.map(\.expression) + plan.groupBy).flatMap(\.keyPaths) + (plan.having?.keyPaths ?? [])
        for path in paths { try check(path, entity, takesCollections: true) }
        if plan.isGrouped {
            for column in plan.columns where !plan.isSettled(column.expression) {
                throw fail("groups have no single value of the column \(column.name); group by it, or aggregate it")
            }
        }
        if let having = plan.having, !plan.isSettled(having) {
            throw fail("having \(having) is about single objects; aggregate what it compares, or make it the condition")
        }
        for sort in plan.fetch.sorts where plan.isGrouped || plan.isDistinct {
            guard plan.column(of: sort) != nil || (!plan.isDistinct && plan.groupBy.contains(.keyPath(sort.keyPath)))
            else {
                throw fail("the order by \(sort.keyPath.joined(separator: ".")), which is no column of the answer")
            }
        }
        return plan
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
            throw .invalidFetch(entity: model.entities[plan.fetch.entityIndex].name, reason: error.description)
        }
    }
}
