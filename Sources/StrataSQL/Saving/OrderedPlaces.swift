import StrataStore

/// The places of the members of one owner in an ordered relationship.
///
/// Places are integers with gaps, so that a move writes one row; where a gap is used up, all places of the owner are
/// given again. Members without a place come last, by key.
package struct OrderedPlaces {
    private static let gap: Int64 = 1024

    /// A member and its place.
    package typealias Member = (key: Int64, place: Int64?)

    private let current: [Member]
    private var written: [(member: Int64, place: Int64)] = []

    /// The place before the first one.
    private let start: Int64

    private init(_ current: [Member], start: Int64) {
        self.current = current
        self.start = start
    }

    /// The places to write for a change.
    /// - Parameters:
    ///   - current: The members in their order, those without a place last.
    ///   - start: The first place is one gap after it.
    package static func changes(
        _ kind: ChangeSet.OrderChange.Kind, to current: [Member], start: Int64 = 0
    ) -> [(member: Int64, place: Int64)] {
        var places = OrderedPlaces(current, start: start)
        switch kind {
        case .append(let members): places.append(members)
        case .arrange(let members): places.arrange(members)
        }
        return places.written
    }

    /// Puts members after the last one in the given order.
    private mutating func append(_ members: [Int64]) {
        let added = Set(members)
        let others = current.filter { !added.contains($0.key) }
        // Members without a place would come after the new ones.
        if others.contains(where: { $0.place == nil }) {
            return place(others.map(\.key) + unique(members), known: [:])
        }
        var last = others.last?.place ?? start
        guard last < Int64.max - Int64(members.count + 1) * Self.gap else {
            return place(others.map(\.key) + unique(members), known: [:])
        }
        for member in unique(members) {
            last += Self.gap
            set(last, member)
        }
    }

    /// Arranges the members as given. Those that are not named stay after the one that they follow now.
    private mutating func arrange(_ members: [Int64]) {
        let now = current
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
        place(order, known: known)
    }

    private func unique(_ members: [Int64]) -> [Int64] {
        var seen: Set<Int64> = []
        return members.filter { seen.insert($0).inserted }
    }

    private mutating func set(_ place: Int64, _ member: Int64) { written.append((member, place)) }

    /// Writes places that ascend in an order. As many members as possible keep the place that is known of them.
    private mutating func place(_ order: [Int64], known: [Int64: Int64]) {
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
            guard let room = spread(count, low, high) else { return renumber(order) }
            for offset in 0..<count { places[index + Int(offset)] = room.first + offset * room.step }
            index = end
        }
        for (index, member) in order.enumerated() {
            if let place = places[index], place != known[member] { set(place, member) }
        }
    }

    private mutating func renumber(_ order: [Int64]) {
        for (index, member) in order.enumerated() { set(start + Int64(index + 1) * Self.gap, member) }
    }

    /// Places for some members between two others; nil if there is no room.
    private func spread(_ count: Int64, _ low: Int64?, _ high: Int64?) -> (first: Int64, step: Int64)? {
        let gap = Self.gap
        switch (low, high) {
        case (nil, nil): return (start + gap, gap)
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

/// The statements that read and write the places of the members of one owner.
package struct OrderStatements {
    /// Reads the members and their places, in order; the owner is the parameter.
    package let read: String
    /// Writes a place; the parameters are place, owner and member.
    package let write: String

    /// - Returns: nil if the relationship has no order.
    package init?(layout: StoreLayout, _ change: ChangeSet.OrderChange) {
        guard let columns = layout.orderColumns(of: change) else { return nil }
        let (member, owner, place) = (columns.member, columns.owner, columns.place)
        let numbers = [1, 2, 3].map { layout.dialect.parameter($0, .integer, isList: false) }
        read =
            "SELECT \(member), \(place) FROM \(columns.table) WHERE \(owner) = \(numbers[0]) "
            + "ORDER BY \(place) IS NULL, \(place), \(member)"
        write =
            "UPDATE \(columns.table) SET \(place) = \(numbers[0]) WHERE \(owner) = \(numbers[1]) "
            + "AND \(member) = \(numbers[2])"
    }
}
