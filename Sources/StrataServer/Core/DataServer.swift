#if Server
    import Foundation
    import Logging
    import Strata
    import StrataModelFiles

    /// A server for objects, accounts and files, without the network: it takes requests and gives answers in the dialects that
    /// its options name. A ``HTTPService`` puts it on a socket; tests and embedders may call ``respond(to:)`` themselves.
    ///
    ///     let server = try DataServer(folder: "data")
    ///     let answer = await server.respond(to: ServerRequest("GET", "/city"))
    ///
    /// All that it keeps is in one folder: `production` and `development`, each with `strata.sqlite` for objects, accounts and
    /// sessions, and `files` for the content of binary fields; `mail` with outgoing messages, `signatures` with those of
    /// the last minutes. With ``StorageOptions/database``, objects, accounts, sessions and signatures are in PostgreSQL instead,
    /// and several servers may have the same folder.
    public final class DataServer: Sendable {
        /// How the server behaves.
        public let options: ServerOptions
        /// The folder of the data.
        public let folder: URL

        let databases: Databases
        let gate: Gate
        let mail: MailFolder
        let background = BackgroundWork()
        let metrics = RequestMetrics()
        let verifier: (any SocialVerifier)?
        let methods: [String: CustomMethod]
        let clock: ServerClock
        let logger: Logger
        /// nil for a folder that servers share.
        private let lock: FolderLock?

        var guesses: LoginGuard { gate.guesses }
        var sessions: Sessions { gate.sessions }
        var hasher: PasswordHasher { gate.hasher }

        /// Opens the data in a folder, or makes it.
        /// - Parameters:
        ///   - folder: The folder; it is made if it is missing. What the server writes is readable only by the account
        ///     that runs it.
        ///   - model: The model whose entities are schemas; nil if there are only inferred ones.
        ///   - options: How the server behaves.
        ///   - methods: Custom code, by the name of the method. It goes before hooks of the same names.
        ///   - verifier: Who asks other services about accounts.
        ///   - clock: What tells the time.
        ///   - logger: Where requests and failures are logged.
        /// - Throws: ``ServerSetupError``, or the error of the store with what to do.
        public init(
            folder: String, model: ManagedObjectModel? = nil, options: ServerOptions = ServerOptions(),
            methods: [String: CustomMethod] = [:], verifier: (any SocialVerifier)? = nil, clock: ServerClock = .system,
            logger: Logger = Logger(label: "strata-server")
        ) throws {
            try Self.check(options.dialects)
            self.options = options
            self.folder = URL(fileURLWithPath: folder, isDirectory: true)
            self.methods = try Self.hookMethods(options.hooks).merging(methods) { $1 }
            self.verifier = verifier
            self.clock = clock
            self.logger = logger
            do {
                try FileManager.default.createDirectory(
                    at: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw ServerSetupError("The folder \(folder) cannot be made: \(error.localizedDescription)")
            }
            lock = options.storage.database == nil ? try FolderLock(self.folder) : nil
            databases = try Databases(folder: self.folder, model: model, options: options, clock: clock)
            gate = try Gate(
                folder: self.folder, options: options, clock: clock, memory: databases.production.memory)
            mail = MailFolder(folder: self.folder.appendingPathComponent("mail", isDirectory: true))
        }

        /// Closes the file once all writes that wait are done. Requests that come later are answered with 500.
        public func close() {
            databases.close()
            gate.close()
            lock?.release()
        }

        /// Takes the schemas of development, without objects, over into production.
        /// - Throws: ``ServerError`` 404 if there is no development; what the store says.
        public func deploySchemas() async throws(ServerError) {
            guard let development = databases.development else {
                throw .notFound("The server has no development database whose schemas could be deployed.")
            }
            try await databases.production.database.adopt(development.database.catalogue)
        }

        /// Waits for work that goes on after its request was answered, such as mail.
        package func finishBackgroundWork() async { await background.finish() }

        /// The database of a mount whose clients do not say which they want.
        func environment(of mount: DialectMount) -> Environment {
            mount.usesProduction ? databases.production : databases.environment(version: nil)
        }

        /// Refuses two dialects at one place.
        static func check(_ mounts: [DialectMount]) throws(ServerSetupError) {
            for (place, mount) in mounts.enumerated() {
                for other in mounts[..<place] where mount.collides(with: other) {
                    throw ServerSetupError(
                        "\(mount.kind.rawValue) and \(other.kind.rawValue) are both at \(mount.path); give one of them another path or host"
                    )
                }
            }
        }
    }
#endif
