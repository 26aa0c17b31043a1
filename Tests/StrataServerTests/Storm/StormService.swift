#if Server
    import Foundation
    import StrataAzure
    import StrataMaxLeap
    import StrataServer
    import StrataStackMob

    /// The services whose clients a storm meets.
    enum StormService: String, CaseIterable, Sendable {
        case stackMob, parse, maxLeap, mobileServices, numberedServices, mobileApps, datasync

        /// Whether the server numbers the rows.
        var hasNumbers: Bool { self == .numberedServices }

        /// Azure's tables have no members of relationships.
        var hasMembers: Bool {
            switch self {
            case .stackMob, .parse, .maxLeap: true
            case .mobileServices, .numberedServices, .mobileApps, .datasync: false
            }
        }

        /// A client of its own, by whose requests a transport decides what becomes of them.
        func backend(
            _ model: ManagedObjectModel, transport: any HTTPTransport, clock: any RemoteClock, usesExtensions: Bool
        ) throws -> any RemoteBackend {
            switch self {
            case .stackMob:
                var configuration = try Places.stackMob(at: "127.0.0.1")
                (configuration.transport, configuration.clock) = (transport, clock)
                return StackMobClient(configuration).backend(for: model)
            case .parse: return try maxLeap(.parse, model, transport, clock, usesExtensions)
            case .maxLeap: return try maxLeap(.maxLeap, model, transport, clock, usesExtensions)
            case .mobileServices: return try azure(.mobileServices, transport, clock, usesExtensions)
            // Only the name of a write tells a repeated creation from another one: the row has no key yet.
            case .numberedServices: return try azure(.mobileServices, transport, clock, true)
            case .mobileApps: return try azure(.mobileApps, transport, clock, usesExtensions)
            case .datasync: return try azure(.datasync, transport, clock, usesExtensions)
            }
        }

        private func maxLeap(
            _ flavor: MaxLeapFlavor, _ model: ManagedObjectModel, _ transport: any HTTPTransport,
            _ clock: any RemoteClock, _ usesExtensions: Bool
        ) throws -> any RemoteBackend {
            var configuration = try Places.maxLeap(flavor, at: "127.0.0.1")
            configuration.dialect.usesConditionalWrites = flavor == .maxLeap
            configuration.dialect.usesExtensions = usesExtensions
            (configuration.transport, configuration.clock) = (transport, clock)
            return MaxLeapClient(configuration).backend(for: model)
        }

        private func azure(
            _ version: AzureVersion, _ transport: any HTTPTransport, _ clock: any RemoteClock, _ usesExtensions: Bool
        ) throws -> any RemoteBackend {
            var configuration = try Places.azure(version, at: "127.0.0.1")
            configuration.dialect.usesExtensions = usesExtensions
            configuration.dialect.keepsDeletedRows = true
            (configuration.transport, configuration.clock) = (transport, clock)
            return AzureClient(configuration).backend
        }
    }
#endif
