import StrataSQL
import StrataStore

/// A prepared fetch: only the constants must still be bound.
final class PreparedFetch {
    let statement: Statement
    private let parameters: [FetchParameter]

    init(statement: Statement, parameters: [FetchParameter]) {
        self.statement = statement
        self.parameters = parameters
    }

    /// Binds the constants of a condition and, after them, limit and offset.
    func bind(_ constants: [Value], _ plan: FetchPlan) throws(StoreError) {
        var index: Int32 = 0
        let count = statement.parameterCount
        for parameter in parameters {
            index += 1
            // All are asked for, since a faulty constant is an error also where it came to stand nowhere in the SQL.
            let value = try parameter.value(constants)
            if index <= count { statement.bind(value, at: index) }
        }
        if let limit = plan.limit {
            index += 1
            statement.bind(Int64(max(0, limit)), at: index)
        }
        if plan.offset > 0 { statement.bind(Int64(plan.offset), at: index + 1) }
    }
}

/// The prepared fetches of a connection, by their shape.
struct PreparedFetches {
    private var cache = FetchCache()
    private var fetches: [PreparedFetch] = []

    /// The fetch of a shape, which counts as used.
    mutating func find(_ key: FetchShape.Key) -> PreparedFetch? {
        guard let place = cache.find(key) else { return nil }
        return fetches[place]
    }

    mutating func insert(_ fetch: PreparedFetch, _ key: FetchShape.Key) {
        let place = cache.insert(key)
        if place == fetches.count { fetches.append(fetch) } else { fetches[place] = fetch }
    }
}
