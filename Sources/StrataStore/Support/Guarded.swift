import Foundation

/// A value that several threads share, guarded by a lock.
///
/// Use it instead of `Synchronization.Mutex`, whose slow path on Linux is invisible to Thread Sanitizer: it would report races
/// where there are none.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
    // Sendable because `value` is reached only while the lock is held.
    private var value: Value
    private let lock = SystemLock()

    package init(_ value: Value) { self.value = value }

    deinit { lock.destroy() }

    /// Runs a closure while no other thread has the lock.
    package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

#if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
    /// A mutex of the system. Outside of Apple's platforms, `NSLock` allocates memory four times, and every request of a server
    /// makes locks.
    private struct SystemLock {
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>

        init() {
            mutex = .allocate(capacity: 1)
            mutex.initialize(to: pthread_mutex_t())
            let error = pthread_mutex_init(mutex, nil)
            guard error == 0 else {
                fatalError("the system made no mutex (error \(error)); give the process more memory")
            }
        }

        func lock() { pthread_mutex_lock(mutex) }
        func unlock() { pthread_mutex_unlock(mutex) }

        func destroy() {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }
    }
#else
    private struct SystemLock {
        private let mutex = NSLock()

        func lock() { mutex.lock() }
        func unlock() { mutex.unlock() }
        func destroy() {}
    }
#endif
