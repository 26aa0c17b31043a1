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

/// The prepared fetches of one connection, by shape.
struct FetchCache {
    private struct Entry {
        let key: FetchShape.Key
        let fetch: PreparedFetch
        var lastUse: Int
    }

    private var buckets: [[Entry]] = Array(repeating: [], count: 64)
    private var count = 0
    private var useCount = 0

    /// Bounds the fetches that are kept, for programs that generate many distinct requests.
    private static let limit = 256
    /// Conditions of this size, in bytes of the SQL, are not kept.
    static let sizeLimit = 100_000

    /// The fetch of a shape, which counts as used.
    mutating func find(_ key: FetchShape.Key) -> PreparedFetch? {
        let bucket = key.hash & 63
        guard let index = buckets[bucket].firstIndex(where: { $0.key == key }) else { return nil }
        useCount &+= 1
        buckets[bucket][index].lastUse = useCount
        return buckets[bucket][index].fetch
    }

    mutating func insert(_ fetch: PreparedFetch, _ key: FetchShape.Key) {
        if count >= Self.limit { forgetOldFetches() }
        count += 1
        useCount &+= 1
        buckets[key.hash & 63].append(Entry(key: key, fetch: fetch, lastUse: useCount))
    }

    /// Forgets the half that has not been used for longest.
    private mutating func forgetOldFetches() {
        let middle = buckets.joined().map(\.lastUse).sorted()[count / 2]
        for index in buckets.indices { buckets[index].removeAll { $0.lastUse <= middle } }
        count = buckets.reduce(0) { $0 + $1.count }
    }
}
