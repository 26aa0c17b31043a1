import Foundation

/// Where a pull goes on: at a time of change, or within it after an object.
struct MaxLeapPullCursor {
    var time: String
    /// The last object of that time that is known; nil to begin with the first.
    var id: String?

    init(time: String, id: String? = nil) {
        self.time = time
        self.id = id
    }

    init?(_ text: String) {
        let parts = text.split(separator: ">", maxSplits: 1, omittingEmptySubsequences: false)
        // Older versions wrote a plus sign and the number of known objects of that time.
        guard let first = parts.first?.split(separator: "+", omittingEmptySubsequences: false), first.count <= 2,
            first.count == 1 || parts.count == 1 && Int(first[1]).map({ $0 >= 0 }) == true,
            let date = MaxLeapDate.date(String(first[0])), let time = MaxLeapDate.text(date)
        else { return nil }
        self.time = time
        if parts.count == 2 { id = String(parts[1]) }
    }

    var text: String { id.map { "\(time)>\($0)" } ?? time }
}

extension MaxLeapDialect {
    /// A pull before anything was ever changed begins here.
    private static let beginning = "1970-01-01T00:00:00.000Z"

    /// What changed since a cursor. The server is asked for objects by time of change, and reports no deletions; those
    /// of the cursor's own millisecond come again.
    func pullRequest(_ pull: RemotePull, _ options: RequestOptions) throws(RemoteError) -> WireRequest {
        let schema = try schema(pull.entity)
        var query = MaxLeapQuery(schema.className)
        query.orders = [.init("updatedAt"), .init("objectId")]
        query.limit = Self.limit(pull)
        if let text = pull.cursor {
            guard let cursor = MaxLeapPullCursor(text), let date = MaxLeapDate.date(cursor.time) else {
                throw MaxLeapError.invalidQuery.error(
                    "\"\(text.prefix(80))\" is not a cursor of a pull from \(name)", kind: .cursorExpired)
            }
            query.conditions.append(Self.condition(cursor, date))
        }
        return try queryRequest(query, options: options)
    }

    private static func condition(_ cursor: MaxLeapPullCursor, _ date: Date) -> MaxLeapWhere {
        guard let id = cursor.id else { return .key("updatedAt", .greaterOrEqual(.date(date))) }
        return .or([
            .key("updatedAt", .greater(.date(date))),
            .and([.key("updatedAt", .equal(.date(date))), .key("objectId", .greater(.string(id)))]),
        ])
    }

    /// A page of one object could not get past two of the same time.
    private static func limit(_ pull: RemotePull) -> Int { min(max(pull.limit, 2), maximumPage) }

    func pullAnswer(_ response: WireResponse, _ pull: RemotePull) throws(RemoteError) -> RemotePage {
        let objects = try results(response)
        var page = records(objects, try schema(pull.entity))
        let times = objects.compactMap { MaxLeapObject.date($0["updatedAt"]).flatMap(MaxLeapDate.text) }
        page.hasMore = objects.count >= Self.limit(pull)
        guard let last = times.last else {
            guard !page.hasMore else {
                throw invalidAnswer(
                    "the objects of the answer have no updatedAt, so that a pull cannot go on", response)
            }
            // The next pull begins with the whole of that time: objects of it may have been written since.
            let time = pull.cursor.flatMap(MaxLeapPullCursor.init)?.time
            page.next = time ?? Self.beginning
            return page
        }
        var cursor = MaxLeapPullCursor(time: last)
        // All of one millisecond: only by their ids does the next page get past them. Counting them would pass over others once
        // one of them changes.
        if page.hasMore, times.first == last { cursor.id = objects.last?["objectId"]?.string }
        page.next = cursor.text
        return page
    }
}
