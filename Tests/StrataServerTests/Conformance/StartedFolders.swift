#if Server
    import Foundation
    import StrataStore

    /// The files of servers that were started once and stopped, by name. To make them takes longer than most checks.
    enum StartedFolders {
        private static let folders = Guarded<[String: URL]>([:])
        private static let root: URL = {
            // The system calls it when the process ends.
            atexit { try? FileManager.default.removeItem(at: StartedFolders.root) }
            return FileManager.default.temporaryDirectory.appending(path: "strata-started-\(UUID().uuidString)")
        }()

        /// Copies files to a folder.
        /// - Parameters:
        ///   - name: Which files.
        ///   - make: Makes the files in a folder, for the first copy.
        static func copy(_ name: String, to folder: URL, make: (URL) throws -> Void) throws {
            let files = try folders.withLock { folders in
                if let known = folders[name] { return known }
                let new = root.appending(path: "\(folders.count)")
                try make(new)
                folders[name] = new
                return new
            }
            try FileManager.default.copyItem(at: files, to: folder)
        }
    }
#endif
