import Foundation

/// Finds rows here by a query, without a server.
struct AzureRowFilter {
    private let query: AzureQuery
    private let condition: FetchPredicate?
    /// The columns that the condition compares with dates.
    private let timeColumns: Set<String>
    private let version: AzureVersion

    /// - Throws: ``RemoteError`` of code ``AzureError/invalidParameter`` for a query that only a server can answer, and for
    ///   numbers less than 0.
    init(_ query: AzureQuery, _ version: AzureVersion) throws(RemoteError) {
        func refused(_ what: String) -> RemoteError {
            AzureError.invalidParameter.error("rows here cannot be found by \(what)", version: version)
        }
        switch query.filter {
        case .predicate(let predicate, let variables)?:
            condition = predicate.withVariables(variables.mapValues(\.plain))
        case .text?: throw refused("a filter that is text in the server's language; use a predicate")
        case nil: condition = nil
        }
        guard query.parameters.isEmpty else { throw refused("parameters for the server; use a predicate") }
        guard query.top ?? 0 >= 0, query.skip ?? 0 >= 0 else { throw refused("a limit or an offset less than 0") }
        self.query = query
        self.version = version
        timeColumns = condition.map { Self.timeColumns(of: $0) } ?? []
    }

    /// Those of some rows that the query finds, in its order.
    /// - Throws: ``RemoteError`` of code ``AzureError/predicateNotSupported`` for a condition that has no answer here.
    func rows(of rows: [JSONObject]) throws(RemoteError) -> [JSONObject] {
        // All rows have the same `now()`.
        let environment = EvaluationEnvironment()
        var found: [JSONObject] = []
        for row in rows where try holds(for: row, environment) { found.append(row) }
        let orders = query.orders
        if !orders.isEmpty {
            found = found.enumerated().sorted { a, b in
                for order in orders {
                    let left = AzureDate.value(of: a.element[order.column] ?? .null)
                    let right = AzureDate.value(of: b.element[order.column] ?? .null)
                    let result = ValueComparison.sortOrder(left, right)
                    if result != .orderedSame { return (result == .orderedAscending) == order.ascending }
                }
                return a.offset < b.offset
            }.map(\.element)
        }
        return Array(found.dropFirst(query.skip ?? 0).prefix(query.top ?? .max))
    }

    private func holds(for row: JSONObject, _ environment: EvaluationEnvironment) throws(RemoteError) -> Bool {
        guard let condition else { return true }
        do throws(PredicateEvaluationError) {
            return try condition.evaluate(
                on: AzureRowSource(members: row, timeColumns: timeColumns), environment: environment)
        } catch {
            throw AzureError.predicateNotSupported.error(
                "rows here cannot be found by \(condition): \(error)", version: version)
        }
    }

    // MARK: Dates

    /// The columns that a condition compares with dates: rows have texts there.
    private static func timeColumns(of condition: FetchPredicate) -> Set<String> {
        switch condition.node {
        case .and(let parts), .or(let parts):
            return parts.reduce(into: Set<String>()) { $0.formUnion(timeColumns(of: $1)) }
        case .not(let part): return timeColumns(of: part)
        case .comparison(let left, _, let right, _), .quantified(_, let left, _, let right, _):
            guard isTime(left) || isTime(right) else { return [] }
            return Set((left.keyPaths + right.keyPaths).compactMap(\.first))
        default: return []
        }
    }

    private static func isTime(_ expression: FetchExpression) -> Bool {
        switch expression.node {
        case .constant(let value): hasTime(value)
        case .function(.now, _), .cast(_, .date): true
        case .aggregate(let parts): parts.contains { isTime($0) }
        default: false
        }
    }

    private static func hasTime(_ value: Value) -> Bool {
        switch value {
        case .date: true
        case .list(let values): values.contains { hasTime($0) }
        case .set(let values): values.members.contains { hasTime($0) }
        default: false
        }
    }
}

/// A row as conditions look at it.
private struct AzureRowSource: PropertySource {
    let members: JSONObject
    let timeColumns: Set<String>

    var evaluatedObject: Value { members["id"]?.content ?? .null }

    func property(_ name: String) -> PropertyValue {
        let json = members[name] ?? .null
        return .json(timeColumns.contains(name) ? AzureDate.value(of: json) : json.content)
    }
}
