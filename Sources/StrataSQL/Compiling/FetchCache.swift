/// Where a store keeps what it made of fetches, by their shape: its place in an array of the store.
///
/// It does not keep them itself, because every fetch asks: a type that is generic over what it keeps would look up the types
/// of its arrays at run time each time.
package struct FetchCache: Sendable {
    private struct Entry {
        let key: FetchShape.Key
        let place: Int
        var lastUse: Int
    }

    /// Bounds the fetches that are kept, for programs that generate many distinct requests.
    private static let limit = 256

    private var buckets: [[Entry]] = Array(repeating: [], count: 64)
    private var placeCount = 0
    private var freePlaces: [Int] = []
    private var useCount = 0

    package init() {}

    /// The place of the fetch of a shape, which counts as used; nil if the fetch is to be made.
    package mutating func find(_ key: FetchShape.Key) -> Int? {
        let bucket = key.hash & 63
        guard let index = buckets[bucket].firstIndex(where: { $0.key == key }) else { return nil }
        useCount &+= 1
        buckets[bucket][index].lastUse = useCount
        return buckets[bucket][index].place
    }

    /// A place for the fetch of a shape that has none: the next one, or one whose fetch is not asked for again.
    package mutating func insert(_ key: FetchShape.Key) -> Int {
        let place = nextPlace()
        useCount &+= 1
        buckets[key.hash & 63].append(Entry(key: key, place: place, lastUse: useCount))
        return place
    }

    private mutating func nextPlace() -> Int {
        if freePlaces.isEmpty, placeCount == Self.limit { forgetOldFetches() }
        if let place = freePlaces.popLast() { return place }
        placeCount += 1
        return placeCount - 1
    }

    /// Forgets the half that has not been used for longest.
    private mutating func forgetOldFetches() {
        let middle = buckets.joined().map(\.lastUse).sorted()[Self.limit / 2]
        for index in buckets.indices {
            freePlaces += buckets[index].filter { $0.lastUse <= middle }.map(\.place)
            buckets[index].removeAll { $0.lastUse <= middle }
        }
    }
}

extension CompiledFetch {
    /// Conditions of this size, in bytes of the SQL, are not kept.
    package static let sizeLimit = 100_000

    /// Whether other fetches of the shape are likely to use it.
    package var isKept: Bool { isReusable && sql.utf8.count < Self.sizeLimit }
}
