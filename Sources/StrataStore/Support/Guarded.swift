import Foundation

/// A value that several threads share, guarded by a lock.
///
/// Use it instead of `Synchronization.Mutex`, whose slow path on Linux is invisible to Thread Sanitizer: it would report races
/// where there are none.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
    // Sendable because `value` is reached only while the lock is held.
    private var value: Value
    private let lock = NSLock()

    package init(_ value: Value) { self.value = value }

    /// Runs a closure while no other thread has the lock.
    package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
