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
                var configuration = try Places.stackMob(at: "127.0.0.1")
                (configuration.transport, configuration.clock) = (transport, clock)
                return StackMobClient(configuration).backend(for: model)
            case .parse: return try maxLeap(.parse, model, transport, clock)
            case .maxLeap: return try maxLeap(.maxLeap, model, transport, clock)
            case .mobileServices: return try azure(.mobileServices, transport, clock)
            case .mobileApps: return try azure(.mobileApps, transport, clock)
            case .datasync: return try azure(.datasync, transport, clock)
            }
        }

        private func maxLeap(
            _ flavor: MaxLeapFlavor, _ model: ManagedObjectModel, _ transport: any HTTPTransport,
            _ clock: any RemoteClock
        ) throws -> any RemoteBackend {
            var configuration = try Places.maxLeap(flavor, at: "127.0.0.1")
            configuration.dialect.usesConditionalWrites = flavor == .maxLeap
            (configuration.transport, configuration.clock) = (transport, clock)
            return MaxLeapClient(configuration).backend(for: model)
        }

        private func azure(
            _ version: AzureVersion, _ transport: any HTTPTransport, _ clock: any RemoteClock
        ) throws -> any RemoteBackend {
            var configuration = try Places.azure(version, at: "127.0.0.1")
            configuration.dialect.keepsDeletedRows = true
            (configuration.transport, configuration.clock) = (transport, clock)
            return AzureClient(configuration).backend
        }
    }
#endif
