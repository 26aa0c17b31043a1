#if Server
    import Foundation
    import StrataAzure
    import StrataMaxLeap
    import StrataServer
    import StrataRemoteTesting

    /// The other dialects against a server on loopback, to be tried by the conformance kit. Each place has a server of its own,
    /// which goes on as long as the place is used.
    actor DialectStores: ConformanceSubject {
        enum Client: String, CaseIterable, Sendable {
            case maxLeap = "MaxLeap"
            case parse = "Parse"
            case mobileServices = "Mobile Services"
            case mobileApps = "Mobile Apps"
            case datasync = "Datasync"

            /// The protocol of Azure that the client uses; nil for other dialects.
            var azureVersion: AzureVersion? {
                switch self {
                case .maxLeap, .parse: nil
                case .mobileServices: .mobileServices
                case .mobileApps: .mobileApps
                case .datasync: .datasync
                }
            }
        }

        private let client: Client
        private var current: (place: String, server: LoopbackServer)?

        init(_ client: Client) { self.client = client }

        nonisolated var name: String { client.rawValue }
        /// A save is a request for each object; two objects cannot exchange a unique value that way. The server keeps no values
        /// with parts, no encoded ones and no numbers beyond doubles. Azure keeps neither positions nor members of
        /// relationships and their order.
        nonisolated var omissions: Set<ConformanceFeature> {
            let shared: Set<ConformanceFeature> = [
                .atomicSaves, .uniqueKeys, .composites, .transformables, .decimals,
            ]
            return client.azureVersion == nil
                ? shared : shared.union([.geoPoints, .manyToMany, .orderedRelationships])
        }
        /// Dates are whole milliseconds.
        nonisolated let datePrecision = 0.001

        func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
            let server: LoopbackServer
            if let current, current.place == place.path {
                server = current.server
            } else {
                await current?.server.stop()
                server = try await LoopbackServer(model: model, template: "all dialects") { $0.dialects = Places.all }
                current = (place.path, server)
            }
            let backend: any RemoteBackend =
                if let version = client.azureVersion {
                    try server.azureClient(version) { $0.keepsDeletedRows = true }.backend
                } else {
                    try server.maxLeapClient(client == .parse ? .parse : .maxLeap) {
                        $0.usesConditionalWrites = client == .maxLeap
                    }.backend(for: model)
                }
            var options = RemoteStore.Options()
            options.fetchPolicy = .networkOnly
            options.waitsForNetwork = true
            options.finishesLocally = true
            // The server answers on the threads that all other tests use, too.
            options.request.timeout = 300
            options.sync.request.timeout = 300
            let location = SQLiteStore.Location.file(path: place.appending(path: "mirror.sqlite").path)
            guard client == .datasync else {
                return try RemoteStore.open(model: model, backend: backend, location: location, options: options)
            }
            // Its services only take whole rows, as pushes send them, and refuse an awaited save of some changed properties.
            return try PushingStore.open(model: model, backend: backend, location: location, options: options)
        }

        /// Stops the server of the last place.
        func stop() async {
            await current?.server.stop()
            current = nil
        }
    }
#endif
