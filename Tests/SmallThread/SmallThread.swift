import Foundation

/// A thread with the smallest stack that Apple's systems give one, to show that deep input fits it.
public enum SmallThread {
    /// How many bytes of stack the thread has. Sanitizers make the frames of functions several times as large, so that a
    /// process with one of them gets more.
    private static let stackSize: Int = {
        let program = dlopen(nil, RTLD_LAZY)
        defer { if let program { dlclose(program) } }
        let isSanitized = ["__asan_init", "__tsan_init"].contains { (name: String) in dlsym(program, name) != nil }
        return (isSanitized ? 16 : 1) * 512 * 1024
    }()

    /// Runs work on such a thread, and waits for it.
    /// - Throws: What the work throws.
    public static func run<Result>(_ work: @escaping @Sendable () throws -> Result) throws -> Result {
        nonisolated(unsafe) var result: Swift.Result<Result, any Error>?
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            result = Swift.Result { try work() }
            done.signal()
        }
        thread.stackSize = stackSize
        thread.start()
        done.wait()
        guard let result else { fatalError("The thread ended without a result; it ran `work` to its end.") }
        return try result.get()
    }
}
