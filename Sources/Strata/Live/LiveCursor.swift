/// How far one reader of a live list is, and what it has missed.
final class LiveCursor {
    let signal = ChangeSignal()
    /// The state that the reader has seen; nil before the first one.
    private(set) var number: Int?
    private var snapshot: ResultsSnapshot
    /// What changed since.
    private var changed: [Int64: Set<String>] = [:]
    private var reasons: [Int64: ResultsDifference.Reason] = [:]
    /// How many objects to note until those are forgotten that the reader has never seen.
    private var room = LiveCursor.leastRoom

    private static let leastRoom = 4_096

    init(_ snapshot: ResultsSnapshot) { self.snapshot = snapshot }

    /// A step was made that the reader has not seen.
    func note(_ difference: ResultsDifference, _ names: [Int64: Set<String>]) {
        guard number != nil else { return }
        for (key, more) in names { changed[key, default: []].formUnion(more) }
        for item in difference.deletes { reasons[item.id.key] = item.reason }
        if changed.count + reasons.count > room { forgetUnseen() }
    }

    /// However much comes and goes while the reader is slow, no more is kept than is about what it has seen.
    private func forgetUnseen() {
        let seen = Set(snapshot.visible.map(\.key))
        changed = changed.filter { seen.contains($0.key) }
        reasons = reasons.filter { seen.contains($0.key) }
        room = max(Self.leastRoom, 2 * (changed.count + reasons.count))
    }

    /// What the reader has not seen; nil if there is nothing.
    func take(from list: LiveList) -> ResultsUpdate? {
        defer {
            number = list.number
            snapshot = list.snapshot
            changed = [:]
            reasons = [:]
            room = Self.leastRoom
        }
        guard let number else {
            return ResultsUpdate(
                number: list.number, isInitial: true, previous: list.snapshot, snapshot: list.snapshot,
                difference: ResultsDifference())
        }
        guard number != list.number else { return nil }
        if number == list.number - 1, let last = list.lastUpdate { return last }
        let reasons = reasons
        let maker = DifferenceMaker(old: snapshot, new: list.snapshot, changed: changed) { reasons[$0] ?? .deleted }
        let difference = maker.difference()
        guard !difference.isEmpty else { return nil }
        return ResultsUpdate(
            number: list.number, isInitial: false, previous: snapshot, snapshot: list.snapshot, difference: difference)
    }
}

/// The readers of a live list.
struct LiveCursors {
    private struct Entry {
        weak var cursor: LiveCursor?
    }

    private var entries: [Entry] = []

    mutating func add(_ cursor: LiveCursor) {
        entries.removeAll { $0.cursor == nil }
        entries.append(Entry(cursor: cursor))
    }

    func note(_ difference: ResultsDifference, _ names: [Int64: Set<String>]) {
        for entry in entries { entry.cursor?.note(difference, names) }
    }

    func raise() {
        for entry in entries { entry.cursor?.signal.raise() }
    }
}
