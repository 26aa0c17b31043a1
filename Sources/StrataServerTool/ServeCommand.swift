#if Server
    import ArgumentParser
    import Foundation
    import Logging
    import Metrics
    import StrataServer

    /// `strata-server serve`, which is also what `strata-server` does without a subcommand.
    struct ServeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "serve", abstract: "Runs a server until it is told to end. This is the default.")

        @OptionGroup var arguments: ServerArguments
        @Option(help: "Which log messages are written: trace, debug, info, notice, warning, error, critical.")
        var logLevel: String = "info"

        func validate() throws {
            guard Logger.Level(rawValue: logLevel) != nil else {
                throw ValidationError("--log-level takes trace, debug, info, notice, warning, error or critical.")
            }
        }

        func run() async throws {
            // A reader of the log that ends must not end the server.
            signal(SIGPIPE, SIG_IGN)
            // Nothing that the server writes is for other accounts of the machine.
            umask(0o077)
            MetricsSystem.bootstrap(PrometheusRegistry.shared)
            var configuration = try arguments.configuration()
            let level = Logger.Level(rawValue: logLevel) ?? .info
            let logger = Logger(label: "strata-server") { label in
                var handler = JSONLogHandler(label: label)
                handler.logLevel = level
                return handler
            }
            let count = configuration.options.limits.connections.count
            let files = OpenFiles.allow(count + OpenFiles.others)
            if files < count + OpenFiles.others {
                let fewer = max(1, files - OpenFiles.others)
                configuration.options.limits.connections.count = fewer
                logger.notice("fewer connections", metadata: ["connections": "\(fewer)", "openFiles": "\(files)"])
            }
            try HTTPService.checkExposure(configuration.options, host: configuration.host)
            let server = try DataServer(
                folder: configuration.data, model: try ServerArguments.model(of: configuration),
                options: configuration.options, logger: logger)
            let service = HTTPService(
                server, host: configuration.host, port: configuration.port, tls: configuration.tls)
            let host = configuration.host
            let scheme = configuration.tls == nil ? "http" : "https"
            try await service.run { port in
                logger.notice("listening", metadata: ["url": "\(scheme)://\(host):\(port)"])
            }
            logger.notice("ended")
        }
    }
#endif
