/// Rows that a store gave before they were needed, in another thread.
struct StoreAnswer: Sendable {
    /// What the store was asked.
    let plan: FetchPlan
    /// What it said.
    let batch: RowBatch
    /// The row cache's stamp when it was asked: it tells whether anybody has saved since.
    let stamp: Int
}
