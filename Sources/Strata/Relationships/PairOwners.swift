/// Knows which objects may have loaded the members of a many-to-many relationship, so that a delete elsewhere looks at
/// these only. Some may have forgotten their members again.
final class PairOwners: ContextPart {
    private struct Owners {
        var keys: Set<Int64> = []
        /// The size at which those that are gone are swept out.
        var sweepSize = 64
    }

    private var sides: [ToManySide: Owners] = [:]

    /// Notes owners.
    func add(_ keys: some Sequence<Int64>, _ side: ToManySide) {
        var owners = sides[side] ?? Owners()
        owners.keys.formUnion(keys)
        if owners.keys.count >= owners.sweepSize {
            owners.keys = owners.keys.filter { loaded($0, side) != nil }
            owners.sweepSize = max(64, owners.keys.count * 2)
        }
        sides[side] = owners
    }

    /// The owners that have loaded their members, kept alive by the answer.
    func owners(_ side: ToManySide) -> [(owner: ManagedObject, state: ToManyState)] {
        guard let keys = sides[side]?.keys else { return [] }
        return keys.compactMap { key in
            guard let found = loaded(key, side) else {
                sides[side]?.keys.remove(key)
                return nil
            }
            return found
        }
    }

    func removeAll() { sides = [:] }

    private func loaded(_ key: Int64, _ side: ToManySide) -> (owner: ManagedObject, state: ToManyState)? {
        guard let owner = core.object(side.rootIndex, key), let state = owner.extras?.toMany(side.toManyIndex),
            state.members != nil
        else { return nil }
        return (owner, state)
    }
}
