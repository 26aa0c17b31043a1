import StrataStore

/// The result of a store request made ahead of time.
struct PrefetchedResult: Sendable {
    /// What the store is asked.
    var plan: FetchPlan
    /// The rows, read on another thread; nil if they have not been asked for yet.
    var batch: RowBatch?
    /// The row cache's stamp when they were asked for: it tells whether there has been a save since then.
    var stamp = 0
    /// Whether the plan is what gives the result of the fetch, in place of the fetch's own: a store that asked a back end
    /// names the objects that it was told about.
    var isResult = false
    /// Whether the result has more objects than the fetch gives, from the first one on, because unsaved changes may take
    /// some away.
    var isWidened = false

    /// The plan that gives the result in place of the fetch's own, if it does.
    var result: FetchPlan? { isResult ? plan : nil }
}
