/// The entries of a live list in their order, in chunks: to insert, remove or find one costs a search and a short move,
/// whatever the length; and a copy, which a difference keeps of what was before, shares all chunks that stay the same.
struct OrderedEntries: Sendable {
    /// A chunk is split when it is longer than this.
    private static let mostInChunk = 256

    private(set) var chunks: [[LiveEntry]] = []
    /// The lengths of the chunks, next to each other, to be summed up.
    private var counts: [Int] = []
    private(set) var count = 0
    let order: LiveOrder

    init(order: LiveOrder) { self.order = order }

    /// Takes entries that are in order.
    init(order: LiveOrder, sorted entries: [LiveEntry]) {
        self.order = order
        let size = Self.mostInChunk * 3 / 4
        chunks = stride(from: 0, to: entries.count, by: size).map { start in
            Array(entries[start..<min(start + size, entries.count)])
        }
        counts = chunks.map(\.count)
        count = entries.count
    }

    var last: LiveEntry? { chunks.last?.last }

    /// All entries in order.
    var all: [LiveEntry] { chunks.flatMap(\.self) }

    subscript(position: Int) -> LiveEntry {
        let (chunk, offset) = place(position)
        return chunks[chunk][offset]
    }

    /// The entries at some positions.
    func slice(_ range: Range<Int>) -> [LiveEntry] {
        guard !range.isEmpty else { return [] }
        var result: [LiveEntry] = []
        result.reserveCapacity(range.count)
        var (chunk, offset) = place(range.lowerBound)
        while result.count < range.count {
            let end = min(chunks[chunk].count, offset + range.count - result.count)
            result += chunks[chunk][offset..<end]
            chunk += 1
            offset = 0
        }
        return result
    }

    private func place(_ position: Int) -> (chunk: Int, offset: Int) {
        precondition(position >= 0 && position < count, "position \(position) is outside of a list of \(count) objects")
        var rest = position
        var chunk = 0
        while rest >= counts[chunk] {
            rest -= counts[chunk]
            chunk += 1
        }
        return (chunk, rest)
    }

    /// The position of an entry, which the list must have.
    func position(of entry: LiveEntry) -> Int {
        let (chunk, offset) = search(entry)
        return before(chunk) + offset
    }

    /// Inserts an entry that the list does not have.
    mutating func insert(_ entry: LiveEntry) {
        count += 1
        guard !chunks.isEmpty else {
            chunks = [[entry]]
            counts = [1]
            return
        }
        let (chunk, offset) = search(entry)
        chunks[chunk].insert(entry, at: offset)
        counts[chunk] += 1
        guard counts[chunk] > Self.mostInChunk else { return }
        let half = counts[chunk] / 2
        chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
        chunks[chunk].removeSubrange(half...)
        counts.insert(chunks[chunk + 1].count, at: chunk + 1)
        counts[chunk] = half
    }

    /// Removes an entry that the list has.
    mutating func remove(_ entry: LiveEntry) {
        let (chunk, offset) = search(entry)
        precondition(chunks[chunk][offset] === entry, "a live list lost an entry")
        remove(chunk, offset)
    }

    /// Removes the last entry.
    mutating func removeLast() -> LiveEntry {
        let chunk = chunks.count - 1
        let entry = chunks[chunk][counts[chunk] - 1]
        remove(chunk, counts[chunk] - 1)
        return entry
    }

    private mutating func remove(_ chunk: Int, _ offset: Int) {
        count -= 1
        chunks[chunk].remove(at: offset)
        counts[chunk] -= 1
        guard counts[chunk] == 0 else { return }
        chunks.remove(at: chunk)
        counts.remove(at: chunk)
    }

    private func before(_ chunk: Int) -> Int {
        var sum = 0
        for index in 0..<chunk { sum += counts[index] }
        return sum
    }

    /// The first place at which no smaller entry stands: that of the entry itself, or where it belongs.
    private func search(_ entry: LiveEntry) -> (chunk: Int, offset: Int) {
        var low = 0
        var high = chunks.count - 1
        // The first chunk whose last entry is not smaller; the last chunk if all are.
        while low < high {
            let middle = (low + high) / 2
            if order.isInOrder(chunks[middle][counts[middle] - 1], entry) { low = middle + 1 } else { high = middle }
        }
        let chunk = low
        low = 0
        high = counts[chunk]
        while low < high {
            let middle = (low + high) / 2
            if order.isInOrder(chunks[chunk][middle], entry) { low = middle + 1 } else { high = middle }
        }
        return (chunk, low)
    }
}
