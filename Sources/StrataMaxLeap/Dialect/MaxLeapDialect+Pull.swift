import Foundation

/// Where a pull goes on: at a time of change, after this many objects of that time.
struct MaxLeapPullCursor {
    var time: String
    var skip = 0

    init(time: String, skip: Int = 0) {
        self.time = time
        self.skip = skip
    }

    init?(_ text: String) {
        let parts = text.split(separator: "+", omittingEmptySubsequences: false)
        guard let date = parts.first.flatMap({ MaxLeapDate.date(String($0)) }), parts.count <= 2,
            let time = MaxLeapDate.text(date)
        else { return nil }
        self.time = time
        if parts.count == 2 {
            guard let number = Int(parts[1]), number >= 0 else { return nil }
            skip = number
        }
    }

    var text: String { skip == 0 ? time : "\(time)+\(skip)" }
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
                throw MaxLeapError.invalidQuery.error("\"\(text.prefix(80))\" is not a cursor of a pull from \(name)")
            }
            query.conditions.append(.key("updatedAt", .greaterOrEqual(.date(date))))
            query.skip = cursor.skip
        }
        return try queryRequest(query, options: options)
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
            page.next = pull.cursor ?? Self.beginning
            return page
        }
        let before = pull.cursor.flatMap(MaxLeapPullCursor.init)
        var cursor = MaxLeapPullCursor(time: last)
        if page.hasMore, times.first == last {
            // All of one millisecond: only by counting does the next page get past them.
            cursor.skip = objects.count + (before?.time == last ? before?.skip ?? 0 : 0)
        }
        page.next = cursor.text
        return page
    }
}
