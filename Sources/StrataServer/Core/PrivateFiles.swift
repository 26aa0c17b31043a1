#if Server
    import Foundation

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// Keeps what the server writes from other accounts of the machine, whatever the mode of the folder and the mask of
    /// the process are.
    enum PrivateFiles {
        /// Makes a folder that only its owner can enter, or makes one that is there such a folder.
        /// - Throws: ``ServerSetupError`` if it cannot be made, or is another account's.
        static func makeFolder(_ folder: URL) throws(ServerSetupError) {
            do {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw ServerSetupError("The folder \(folder.path) cannot be made: \(error.localizedDescription)")
            }
            guard chmod(folder.path, 0o700) == 0 else {
                let reason = String(cString: strerror(errno))
                throw ServerSetupError(
                    "The folder \(folder.path) cannot be made private (\(reason)); give it to the account that runs the server."
                )
            }
        }

        /// Writes a file to the disk, or the names in a folder, so that they outlive a loss of power.
        /// - Throws: ``ServerSetupError`` if the disk does not take it.
        static func synchronize(_ item: URL) throws(ServerSetupError) {
            let descriptor = open(item.path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw failure(item) }
            defer { close(descriptor) }
            guard fsync(descriptor) == 0 else { throw failure(item) }
        }

        private static func failure(_ item: URL) -> ServerSetupError {
            ServerSetupError("\(item.path) cannot be written to the disk: \(String(cString: strerror(errno)))")
        }
    }
#endif
