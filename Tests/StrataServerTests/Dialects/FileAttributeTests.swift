#if Server
    import Foundation
    import StrataAsyncHTTP
    import StrataAzure
    import StrataMaxLeap
    import StrataServer
    import StrataStackMob
    import StrataStore
    import Testing

    /// Files that attributes refer to, by each dialect against the server over HTTP.
    @Suite struct FileAttributeTests {
        enum Service: String, CaseIterable, Sendable { case stackMob, parse, maxLeap }

        private static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "Album") {
                Entity("Photo") {
                    Attribute("photoId", .string)
                    Attribute("title", .string, default: .value(""))
                    Attribute("picture", .string, optional: true)
                }
            }
        }

        private final class Device {
            let wire: Wire
            let store: RemoteStore
            let container: PersistentContainer
            let context: ManagedObjectContext

            init(
                _ service: Service, _ server: LoopbackServer, _ policy: SavePolicy = .networkThenCache,
                master: Bool = false, location: SQLiteStore.Location = .memory(name: nil),
                transport: (any HTTPTransport)? = nil, progress: FileProgress? = nil
            ) throws {
                wire = Wire(transport)
                let model = try FileAttributeTests.model()
                var options = RemoteStore.Options()
                options.fetchPolicy = policy == .cacheOnly ? .cacheOnly : .networkOnly
                options.savePolicy = policy
                options.request.timeout = 300
                options.sync.request.timeout = 300
                options.sync.retries = 0
                options.sync.fileProgress = progress
                let backend: any RemoteBackend
                if service == .stackMob {
                    backend = try server.client(transport: wire).backend(for: model)
                } else {
                    let client = try server.maxLeapClient(service == .parse ? .parse : .maxLeap, transport: wire) {
                        $0.names.files = ["Photo": ["picture"]]
                        if master { $0.masterKey = Places.master }
                    }
                    backend = client.backend(for: model)
                }
                store = try RemoteStore.open(model: model, backend: backend, location: location, options: options)
                container = try PersistentContainer(store: store)
                context = container.newContext(automaticallyMergesChanges: true)
            }

            func photo(_ id: String, _ data: Data) throws -> ManagedObject {
                let photo = try context.insert(entityNamed: "Photo")
                photo["photoId"] = id
                photo["picture"] = try store.stageFile(data, name: "a b.png", contentType: "image/png")
                return photo
            }

            func pictures() async throws -> [String?] {
                try await container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Photo"))
                    .map { $0["picture"] as? String }
            }

            var uploads: Int {
                wire.requests.filter { $0.head.path?.contains("/files/") == true && $0.head.method != .get }.count
            }
        }

        private func withAlbum(_ body: (LoopbackServer) async throws -> Void) async throws {
            // Without a model the field becomes one of files by what is put into it.
            try await withServer({ $0.dialects = Places.all }, body)
        }

        private let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

        @Test("A file is uploaded before its object, and read by others", arguments: Service.allCases)
        func online(_ service: Service) async throws {
            try await withAlbum { server in
                let device = try Device(service, server)
                let photo = try device.photo("p", bytes)
                let staged = try #require(photo["picture"] as? String)
                #expect(staged.hasPrefix("strata-file:"))
                #expect(try await device.store.fileData(staged) == bytes)
                try await device.context.save(options: nil)
                let reference = try #require(photo["picture"] as? String)
                #expect(reference.hasPrefix("http"), "\(reference.prefix(200))")
                #expect(device.uploads == (service == .stackMob ? 0 : 1))
                #expect(try await device.store.fileData(reference) == bytes)
                // Who still has the text of before gets the same.
                #expect(try await device.store.fileData(staged) == bytes)
                let other = try Device(service, server)
                #expect(try await other.pictures() == [reference])
                let fetched = try await other.container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Photo"))
                #expect(try await other.store.fileData(fetched[0]["picture"] as? String ?? "") == bytes)
                // Another change keeps the file; clearing removes it.
                photo["title"] = "sea"
                try await device.context.save(options: nil)
                #expect(try await other.pictures() == [reference])
                photo["picture"] = nil
                try await device.context.save(options: nil)
                #expect(try await other.pictures() == [nil])
            }
        }

        @Test(
            "A file that was staged offline is uploaded by the push, after a restart as well",
            arguments: Service.allCases)
        func offline(_ service: Service) async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-files-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let location = SQLiteStore.Location.file(path: folder.appending(path: "mirror.sqlite").path)
            try await withAlbum { server in
                let first = try Device(service, server, .cacheOnly, location: location)
                _ = try first.photo("p", bytes)
                try await first.context.save(options: nil)
                first.wire.cut(true)
                await #expect(throws: SyncError.self) { try await first.store.sync.push() }
                first.store.close()
                let device = try Device(service, server, .cacheOnly, location: location)
                let report = try await device.store.sync.push()
                #expect(report.failures.isEmpty, "\(report.failures)")
                let reference = try #require(try await device.pictures().first ?? nil)
                #expect(reference.hasPrefix("http"), "\(reference.prefix(100))")
                #expect(try await Device(service, server).pictures() == [reference])
                #expect(try await device.store.fileData(reference) == bytes)
                device.store.close()
            }
        }

        @Test("A file is uploaded once, however often its object is sent", arguments: [Service.parse, .maxLeap])
        func once(_ service: Service) async throws {
            try await withAlbum { server in
                let device = try Device(service, server)
                _ = try device.photo("p", bytes)
                // The upload gets through, and the object does not.
                device.wire.limit(1)
                await #expect(throws: PersistenceError.self) { try await device.context.save(options: nil) }
                device.wire.limit(nil)
                try await device.context.save(options: nil)
                #expect(device.uploads == 1)
                #expect(try await Device(service, server).pictures().count == 1)
            }
        }

        @Test("Uploads and downloads tell how far they are, with either transport", arguments: [false, true])
        func progress(_ isAsync: Bool) async throws {
            try await withAlbum { server in
                let seen = Guarded<[TransferProgress]>([])
                let progress = FileProgress { step in seen.withLock { $0.append(step) } }
                let transport: (any HTTPTransport)? = isAsync ? AsyncHTTPTransport() : nil
                let device = try Device(.parse, server, transport: transport)
                let photo = try device.photo("p", bytes)
                try await device.context.save(options: RemoteOptions(fileProgress: progress))
                var steps = seen.withLock { $0 }
                #expect(steps.allSatisfy { $0.direction == .upload && $0.total == bytes.count }, "\(steps)")
                #expect(steps.last?.completed == bytes.count)
                #expect(steps.map(\.completed) == steps.map(\.completed).sorted())
                seen.withLock { $0 = [] }
                _ = try await device.store.fileData(photo["picture"] as? String ?? "", progress: progress)
                steps = seen.withLock { $0 }
                #expect(steps.allSatisfy { $0.direction == .download }, "\(steps)")
                #expect(steps.last?.completed == bytes.count)
                // A push tells, too.
                seen.withLock { $0 = [] }
                let offline = try Device(.parse, server, .cacheOnly, transport: transport, progress: progress)
                _ = try offline.photo("q", bytes)
                try await offline.context.save(options: nil)
                try await offline.store.sync.push()
                #expect(seen.withLock { $0.last?.completed } == bytes.count)
            }
        }

        @Test("A file is deleted where the service does that; what is gone is an error of its own")
        func deleting() async throws {
            try await withAlbum { server in
                let device = try Device(.parse, server)
                let photo = try device.photo("p", bytes)
                try await device.context.save(options: nil)
                let reference = try #require(photo["picture"] as? String)
                await #expect { try await device.store.deleteFile(reference) } throws: { "\($0)".contains("119") }
                let admin = try Device(.parse, server, master: true)
                photo["picture"] = nil
                try await device.context.save(options: nil)
                try await admin.store.deleteFile(reference)
                await #expect { _ = try await device.store.fileData(reference) } throws: { "\($0)".contains("404") }
                // A second deletion is not an error.
                try await admin.store.deleteFile(reference)
                await #expect(throws: StoreError.self) { try await device.store.fileData("strata-file:nothing/x") }
                await #expect(throws: StoreError.self) { try await device.store.fileData("no address") }
                let stackMob = try Device(.stackMob, server)
                await #expect { try await stackMob.store.deleteFile(reference) } throws: {
                    "\($0)".contains("does not delete single files")
                }
            }
        }

        @Test("A service without files refuses them before anything is kept; so does a field that is none")
        func refusals() async throws {
            try await withAlbum { server in
                let model = try Self.model()
                let azure = try RemoteStore.open(
                    model: model, backend: try server.azureClient(.mobileApps).backend, location: .memory(name: nil))
                #expect { try azure.stageFile(Data([1]), name: "x") } throws: { "\($0)".contains("the file x") }
                let device = try Device(.parse, server)
                let photo = try device.photo("p", bytes)
                photo["title"] = photo["picture"]
                photo["picture"] = nil
                let error = await #expect(throws: PersistenceError.self) { try await device.context.save(options: nil) }
                guard case .store(.remote(let failure))? = error else {
                    Issue.record("the error is \(String(describing: error))")
                    return
                }
                #expect(
                    failure.inserted.first?.failure.message.contains("Photo.title is not a file at the server") == true)
                #expect(device.wire.count == 0)
            }
        }
    }
#endif
