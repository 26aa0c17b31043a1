import Foundation
import StrataStore

/// A fetch without the values that it compares and orders with, and these values. Fetches of one shape are one SQL text with other
/// bindings, so that a connection translates and prepares it once; see ``FetchCache``.
struct FetchShape {
    /// What fetches of one shape have in common.
    struct Key {
        let answer: FetchCompiler.Answer
        let entityIndex: Int
        let includesSubentities: Bool
        let hasLimit: Bool
        let hasOffset: Bool
        /// Whether only what lies within an angle of a point is looked at; see ``NearestSearch``.
        let hasAngle: Bool
        /// Whether the table is passed over instead of looking up each element of a list; see ``ListScan``.
        let scansLists: Bool
        /// The structure of the condition and the order.
        let structure: [UInt8]
        let hash: Int

        static func == (a: Key, b: Key) -> Bool {
            a.hash == b.hash && a.answer == b.answer && a.entityIndex == b.entityIndex && a.hasAngle == b.hasAngle
                && a.scansLists == b.scansLists && a.includesSubentities == b.includesSubentities && a.hasLimit == b.hasLimit
                && a.hasOffset == b.hasOffset && a.structure == b.structure
        }
    }

    let plan: FetchPlan
    let key: Key
    /// The constants of the condition and of the order, in the order in which they are there, and the angle after them.
    let constants: [Value]

    /// - Parameters:
    ///   - angle: How far, in radians, objects may be from the point whose nearest are asked for.
    ///   - scansLists: Whether the table is passed over instead of looking up each element of a list.
    init(_ plan: FetchPlan, _ answer: FetchCompiler.Answer, angle: Double? = nil, scansLists: Bool = false) {
        let shape = PredicateShape(plan.predicate, sorts: plan.sorts, environment: plan.environment)
        var hasher = Hasher()
        hasher.combine(plan.entityIndex)
        hasher.combine(
            answer.rawValue | (plan.limit == nil ? 0 : 8) | (plan.offset > 0 ? 16 : 0)
                | (plan.includesSubentities ? 32 : 0) | (angle == nil ? 0 : 64) | (scansLists ? 128 : 0))
        hasher.combine(shape)
        self.plan = plan
        constants = angle.map { shape.constants + [.double($0)] } ?? shape.constants
        key = Key(
            answer: answer, entityIndex: plan.entityIndex, includesSubentities: plan.includesSubentities,
            hasLimit: plan.limit != nil, hasOffset: plan.offset > 0, hasAngle: angle != nil, scansLists: scansLists,
            structure: shape.bytes, hash: hasher.finalize())
    }
}

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
