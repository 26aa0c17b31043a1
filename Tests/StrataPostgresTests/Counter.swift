#if Postgres
    import Foundation

    /// Gives out numbers.
    final class Counter: Sendable {
        private let lock = NSLock()
        private nonisolated(unsafe) var value = 0

        func next() -> Int {
            lock.lock()
            defer { lock.unlock() }
            value += 1
            return value
        }
    }
#endif
