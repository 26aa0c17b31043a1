#if Server
    import Foundation
    import Strata

    /// A copy of what a server keeps, made while the server runs.
    ///
    ///     try ServerBackup.make(of: URL(filePath: "strata-data"), to: URL(filePath: "backups/today"))
    public enum ServerBackup {
        /// One database of the server in the copy.
        public struct Part: Sendable, Hashable {
            /// `production` or `development`.
            public let name: String
            /// The size of its database in bytes.
            public let databaseSize: Int
            /// How many files of binary fields it has.
            public let fileCount: Int
        }

        /// Copies the folder of a server. The copy is a folder that a server can be started with.
        ///
        /// Each database is copied as it is at one moment. A file that clients delete at that moment may be missing. The copy is on
        /// the disk when the call returns.
        /// - Parameters:
        ///   - folder: The folder of the server, which may be running.
        ///   - target: A path at which there is nothing yet, in a folder that exists.
        /// - Throws: ``ServerSetupError`` if there is something at the target, or if the folder is not a server's; `StoreError` and
        ///   errors of Foundation if something cannot be read or written. Nothing is left at the target then.
        @discardableResult
        public static func make(of folder: URL, to target: URL) throws -> [Part] {
            let manager = FileManager.default
            guard !manager.fileExists(atPath: target.path) else {
                throw ServerSetupError("There is something at \(target.path); choose another name for the backup.")
            }
            let parts = ["production", "development"].filter {
                manager.fileExists(atPath: folder.appending(path: "\($0)/strata.sqlite").path)
            }
            guard !parts.isEmpty else {
                throw ServerSetupError("\(folder.path) is not the folder of a server; name it with --data.")
            }
            let copy = target.deletingLastPathComponent()
                .appending(path: "\(target.lastPathComponent).part-\(UUID().uuidString.prefix(8).lowercased())")
            defer { try? manager.removeItem(at: copy) }
            let report = try parts.map { name in
                let (source, copy) = (folder.appending(path: name), copy.appending(path: name))
                try PrivateFiles.makeFolder(copy)
                // A file is written before, and removed after the object that names it. So those of before the copy of the database
                // and those of after it are, together, the files of the copy.
                try copyFiles(from: source, to: copy)
                let database = try SQLiteStore.backUp(
                    source.appending(path: "strata.sqlite").path, to: copy.appending(path: "strata.sqlite").path)
                let count = try copyFiles(from: source, to: copy)
                try synchronizeFolders(copy)
                return Part(name: name, databaseSize: database.fileSize, fileCount: count)
            }
            try PrivateFiles.synchronize(copy)
            try manager.moveItem(at: copy, to: target)
            try PrivateFiles.synchronize(target.absoluteURL.deletingLastPathComponent())
            return report
        }

        /// Copies the files of binary fields that the copy lacks.
        /// - Returns: How many the copy has.
        @discardableResult
        private static func copyFiles(from source: URL, to copy: URL) throws -> Int {
            let manager = FileManager.default
            let (source, copy) = (source.appending(path: "files"), copy.appending(path: "files"))
            guard let found = try? manager.subpathsOfDirectory(atPath: source.path) else { return 0 }
            var count = 0
            // Others are being written.
            for path in found where path.split(separator: "/").last?.utf8.count == FileVault.nameLength {
                let (from, to) = (source.appending(path: path), copy.appending(path: path))
                if !manager.fileExists(atPath: to.path) {
                    try PrivateFiles.makeFolder(to.deletingLastPathComponent())
                    do {
                        try manager.copyItem(at: from, to: to)
                        try PrivateFiles.synchronize(to)
                    } catch {
                        // Gone since it was listed.
                        guard manager.fileExists(atPath: from.path) else { continue }
                        throw error
                    }
                }
                count += 1
            }
            return count
        }

        /// Writes the names in a folder and in those below it to the disk.
        private static func synchronizeFolders(_ folder: URL) throws {
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
                let item = folder.appending(path: path)
                var isFolder: ObjCBool = false
                if FileManager.default.fileExists(atPath: item.path, isDirectory: &isFolder), isFolder.boolValue {
                    try PrivateFiles.synchronize(item)
                }
            }
            try PrivateFiles.synchronize(folder)
        }
    }
#endif
