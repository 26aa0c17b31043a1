#if Server
    import Foundation
    import Strata

    /// One of the two databases of a server: production, or development, where clients may extend schemas by using them.
    struct Environment: Sendable {
        let database: Database
        let files: FileVault
        /// Whether clients may make schemas and fields.
        let isDevelopment: Bool

        /// Opens the data in a folder, or makes it. Nobody but the account that runs the server can enter the folder, so that
        /// the modes of the files in it do not matter.
        init(
            folder: URL, isDevelopment: Bool, declared: SchemaCatalogue, hints: [String: Entity],
            options: ServerOptions, clock: ServerClock
        ) throws {
            self.isDevelopment = isDevelopment
            try PrivateFiles.makeFolder(folder)
            files = FileVault(
                folder: folder.appendingPathComponent("files", isDirectory: true),
                segment: isDevelopment ? FileVault.developmentSegment : FileVault.productionSegment)
            var storage = SQLiteStore.Options()
            storage.synchronous = options.storage.survivesPowerFailure ? .full : .normal
            let path = folder.appendingPathComponent("strata.sqlite").path
            database = try Database(
                path: path, declared: declared, hints: hints, files: files, options: storage, clock: clock)
        }
    }
#endif
