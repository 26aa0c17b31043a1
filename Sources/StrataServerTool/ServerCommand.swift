#if Server
    import ArgumentParser
    import Foundation
    import Logging
    import StrataModelFiles
    import StrataServer

    /// `strata-server`: runs a server until it is told to end. It has one of the stored properties for each option.
    @main
    struct ServerCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "strata-server",
            abstract: "Serves objects over HTTP in the StackMob dialect, kept by Strata in one SQLite file.",
            discussion: """
                Without arguments it listens at 127.0.0.1:8080, keeps its data in ./strata-data, and takes in new \
                schemas and fields as clients of API version 0 use them. Try:

                  strata-server &
                  curl -d '{"title":"Buy milk"}' http://127.0.0.1:8080/todo
                  curl 'http://127.0.0.1:8080/todo?title=Buy%20milk'

                For a server that others reach: a model file, --no-development, keys, access rules in a configuration \
                file, and TLS. Documentation/Server.md explains each. SIGTERM and SIGINT end it after the requests \
                that are under way.
                """)

        @Option(
            name: [.short, .customLong("config")], help: "A configuration file in YAML; the options below come on top.")
        var configurationFile: String?
        @Option(help: "The address to listen at. (default: 127.0.0.1)")
        var host: String?
        @Option(name: .shortAndLong, help: "The port to listen at; 0 takes a free one. (default: 8080)")
        var port: Int?
        @Option(
            name: .shortAndLong, help: "The folder of the data; it is made if it is missing. (default: strata-data)")
        var data: String?
        @Option(name: .shortAndLong, help: "A Strata model file whose entities are the schemas.")
        var model: String?
        @Flag(
            inversion: .prefixedNo,
            help: "Whether clients of API version 0 may extend the schemas. (default: --development)")
        var development: Bool?
        @Option(help: "The key that clients name in X-StackMob-API-Key. (default: any)")
        var publicKey: String?
        @Option(
            help: "The secret for signatures of push requests; better in a configuration file that others cannot read.")
        var privateKey: String?
        @Option(help: "The certificate chain in PEM form.")
        var tlsCertificate: String?
        @Option(help: "The private key of the certificate in PEM form.")
        var tlsKey: String?
        @Flag(help: "Take passwords and tokens over TLS alone.")
        var requireTLS = false
        @Option(
            help: "Who may read, create, update and delete where no rule says else: anyone, loggedIn, owner, nobody.")
        var access: String?
        @Option(help: "The greatest body in bytes. (default: 10485760)")
        var maxBody: Int?
        @Option(help: "How many requests a second a client may send on average; 0 for any number. (default: 0)")
        var rate: Int?
        @Option(help: "Which log messages are written: trace, debug, info, notice, warning, error, critical.")
        var logLevel: String = "info"

        func validate() throws {
            guard Logger.Level(rawValue: logLevel) != nil else {
                throw ValidationError("--log-level takes trace, debug, info, notice, warning, error or critical.")
            }
            guard (tlsCertificate == nil) == (tlsKey == nil) else {
                throw ValidationError("--tls-certificate and --tls-key go together.")
            }
            guard access.map({ AccessRules.Level(rawValue: $0) != nil }) ?? true else {
                throw ValidationError("--access takes anyone, loggedIn, owner or nobody.")
            }
            if let port, !(0...65_535).contains(port) { throw ValidationError("--port takes 0 to 65535.") }
            if let maxBody, maxBody < 1 { throw ValidationError("--max-body takes a number above 0.") }
            if let rate, rate < 0 { throw ValidationError("--rate takes a number from 0.") }
        }

        func run() async throws {
            // A reader of the log that ends must not end the server.
            signal(SIGPIPE, SIG_IGN)
            var configuration = ServerConfiguration()
            if let configurationFile {
                guard let yaml = try? String(contentsOfFile: configurationFile, encoding: .utf8) else {
                    throw ServerSetupError("\(configurationFile) cannot be read")
                }
                configuration = try ServerConfiguration(yaml: yaml, path: configurationFile)
            }
            apply(to: &configuration)
            let level = Logger.Level(rawValue: logLevel) ?? .info
            let logger = Logger(label: "strata-server") { label in
                var handler = JSONLogHandler(label: label)
                handler.logLevel = level
                return handler
            }
            let files = OpenFiles.allow(configuration.options.limits.connections + OpenFiles.others)
            if files < configuration.options.limits.connections + OpenFiles.others {
                configuration.options.limits.connections = max(1, files - OpenFiles.others)
                logger.notice(
                    "fewer connections",
                    metadata: [
                        "connections": "\(configuration.options.limits.connections)", "openFiles": "\(files)",
                    ])
            }
            let model = try configuration.model.map { try ModelFile.read(path: $0).model() }
            let server = try StackMobServer(
                folder: configuration.data, model: model, options: configuration.options, logger: logger)
            let service = HTTPService(
                server, host: configuration.host, port: configuration.port, tls: configuration.tls)
            let host = configuration.host
            let scheme = configuration.tls == nil ? "http" : "https"
            try await service.run { port in
                logger.notice("listening", metadata: ["url": "\(scheme)://\(host):\(port)"])
            }
            logger.notice("ended")
        }

        private func apply(to configuration: inout ServerConfiguration) {
            if let host { configuration.host = host }
            if let port { configuration.port = port }
            if let data { configuration.data = data }
            if let model { configuration.model = model }
            if let development { configuration.options.isDevelopment = development }
            if let publicKey { configuration.options.publicKey = publicKey }
            if let privateKey { configuration.options.privateKey = privateKey }
            if let tlsCertificate, let tlsKey {
                configuration.tls = HTTPService.TLSFiles(certificateChain: tlsCertificate, privateKey: tlsKey)
            }
            if requireTLS { configuration.options.requiresTLSForTokens = true }
            if let level = access.flatMap(AccessRules.Level.init(rawValue:)) {
                configuration.options.access.standard = .init(read: level, create: level, update: level, delete: level)
            }
            if let maxBody { configuration.options.limits.bodySize = maxBody }
            if let rate { configuration.options.limits.requestsPerSecond = rate }
        }
    }
#endif
