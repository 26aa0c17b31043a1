import Foundation

#if canImport(Glibc)
    import Glibc
#endif

// On Linux, Foundation learns that a child has ended when a socket closes that it shares with the child. While a process is
// launched, another thread's child can inherit that socket, or the end of a pipe, and keeps it open as long as it runs:
// `waitUntilExit` and `readDataToEndOfFile` then wait for the wrong process
// (https://github.com/swiftlang/swift-corelibs-foundation/issues/4795). One lock for all launches and pipes prevents it.
private let launches = NSLock()

extension Process {
    /// Starts the process as `run` does, but never while another test starts one.
    /// - Throws: What `run` throws: the program is missing or cannot be executed.
    package func start() throws {
        try launches.withLock {
            makeRoomForDirectoryEntries()
            try run()
        }
    }
}

/// On Linux, `run` lists the open files of this process, and of each entry it reads 256 bytes, although most are shorter. With some
/// 1,360 open files and more, that may go past the end of the list and of the heap: the tests crashed once
/// (https://github.com/swiftlang/swift-corelibs-foundation/pull/5472). The list takes 32 KB of what is free here, so that
/// memory follows it.
private func makeRoomForDirectoryEntries() {
    #if canImport(Glibc)
        guard let room = malloc(1 << 16) else { return }
        memset(room, 1, 1)
        free(room)
    #endif
}

extension Pipe {
    /// A pipe for a process that is started with ``Foundation/Process/start()``; no other process inherits it.
    package static func forLaunch() -> Pipe { launches.withLock { Pipe() } }
}
