import Foundation
import StrataStore

/// The lane of ``PersistentContainer/write(_:)``: one write after the other on one thread. Writes that wait at the same
/// moment share one transaction, each in a child context of its own, so that each succeeds or fails on its own.
final class WriteLane: Sendable {
    private struct Job: Sendable {
        let run: @Sendable (ManagedObjectContext) throws -> Void
        let finish: @Sendable ((any Error)?) -> Void
    }

    private struct State: Sendable {
        var jobs: [Job] = []
        var isDraining = false
    }

    /// The maximum number of writes that share a transaction.
    private let groupSize: Int

    /// The maximum number of times that a write runs while others change what it reads.
    private static let attempts = 10

    private let queue = DispatchQueue(label: "strata.writes")
    private let state = Guarded(State())

    /// - Parameter isAtomic: Whether a save is one transaction. Otherwise each write has a save of its own, because a save that
    ///   has written one store and failed at another cannot be done again for each.
    init(isAtomic: Bool) {
        // With more, the first would only wait longer.
        groupSize = isAtomic ? 64 : 1
    }

    /// Runs a closure with a context, and saves its changes.
    /// - Parameter makeContext: Makes the context that the changes of a group are gathered in.
    func run<R: Sendable>(
        _ body: @escaping @Sendable (ManagedObjectContext) throws -> R,
        in makeContext: @escaping @Sendable () -> ManagedObjectContext
    ) async throws -> R {
        let result = Guarded<R?>(nil)
        let error: (any Error)? = await withCheckedContinuation { continuation in
            let job = Job { context in
                let value = try body(context)
                result.withLock { $0 = value }
            } finish: { error in
                continuation.resume(returning: error)
            }
            let starts = state.withLock { state in
                state.jobs.append(job)
                defer { state.isDraining = true }
                return !state.isDraining
            }
            if starts { queue.async { self.drain(makeContext) } }
        }
        if let error { throw error }
        guard let value = result.withLock(\.self) else { fatalError("a write that succeeded has a result") }
        return value
    }

    private func drain(_ makeContext: () -> ManagedObjectContext) {
        while true {
            let group = state.withLock { state in
                let group = Array(state.jobs.prefix(groupSize))
                state.jobs.removeFirst(group.count)
                if group.isEmpty { state.isDraining = false }
                return group
            }
            if group.isEmpty { return }
            run(group, makeContext)
        }
    }

    /// - Parameter attempt: The number of this attempt, from 1.
    private func run(_ group: [Job], attempt: Int = 1, _ makeContext: () -> ManagedObjectContext) {
        var again: [Job] = []
        var done: [Job] = []
        let context = makeContext()
        for job in group {
            do {
                try context.core.undoingOnFailure {
                    let child = context.makeChild()
                    try job.run(child)
                    try child.save()
                }
                done.append(job)
            } catch  where attempt < Self.attempts && Self.isStale(error) {
                again.append(job)
            } catch {
                job.finish(error)
            }
        }
        do {
            try context.save()
            for job in done { job.finish(nil) }
        } catch  where attempt < Self.attempts && Self.isStale(error) {
            again = done + again
        } catch  where done.count > 1 {
            // One of them failed, and the others must not fail with it: each gets a transaction of its own now.
            for job in done { run([job], attempt: attempt, makeContext) }
        } catch {
            for job in done { job.finish(error) }
        }
        if !again.isEmpty { run(again, attempt: attempt + 1, makeContext) }
    }

    /// Whether others have changed or deleted what a job has read, so that it may succeed with what they have made of it.
    private static func isStale(_ error: any Error) -> Bool {
        guard case .conflicts(let conflicts)? = error as? PersistenceError else { return false }
        return conflicts.allSatisfy { $0.reason == .changedInStore || $0.reason == .deletedInStore }
    }
}
