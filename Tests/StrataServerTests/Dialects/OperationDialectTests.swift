#if Server
    import Foundation
    import StrataAsyncHTTP
    import StrataAzure
    import StrataMaxLeap
    import StrataServer
    import StrataStackMob
    import StrataStore
    import Testing

    /// Operations on attributes, by each dialect against the server over HTTP.
    @Suite struct OperationDialectTests {
        enum Service: String, CaseIterable, Sendable {
            case stackMob, parse, maxLeap, azure

            /// What a request has in its body that sends an increment as such; nil for a service without increments.
            var increment: String? {
                switch self {
                case .stackMob: "[inc]"
                case .parse, .maxLeap: "\"Increment\""
                case .azure: nil
                }
            }
        }

        private static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "Shop") {
                Entity("Product") {
                    Attribute("productId", .string)
                    Attribute("stock", .integer64, default: .value(0))
                }
            }
        }

        private final class Device {
            let wire = Wire()
            let store: RemoteStore
            let context: ManagedObjectContext

            init(_ service: Service, _ server: LoopbackServer) throws {
                let model = try OperationDialectTests.model()
                var options = RemoteStore.Options()
                options.fetchPolicy = .cacheOnly
                options.savePolicy = .cacheOnly
                options.pushesAutomatically = false
                options.sync.request.timeout = 300
                let backend: any RemoteBackend =
                    switch service {
                    case .stackMob: try server.client(transport: wire).backend(for: model)
                    case .parse: try server.maxLeapClient(.parse, transport: wire).backend(for: model)
                    case .maxLeap: try server.maxLeapClient(.maxLeap, transport: wire).backend(for: model)
                    case .azure: try server.azureClient(.mobileApps, transport: wire).backend
                    }
                store = try RemoteStore.open(
                    model: model, backend: backend, location: .memory(name: nil), options: options)
                context = try PersistentContainer(store: store).newContext(automaticallyMergesChanges: true)
            }

            func product() async throws -> ManagedObject {
                try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "Product")).first)
            }
        }

        @Test("Devices that count offline come to the sum, and no change of stock is lost", arguments: Service.allCases)
        func counting(_ service: Service) async throws {
            try await withServer({ $0.dialects = Places.all }) { server in
                let devices = try [Device(service, server), Device(service, server)]
                let product = try devices[0].context.insert(entityNamed: "Product")
                product["productId"] = "p"
                product["stock"] = 10
                try await devices[0].context.save()
                try await devices[0].store.sync.push()
                try await devices[1].store.sync.pull()
                for (device, amount) in zip(devices, [-3, 5]) {
                    let product = try await device.product()
                    try product.increment("stock", by: amount)
                    try await device.context.save()
                    try product.increment("stock")
                    try await device.context.save()
                }
                for _ in 0..<2 {
                    for device in devices {
                        let report = try await device.store.sync.synchronize()
                        #expect(report.failures.isEmpty, "\(report.failures)")
                    }
                }
                for device in devices {
                    #expect(try await device.product()["stock"] as? Int64 == 14)
                    #expect(try device.store.sync.pendingCount() == 0)
                    guard let word = service.increment else { continue }
                    let bodies = device.wire.requests.map { String(decoding: $0.body ?? Data(), as: UTF8.self) }
                    #expect(bodies.contains { $0.contains(word) }, "\(bodies)")
                }
            }
        }
    }
#endif
