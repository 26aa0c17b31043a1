#if Server
    import Foundation
    import SeededRandom
    import StrataAzure
    import StrataServer
    import StrataStackMob
    import Testing

    /// Stores whose objects have the numbers of strata-server's tables as keys.
    @Suite struct NumberedClientTests {
        /// The dialects in which clients create such objects.
        enum Dialect: CaseIterable, Sendable {
            case stackMob, mobileServices
        }

        /// What one machine has: a store and a context on it.
        private struct Device {
            let store: RemoteStore
            let context: ManagedObjectContext

            init(_ server: LoopbackServer, _ dialect: Dialect, isOnline: Bool = false) throws {
                var options = RemoteStore.Options()
                options.savePolicy = isOnline ? .networkThenCache : .cacheOnly
                options.fetchPolicy = isOnline ? .networkOnly : .cacheOnly
                options.sync.retries = 0
                options.sync.pageSize = 3
                // Debug builds on a busy machine take their time.
                options.request.timeout = 300
                options.sync.request.timeout = 300
                // StackMob's dialect compares keys as text, and leaves their order to the store.
                options.finishesLocally = dialect == .stackMob
                let model = try NumberedTables.model()
                let backend: any RemoteBackend =
                    switch dialect {
                    case .stackMob: try server.client().backend(for: model)
                    case .mobileServices:
                        try server.azureClient(.mobileServices) { $0.keepsDeletedRows = true }.backend
                    }
                store = try RemoteStore.open(
                    model: model, backend: backend, location: .memory(name: nil), options: options)
                context = try PersistentContainer(store: store).newContext(automaticallyMergesChanges: true)
            }

            func make(_ entity: String, _ values: [String: Any]) throws -> ManagedObject {
                try context.make(entity, values)
            }

            func saveHere() throws { try context.save() }

            func fetch(_ entity: String, _ condition: FetchPredicate? = nil) async throws -> [ManagedObject] {
                try await context.fetch(FetchRequest<ManagedObject>(entity: entity, where: condition))
            }

            /// All objects as text, with the keys of those that they lead to.
            func contents() throws -> [String] {
                func key(_ object: Any?, _ name: String) -> String {
                    (object as? ManagedObject).map { "\($0[name] ?? "?")" } ?? "-"
                }
                var lines: [String] = []
                for entity in ["Folder", "Note", "Person"] {
                    for object in try context.fetch(FetchRequest<ManagedObject>(entity: entity)) {
                        switch entity {
                        case "Folder": lines.append("folder \(object["folderId"] ?? "?") \(object["name"] ?? "-")")
                        case "Note":
                            lines.append(
                                "note \(object["noteId"] ?? "?") \(object["text"] ?? "-") \(object["stars"] ?? "-") "
                                    + "\(key(object["folder"], "folderId")) \(key(object["owner"], "personId"))")
                        default:
                            lines.append(
                                "person \(object["personId"] ?? "?") \(object["name"] ?? "-") "
                                    + key(object["favorite"], "noteId"))
                        }
                    }
                }
                return lines.sorted()
            }
        }

        private static func withTables(_ body: (LoopbackServer) async throws -> Void) async throws {
            try await withServer(
                model: try NumberedTables.model(), { $0.dialects = Places.all }, { try await body($0) })
        }

        @Test(
            "What is made offline gets the server's numbers, and replicas that were edited apart become equal",
            arguments: Dialect.allCases)
        func offline(dialect: Dialect) async throws {
            try await Self.withTables { server in
                let (here, there) = (try Device(server, dialect), try Device(server, dialect))
                let folder = try here.make("Folder", ["name": "Work"])
                let person = try here.make("Person", ["name": "Ann"])
                let notes = try (0..<8).map {
                    try here.make("Note", ["text": "\($0)", "folder": folder, "owner": person])
                }
                person["favorite"] = notes[3]
                try here.saveHere()
                try await here.store.sync.synchronize()
                try await here.store.sync.synchronize()
                #expect(try await Set(here.fetch("Note")) == Set(notes))
                #expect(try await here.fetch("Folder") == [folder])
                #expect(Set(notes.map { $0["noteId"] as? Int64 ?? 0 }) == Set(1...8))
                #expect(folder["folderId"] as? Int64 == 1)
                #expect(try here.store.sync.pendingCount() == 0)
                try await there.store.sync.synchronize()
                #expect(try here.contents() == there.contents())
                #expect(try there.contents().count == 10)

                // Both are edited apart: new rows, changes of different columns, a deletion, a reference elsewhere.
                let theirs = try await there.fetch("Note")
                func twin(_ place: Int) throws -> ManagedObject {
                    try #require(theirs.first { $0["text"] as? String == "\(place)" })
                }
                notes[0]["stars"] = Int64(1)
                try twin(0)["text"] = "changed there"
                here.context.delete(notes[1])
                there.context.delete(try twin(2))
                notes[4]["folder"] = nil
                let other = try there.make("Folder", ["name": "Home"])
                try twin(5)["folder"] = other
                _ = try here.make("Note", ["text": "new here", "folder": folder])
                _ = try there.make("Note", ["text": "new there", "folder": other])
                try here.saveHere()
                try there.saveHere()
                for _ in 0..<3 {
                    try await here.store.sync.synchronize()
                    try await there.store.sync.synchronize()
                }
                let contents = try here.contents()
                #expect(try contents == there.contents())
                #expect(try here.store.sync.pendingCount() == 0 && there.store.sync.pendingCount() == 0)
                #expect(contents.filter { $0.hasPrefix("note ") }.count == 8)
                #expect(contents.contains { $0.contains("changed there 1 1") })
                // A third machine sees the same.
                let third = try Device(server, dialect)
                try await third.store.sync.pull()
                #expect(try third.contents() == contents)
            }
        }

        /// One edit of a random kind. Texts are never the same twice.
        private static func edit(_ device: Device, _ random: inout SplitMix64, _ text: String) async throws {
            let notes = try await device.fetch("Note").sorted { "\($0["text"] ?? "")" < "\($1["text"] ?? "")" }
            let folders = try await device.fetch("Folder").sorted { "\($0["name"] ?? "")" < "\($1["name"] ?? "")" }
            switch random.below(8) {
            case 0, 1, 2: _ = try device.make("Note", ["text": text])
            case 3: _ = try device.make("Note", ["text": text, "folder": try device.make("Folder", ["name": text])])
            case 4: random.pick(notes)?["text"] = text
            case 5: random.pick(notes)?["stars"] = Int64(random.below(100))
            case 6: random.pick(notes)?["folder"] = random.pick(folders)
            default: if let note = random.pick(notes) { device.context.delete(note) }
            }
            try device.saveHere()
        }

        @Test(
            "Devices that edit at random and synchronize at the same moment end up with the rows of the server",
            arguments: [[Dialect.mobileServices], [.stackMob], [.stackMob, .mobileServices]])
        func random(dialects: [Dialect]) async throws {
            try await Self.withTables { server in
                var random = SplitMix64(seed: RunSeed.value())
                let devices = try (0..<3).map { try Device(server, dialects[$0 % dialects.count]) }
                var made = 0
                for _ in 0..<12 {
                    for device in devices {
                        for _ in 0...random.below(3) {
                            made += 1
                            try await Self.edit(device, &random, "text \(made)")
                        }
                    }
                    let stores = devices.filter { _ in random.oneIn(2) }.map(\.store)
                    await withTaskGroup(of: Void.self) { group in
                        for store in stores { group.addTask { _ = try? await store.sync.synchronize() } }
                    }
                }
                for _ in 0..<3 {
                    for device in devices { try await device.store.sync.synchronize() }
                }
                let last = try Device(server, dialects[0])
                try await last.store.sync.pull()
                let contents = try last.contents()
                #expect(contents.count > 10)
                for device in devices {
                    #expect(try device.contents() == contents)
                    #expect(try device.store.sync.pendingCount() == 0)
                }
                // Each row has a number of its own, and all of them come from the server.
                let ids = try await last.fetch("Note").map { $0["noteId"] as? Int64 ?? 0 }
                #expect(Set(ids).count == ids.count && ids.allSatisfy { $0 > 0 })
            }
        }

        @Test(
            "What is saved to the server has its number at once, and conditions on keys and references are the server's",
            arguments: Dialect.allCases)
        func online(dialect: Dialect) async throws {
            try await Self.withTables { server in
                let device = try Device(server, dialect, isOnline: true)
                let folder = try device.make("Folder", ["name": "Work"])
                let notes = try (0..<11).map { try device.make("Note", ["text": "\($0)"]) }
                notes[2]["folder"] = folder
                let person = try device.make("Person", ["name": "Ann", "favorite": notes[2]])
                try await device.context.save(options: nil)
                #expect(Set(notes.map { $0["noteId"] as? Int64 ?? 0 }) == Set(1...11))
                let id = try #require(notes[2]["noteId"] as? Int64)
                #expect(try await device.fetch("Note", FetchPredicate(format: "noteId == %d", id)) == [notes[2]])
                #expect(try await device.fetch("Note", FetchPredicate(format: "noteId > %d", 9)).count == 2)
                #expect(try await device.fetch("Note", FetchPredicate(format: "folder == %@", folder)) == [notes[2]])
                #expect(
                    try await device.fetch("Person", FetchPredicate(format: "favorite == %@", notes[2])) == [person])
                var sorted = FetchRequest<ManagedObject>(
                    entity: "Note", sortedBy: [FetchSort("noteId", ascending: false)])
                sorted.limit = 3
                #expect(try await device.context.fetch(sorted).map { $0["noteId"] as? Int64 } == [11, 10, 9])
                notes[2]["text"] = "changed"
                try await device.context.save(options: nil)
                device.context.delete(notes[5])
                try await device.context.save(options: nil)
                let reader = try Device(server, dialect)
                try await reader.store.sync.pull()
                let read = try await reader.fetch("Note")
                #expect(read.count == 10)
                #expect(read.contains { $0["text"] as? String == "changed" && $0["noteId"] as? Int64 == id })
            }
        }
    }
#endif
