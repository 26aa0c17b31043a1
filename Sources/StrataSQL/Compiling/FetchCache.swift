/// Translated fetches by shape: what a store makes of a fetch before it knows the constants.
package struct FetchCache<Fetch> {
    @usableFromInline
    package struct Entry {
        @usableFromInline let key: FetchShape.Key
        @usableFromInline let fetch: Fetch
        @usableFromInline var lastUse: Int

        @usableFromInline
        init(key: FetchShape.Key, fetch: Fetch, lastUse: Int) {
            self.key = key
            self.fetch = fetch
            self.lastUse = lastUse
        }
    }

    @usableFromInline package var buckets: [[Entry]] = Array(repeating: [], count: 64)
    private var count = 0
    @usableFromInline package var useCount = 0

    /// Bounds the fetches that are kept, for programs that generate many distinct requests.
    private static var limit: Int { 256 }

    package init() {}

    /// The fetch of a shape, which counts as used.
    @inlinable
    package mutating func find(_ key: FetchShape.Key) -> Fetch? {
        let bucket = key.hash & 63
        guard let index = buckets[bucket].firstIndex(where: { $0.key == key }) else { return nil }
        useCount &+= 1
        buckets[bucket][index].lastUse = useCount
        return buckets[bucket][index].fetch
    }

    package mutating func insert(_ fetch: Fetch, _ key: FetchShape.Key) {
        if count >= Self.limit { forgetOldFetches() }
        count += 1
        useCount &+= 1
        buckets[key.hash & 63].append(Entry(key: key, fetch: fetch, lastUse: useCount))
    }

    /// Forgets the half that has not been used for longest.
    private mutating func forgetOldFetches() {
        let middle = buckets.joined().map(\.lastUse).sorted()[count / 2]
        for index in buckets.indices { buckets[index].removeAll { $0.lastUse <= middle } }
        count = buckets.reduce(0) { $0 + $1.count }
    }
}

extension FetchCache: Sendable where Fetch: Sendable {}
extension FetchCache.Entry: Sendable where Fetch: Sendable {}

extension CompiledFetch {
    /// Conditions of this size, in bytes of the SQL, are not kept.
    package static let sizeLimit = 100_000

    /// Whether other fetches of the shape are likely to use it.
    package var isKept: Bool { isReusable && sql.utf8.count < Self.sizeLimit }
}
