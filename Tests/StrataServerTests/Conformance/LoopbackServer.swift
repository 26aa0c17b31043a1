#if Server
    import Foundation
    import StrataServer
    import StrataStackMob
    import Testing

    /// A server on a folder and a port of its own, for clients of the dialect.
    final class LoopbackServer: Sendable {
        let server: DataServer
        let port: Int
        let folder: URL
        private let task: Task<Void, any Error>

        /// Starts a server.
        /// - Parameters:
        ///   - model: Whose entities are schemas; nil to have them inferred.
        ///   - clock: What tells the server the time.
        ///   - verifier: What proves accounts elsewhere; nil for nothing.
        ///   - template: Names the options of servers of which many are started with one model: they begin with copies of the
        ///     files of the first one.
        init(
            model: ManagedObjectModel? = nil, clock: ServerClock = .system, verifier: (any SocialVerifier)? = nil,
            template: String? = nil, _ change: (inout ServerOptions) -> Void = { _ in }
        ) async throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "strata-loopback-\(UUID().uuidString)")
            var options = ServerOptions()
            options.passwords.cost = PasswordCost(rounds: 16)
            options.storage.survivesPowerFailure = false
            // Debug builds on a busy machine take their time.
            options.limits.requests.timeout = 300
            options.passwords.minimumLength = 1
            // Some clients read all objects without logging in.
            options.access.accounts.levels[.read] = .anyone
            change(&options)
            let new = options
            func start(_ folder: URL) throws -> DataServer {
                try DataServer(
                    folder: folder.path, model: model, options: new, verifier: verifier, clock: clock, logger: silent)
            }
            if let template {
                try StartedFolders.copy("\(template) \(model?.name ?? "-") \(model?.versionHash ?? "-")", to: folder) {
                    try start($0).close()
                }
            }
            let server = try start(folder)
            self.server = server
            let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
            task = Task {
                defer { continuation.finish() }
                try await HTTPService(server).run(endsOnSignals: false) { continuation.yield($0) }
            }
            var iterator = ports.makeAsyncIterator()
            port = try #require(await iterator.next(), "the service did not start")
        }

        /// Ends the service and removes the data.
        func stop() async {
            task.cancel()
            _ = await task.result
            server.close()
            try? FileManager.default.removeItem(at: folder)
        }

        /// A client of its own session.
        /// - Parameter transport: What carries requests; nil for `URLSession`.
        func client(
            transport: (any HTTPTransport)? = nil, _ change: (inout StackMobConfiguration) -> Void = { _ in }
        ) throws -> StackMobClient {
            var configuration = try Places.stackMob(at: "127.0.0.1:\(port)")
            if let transport { configuration.transport = transport }
            change(&configuration)
            return StackMobClient(configuration)
        }
    }

    /// Runs something against a server that is stopped afterwards.
    func withServer<T: Sendable>(
        model: ManagedObjectModel? = nil, clock: ServerClock = .system, verifier: (any SocialVerifier)? = nil,
        _ change: (inout ServerOptions) -> Void = { _ in }, _ body: (LoopbackServer) async throws -> T
    ) async throws -> T {
        let server = try await LoopbackServer(model: model, clock: clock, verifier: verifier, change)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }
#endif
