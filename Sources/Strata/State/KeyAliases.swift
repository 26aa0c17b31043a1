/// The IDs of new objects that became rows of other keys, or gave way to them. The newest ``limit`` are kept.
struct KeyAliases {
    static let limit = 10_000

    private var keys: [ObjectID: Int64] = [:]
    private var order: [ObjectID] = []

    @inline(__always)
    var isEmpty: Bool { keys.isEmpty }

    subscript(id: ObjectID) -> Int64? { keys[id] }

    mutating func add(_ id: ObjectID, _ key: Int64) {
        if keys.updateValue(key, forKey: id) == nil { order.append(id) }
        guard order.count > 2 * Self.limit else { return }
        let old = order.prefix(order.count - Self.limit)
        for id in old { keys[id] = nil }
        order.removeFirst(old.count)
    }
}
