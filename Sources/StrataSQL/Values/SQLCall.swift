import StrataStore

/// A function of predicates as SQL calls it: how the arguments are read, and what is computed of them.
package final class SQLCall: Sendable {
    package let kinds: [SQLKind]
    package let body: @Sendable ([Value]) throws(PredicateEvaluationError) -> Value

    package init(kinds: [SQLKind], body: @escaping @Sendable ([Value]) throws(PredicateEvaluationError) -> Value) {
        self.kinds = kinds
        self.body = body
    }
}
