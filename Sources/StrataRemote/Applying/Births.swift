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
        /// The objects that the server does not have yet, because it has refused them or was not asked, and where their context has
        /// them. Others that it has taken may refer to them.
        var undone: [RemoteIdentity: ChangeSource.Draft] = [:]
        /// The primary keys of objects that the server has by now, and whose contexts still have them as new ones: it has given them
        /// keys of its own, and others have changed them since.
        var names: [RemoteIdentity: (id: String, draft: ChangeSource.Draft)] = [:]
        /// How many of those there may be until the ones that no context can save any more are looked for.
        var limit = 1000

        /// A context saves all new objects that it still has.
        mutating func endUndone(of source: ChangeSource?) {
            if !undone.isEmpty { undone = undone.filter { !$0.value.isOf(source) } }
            if !names.isEmpty { names = names.filter { !$0.value.draft.isOf(source) } }
        }

        /// How many are not on their way right now.
        var count: Int { unknown.count + undone.count + names.count }

        /// Forgets what no context can save any more.
        mutating func sweep() {
            guard count > limit else { return }
            unknown = unknown.filter { $0.value?.isDropped != true }
            undone = undone.filter { !$0.value.isDropped }
            names = names.filter { !$0.value.draft.isDropped }
            limit = max(1000, 2 * count)
        }
    }

    private let state = Guarded(State())

    /// How many are remembered that are not on their way right now.
    var count: Int { state.withLock(\.count) }

    /// Whether there are none.
    var isEmpty: Bool { state.withLock { $0.active.isEmpty && $0.unknown.isEmpty && $0.undone.isEmpty } }

    /// A save begins to send new objects, named by the topmost entity of the hierarchy.
    func begin(_ identities: [RemoteIdentity], of source: ChangeSource?) {
        state.withLock { state in
            state.active.formUnion(identities)
            state.endUndone(of: source)
        }
    }

    /// A context has saved all that it had to the mirror.
    func endUndone(of source: ChangeSource?) { state.withLock { $0.endUndone(of: source) } }

    /// The saves are in the mirror, or the server is known not to have carried them out.
    func end(_ identities: [RemoteIdentity]) {
        guard !identities.isEmpty else { return }
        state.withLock { state in
            state.active.subtract(identities)
            for identity in identities {
                state.unknown[identity] = nil
                state.undone[identity] = nil
            }
        }
    }

    /// A save has ended, and the server is known not to have carried it out.
    /// - Parameter draft: What the context still has to save.
    func fail(_ identity: RemoteIdentity, _ draft: ChangeSource.Draft) {
        state.withLock { state in
            state.active.remove(identity)
            state.unknown[identity] = nil
            state.undone[identity] = draft
            state.sweep()
        }
    }

    /// The server has an object by another primary key than it was sent with, and its context still has it as a new one.
    func note(_ id: String, of identity: RemoteIdentity, _ draft: ChangeSource.Draft) {
        state.withLock { state in
            state.names[identity] = (id, draft)
            state.sweep()
        }
    }

    /// The primary key by which the server has an object that a context still has as a new one; nil if that is its own.
    func name(of identity: RemoteIdentity, in source: ChangeSource?) -> String? {
        state.withLock { state in
            guard let name = state.names[identity], name.draft.isOf(source), !name.draft.isDropped else { return nil }
            return name.id
        }
    }

    /// A save has ended, and the server may have carried it out.
    /// - Parameter draft: What the context has to save; nil if there is none.
    func leave(_ identity: RemoteIdentity, _ draft: ChangeSource.Draft?) {
        state.withLock { state in
            state.active.remove(identity)
            state.undone[identity] = nil
            state.unknown.updateValue(draft, forKey: identity)
            state.sweep()
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

    /// Whether the server does not have an object because it has not made it yet, and a context may have it made still.
    func isAwaited(_ identity: RemoteIdentity) -> Bool {
        state.withLock { state in
            guard let draft = state.undone[identity] else { return false }
            if draft.isDropped { state.undone[identity] = nil }
            return !draft.isDropped
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
