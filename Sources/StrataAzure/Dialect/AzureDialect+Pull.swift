import Foundation

/// Where the pull of a store goes on.
///
/// Rows come by the time of their last change, cut to milliseconds. Positions would shift while others write, so pages go
/// by time; only of more rows of one time than fit into an answer the rest is asked for by id. A pull begins with the time
/// of the row that was told last, since others of that time may have come: those that were told are known by their marks.
struct AzureChangeCursor: Hashable {
    /// What is asked for.
    enum Phase: Hashable {
        /// All rows from the time on.
        case from
        /// The rows of the time itself, by id: those after an id, or all.
        case within(after: String?)
        /// The rows after the time.
        case beyond
    }

    /// So many marks are kept. If more rows have one time, they are told again.
    static let mostMarks = 100

    var token = AzurePullCursor.beginning
    var phase = Phase.from
    /// The marks of rows of the time that were told.
    var marks: Set<String> = []

    init() {}

    init?(_ text: String) {
        guard let json = try? JSONValue(parsing: text), let token = json["t"]?.string, AzureDate.isDate(token),
            let milliseconds = AzureDate.milliseconds(token), AzureDate.text(milliseconds: milliseconds) == token
        else { return nil }
        self.token = token
        if json["b"]?.boolean == true { phase = .beyond }
        if let id = json["i"] { phase = .within(after: id.string) }
        marks = Set((json["m"]?.elements ?? []).compactMap(\.string))
    }

    var text: String {
        var members: JSONObject = ["t": .string(token)]
        switch phase {
        case .from: break
        case .within(let id): members["i"] = id.map(JSONValue.string) ?? .null
        case .beyond: members["b"] = true
        }
        if !marks.isEmpty { members["m"] = .array(marks.sorted().map(JSONValue.string)) }
        return JSONValue.object(members).description
    }

    /// The time of the first row that is not of the cursor's.
    var nextToken: String {
        AzureDate.milliseconds(token).flatMap { AzureDate.text(milliseconds: $0 + 1) } ?? token
    }

    /// A row as it was told.
    struct Row {
        let id: String
        let milliseconds: Int64
        /// What tells this state of the row from others, in few characters (FNV-1a).
        let mark: String

        init?(_ item: JSONValue, _ version: AzureVersion) {
            guard let time = item[AzureSystemProperty.updatedAt.column(in: version)]?.string,
                let milliseconds = AzureDate.milliseconds(time), let id = item["id"]?.string
            else { return nil }
            let tag = item[AzureSystemProperty.version.column(in: version)]?.string ?? ""
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in "\(id)\u{1F}\(tag)\u{1F}\(time)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            self.id = id
            self.milliseconds = milliseconds
            mark = String(hash, radix: 36)
        }
    }

    /// The cursor after an answer, and whether there is more to ask for.
    /// - Parameter isLast: Whether the answer had all that was asked for.
    func next(_ rows: [Row], isLast: Bool) -> (cursor: AzureChangeCursor, hasMore: Bool) {
        let now = AzureDate.milliseconds(token) ?? .min
        let latest = rows.map(\.milliseconds).max() ?? .min
        var next = self
        if latest > now, let text = AzureDate.text(milliseconds: latest) {
            next.token = text
            next.phase = .from
            next.marks = []
        }
        next.note(rows.filter { $0.milliseconds == max(latest, now) })
        if next.token != token { return (next, !isLast) }
        switch phase {
        case .from where isLast: return (next, false)
        case .from: next.phase = .within(after: nil)
        case .within where isLast || rows.isEmpty: next.phase = .beyond
        case .within: next.phase = .within(after: rows.last?.id)
        case .beyond:
            next.phase = .from
            return (next, false)
        }
        return (next, true)
    }

    private mutating func note(_ rows: [Row]) {
        marks.formUnion(rows.map(\.mark))
        if marks.count > Self.mostMarks { marks = [] }
    }
}

extension AzureDialect {
    /// The rows changed since a time, the oldest change first.
    func pullRequest(_ pull: RemotePull, _ options: RequestOptions) throws(RemoteError) -> WireRequest {
        let schema = try AzureSchema(pull.entity, self)
        guard schema.keys == .text else {
            throw unsupported(
                "\(pull.entity.name): the server does not tell what has changed in tables with integer ids")
        }
        let cursor = try cursor(of: pull)
        let updated = AzureSystemProperty.updatedAt.column(in: version)
        var conditions = [changedSince(cursor.phase == .beyond ? cursor.nextToken : cursor.token)]
        var order = "\(updated) asc,id asc"
        if case .within(let id) = cursor.phase {
            conditions.append("(\(updated) lt \(AzureLiteral.time(cursor.nextToken, "datetimeoffset", version)))")
            if let id { conditions.append("(id gt \(AzureLiteral.quoted(id)))") }
            order = "id asc"
        }
        let filter = conditions.count == 1 ? conditions[0] : "(\(conditions.joined(separator: " and ")))"
        let pairs = [
            Self.pair("$filter", filter), Self.pair("$orderby", order),
            "$top=\(min(max(pull.limit, 1), maximumPage))", version.totalCountParameter,
            "\(version.includesDeletedName)=true",
        ]
        return try readRequest(
            table: schema.table, pairs: withSystemColumns(pairs),
            features: [.tableReadQuery, .offline, .incrementalPull], options)
    }

    private func cursor(of pull: RemotePull) throws(RemoteError) -> AzureChangeCursor {
        guard let text = pull.cursor else { return AzureChangeCursor() }
        guard let cursor = AzureChangeCursor(text) else {
            throw error(
                .invalidParameter, "\"\(text.prefix(80))\" is not a cursor of a pull from Azure", kind: .cursorExpired)
        }
        return cursor
    }

    /// The filter of rows that changed at a time or later.
    func changedSince(_ token: String) -> String {
        let updated = AzureSystemProperty.updatedAt.column(in: version)
        return "(\(updated) ge \(AzureLiteral.time(token, "datetimeoffset", version)))"
    }

    func pullAnswer(_ response: WireResponse, _ pull: RemotePull) throws(RemoteError) -> RemotePage {
        try checkSuccess(response)
        let schema = try AzureSchema(pull.entity, self)
        let list = try list(response)
        let cursor = try cursor(of: pull)
        let rows = list.items.map { AzureChangeCursor.Row($0, version) }
        let told = rows.compactMap(\.self)
        guard list.items.isEmpty || !told.isEmpty else {
            throw invalidAnswer(
                .expectedItemsInResponse, response,
                "the rows of \(schema.table) have no \(AzureSystemProperty.updatedAt.column(in: version)); a table that "
                    + "is pulled needs this column")
        }
        // A server may give fewer rows than it is asked for: its count tells whether there are more.
        let isLast = list.totalCount.map { $0 <= list.items.count } ?? list.items.isEmpty
        let (next, hasMore) = cursor.next(told, isLast: isLast)
        let news = zip(list.items, rows).filter { _, row in row.map { !cursor.marks.contains($0.mark) } ?? true }
        var page = page(of: news.map(\.0), schema)
        page.next = next.text
        page.hasMore = hasMore
        return page
    }
}
