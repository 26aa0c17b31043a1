/// Hands out keys from blocks that the store reserves, so that an object has its final key before it is saved.
///
/// A store that cannot reserve keys, because it is read-only, full or locked, does not make an insert fail: keys then
/// come from a random run far above all reserved ones. They are valid keys; the save reports what is wrong with the
/// store.
struct KeySupply {
    private struct Block {
        var next: Int64 = 0
        var end: Int64 = 0
        var size = 16
    }

    private var blocks: [Int: Block] = [:]
    private static let largestBlock = 4096

    mutating func next(rootIndex: Int, store: any PersistentStore) -> Int64 {
        var block = blocks[rootIndex] ?? Block()
        if block.next == block.end {
            block.size = min(block.size * 2, Self.largestBlock)
            if let range = try? store.allocateKeys(block.size, rootIndex: rootIndex) {
                block.next = range.lowerBound
                block.end = range.upperBound
            } else {
                block.next = Int64.random(in: 1 << 61..<1 << 62)
                block.end = block.next + Int64(Self.largestBlock)
            }
        }
        defer {
            block.next += 1
            blocks[rootIndex] = block
        }
        return block.next
    }
}
