import StrataSQL
import StrataStore

extension SQLiteStore {
    /// Narrows a fetch of the nearest to the smallest of the circles that has enough in it; leaves another fetch as it is.
    /// - Returns: Whether a transaction was begun that the caller has to end: one that keeps what is there as it was when
    ///   the circle was found.
    func narrowToNearest(
        _ shape: inout FetchShape, of plan: FetchPlan, on connection: Connection
    ) throws(StoreError) -> Bool {
        // Every fetch passes through here. Without a spatial index, none must copy its plan and the schema to learn that.
        guard !schema.spatialIndexes.isEmpty, let limit = plan.limit, NearestSearch(plan, schema) != nil
        else { return false }
        let hasBegun = !connection.isInTransaction
        if hasBegun { try connection.statement("BEGIN").run() }
        do throws(StoreError) {
            shape = try narrowed(shape, of: plan, limit: limit, on: connection)
            return hasBegun
        } catch {
            if hasBegun { connection.rollback() }
            throw error
        }
    }

    private func narrowed(
        _ shape: FetchShape, of plan: FetchPlan, limit: Int, on connection: Connection
    ) throws(StoreError) -> FetchShape {
        let (wanted, overflow) = max(0, limit).addingReportingOverflow(max(0, plan.offset))
        var probe = plan
        probe.limit = overflow ? .max : wanted
        probe.offset = 0
        var angle = NearestSearch.firstAngle
        while angle <= NearestSearch.lastAngle {
            let statement = try bound(FetchShape(probe, .count, angle: angle), of: probe, on: connection)
            defer { statement.reset() }
            if try statement.step(), statement.integer(0) >= wanted {
                return FetchShape(plan, shape.key.answer, angle: angle)
            }
            angle *= 2
        }
        return shape
    }
}
