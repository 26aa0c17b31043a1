import Foundation
import StrataStore

/// Runs closures on a bounded number of threads, in the order in which they come. Thousands of closures wait in line
/// instead of each taking a thread.
final class WorkerPool: Sendable {
    private struct State: Sendable {
        var running = 0
        var line: [@Sendable () -> Void] = []
        var first = 0

        mutating func next() -> (@Sendable () -> Void)? {
            guard first < line.count else {
                line = []
                first = 0
                return nil
            }
            defer { first += 1 }
            return line[first]
        }
    }

    private let width: Int
    private let queue: DispatchQueue
    private let state = Guarded(State())

    /// - Parameter width: The maximum number of threads.
    init(label: String, width: Int) {
        self.width = width
        queue = DispatchQueue(label: label, attributes: .concurrent)
    }

    /// Runs a closure when it is its turn, without blocking the caller.
    func run<R: Sendable, E: Error>(_ body: @escaping @Sendable () throws(E) -> R) async throws(E) -> R {
        let result: Result<R, E> = await withCheckedContinuation { continuation in
            enter {
                do throws(E) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    private func enter(_ work: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            guard state.running >= width else {
                state.running += 1
                return true
            }
            state.line.append(work)
            return false
        }
        if starts { start(work) }
    }

    private func start(_ work: @escaping @Sendable () -> Void) {
        queue.async {
            var current: (@Sendable () -> Void)? = work
            while let work = current {
                work()
                current = self.state.withLock { state in
                    let next = state.next()
                    if next == nil { state.running -= 1 }
                    return next
                }
            }
        }
    }
}
