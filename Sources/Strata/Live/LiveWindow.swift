/// Which part of all matching objects a live list shows and keeps. Of a request with a limit it keeps a few more than it
/// shows, so that most changes need no fetch.
struct LiveWindow {
    let offset: Int
    let limit: Int?
    /// Whether nothing matches beyond what is kept.
    var isComplete = true

    init(_ plan: FetchPlan) {
        offset = plan.offset
        limit = plan.limit
    }

    /// Whether only a part of the list is shown.
    var isLimited: Bool { limit != nil || offset > 0 }

    /// How many objects must be kept; nil for all.
    private var wanted: Int? { limit.flatMap { $0.addingOrNil(offset) } }

    private func reserve(_ wanted: Int) -> Int { max(wanted / 2, 32) }

    /// How many objects to fetch; nil for all.
    var fetchLimit: Int? { wanted.flatMap { $0.addingOrNil(reserve($0)) } }

    /// The positions that are shown of this many that are kept.
    func range(of count: Int) -> Range<Int> {
        let start = min(offset, count)
        guard let limit else { return start..<count }
        return start..<(start + min(limit, count - start))
    }

    /// Releases objects beyond the number worth keeping.
    /// - Returns: What was removed.
    mutating func trim(_ entries: inout OrderedEntries) -> [LiveEntry] {
        guard let wanted else { return [] }
        let reserve = reserve(wanted)
        guard let most = wanted.addingOrNil(2 * reserve), entries.count > most else { return [] }
        var removed: [LiveEntry] = []
        while entries.count > wanted + reserve { removed.append(entries.removeLast()) }
        isComplete = false
        return removed
    }

    /// Whether so few are left that more must be fetched.
    func needsMore(_ count: Int) -> Bool {
        guard let wanted, !isComplete else { return false }
        return count < wanted + reserve(wanted) / 4
    }
}
