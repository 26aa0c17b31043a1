extension FetchPlanner {
    /// The plan of a request for values, checked.
    func plan<T, Row>(for request: ValueRequest<T, Row>) throws(PersistenceError) -> ValuePlan {
        var plan = ValuePlan(
            try plan(for: request.objects, columns: Set(request.columns.map(\.name))), columns: request.columns)
        plan.isDistinct = request.isDistinct
        plan.groupBy = request.groupBy
        plan.having = request.having
        let entity = model.entities[plan.fetch.entityIndex]
        func fail(_ reason: String) -> PersistenceError { .invalidFetch(entity: entity.name, reason: reason) }
        guard !plan.columns.isEmpty else { throw fail("the request selects no column; select at least one") }
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
            guard plan.column(of: sort) != nil || (!plan.isDistinct && plan.groupBy.contains(sort.expression)) else {
                throw fail("the order by \(sort.expression), which is not a column of the answer")
            }
        }
        return plan
    }
}
