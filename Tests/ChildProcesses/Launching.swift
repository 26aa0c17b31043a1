import Foundation

// On Linux, Foundation learns that a child has ended when a socket closes that it shares with the child. While a process is
// launched, another thread's child can inherit that socket, or the end of a pipe, and keeps it open as long as it runs:
// `waitUntilExit` and `readDataToEndOfFile` then wait for the wrong process
// (https://github.com/swiftlang/swift-corelibs-foundation/issues/4795). One lock for all launches and pipes prevents it.
private let launches = NSLock()

extension Process {
    /// Starts the process as `run` does, but never while another test starts one.
    /// - Throws: What `run` throws: the program is missing or cannot be executed.
    package func start() throws {
        try launches.withLock { try run() }
    }
}

extension Pipe {
    /// A pipe for a process that is started with ``Foundation/Process/start()``; no other process inherits it.
    package static func forLaunch() -> Pipe { launches.withLock { Pipe() } }
}
