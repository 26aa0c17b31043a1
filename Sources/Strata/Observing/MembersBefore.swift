/// A to-many relationship of one object.
struct MembersOfObject: Hashable {
    let object: ManagedObject
    let index: Int
}

/// A to-many relationship as it was at the last boundary, as far as that is known.
struct MembersBefore {
    enum Pair {
        case shown, hidden
        /// The members were not loaded.
        case unknown
    }

    /// Many-to-many pairs that have been changed since, by the key of the member.
    private(set) var pairs: [Int64: Pair] = [:]
    /// All members, in their order if there is one, where they were loaded and the whole relationship has been changed.
    private(set) var all: [Int64]?

    /// Notes a pair before its first change.
    mutating func note(_ key: Int64, _ pair: Pair) {
        if pairs[key] == nil { pairs[key] = pair }
    }

    /// Notes the pairs that are pending, before they are dropped.
    mutating func notePending(_ state: ToManyState) {
        for key in state.added.keys { note(key, .shown) }
        for key in state.removed.keys { note(key, .hidden) }
    }

    /// Notes all members, if they are loaded, before the first change.
    mutating func noteAll(_ state: ToManyState) {
        if all == nil, pairs.isEmpty { all = state.members?.objects.map(\.key) }
    }
}

extension ManagedObject {
    /// Whether a many-to-many relationship shows a member, as far as that is known without reading.
    final func pair(toMany index: Int, _ key: Int64, _ member: @autoclosure () -> ManagedObject?) -> MembersBefore.Pair
    {
        guard let state = extras?.toMany(index) else { return .unknown }
        if state.added[key] != nil { return .shown }
        if state.removed[key] != nil { return .hidden }
        guard let members = state.members else { return .unknown }
        return member().map(members.contains) == true ? .shown : .hidden
    }
}
