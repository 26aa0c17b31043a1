import Foundation
import StrataStore

/// Lets online saves of the same objects go one after the other, in the order in which they began: each has to know which earlier
/// ones got no answer. Saves without common objects do not wait for each other. Each ``begin(_:)`` needs an ``end(_:)``.
final class SaveTurns: Sendable {
    private typealias Resumption = CheckedContinuation<Turn, Never>

    /// How a save may go on.
    private enum Turn {
        case immediately, afterWaiting
        /// It may not, because it was cancelled.
        case cancelled
    }

    private struct Waiting {
        let id: UUID
        let objects: Set<RowIdentity>
        let resumption: Resumption
    }

    private struct State {
        /// The objects of the saves that are under way.
        var active: Set<RowIdentity> = []
        var waiting: [Waiting] = []
        /// Saves that were cancelled before they began to wait.
        var cancelled: Set<UUID> = []

        /// Whether a save may go on, after some of those that wait.
        func isFree(_ objects: Set<RowIdentity>, after earlier: some Sequence<Waiting>) -> Bool {
            active.isDisjoint(with: objects) && earlier.allSatisfy { $0.objects.isDisjoint(with: objects) }
        }
    }

    private let state = Guarded(State())

    /// Waits until no earlier save of the same objects is under way.
    /// - Parameter objects: By topmost entity and key.
    /// - Returns: Whether there was one.
    /// - Throws: ``StoreError/cancelled`` if the task is cancelled meanwhile. There is nothing to be ended then.
    @discardableResult
    func begin(_ objects: Set<RowIdentity>) async throws(StoreError) -> Bool {
        let id = UUID()
        let turn = await withTaskCancellationHandler {
            await withCheckedContinuation { resumption in
                let turn: Turn? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .cancelled }
                    guard state.isFree(objects, after: state.waiting) else {
                        state.waiting.append(Waiting(id: id, objects: objects, resumption: resumption))
                        return nil
                    }
                    state.active.formUnion(objects)
                    return .immediately
                }
                if let turn { resumption.resume(returning: turn) }
            }
        } onCancel: {
            cancel(id)
        }
        // It may have been cancelled when it had its turn already.
        state.withLock { _ = $0.cancelled.remove(id) }
        if turn == .cancelled { throw .cancelled }
        return turn == .afterWaiting
    }

    /// Those of some objects of which saves are under way.
    func active(among objects: Set<RowIdentity>) -> Set<RowIdentity> {
        state.withLock { $0.active.intersection(objects) }
    }

    /// A save is over.
    func end(_ objects: Set<RowIdentity>) {
        let next = state.withLock { state in
            state.active.subtract(objects)
            return Self.takeFree(&state)
        }
        for waiting in next { waiting.resumption.resume(returning: .afterWaiting) }
    }

    private func cancel(_ id: UUID) {
        let (own, next) = state.withLock { state -> (Waiting?, [Waiting]) in
            guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return (nil, [])
            }
            return (state.waiting.remove(at: index), Self.takeFree(&state))
        }
        own?.resumption.resume(returning: .cancelled)
        for waiting in next { waiting.resumption.resume(returning: .afterWaiting) }
    }

    /// Takes those out that may go on, and gives them their objects.
    private static func takeFree(_ state: inout State) -> [Waiting] {
        var result: [Waiting] = []
        var rest: [Waiting] = []
        for waiting in state.waiting {
            if state.isFree(waiting.objects, after: rest) {
                state.active.formUnion(waiting.objects)
                result.append(waiting)
            } else {
                rest.append(waiting)
            }
        }
        state.waiting = rest
        return result
    }
}
