import Foundation

/// Releases objects that may be the first of a long chain.
///
/// What a relationship has loaded keeps its objects alive, each of which may do the same. To free a chain of a hundred
/// thousand link by link, each from within the end of the one before, would exhaust the stack. So the owners of such
/// references give them away here when they end: the first one waits until those that end meanwhile have left theirs.
enum DeepRelease {
    /// What inner calls have given away, as a chain, not as an array: optimized builds end an element that `removeLast()`
    /// takes out while it is still in the array, before the count goes down, so that what its end adds is lost.
    private final class Waiting {
        private final class Link {
            let value: Any
            var next: Link?

            init(_ value: Any, before next: Link?) {
                self.value = value
                self.next = next
            }
        }

        private var first: Link?

        @inline(never)
        func add(_ value: Any) { first = Link(value, before: first) }

        /// Releases one; it has left the chain, and may add to it.
        /// - Returns: false if there was none.
        @inline(never)
        func dropOne() -> Bool {
            guard let link = first else { return false }
            first = link.next
            link.next = nil
            return true
        }
    }

    /// Where the thread's outermost call collects what the inner ones give away; null outside of a call.
    private static let waiting: pthread_key_t = {
        var key = pthread_key_t()
        guard pthread_key_create(&key, nil) == 0 else {
            fatalError("the system has no thread-specific key left; Strata needs one for each process")
        }
        return key
    }()

    /// Empties a property, without a deeper stack for each object that ends by it.
    static func clear<T>(_ property: inout T, to empty: T) {
        if let outer = pthread_getspecific(waiting) {
            // Sound because only the call below sets the pointer, to an object that outlives the setting.
            Unmanaged<Waiting>.fromOpaque(outer).takeUnretainedValue().add(property)
            property = empty
            return
        }
        let own = Waiting()
        withExtendedLifetime(own) {
            pthread_setspecific(waiting, Unmanaged.passUnretained(own).toOpaque())
            defer { pthread_setspecific(waiting, nil) }
            property = empty
            while own.dropOne() {}
        }
    }
}
