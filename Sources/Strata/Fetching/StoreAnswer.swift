/// What a store said, or did, before its rows were needed.
struct StoreAnswer: Sendable {
    /// What the store is asked.
    let plan: FetchPlan
    /// What it said, in another thread; nil if it has not been asked yet.
    var batch: RowBatch?
    /// The row cache's stamp when it was asked: it tells whether anybody has saved since.
    var stamp = 0
    /// Whether the plan is what gives the result of the fetch, in place of the fetch's own: a store that asked elsewhere
    /// names the objects that it was told of.
    var isResult = false

    /// The plan that gives the result in place of the fetch's own, if it does.
    var result: FetchPlan? { isResult ? plan : nil }
}
