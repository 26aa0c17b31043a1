#if Server
    import ArgumentParser
    import Foundation
    import StrataServer

    /// `strata-server backup`: copies the data of a server that may be running.
    struct BackupCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backup",
            abstract: "Copies the data into a new folder, while the server runs.",
            discussion: """
                To restore it, end the server, and start it with the copy as its folder.

                EXAMPLE:
                  strata-server backup --data strata-data backups/today
                """)

        @OptionGroup var arguments: ServerArguments
        @Argument(help: "The new folder. There must be nothing at its path.", completion: .directory)
        var target: String

        func run() throws {
            let configuration = try arguments.configuration()
            guard configuration.options.storage.database == nil else {
                throw ServerSetupError(
                    """
                    The storage is PostgreSQL: make the backup with pg_dump, which copies the schemas production and development \
                    while servers run, and copy the folder \(configuration.data) with the files after it.
                    """)
            }
            // Nothing that the server writes is for other accounts of the machine.
            umask(0o077)
            let parts = try ServerBackup.make(
                of: URL(fileURLWithPath: configuration.data), to: URL(fileURLWithPath: target))
            for part in parts {
                print("\(part.name): \(part.databaseSize) bytes, \(part.fileCount) files")
            }
        }
    }
#endif
