import Synchronization

/// The sections of a live list: how many entries follow one after another with the same section value.
struct SectionRuns: Sendable {
    struct Run: Sendable {
        let value: Value
        var count: Int
        /// Which section this is, in this state and those that follow it: to compare numbers takes no time, and to compare
        /// texts does.
        let number = Run.counter.add(1, ordering: .relaxed).newValue

        private static let counter = Atomic(0)
    }

    /// Stands for a list of section values: two states that have the same one have the same sections.
    final class Identity: Sendable {}

    private(set) var runs: [Run] = []
    private(set) var identity = Identity()

    init() {}

    /// The sections of entries in their order.
    init(_ entries: some Sequence<LiveEntry>) {
        for entry in entries {
            if let last = runs.last, ValueComparison.areEqual(last.value, entry.section) {
                runs[runs.count - 1].count += 1
            } else {
                runs.append(Run(value: entry.section, count: 1))
            }
        }
    }

    mutating func insert(_ entry: LiveEntry, _ order: LiveOrder) {
        let index = search(entry.section, order)
        if index < runs.count, ValueComparison.areEqual(runs[index].value, entry.section) {
            runs[index].count += 1
        } else {
            runs.insert(Run(value: entry.section, count: 1), at: index)
            identity = Identity()
        }
    }

    mutating func remove(_ entry: LiveEntry, _ order: LiveOrder) {
        let index = search(entry.section, order)
        runs[index].count -= 1
        guard runs[index].count == 0 else { return }
        runs.remove(at: index)
        identity = Identity()
    }

    private func search(_ value: Value, _ order: LiveOrder) -> Int {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if order.isSectionInOrder(runs[middle].value, value) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Section and place in it of a position in the list.
    func place(_ position: Int) -> ResultsPosition {
        var rest = position
        for index in runs.indices {
            let count = runs[index].count
            if rest < count { return ResultsPosition(index: position, section: index, item: rest) }
            rest -= count
        }
        return ResultsPosition(index: position, section: 0, item: position)
    }
}
