/// Compares two states of a live list.
struct DifferenceMaker {
    let old: ResultsSnapshot
    let new: ResultsSnapshot
    /// What is known of the objects that changed: names of properties by key. Those without an entry did not change, unless
    /// they came or went.
    let changed: [Int64: Set<String>]
    /// Whether another entry of an object means that the object changed: not if another thing is asked now.
    var comparesEntries = true
    /// Why an object left.
    let reason: (Int64) -> ResultsDifference.Reason

    private struct Survivor {
        let key: Int64
        let from: Int
        let to: Int
        /// Whether it changed its section, which is a move wherever it stands.
        let isForced: Bool
        let isChanged: Bool
    }

    // MARK: Known changes

    /// The difference, where it is known which objects may be in other places: all others kept their order among each other.
    /// - Parameter touched: The entries before and after of these, by key.
    func difference(
        touched: [Int64: (old: LiveEntry?, new: LiveEntry?)]
    ) -> ResultsDifference {
        var result = sections()
        var deleted: [(Int, LiveEntry)] = []
        var inserted: [(Int, LiveEntry)] = []
        var stayed: [(key: Int64, from: Int, to: Int, old: LiveEntry, new: LiveEntry)] = []
        for (key, entry) in touched {
            switch entry {
            case (let before?, nil): deleted.append((old.entries.position(of: before), before))
            case (nil, let after?): inserted.append((new.entries.position(of: after), after))
            case (let before?, let after?):
                stayed.append(
                    (key, old.entries.position(of: before), new.entries.position(of: after), before, after))
            case (nil, nil): break
            }
        }
        let oldPlaces = (deleted.map(\.0) + stayed.map(\.from)).sorted()
        let newPlaces = (inserted.map(\.0) + stayed.map(\.to)).sorted()
        var inPlace: [Survivor] = []
        var moved: [Survivor] = []
        for item in stayed {
            let isForced = !ValueComparison.areEqual(item.old.section, item.new.section)
            let survivor = Survivor(
                key: item.key, from: item.from, to: item.to, isForced: isForced, isChanged: changed[item.key] != nil)
            // How many of the others come before it.
            let before = item.from - Self.rank(item.from, in: oldPlaces)
            let after = item.to - Self.rank(item.to, in: newPlaces)
            if isForced || before != after { moved.append(survivor) } else { inPlace.append(survivor) }
        }
        inPlace.sort { $0.to < $1.to }
        let kept = Self.longestRun(inPlace.map { ($0.from, 0) })
        for (index, survivor) in inPlace.enumerated() {
            if !kept.contains(index) { moved.append(survivor) }
        }
        let keptKeys = kept.map { inPlace[$0] }
        fill(&result, deleted: deleted, inserted: inserted, moved: moved, updated: keptKeys.filter(\.isChanged))
        return result
    }

    private static func rank(_ position: Int, in sorted: [Int]) -> Int {
        var low = 0
        var high = sorted.count
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Anything

    /// The difference, where nothing is known.
    func difference() -> ResultsDifference {
        var result = sections()
        let before = old.visible
        let after = new.visible
        // What is the same at both ends needs no look.
        var head = 0
        while head < before.count, head < after.count, before[head] === after[head] { head += 1 }
        var tail = 0
        while tail < before.count - head, tail < after.count - head,
            before[before.count - 1 - tail] === after[after.count - 1 - tail]
        {
            tail += 1
        }
        let oldRange = head..<(before.count - tail)
        let newRange = head..<(after.count - tail)
        var places: [Int64: Int] = [:]
        for position in oldRange { places[before[position].key] = position }
        var inserted: [(Int, LiveEntry)] = []
        var survivors: [Survivor] = []
        for position in newRange {
            let entry = after[position]
            guard let from = places.removeValue(forKey: entry.key) else {
                inserted.append((position, entry))
                continue
            }
            survivors.append(
                Survivor(
                    key: entry.key, from: from, to: position,
                    isForced: !ValueComparison.areEqual(before[from].section, entry.section),
                    isChanged: changed[entry.key] != nil || (comparesEntries && before[from] !== entry)))
        }
        let deleted = places.values.map { ($0, before[$0]) }
        let movable = survivors.filter { !$0.isForced }
        let kept = Self.longestRun(movable.map { ($0.from, $0.isChanged ? 0 : 1) })
        var moved = survivors.filter(\.isForced)
        var updated: [Survivor] = []
        for (index, survivor) in movable.enumerated() {
            if !kept.contains(index) { moved.append(survivor) } else if survivor.isChanged { updated.append(survivor) }
        }
        // At the ends stand the same entries; their objects may have changed in what does not decide their place.
        for position in Array(0..<head) + Array((after.count - tail)..<after.count) {
            let entry = after[position]
            guard changed[entry.key] != nil else { continue }
            let from = position < head ? position : position - after.count + before.count
            updated.append(Survivor(key: entry.key, from: from, to: position, isForced: false, isChanged: true))
        }
        fill(&result, deleted: deleted, inserted: inserted, moved: moved, updated: updated)
        return result
    }

    // MARK: Parts

    private func sections() -> ResultsDifference {
        var result = ResultsDifference()
        if old.runs.identity === new.runs.identity { return result }
        let before = old.runs.runs
        let after = new.runs.runs
        let order = new.entries.order
        var (i, j) = (0, 0)
        while i < before.count || j < after.count {
            if i < before.count, j < after.count,
                before[i].number == after[j].number || ValueComparison.areEqual(before[i].value, after[j].value)
            {
                i += 1
                j += 1
            } else if j >= after.count
                || (i < before.count && order.isSectionInOrder(before[i].value, after[j].value))
            {
                result.deletedSections.append(i)
                i += 1
            } else {
                result.insertedSections.append(j)
                j += 1
            }
        }
        return result
    }

    private func fill(
        _ result: inout ResultsDifference, deleted: [(Int, LiveEntry)], inserted: [(Int, LiveEntry)],
        moved: [Survivor], updated: [Survivor]
    ) {
        func change(_ survivor: Survivor) -> ResultsDifference.Change {
            .init(
                id: new[survivor.to], from: old.runs.place(survivor.from), to: new.runs.place(survivor.to),
                changedKeys: changed[survivor.key] ?? [])
        }
        result.deletes = deleted.sorted { $0.0 < $1.0 }.map { position, entry in
            .init(id: old.id(entry), from: old.runs.place(position), reason: reason(entry.key))
        }
        result.inserts = inserted.sorted { $0.0 < $1.0 }.map { position, entry in
            .init(id: new.id(entry), to: new.runs.place(position))
        }
        result.moves = moved.sorted { $0.to < $1.to }.map(change)
        result.updates = updated.sorted { $0.to < $1.to }.map(change)
    }

    /// The positions, in a list, of the elements of a longest run of increasing values; among runs of one length one with
    /// the largest sum of weights.
    private static func longestRun(_ list: [(value: Int, weight: Int)]) -> Set<Int> {
        guard list.count > 1 else { return Set(list.indices) }
        let ranks = Dictionary(uniqueKeysWithValues: list.map(\.value).sorted().enumerated().map { ($1, $0 + 1) })
        // A Fenwick tree of the best run that ends at each rank.
        var best = Array(repeating: (length: 0, weight: 0, end: -1), count: list.count + 1)
        var previous = Array(repeating: -1, count: list.count)
        var last = (length: 0, weight: 0, end: -1)
        for (index, item) in list.enumerated() {
            let rank = ranks[item.value] ?? 1
            var found = (length: 0, weight: 0, end: -1)
            var node = rank - 1
            while node > 0 {
                if (best[node].length, best[node].weight) > (found.length, found.weight) { found = best[node] }
                node -= node & -node
            }
            previous[index] = found.end
            let own = (length: found.length + 1, weight: found.weight + item.weight, end: index)
            if (own.length, own.weight) > (last.length, last.weight) { last = own }
            node = rank
            while node <= list.count {
                if (own.length, own.weight) > (best[node].length, best[node].weight) { best[node] = own }
                node += node & -node
            }
        }
        var result: Set<Int> = []
        var index = last.end
        while index >= 0 {
            result.insert(index)
            index = previous[index]
        }
        return result
    }
}
