import StrataSQLite
import StrataStore

/// New objects on their way to the server in an online save. The server may report them before the save is in the
/// mirror; they would get other keys there than contexts know them by. Until the outcome of the save is known, they are
/// left out of all answers, and read again afterwards.
final class Births: Sendable {
    private struct State {
        /// The objects that saves create right now.
        var active: Set<RemoteIdentity> = []
        /// The objects whose save has ended without an answer, and where their context has them; nil if the store is used without
        /// one. They stay so until the save is repeated, or given up.
        var unknown: [RemoteIdentity: ChangeSource.Draft?] = [:]
    }

    private let state = Guarded(State())

    /// Whether there are none.
    var isEmpty: Bool { state.withLock { $0.active.isEmpty && $0.unknown.isEmpty } }

    /// A save begins to send new objects, named by the topmost entity of the hierarchy.
    func begin(_ identities: [RemoteIdentity]) {
        guard !identities.isEmpty else { return }
        state.withLock { $0.active.formUnion(identities) }
    }

    /// The saves are in the mirror, or the server is known not to have carried them out.
    func end(_ identities: [RemoteIdentity]) {
        guard !identities.isEmpty else { return }
        state.withLock { state in
            state.active.subtract(identities)
            for identity in identities { state.unknown[identity] = nil }
        }
    }

    /// A save has ended, and the server may have carried it out.
    /// - Parameter draft: What the context has to save; nil if there is none.
    func leave(_ identity: RemoteIdentity, _ draft: ChangeSource.Draft?) {
        state.withLock { state in
            state.active.remove(identity)
            state.unknown.updateValue(draft, forKey: identity)
        }
    }

    /// Saves that got no answer are not repeated: what they have made is told as any object.
    func forget(_ isForgotten: ((RemoteIdentity) -> Bool)?) {
        state.withLock { state in state.unknown = state.unknown.filter { !(isForgotten?($0.key) ?? true) } }
    }

    /// Whether the outcome of a save that creates an object is not known yet, and the save may be repeated.
    func isUnderWay(_ identity: RemoteIdentity) -> Bool {
        state.withLock { state in
            if state.active.contains(identity) { return true }
            guard let draft = state.unknown[identity] else { return false }
            guard draft?.isDropped == true else { return true }
            state.unknown[identity] = nil
            return false
        }
    }

    /// Waits up to a second for saves that create objects of an answer, so that a fetch gives them, too. A save that takes
    /// longer, because the server asks it to wait for instance, holds nobody up.
    func wait(for page: RemotePage, _ model: ManagedObjectModel, _ clock: any RemoteClock) async {
        guard state.withLock({ !$0.active.isEmpty }) else { return }
        let told = Set(
            page.records.compactMap { record in
                model.entity(named: record.entity).map { RemoteIdentity(entity: $0.rootName, id: record.id) }
            })
        for _ in 0..<100 {
            if state.withLock({ $0.active.isDisjoint(with: told) }) { return }
            try? await clock.sleep(seconds: 0.01)
        }
    }
}
