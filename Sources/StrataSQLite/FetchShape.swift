import Foundation
import StrataStore

/// A fetch without the values that it compares with. Fetches of one shape are one SQL text with other bindings, so that
/// a connection translates and prepares it once; see ``FetchCache``.
struct FetchShape {
    let plan: FetchPlan
    let answer: FetchCompiler.Answer
    private let condition: PredicateShape?
    /// The hash of the shape.
    let hash: Int

    init(_ plan: FetchPlan, _ answer: FetchCompiler.Answer) {
        self.plan = plan
        self.answer = answer
        condition = plan.predicate.map { PredicateShape($0) }
        var hasher = Hasher()
        hasher.combine(plan.entityIndex)
        hasher.combine(
            answer.rawValue | (plan.limit == nil ? 0 : 4) | (plan.offset > 0 ? 8 : 0)
                | (plan.includesSubentities ? 16 : 0))
        hasher.combine(condition)
        hash = hasher.finalize()
    }

    /// The constants of the condition, in the order in which they stand there.
    var constants: [Value] { condition?.constants ?? [] }

    /// Whether another fetch is the same but for its constants.
    func matches(_ other: FetchShape) -> Bool {
        hash == other.hash && answer == other.answer && plan.entityIndex == other.plan.entityIndex
            && plan.includesSubentities == other.plan.includesSubentities
            && (plan.limit == nil) == (other.plan.limit == nil) && (plan.offset > 0) == (other.plan.offset > 0)
            && plan.sorts == other.plan.sorts && condition == other.condition
    }
}

/// A prepared fetch: what is left to do is to bind the constants.
final class PreparedFetch {
    let statement: Statement
    private let parameters: [FetchParameter]

    init(statement: Statement, parameters: [FetchParameter]) {
        self.statement = statement
        self.parameters = parameters
    }

    /// Binds the constants of a condition and, behind them, limit and offset.
    func bind(_ constants: [Value], _ plan: FetchPlan) throws(StoreError) {
        var index: Int32 = 0
        // A parameter that came to stand nowhere in the SQL has no place there.
        let count = statement.parameterCount
        for parameter in parameters {
            index += 1
            if index <= count { statement.bind(try parameter.value(constants), at: index) }
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
    private var buckets: [[(shape: FetchShape, fetch: PreparedFetch)]] = Array(repeating: [], count: 64)
    private var count = 0

    /// More shapes than this are not kept; an application that builds ever new requests must not fill the memory.
    private static let limit = 256

    subscript(shape: FetchShape) -> PreparedFetch? {
        for entry in buckets[shape.hash & 63] where entry.shape.matches(shape) { return entry.fetch }
        return nil
    }

    mutating func insert(_ fetch: PreparedFetch, _ shape: FetchShape) {
        if count >= Self.limit { self = FetchCache() }
        count += 1
        buckets[shape.hash & 63].append((shape, fetch))
    }
}
