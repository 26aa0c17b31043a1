import Foundation

/// A value that several threads share, behind a lock.
///
/// `Synchronization.Mutex` would do, but on Linux its slow path is invisible to Thread Sanitizer, which then reports
/// races that are none.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
    // Sendable because `value` is reached with the lock held alone.
    private var value: Value
    private let lock = NSLock()

    package init(_ value: Value) { self.value = value }

    package func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
