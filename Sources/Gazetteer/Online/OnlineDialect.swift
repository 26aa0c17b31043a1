#if Server
    import ArgumentParser
    import StrataAzure
    import StrataMaxLeap
    import StrataServer
    import StrataStackMob

    /// The protocols that the online part can use. The server speaks all of them, over the same data.
    enum OnlineDialect: String, CaseIterable, ExpressibleByArgument, Sendable {
        case stackmob
        case maxleap
        case parse
        /// Azure Mobile Services, version 1 of the protocol.
        case mobileservices
        /// Azure Mobile Apps, version 2 of the protocol.
        case azure
        case datasync

        /// The version of Azure's protocol; nil for other protocols.
        private var azureVersion: AzureVersion? {
            switch self {
            case .stackmob, .maxleap, .parse: nil
            case .mobileservices: .mobileServices
            case .azure: .mobileApps
            case .datasync: .datasync
            }
        }

        /// Whether values can be positions on the earth.
        var keepsPositions: Bool { azureVersion == nil }

        /// What the server is told.
        var mount: DialectMount {
            switch self {
            case .stackmob: DialectMount(.stackMob)
            case .maxleap: DialectMount(.maxLeap, path: "/2.0", applicationID: "gazetteer", clientKey: "key")
            case .parse: DialectMount(.parse, path: "/parse", applicationID: "gazetteer")
            case .mobileservices: DialectMount(.azureServices, path: "/mobileservices", clientKey: "key")
            case .azure: DialectMount(.azureApps, path: "/azure")
            case .datasync: DialectMount(.datasync, path: "/datasync")
            }
        }

        /// A back end at a server on this machine.
        func backend(
            for model: ManagedObjectModel, host: String, transport: any HTTPTransport
        ) throws -> any RemoteBackend {
            switch self {
            case .stackmob:
                var configuration = try StackMobConfiguration(publicKey: "7c1f0b6e-52d4-4b1e-9a36-0d6f2f0a9b55")
                configuration.dialect.host = host
                configuration.dialect.usesExtensions = true
                configuration.sessionStorage = MemorySessionStorage()
                configuration.transport = transport
                return StackMobClient(configuration).backend(for: model)
            case .maxleap, .parse:
                var dialect = try MaxLeapDialect(
                    self == .parse ? .parse : .maxLeap,
                    address: MaxLeapAddress("http://\(host)/\(self == .parse ? "parse" : "2.0")"),
                    applicationID: "gazetteer", apiKey: self == .parse ? nil : "key")
                // The keys of countries and cities are those of the world.
                dialect.sendsObjectIds = true
                dialect.usesConditionalWrites = self == .maxleap
                var configuration = MaxLeapConfiguration(dialect)
                configuration.sessionStorage = MemorySessionStorage()
                configuration.transport = transport
                return MaxLeapClient(configuration).backend(for: model)
            case .mobileservices, .azure, .datasync:
                var configuration = try AzureConfiguration(
                    "http://\(host)/\(rawValue)", version: azureVersion,
                    applicationKey: self == .mobileservices ? "key" : nil)
                configuration.dialect.keepsDeletedRows = true
                configuration.sessionStorage = MemorySessionStorage()
                configuration.transport = transport
                return AzureClient(configuration).backend
            }
        }
    }
#endif
