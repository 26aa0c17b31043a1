import StrataStore

/// Finds out which to-many relationships show other members, or another order, than at the last boundary.
///
/// Members by a to-one inverse are found from the rows at the other end, pairs from what they were before. Only where the
/// answer is not in memory the members are loaded.
final class MemberComparison {
    /// What a boundary says about the members by a to-one relationship.
    private struct Moves {
        /// The owners that have gained or lost a member.
        var owners: Set<Int64> = []
        /// Whether there are members of which it is not known where they belonged.
        var isUnknown = false
    }

    private let core: ContextCore
    private let changes: BoundaryChanges
    private var moves: [RelationshipDescription: Moves] = [:]
    private var answers: [MembersOfObject: Bool] = [:]

    init(_ changes: BoundaryChanges, _ core: ContextCore) {
        self.changes = changes
        self.core = core
    }

    /// Whether the relationship of an object that is shown now and was before has changed. It counts as changed if it cannot
    /// be read now.
    func hasChanged(_ object: ManagedObject, _ index: Int) -> Bool {
        let side = MembersOfObject(object: object, index: index)
        if let known = answers[side] { return known }
        let answer = (try? compare(side)) ?? true
        answers[side] = answer
        return answer
    }

    /// Whether an owner has gained or lost members of a relationship with a to-one inverse.
    func hasMoved(to owner: Int64, _ relationship: RelationshipDescription) -> Bool {
        guard let slot = core.model.inverse(of: relationship)?.slot,
            let moves = try? moves(of: relationship, slot)
        else { return false }
        return moves.isUnknown || moves.owners.contains(owner)
    }

    private func compare(_ side: MembersOfObject) throws(PersistenceError) -> Bool {
        let object = side.object
        let relationship = object.relationship(toMany: side.index)
        let before = changes.members[side]
        if let slot = core.model.inverse(of: relationship)?.slot {
            let moves = try moves(of: relationship, slot)
            if moves.owners.contains(object.key) || (moves.isUnknown && before?.all == nil) { return true }
        } else if let before {
            for (key, pair) in before.pairs where try pair != current(side, key, relationship) { return true }
        }
        guard let all = before?.all else { return false }
        let now = try object.loadedMembers(toMany: side.index).objects.map(\.key)
        return relationship.isOrdered ? now != all : now.count != all.count || Set(now) != Set(all)
    }

    // MARK: Pairs

    private func current(
        _ side: MembersOfObject, _ key: Int64, _ relationship: RelationshipDescription
    ) throws(PersistenceError) -> MembersBefore.Pair {
        func look() -> MembersBefore.Pair {
            side.object.pair(toMany: side.index, key, core.object(relationship.destinationIndex, key))
        }
        let known = look()
        guard known == .unknown else { return known }
        _ = try side.object.loadedMembers(toMany: side.index)
        return look()
    }

    // MARK: Members by a to-one relationship

    private func moves(of relationship: RelationshipDescription, _ slot: Int) throws(PersistenceError) -> Moves {
        if let known = moves[relationship] { return known }
        let model = core.model
        let destination = model.entities[relationship.destinationIndex]
        var result = Moves()
        var touched: Set<Int64> = []
        var touches: [ObjectTouch] = []
        var faults: [ManagedObject] = []
        for touch in changes.objects
        where touch.object.binding.entity.descends(from: destination.index, in: model) && !touch.isOnlyFilled {
            touches.append(touch)
            touched.formUnion([touch.key, touch.object.key])
            if touch.object.isShown, touch.object.isFault { faults.append(touch.object) }
        }
        try core.faults.fill(faults)
        for touch in touches {
            if touch.wasShown, touch.row == nil {
                result.isUnknown = true
                continue
            }
            let before = touch.wasShown ? touch.row?.target(slot) : nil
            let after = touch.object.isShown ? touch.object.targetKey(slot) : nil
            if before != after { result.owners.formUnion([before, after].compactMap(\.self)) }
        }
        noteRows(destination, slot, besides: touched, &result)
        moves[relationship] = result
        return result
    }

    /// Adds what others wrote to rows of which the context had no object.
    private func noteRows(
        _ destination: EntityDescription, _ slot: Int, besides touched: Set<Int64>, _ result: inout Moves
    ) {
        var rows: [Int64: (before: Int64?, after: Int64?)] = [:]
        for touch in changes.rows {
            let key = touch.identity.key
            guard core.rootIndex(of: touch.identity.entityIndex) == destination.rootIndex, touch.toManyIndex == nil,
                !touched.contains(key), touch.slots?.contains(slot) != false
            else { continue }
            let isKnown =
                switch touch.kind {
                case .inserted: touch.after != nil
                case .updated: touch.before != nil && touch.after != nil
                case .deleted: touch.before != nil
                case .unknown: false
                }
            guard isKnown else {
                result.isUnknown = true
                continue
            }
            let before = rows[key].map(\.before) ?? (touch.kind == .inserted ? nil : touch.before?.target(slot))
            rows[key] = (before, touch.kind == .deleted ? nil : touch.after?.target(slot))
        }
        for row in rows.values where row.before != row.after {
            result.owners.formUnion([row.before, row.after].compactMap(\.self))
        }
    }
}

extension RowReference {
    /// The key in a slot of a to-one relationship.
    fileprivate func target(_ slot: Int) -> Int64? {
        slot < row.slotCount && row.isPresent(slot) ? Int64(bitPattern: row.word(slot)) : nil
    }
}
