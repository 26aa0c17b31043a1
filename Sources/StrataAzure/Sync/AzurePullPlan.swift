import Foundation

/// The requests of one pull, one after the other: all rows by position, or, with a name for the pull, the rows that were
/// changed since the last pull of that name.
///
///     var plan = try AzurePullPlan(dialect, table: "Note", queryID: "all")
///     while let request = try plan.nextRequest() {
///         let response = try await transport.send(request, timeout: 60)
///         try plan.take(try dialect.list(response).items)
///     }
///     print(plan.token ?? "-")  // for the next pull
///
/// ``AzureSyncContext/pull(_:query:queryID:pageSize:)`` uses it. Use it yourself to keep rows in a storage of your own. It is a
/// value without input or output. An incremental pull repeats rows of the last known time, so apply rows by id. Deleted rows
/// are always asked for.
public struct AzurePullPlan: Sendable {
    /// How many rows are asked for at once, unless told otherwise.
    public static let pageSize = 50

    /// The protocol, asked for the columns that a pull needs.
    let dialect: AzureDialect
    /// The table.
    public let table: String
    private let query: AzureQuery
    /// Whether only what has changed is read.
    public let isIncremental: Bool
    private let size: Int
    private var cursor: AzurePullCursor
    private var received = 0
    private var isDone = false

    /// Plans a pull.
    /// - Parameters:
    ///   - query: Which rows. An incremental pull has neither an order nor a limit nor an offset of its own.
    ///   - queryID: The name of an incremental pull: 1 to 50 characters, none of them `|`. nil for all rows.
    ///   - token: How far the last pull of that name came; nil for the first one.
    ///   - pageSize: How many rows to ask for at once; less than 1 for ``pageSize``.
    /// - Throws: ``RemoteError`` of code ``AzureError/invalidParameter`` for what a pull cannot have, and
    ///   ``AzureError/invalidQueryID``.
    public init(
        _ dialect: AzureDialect, table: String, query: AzureQuery = AzureQuery(), queryID: String? = nil,
        token: String? = nil, pageSize: Int = AzurePullPlan.pageSize
    ) throws(RemoteError) {
        let id = queryID.flatMap { $0.isEmpty ? nil : $0 }
        if let id, id.count > 50 || id.contains("|") {
            throw dialect.error(
                .invalidQueryID,
                "\"\(id.prefix(60))\" cannot be the name of a pull: it has up to 50 characters, none of "
                    + "them |")
        }
        try Self.check(query, isIncremental: id != nil, dialect)
        var own = dialect
        if dialect.version == .mobileServices {
            var columns: Set<AzureSystemProperty> = [.version, .deleted]
            if id != nil { columns.insert(.updatedAt) }
            own.systemColumns = .some(columns)
        }
        self.dialect = own
        self.table = table
        self.query = query
        isIncremental = id != nil
        size = pageSize < 1 ? Self.pageSize : pageSize
        cursor = AzurePullCursor()
        if let token, id != nil {
            guard let known = AzureDate.milliseconds(token).flatMap(AzureDate.text(milliseconds:)) else {
                throw dialect.error(.syncTableInternal, "the delta token \"\(token.prefix(60))\" is not a time")
            }
            cursor.token = known
        }
    }

    private static func check(
        _ query: AzureQuery, isIncremental: Bool, _ dialect: AzureDialect
    ) throws(RemoteError) {
        func refused(_ what: String) -> RemoteError {
            dialect.error(.invalidParameter, "a pull cannot have \(what)")
        }
        if query.columns?.isEmpty == false { throw refused("a choice of columns: whole rows are kept here") }
        if query.includesTotalCount { throw refused("a total count") }
        if isIncremental, !query.orders.isEmpty || query.top != nil || query.skip != nil {
            throw refused("an order, a limit or an offset together with a name: it goes by the time of change")
        }
        for name in query.parameters.names.map({ $0.lowercased() }) {
            if name == "__includedeleted" {
                throw refused("the parameter __includeDeleted: it always asks for deleted rows")
            }
            if name == "__systemproperties", dialect.version == .mobileServices {
                throw refused("the parameter __systemProperties: it asks for the columns that it needs")
            }
        }
    }

    /// How far an incremental pull has come: what to keep for the next one.
    public var token: String? { isIncremental ? cursor.token : nil }

    /// The query parameters of the next request as they are sent; nil when the pull is done.
    /// - Throws: ``RemoteError`` if the service cannot express the condition of the query.
    public func nextParameters() throws(RemoteError) -> [String]? {
        guard !isDone else { return nil }
        var page = query
        page.includesDeleted = true
        guard isIncremental else {
            let left = query.top.map { $0 - received }
            guard left ?? 1 > 0 else { return nil }
            page.top = min(left ?? size, size)
            let place = (query.skip ?? 0).addingReportingOverflow(received)
            page.skip = place.overflow ? .max : place.partialValue
            return dialect.withSystemColumns(try dialect.parameters(of: page))
        }
        let changed = dialect.changedSince(cursor.token)
        switch query.filter {
        case nil: page.filter = .text(changed)
        case .text(let text)?: page.filter = .text("(\(text) and \(changed))")
        case .predicate(let predicate, let variables)?:
            page.filter = .text("(\(try dialect.filterText(predicate, variables: variables)) and \(changed))")
        }
        page.orders = [.init(AzureSystemProperty.updatedAt.column(in: dialect.version))]
        page.top = size
        page.skip = cursor.skip
        return dialect.withSystemColumns(try dialect.parameters(of: page))
    }

    /// The next request; nil when the pull is done.
    /// - Throws: ``RemoteError`` if the service cannot express the condition of the query.
    public func nextRequest(options: RequestOptions = RequestOptions()) throws(RemoteError) -> WireRequest? {
        guard let pairs = try nextParameters() else { return nil }
        let own: [AzureFeature] = isIncremental ? [.incrementalPull] : []
        return try dialect.readRequest(
            table: table, pairs: pairs, features: [.tableReadQuery, .offline] + own, options)
    }

    /// Notes the rows of an answer.
    /// - Throws: ``RemoteError`` of code ``AzureError/expectedItemsInResponse`` if an incremental pull gets rows that do not
    ///   tell when they were changed.
    public mutating func take(_ rows: [JSONValue]) throws(RemoteError) {
        guard !rows.isEmpty else {
            isDone = true
            return
        }
        received += rows.count
        guard isIncremental else { return }
        let column = AzureSystemProperty.updatedAt.column(in: dialect.version)
        let times = rows.compactMap { $0[column]?.string }
        guard times.contains(where: { AzureDate.milliseconds($0) != nil }) else {
            throw dialect.error(
                .expectedItemsInResponse, "the rows of \(table) have no \(column); a pull with a name needs this column"
            )
        }
        cursor = cursor.next(times: times, count: rows.count)
    }
}
