import Foundation

/// A query for rows of a table: filter, order, page and columns.
///
///     var query = AzureQuery(try FetchPredicate(format: "complete == NO"))
///     query.order("createdAt", ascending: false)
///     query.top = 20
///     query.includesTotalCount = true
///     let rows = try await client.table("Note").read(query)
///
/// Without ``top``, the server gives as many rows as fit into one answer; read the rest with
/// ``AzureTable/read(after:options:)``. A predicate that the protocol cannot express is an error before anything is sent: use
/// ``Filter/text(_:)`` for functions that only the server has. Columns have the server's names, and text is compared as its
/// database does.
public struct AzureQuery: Sendable {
    /// What rows must satisfy.
    public enum Filter: Sendable {
        /// A predicate, and values of its variables by name.
        case predicate(FetchPredicate, [String: AzureLiteral] = [:])
        /// Text in the language of `$filter`, not escaped.
        case text(String)
    }

    /// A column to order by.
    public struct Order: Sendable, Hashable {
        /// The column.
        public var column: String
        /// Whether small values come first.
        public var ascending: Bool

        /// Names a column to order by.
        public init(_ column: String, ascending: Bool = true) {
            self.column = column
            self.ascending = ascending
        }
    }

    /// What rows must satisfy; nil for all.
    public var filter: Filter?
    /// The order, the most important column first.
    public var orders: [Order] = []
    /// The maximum number of rows; nil for as many as the server gives in one answer.
    public var top: Int?
    /// How many rows are left out at the beginning; nil to say nothing about it.
    public var skip: Int?
    /// The columns that are requested; nil for all.
    public var columns: [String]?
    /// Whether the number of all rows is requested that meet the filter.
    public var includesTotalCount = false
    /// Whether rows come along that are deleted and kept to report that.
    public var includesDeleted = false
    /// Parameters of the application's own. An array gives one parameter for each of its elements.
    public var parameters: JSONObject = [:]

    /// Asks for all rows, or for those that meet a condition.
    public init(_ predicate: FetchPredicate? = nil) { filter = predicate.map { .predicate($0) } }

    /// Orders by a column, after those given before.
    public mutating func order(_ column: String, ascending: Bool = true) {
        orders.append(Order(column, ascending: ascending))
    }
}

extension AzureDialect {
    /// The text of a filter, not escaped.
    /// - Throws: ``RemoteError`` of code ``AzureError/predicateNotSupported``.
    public func filterText(
        _ predicate: FetchPredicate, variables: [String: AzureLiteral] = [:]
    ) throws(RemoteError) -> String {
        try ODataFilter(version: version, variables: variables).text(predicate)
    }

    /// The query parameters of a query, each a pair as it is sent.
    /// - Throws: ``RemoteError`` of code ``AzureError/predicateNotSupported`` or ``AzureError/invalidUserParameter``, or of
    ///   ``AzureError/invalidParameter`` for numbers less than 0 and columns without a name.
    public func parameters(of query: AzureQuery) throws(RemoteError) -> [String] {
        var pairs: [String] = []
        switch query.filter {
        case .predicate(let predicate, let variables)?:
            pairs.append(Self.pair("$filter", try filterText(predicate, variables: variables)))
        case .text(let text)?: pairs.append(Self.pair("$filter", text))
        case nil: break
        }
        for name in query.orders.map(\.column) + (query.columns ?? []) where name.isEmpty || name.contains(",") {
            throw error(.invalidParameter, "\"\(name)\" is not the name of a column")
        }
        if !query.orders.isEmpty {
            let order = query.orders.map { "\($0.column) \($0.ascending ? "asc" : "desc")" }.joined(separator: ",")
            pairs.append(Self.pair("$orderby", order))
        }
        for (name, number) in [("$skip", query.skip), ("$top", query.top)] {
            guard let number else { continue }
            guard number >= 0 else { throw error(.invalidParameter, "\(name) is at least 0, not \(number)") }
            pairs.append("\(name)=\(number)")
        }
        if let columns = query.columns, !columns.isEmpty {
            pairs.append(Self.pair("$select", columns.joined(separator: ",")))
        }
        if query.includesTotalCount { pairs.append(version.totalCountParameter) }
        if query.includesDeleted { pairs.append("\(version.includesDeletedName)=true") }
        return pairs + (try parameters(query.parameters))
    }

    /// Parameters of the application's own as they are sent.
    /// - Throws: ``RemoteError`` of code ``AzureError/invalidUserParameter`` for a name that begins with `$`, and for values
    ///   that are neither text nor numbers nor truth values, nor arrays of these.
    public func parameters(_ parameters: JSONObject) throws(RemoteError) -> [String] {
        var pairs: [String] = []
        for (name, value) in parameters {
            guard !name.hasPrefix("$") else {
                throw error(
                    .invalidUserParameter,
                    "'\(name)' is an invalid user-defined query string parameter. User-defined query string parameters "
                        + "must not begin with a '$'.")
            }
            for element in value.elements ?? [value] {
                guard let text = Self.parameterText(element) else {
                    throw error(
                        .invalidUserParameter,
                        "the parameter \(name) is text, a number or a truth value, not \(element.typeName)")
                }
                pairs.append(Self.pair(name, text))
            }
        }
        return pairs
    }

    private static func parameterText(_ value: JSONValue) -> String? {
        switch value {
        case .null: "null"
        case .string(let text): text
        case .boolean, .integer, .double, .decimal: try? value.text()
        case .array, .object: nil
        }
    }

    /// A pair as it is sent.
    static func pair(_ name: String, _ value: String) -> String {
        PercentEncoding.encode(name, keeping: .azureQuery) + "=" + PercentEncoding.encode(value, keeping: .azureQuery)
    }
}
