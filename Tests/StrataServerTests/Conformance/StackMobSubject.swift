#if Server
    import Foundation
    import StrataServer
    import StrataStackMob
    import StrataRemoteTesting

    /// The StackMob dialect against a server on loopback, to be tried by the conformance kit. Each place has a server of its
    /// own, which goes on as long as the place is used.
    actor StackMobSubject: ConformanceSubject {
        nonisolated let name = "StackMob"
        /// A save is a request for each object or a batch of independent requests; two objects cannot exchange a unique
        /// value that way. The protocol has no values with parts, no encoded ones and no numbers beyond doubles.
        nonisolated let omissions: Set<ConformanceFeature> = [
            .atomicSaves, .uniqueKeys, .composites, .transformables, .decimals,
        ]
        /// Dates are whole milliseconds.
        nonisolated let datePrecision = 0.001
        private var current: (place: String, server: LoopbackServer)?

        func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
            let server: LoopbackServer
            if let current, current.place == place.path {
                server = current.server
            } else {
                await current?.server.stop()
                server = try await LoopbackServer(model: model, template: "StackMob")
                current = (place.path, server)
            }
            var options = RemoteStore.Options()
            options.fetchPolicy = .networkOnly
            options.savePolicy = .networkThenCache
            options.waitsForNetwork = true
            options.finishesLocally = true
            // The server answers on the threads that all other tests use, too.
            options.request.timeout = 300
            return try StackMobStore.open(
                model: model, client: try server.client(),
                location: .file(path: place.appending(path: "mirror.sqlite").path), options: options
            ).remote
        }

        /// Stops the server of the last place.
        func stop() async {
            await current?.server.stop()
            current = nil
        }
    }
#endif
