import StrataStore

/// What is known in memory of saves that go to the server immediately, without the outbox.
struct OnlineSaves: Sendable {
    /// The order of saves of the same objects.
    let turns = SaveTurns()
    /// New objects that are being sent.
    let births = Births()
    /// Writes whose answers were lost.
    let unknown = UnknownWrites()

    /// New objects that the server had from saves without an answer, and that others have deleted since, by topmost entity
    /// and key.
    let deleted = Guarded<Set<RowIdentity>>([])

    /// Objects whose waiting changes are known to be in conflict with the server, by topmost entity and key. Saves cannot pass
    /// them before the conflict is decided, so what they refer to does not hold them back.
    let undecided = Guarded<Set<RowIdentity>>([])

    /// Objects with changes in the outbox that were not joined with an earlier one, because a save was under way that takes the
    /// earlier one along; by topmost entity and key.
    let unjoined = Guarded<Set<RowIdentity>>([])

    /// Those of some objects of which contexts have saves under way, or without an answer, in a fixed order.
    func open(among objects: Set<RowIdentity>) -> [RowIdentity] {
        var result = turns.active(among: objects)
        if !unknown.isEmpty { result.formUnion(objects.filter { !unknown.others(of: $0, besides: nil).isEmpty }) }
        return result.sorted { ($0.entityIndex, $0.key) < ($1.entityIndex, $1.key) }
    }

    /// Nobody repeats the saves that got no answer.
    /// - Parameter isForgotten: Whose they are, by the topmost entity; nil for all.
    func forget(_ isForgotten: ((RemoteIdentity) -> Bool)? = nil) {
        unknown.remove(isForgotten)
        births.forget(isForgotten)
        guard isForgotten == nil else { return }
        deleted.withLock { $0 = [] }
        undecided.withLock { $0 = [] }
    }

    /// Nothing waits of an object any more, and nothing is remembered of it.
    func forget(_ identity: RowIdentity) {
        deleted.withLock { _ = $0.remove(identity) }
        undecided.withLock { _ = $0.remove(identity) }
    }
}
