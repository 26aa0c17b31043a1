import Foundation

/// Lets go of objects that may be the first of a long chain.
///
/// What a relationship has loaded keeps its objects alive, each of which may do the same. To free a chain of a hundred
/// thousand link by link, each from within the end of the one before, would exhaust the stack. So the owners of such
/// references give them away here when they end: the first one waits until those that end meanwhile have left theirs.
enum DeepRelease {
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
            // Sound because only the call below sets the pointer, to a variable of its own that outlives the setting.
            outer.assumingMemoryBound(to: [Any].self).pointee.append(property)
            property = empty
            return
        }
        var rest: [Any] = []
        withUnsafeMutablePointer(to: &rest) { rest in
            pthread_setspecific(waiting, rest)
            defer { pthread_setspecific(waiting, nil) }
            property = empty
            // Each is out of the list before it is let go, and may add to it then.
            while !rest.pointee.isEmpty { _ = rest.pointee.removeLast() }
        }
    }
}
