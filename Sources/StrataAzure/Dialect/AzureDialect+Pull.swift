import Foundation

/// Where a pull goes on: at a time of change, behind so many rows of that time.
struct AzurePullCursor: Hashable {
    /// Before all rows.
    static let beginning = "1970-01-01T00:00:00.000Z"

    var token = beginning
    var skip = 0

    init(token: String = beginning, skip: Int = 0) {
        self.token = token
        self.skip = skip
    }

    init?(_ text: String) {
        let parts = text.split(separator: "+", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2, AzureDate.isDate(String(first)) else { return nil }
        token = String(first)
        if parts.count == 2 {
            guard let number = Int(parts[1]), number >= 0 else { return nil }
            skip = number
        }
    }

    var text: String { skip == 0 ? token : "\(token)+\(skip)" }

    /// The cursor behind a page.
    /// - Parameters:
    ///   - times: When the rows of the page were changed, as the server told it.
    ///   - count: The number of rows of the page.
    func next(times: [String], count: Int) -> AzurePullCursor {
        // What is finer than a millisecond is cut off, so that nothing is passed over.
        let latest = times.compactMap { AzureDate.milliseconds($0) }.max()
        if let latest, latest > AzureDate.milliseconds(token) ?? .min, let text = AzureDate.text(milliseconds: latest) {
            return AzurePullCursor(token: text)
        }
        let sum = skip.addingReportingOverflow(count)
        return AzurePullCursor(token: token, skip: sum.overflow ? .max : sum.partialValue)
    }
}

extension AzureDialect {
    /// The rows changed since a time, the oldest change first.
    func pullRequest(_ pull: RemotePull, _ options: RequestOptions) throws(RemoteError) -> WireRequest {
        let schema = try AzureSchema(pull.entity, self)
        var cursor = AzurePullCursor()
        if let text = pull.cursor {
            guard let known = AzurePullCursor(text) else {
                throw error(.invalidParameter, "\"\(text.prefix(80))\" is not a cursor of a pull from Azure")
            }
            cursor = known
        }
        let updated = AzureSystemProperty.updatedAt.column(in: version)
        var filter = changedSince(cursor.token)
        if let predicate = pull.predicate {
            filter = "(\(try ODataFilter(version: version, schema: schema).text(predicate)) and \(filter))"
        }
        let pairs = [
            Self.pair("$filter", filter), Self.pair("$orderby", "\(updated) asc,id asc"), "$skip=\(cursor.skip)",
            "$top=\(min(max(pull.limit, 2), maximumPage))", "\(version.includesDeletedName)=true",
        ]
        return try readRequest(
            table: schema.table, pairs: pairs, features: [.tableReadQuery, .offline, .incrementalPull], options)
    }

    /// The filter of rows that changed at a time or later. Rows of one time may come in any order, so those of the time
    /// itself come again.
    func changedSince(_ token: String) -> String {
        let updated = AzureSystemProperty.updatedAt.column(in: version)
        return "(\(updated) ge \(AzureLiteral.time(token, "datetimeoffset", version)))"
    }

    func pullAnswer(_ response: WireResponse, _ pull: RemotePull) throws(RemoteError) -> RemotePage {
        if let failure = failure(response) { throw failure }
        let schema = try AzureSchema(pull.entity, self)
        let items = try list(response).items
        var page = page(of: items, schema)
        let before = pull.cursor.flatMap(AzurePullCursor.init) ?? AzurePullCursor()
        let column = AzureSystemProperty.updatedAt.column(in: version)
        guard !items.isEmpty else {
            // Rows of that time may come yet, in front of those that were counted.
            page.next = before.token
            return page
        }
        let times = items.compactMap { $0[column]?.string }
        guard times.contains(where: { AzureDate.milliseconds($0) != nil }) else {
            throw invalidAnswer(
                .expectedItemsInResponse, response,
                "the rows of \(schema.table) have no \(column); a table that is pulled needs this column")
        }
        // A server may give fewer rows than it is asked for: only an empty answer is the end.
        page.next = before.next(times: times, count: items.count).text
        page.hasMore = true
        return page
    }
}
