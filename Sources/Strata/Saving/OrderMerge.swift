/// Merges the orders of one list that two sides changed.
enum OrderMerge {
    /// The arranged members in their order; members that only the other list has keep their place after the one that
    /// they follow there.
    static func merge<T: Hashable>(_ arranged: [T], with other: [T]) -> [T] {
        let known = Set(arranged)
        // What follows each arranged member, in order; at nil what comes before all of them.
        var followers: [T?: [T]] = [:]
        var place: T?
        for element in other {
            if known.contains(element) { place = element } else { followers[place, default: []].append(element) }
        }
        guard !followers.isEmpty else { return arranged }
        var result = followers[nil] ?? []
        for element in arranged {
            result.append(element)
            if let more = followers[element] { result += more }
        }
        return result
    }
}
