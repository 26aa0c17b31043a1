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

            /// What a request has in its body that adds elements to an array, and what removes some.
            var elements: (add: String, remove: String)? {
                switch self {
                case .stackMob: ("tags[add]", "tags[remove]")
                case .parse, .maxLeap: ("\"Add\"", "\"Remove\"")
                case .azure: nil
                }
            }
        }

        private static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "Shop") {
                Entity("Product") {
                    Attribute("productId", .string)
                    Attribute("stock", .integer64, default: .value(0))
                    Attribute("tags", .array(.string), optional: true)
                }
            }
        }

        private final class Device {
            let wire = Wire()
            let store: RemoteStore
            let context: ManagedObjectContext

            init(_ service: Service, _ server: LoopbackServer, isOnline: Bool = false) throws {
                let model = try OperationDialectTests.model()
                var options = RemoteStore.Options()
                options.fetchPolicy = .cacheOnly
                options.savePolicy = isOnline ? .networkThenCache : .cacheOnly
                options.request.timeout = 300
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

            /// Saves. A service that only compares versions refuses a result if others have changed the value, and the next
            /// attempt adds to what the service has.
            func save() async throws {
                for _ in 0..<3 {
                    do throws(PersistenceError) {
                        return try await context.save(options: nil)
                    } catch {
                        guard case .store(.remote(let failure)) = error,
                            failure.updated.contains(where: { $0.failure.kind == RemoteError.Kind.conflict.rawValue })
                        else { throw error }
                    }
                }
                Issue.record("another save is refused each time")
            }

            func product() async throws -> ManagedObject {
                try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "Product")).first)
            }
        }

        @Test("Devices that change an array offline lose no element", arguments: Service.allCases)
        func elements(_ service: Service) async throws {
            try await withServer({ $0.dialects = Places.all }) { server in
                let devices = try [Device(service, server), Device(service, server)]
                let product = try devices[0].context.insert(entityNamed: "Product")
                product["productId"] = "p"
                product["tags"] = ["old", "red"]
                try await devices[0].context.save()
                try await devices[0].store.sync.push()
                try await devices[1].store.sync.pull()
                let first = try await devices[0].product()
                try first.add(["new"], to: "tags")
                try await devices[0].context.save()
                let second = try await devices[1].product()
                try second.remove(["old"], from: "tags")
                try await devices[1].context.save()
                for _ in 0..<2 {
                    for device in devices {
                        let report = try await device.store.sync.synchronize()
                        #expect(report.failures.isEmpty, "\(report.failures)")
                    }
                }
                for device in devices {
                    #expect(try await device.product()["tags"] as? [String] == ["red", "new"])
                }
                guard let words = service.elements else { return }
                for (device, word) in zip(devices, [words.add, words.remove]) {
                    let bodies = device.wire.requests.map { String(decoding: $0.body ?? Data(), as: UTF8.self) }
                    #expect(bodies.contains { $0.contains(word) }, "\(bodies)")
                }
            }
        }

        @Test(
            "Devices that count come to the sum, and no change of stock is lost, whether they save to the server or offline",
            arguments: Service.allCases, [false, true])
        func counting(_ service: Service, isOnline: Bool) async throws {
            try await withServer({ $0.dialects = Places.all }) { server in
                let devices = try [
                    Device(service, server, isOnline: isOnline), Device(service, server, isOnline: isOnline),
                ]
                let product = try devices[0].context.insert(entityNamed: "Product")
                product["productId"] = "p"
                product["stock"] = 10
                try await devices[0].context.save()
                try await devices[0].store.sync.push()
                try await devices[1].store.sync.pull()
                var products: [ManagedObject] = []
                for device in devices { products.append(try await device.product()) }
                // Each has the value of the beginning.
                for (product, amount) in zip(products, [-3, 5]) { try product.increment("stock", by: amount) }
                for device in devices { try await device.save() }
                for (product, device) in zip(products, devices) {
                    try product.increment("stock")
                    try await device.save()
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
