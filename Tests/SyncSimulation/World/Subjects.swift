import SeededRandom

/// What the clients of a simulation work on.
struct Subjects {
    /// The entities that objects are made and changed of, as often as they are named here.
    let entities: [String]
    /// How many keys there are for counters, which are used again.
    let keys: Int

    private static let all = ["Folder", "Item", "Item", "Item", "Special", "Tag", "Counter", "Counter", "Device"]
    /// Changes of few things meet each other more often.
    private static let few = [
        ["Counter"], ["Folder", "Item"], ["Item", "Tag"], ["Item", "Device"], ["Folder", "Special", "Counter"],
    ]

    init(_ random: inout SplitMix64) {
        let isNarrow = random.chance(0.4)
        entities = isNarrow ? random.one(of: Self.few) : Self.all
        keys = isNarrow ? 2 : 6
    }
}
