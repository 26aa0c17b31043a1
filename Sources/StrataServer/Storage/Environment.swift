#if Server
    import Foundation
    import Strata

    /// One of the two databases of a server: production, or development, where clients may extend schemas by using them.
    struct Environment: Sendable {
        let database: Database
        let files: FileVault
        /// What all servers of the database remember together; nil if there is only one of them.
        let memory: (any SharedMemory)?
        /// Whether clients may make schemas and fields.
        let isDevelopment: Bool

        /// Opens the data in a folder, or makes it. Nobody but the account that runs the server can enter the folder, so that
        /// the modes of the files in it do not matter.
        init(
            folder: URL, isDevelopment: Bool, declared: SchemaCatalogue, hints: [String: Entity],
            options: ServerOptions, clock: ServerClock
        ) throws {
            self.isDevelopment = isDevelopment
            let storage = try Self.storage(folder: folder, options)
            try PrivateFiles.makeFolder(folder)
            files = FileVault(
                folder: folder.appendingPathComponent("files", isDirectory: true),
                segment: isDevelopment ? FileVault.developmentSegment : FileVault.productionSegment)
            if options.storage.database == nil { try FolderClaim(files).checkUnclaimed() }
            database = try Database(storage, declared: declared, hints: hints, files: files, clock: clock)
            memory = storage.memory
        }

        /// Where the objects are: in PostgreSQL if the options name a database, otherwise in the folder.
        private static func storage(folder: URL, _ options: ServerOptions) throws -> any DatabaseStorage {
            if let address = options.storage.database {
                #if Postgres
                    return try PostgresStorage(address: address, schema: folder.lastPathComponent)
                #else
                    throw ServerSetupError(
                        """
                        The storage \(StorageOptions.publicPart(of: address)) needs a server with PostgreSQL, and this one was built \
                        without it: build it with --traits Server,Postgres.
                        """)
                #endif
            }
            var file = SQLiteStore.Options()
            file.readerCount = Database.readerCount
            file.synchronous = options.storage.survivesPowerFailure ? .full : .normal
            return FileStorage(path: folder.appendingPathComponent("strata.sqlite").path, options: file)
        }
    }
#endif
