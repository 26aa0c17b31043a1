#if Server
    import ArgumentParser
    import Foundation
    import Logging
    import Strata
    import StrataModelFiles
    import StrataServer

    /// The options that say how a server is to be; they come on top of a configuration file. They are many stored properties,
    /// because the parser takes one for each option.
    struct ServerArguments: ParsableArguments {
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
        @Option(
            help: """
                A PostgreSQL database, postgres://user@host/database, for objects and sessions; several servers may share it. \
                Give the password in PGPASSFILE or the configuration file, where others cannot read it. (default: files in \
                the folder)
                """)
        var storage: String?
        @Option(name: .shortAndLong, help: "A Strata model file whose entities are the schemas.")
        var model: String?
        @Flag(
            inversion: .prefixedNo,
            help: """
                Whether clients of API version 0 have a database whose schemas they may extend. (default: only without a \
                model)
                """)
        var development: Bool?
        @Flag(help: "Serve what is open to strangers beyond this machine, too.")
        var open = false
        @Option(help: "The key that clients name in X-StackMob-API-Key. (default: any)")
        var publicKey: String?
        @Option(
            help: """
                The secret for signatures that stand above all access rules; better in a configuration file that others \
                cannot read.
                """)
        var privateKey: String?
        @Option(help: "The certificate chain in PEM form.")
        var tlsCertificate: String?
        @Option(help: "The private key of the certificate in PEM form.")
        var tlsKey: String?
        @Flag(help: "Answer only requests over TLS.")
        var requireTLS = false
        @Option(help: "Who may read, create, update and delete where no rule says else, such as loggedIn or owner.")
        var access: String?
        @Option(help: "The maximum body in bytes. (default: 10485760)")
        var maxBody: Int?
        @Option(help: "How many requests a second a client may send on average; 0 for any number. (default: 0)")
        var rate: Int?

        func validate() throws {
            guard (tlsCertificate == nil) == (tlsKey == nil) else {
                throw ValidationError("--tls-certificate and --tls-key go together.")
            }
            guard storage.map({ $0 == "files" || StorageOptions.isDatabase($0) }) ?? true else {
                throw ValidationError(
                    "--storage takes files, or the URL of a database such as postgres://user@host/database.")
            }
            guard access.map({ AccessRules.Level($0) != nil }) ?? true else {
                throw ValidationError("--access takes anyone, loggedIn, owner, privateKey or nobody.")
            }
            if let port, !(0...65_535).contains(port) { throw ValidationError("--port takes 0 to 65535.") }
            if let maxBody, maxBody < 1 { throw ValidationError("--max-body takes a number above 0.") }
            if let rate, rate < 0 { throw ValidationError("--rate takes a number from 0.") }
        }

        /// The configuration of the file with the options on top.
        func configuration() throws -> ServerConfiguration {
            var configuration = ServerConfiguration()
            if let configurationFile {
                guard let yaml = try? String(contentsOfFile: configurationFile, encoding: .utf8) else {
                    throw ServerSetupError("\(configurationFile) cannot be read")
                }
                configuration = try ServerConfiguration(yaml: yaml, path: configurationFile)
            }
            if let host { configuration.host = host }
            if let port { configuration.port = port }
            if let data { configuration.data = data }
            if let storage { configuration.options.storage.database = storage == "files" ? nil : storage }
            if let model { configuration.model = model }
            // Who has declared schemas does not expect strangers to extend them.
            if configuration.model != nil, !configuration.namesDevelopment {
                configuration.options.isDevelopment = false
            }
            if let development { configuration.options.isDevelopment = development }
            if open { configuration.options.network.isDeliberatelyOpen = true }
            if let publicKey { configuration.options.publicKey = publicKey }
            if let privateKey { configuration.options.privateKey = privateKey }
            if let tlsCertificate, let tlsKey {
                configuration.tls = HTTPService.TLSFiles(certificateChain: tlsCertificate, privateKey: tlsKey)
            }
            if requireTLS { configuration.options.network.requiresTLS = true }
            if let level = access.flatMap({ AccessRules.Level($0) }) {
                configuration.options.access.standard = AccessRules.Rule(all: level)
            }
            if let maxBody { configuration.options.limits.requests.bodySize = maxBody }
            if let rate { configuration.options.limits.requests.perSecond = rate }
            return configuration
        }

        static func model(of configuration: ServerConfiguration) throws -> ManagedObjectModel? {
            try configuration.model.map { try ModelFile.read(path: $0).model() }
        }
    }

    /// `strata-server check-config`: explains who may do what.
    struct CheckConfigurationCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check-config",
            abstract: "Reads a configuration, says what is wrong with it, and explains who may do what.",
            discussion: "It ends with status 1 if the server would refuse to start, and starts nothing.")

        @OptionGroup var arguments: ServerArguments

        func run() throws {
            let configuration = try arguments.configuration()
            print(try AccessReport(configuration, model: try ServerArguments.model(of: configuration)))
            try HTTPService.checkExposure(configuration.options, host: configuration.host)
        }
    }

    /// `strata-server deploy`: takes the schemas of development over into production.
    struct DeployCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "deploy",
            abstract: "Takes the schemas of the development database over into production, without objects.",
            discussion: "The server must not be running, unless its storage is PostgreSQL.")

        @OptionGroup var arguments: ServerArguments

        func run() async throws {
            var configuration = try arguments.configuration()
            configuration.options.isDevelopment = true
            let server = try DataServer(
                folder: configuration.data, model: try ServerArguments.model(of: configuration),
                options: configuration.options, logger: Logger(label: "strata-server") { JSONLogHandler(label: $0) })
            defer { server.close() }
            try await server.deploySchemas()
        }
    }
#endif
