#if Server
    import Foundation
    import StrataAzure
    import StrataMaxLeap
    import StrataServer
    import StrataStackMob

    /// The services whose clients a storm meets.
    enum StormService: String, CaseIterable, Sendable {
        case stackMob, parse, maxLeap, mobileServices, mobileApps, datasync

        /// Azure's tables have no members of relationships.
        var hasMembers: Bool {
            switch self {
            case .stackMob, .parse, .maxLeap: true
            case .mobileServices, .mobileApps, .datasync: false
            }
        }

        /// A client of its own, by whose requests a transport decides what becomes of them.
        func backend(
            _ model: ManagedObjectModel, transport: any HTTPTransport, clock: any RemoteClock
        ) throws -> any RemoteBackend {
            switch self {
            case .stackMob:
                var configuration = try StackMobConfiguration(publicKey: "7c1f7a3e-4b7a-4f3a-9d1c-0123456789ab")
                configuration.dialect.host = "127.0.0.1"
                configuration.dialect.securesCredentials = false
                configuration.dialect.usesExtensions = true
                configuration.sessionStorage = MemorySessionStorage()
                (configuration.transport, configuration.clock) = (transport, clock)
                return StackMobClient(configuration).backend(for: model)
            case .parse, .maxLeap:
                let flavor: MaxLeapFlavor = self == .parse ? .parse : .maxLeap
                var dialect = try MaxLeapDialect(
                    flavor, address: MaxLeapAddress("http://127.0.0.1/\(self == .parse ? "parse" : "2.0")"),
                    applicationID: "app", apiKey: "key")
                dialect.sendsObjectIds = true
                dialect.usesConditionalWrites = self == .maxLeap
                var configuration = MaxLeapConfiguration(dialect)
                configuration.sessionStorage = MemorySessionStorage()
                (configuration.transport, configuration.clock) = (transport, clock)
                return MaxLeapClient(configuration).backend(for: model)
            case .mobileServices, .mobileApps, .datasync:
                let (version, path): (AzureVersion, String) =
                    switch self {
                    case .mobileServices: (.mobileServices, "azure1")
                    case .mobileApps: (.mobileApps, "azure2")
                    default: (.datasync, "datasync")
                    }
                var configuration = try AzureConfiguration(
                    "http://127.0.0.1/\(path)", version: version,
                    applicationKey: self == .mobileServices ? "zumo" : nil)
                configuration.dialect.keepsDeletedRows = true
                configuration.sessionStorage = MemorySessionStorage()
                (configuration.transport, configuration.clock) = (transport, clock)
                return AzureClient(configuration).backend
            }
        }
    }
#endif
