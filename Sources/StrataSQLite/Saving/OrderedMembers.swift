import StrataCSQLite
import StrataStore

/// The places of the members of one owner in an ordered relationship.
///
/// Places are integers with gaps, so that a move writes one row; where a gap is used up, all places of the owner are
/// given again. Members without a place come last, by key.
struct OrderedMembers {
    private static let gap: Int64 = 1024

    private let owner: Int64
    private let read: Statement
    private let write: Statement

    /// - Returns: nil if the relationship has no order.
    init?(store: SQLiteStore, connection: Connection, change: ChangeSet.OrderChange) throws(StoreError) {
        owner = change.owner
        let layout = store.layout
        let relationship = store.model.entities[change.entityIndex].relationships[change.relationshipIndex]
        if let side = layout.pairs(change.entityIndex, change.relationshipIndex) {
            guard let order = side.order else { return nil }
            read = try connection.statement(
                """
                SELECT \(side.far), \(order) FROM \(side.table.quoted) WHERE \(side.near) = ? \
                ORDER BY \(order) IS NULL, \(order), \(side.far)
                """
            )
            write = try connection.statement(
                "UPDATE \(side.table.quoted) SET \(order) = ?1 WHERE \(side.near) = ?2 AND \(side.far) = ?3")
        } else {
            guard case .inverseSlot(let slot) = relationship.storage,
                let order = layout.orderColumn(change.entityIndex, change.relationshipIndex),
                let column = layout.column(relationship.destinationIndex, slot)?.quoted
            else { return nil }
            let table = layout.table(relationship.destinationIndex).quoted
            read = try connection.statement(
                "SELECT _id, \(order) FROM \(table) WHERE \(column) = ? ORDER BY \(order) IS NULL, \(order), _id")
            write = try connection.statement("UPDATE \(table) SET \(order) = ?1 WHERE \(column) = ?2 AND _id = ?3")
        }
    }

    /// Puts members after the last one in the given order.
    func append(_ members: [Int64]) throws(StoreError) {
        let added = Set(members)
        let others = try current().filter { !added.contains($0.key) }
        // Members without a place would come after the new ones.
        if others.contains(where: { $0.place == nil }) {
            return try place(others.map(\.key) + unique(members), known: [:])
        }
        var last = others.last?.place ?? 0
        guard last < Int64.max - Int64(members.count + 1) * Self.gap else {
            return try place(others.map(\.key) + unique(members), known: [:])
        }
        for member in unique(members) {
            last += Self.gap
            try set(last, member)
        }
    }

    /// Arranges the members as given. Those that are not named stay after the one that they follow now.
    func arrange(_ members: [Int64]) throws(StoreError) {
        let now = try current()
        let present = Set(now.map(\.key))
        let named = unique(members).filter(present.contains)
        let isNamed = Set(named)
        var first: [Int64] = []
        var followers: [Int64: [Int64]] = [:]
        var leader: Int64?
        for member in now {
            if isNamed.contains(member.key) {
                leader = member.key
            } else if let leader {
                followers[leader, default: []].append(member.key)
            } else {
                first.append(member.key)
            }
        }
        let order = first + named.flatMap { [$0] + (followers[$0] ?? []) }
        var known: [Int64: Int64] = [:]
        for member in now { known[member.key] = member.place }
        try place(order, known: known)
    }

    private func current() throws(StoreError) -> [(key: Int64, place: Int64?)] {
        read.bind(owner, at: 1)
        var result: [(key: Int64, place: Int64?)] = []
        while try read.step() { result.append((read.integer(0), read.type(1) == SQLITE_NULL ? nil : read.integer(1))) }
        return result
    }

    private func unique(_ members: [Int64]) -> [Int64] {
        var seen: Set<Int64> = []
        return members.filter { seen.insert($0).inserted }
    }

    private func set(_ place: Int64, _ member: Int64) throws(StoreError) {
        write.bind(place, at: 1)
        write.bind(owner, at: 2)
        write.bind(member, at: 3)
        try write.run()
    }

    /// Writes places that ascend in an order. As many members as possible keep the place that is known of them.
    private func place(_ order: [Int64], known: [Int64: Int64]) throws(StoreError) {
        let kept = Self.longestAscending(order.map { known[$0] })
        var places: [Int64?] = Array(repeating: nil, count: order.count)
        for index in kept { places[index] = known[order[index]] }
        var index = 0
        while index < order.count {
            if places[index] != nil {
                index += 1
                continue
            }
            let end = (index..<order.count).first { places[$0] != nil } ?? order.count
            let count = Int64(end - index)
            let low = index == 0 ? nil : places[index - 1]
            let high = end == order.count ? nil : places[end]
            guard let start = Self.spread(count, low, high) else { return try renumber(order) }
            for offset in 0..<count { places[index + Int(offset)] = start.first + offset * start.step }
            index = end
        }
        for (index, member) in order.enumerated() {
            if let place = places[index], place != known[member] { try set(place, member) }
        }
    }

    private func renumber(_ order: [Int64]) throws(StoreError) {
        for (index, member) in order.enumerated() { try set(Int64(index + 1) * Self.gap, member) }
    }

    /// Places for some members between two others; nil if there is no room.
    private static func spread(_ count: Int64, _ low: Int64?, _ high: Int64?) -> (first: Int64, step: Int64)? {
        switch (low, high) {
        case (nil, nil): return (gap, gap)
        case (let low?, nil):
            guard low < Int64.max - (count + 1) * gap else { return nil }
            return (low + gap, gap)
        case (nil, let high?):
            guard high > Int64.min + (count + 1) * gap else { return nil }
            return (high - count * gap, gap)
        case (let low?, let high?):
            let (room, overflow) = high.subtractingReportingOverflow(low)
            guard !overflow, room / (count + 1) >= 1 else { return nil }
            return (low + room / (count + 1), room / (count + 1))
        }
    }

    /// The positions of a longest ascending subsequence (patience sorting with back pointers).
    private static func longestAscending(_ values: [Int64?]) -> [Int] {
        var tails: [Int] = []
        var previous = Array(repeating: -1, count: values.count)
        for (index, value) in values.enumerated() {
            guard let value else { continue }
            var low = 0
            var high = tails.count
            while low < high {
                let middle = (low + high) / 2
                if (values[tails[middle]] ?? .min) < value { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = tails[low - 1] }
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var result: [Int] = []
        var next = tails.last ?? -1
        while next >= 0 {
            result.append(next)
            next = previous[next]
        }
        return result.reversed()
    }
}
