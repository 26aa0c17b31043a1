#if Server
    import Foundation
    import StrataStore

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// Holds a folder for one server: two would number changes alike, and let in each other's signatures. The system
    /// frees it when the process ends, however it ends.
    final class FolderLock: Sendable {
        private let descriptor: Guarded<Int32>

        /// - Throws: ``ServerSetupError`` if another server has the folder.
        init(_ folder: URL) throws(ServerSetupError) {
            let path = folder.appendingPathComponent("lock").path
            let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard file >= 0 else {
                throw ServerSetupError("\(path) cannot be opened: \(String(cString: strerror(errno)))")
            }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                close(file)
                throw ServerSetupError("The folder \(folder.path) is in use by another server; end it first.")
            }
            descriptor = Guarded(file)
        }

        func release() {
            descriptor.withLock { file in
                guard file >= 0 else { return }
                // Closing is not enough: a process that is just being started has the file open, too.
                flock(file, LOCK_UN)
                close(file)
                file = -1
            }
        }

        deinit { release() }
    }
#endif
