#if Server
    import Foundation

    /// Says to which shared database the files of a folder belong. A server removes files that its database does not name, so a
    /// server with another database must not have them.
    struct FolderClaim: Sendable {
        /// The folder of production or development.
        private let folder: URL
        private var file: URL { folder.appendingPathComponent("database") }

        init(_ files: FileVault) { folder = files.folder.deletingLastPathComponent() }

        /// Makes the files those of a shared database, unless they are those of another.
        /// - Throws: ``ServerSetupError`` if they are; the errors of the file system.
        func take(_ database: UUID) throws {
            guard !FileManager.default.fileExists(atPath: folder.appendingPathComponent("strata.sqlite").path) else {
                throw ServerSetupError(
                    "\(folder.path) has the data of a server with SQLite; give the server on PostgreSQL another folder."
                )
            }
            guard let known = try owner() else {
                try Data(database.uuidString.lowercased().utf8).write(to: file, options: .atomic)
                return
            }
            guard known == database.uuidString.lowercased() else {
                throw ServerSetupError(
                    """
                    \(folder.path) has the files of another PostgreSQL database; give each database a folder of its own. If the old \
                    database is gone for good, remove \(file.path) and the files.
                    """)
            }
        }

        /// Refuses the folder of a shared database to a server with SQLite.
        func checkUnclaimed() throws {
            guard try owner() == nil else {
                throw ServerSetupError(
                    "\(folder.path) has the files of a server on PostgreSQL; name its storage, or give this server another folder."
                )
            }
        }

        private func owner() throws -> String? {
            guard FileManager.default.fileExists(atPath: file.path) else { return nil }
            return String(decoding: try Data(contentsOf: file), as: UTF8.self)
        }
    }
#endif
