#if Postgres
    import Foundation
    import GraphWorld
    import PostgresFixture
    import PredicateWorld
    import SeededRandom
    import Strata
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("Stores are copied between SQLite and PostgreSQL", .needsPostgres)
    struct CopyTests {
        /// A folder that is removed in the end.
        private final class Folder {
            let path: String

            init() throws {
                path = FileManager.default.temporaryDirectory.appendingPathComponent("strata-copy-\(UUID())").path
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }

            func sqlite(
                _ model: ManagedObjectModel, _ name: String, _ change: (inout SQLiteStore.Options) -> Void = { _ in }
            ) throws -> SQLiteStore {
                var options = SQLiteStore.Options()
                change(&options)
                return try SQLiteStore.open(model: model, location: .file(path: "\(path)/\(name)"), options: options)
            }

            deinit { try? FileManager.default.removeItem(atPath: path) }
        }

        /// A store with a little of everything that the test model has.
        private func filled(_ folder: Folder, cities: Int = 3) throws -> SQLiteStore {
            let store = try folder.sqlite(try TestModel.make(), "a.sqlite") { $0.externalStorageThreshold = 100 }
            let context = try PersistentContainer(store: store).newContext()
            var lands: [ManagedObject] = []
            for number in 0..<3 {
                let land = try context.insert(entityNamed: "Land")
                try land.setValue("Land \(number)", forKey: "name")
                lands.append(land)
            }
            try lands[0].setValue(Set([lands[1], lands[0]]), forKey: "neighbours")
            for number in 0..<cities {
                let city = try context.insert(entityNamed: number % 3 == 1 ? "Port" : "City")
                try city.setValue("City \(number)", forKey: "name")
                try city.setValue("c\(number)", forKey: "code")
                try city.setValue(Decimal(string: "\(number).50"), forKey: "price")
                try city.setValue(Date(timeIntervalSinceReferenceDate: 800_000_000.123_456_78), forKey: "founded")
                try city.setValue(["a", "b\(number)"], forKey: "tags")
                try city.setValue(lands[number % 2], forKey: "land")
                if number < 50 {
                    try city.setValue(Data(repeating: UInt8(number), count: 90 + 10 * number), forKey: "photo")
                }
                var streets: [ManagedObject] = []
                for name in ["z", "a", "m"] {
                    let street = try context.insert(entityNamed: "Street")
                    try street.setValue(name, forKey: "name")
                    streets.append(street)
                }
                streets.shuffle()
                try city.setValue(streets, forKey: "streets")
            }
            try context.save()
            // Versions above 1, and a key that is gone.
            try lands[1].setValue("another name", forKey: "name")
            context.delete(lands[2])
            try context.save()
            return store
        }

        @Test("There and back, a store is equal: rows, versions, order, external values, keys")
        func thereAndBack() throws {
            let folder = try Folder()
            let first = try filled(folder, cities: 700)
            let (postgres, _) = try PostgresStore.fresh { $0.externalStorageThreshold = 300 }
            let steps = Guarded<[MigrationProgress]>([])
            var options = StoreCopyOptions()
            options.batchSize = 100
            options.onProgress = { step in steps.withLock { $0.append(step) } }
            let there = try first.copy(to: postgres, options: options)
            let last = try folder.sqlite(first.model, "b.sqlite")
            let back = try postgres.copy(to: last)

            let content = try StoreContent(first)
            #expect(content.rows["City"]?.count == 467)
            #expect(try StoreContent(postgres) == content)
            #expect(try StoreContent(last) == content)
            #expect(there.entities == back.entities && there.relationships == back.relationships)
            #expect(there.entities.map(\.name) == ["City", "Land", "Port", "Street"])
            #expect(there.entities.map(\.count) == [467, 2, 233, 2100])
            #expect(there.relationships.map(\.name) == ["Land.neighbours"])
            #expect(there.relationships.map(\.count) == [3])
            #expect(there.externalCount == 48 && there.roundedObjects == 700)
            #expect(back.roundedObjects == 0)
            let progress = steps.withLock(\.self)
            #expect(progress.last?.fraction == 1 && progress.count > 20)
            #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.completed <= $1.completed })

            // New objects get keys that were never given out, beyond those that the first store had reserved.
            for (index, entity) in first.model.entities.enumerated() where entity.parentIndex == nil {
                let reserved = try first.allocateKeys(1, rootIndex: index).lowerBound
                #expect(try postgres.allocateKeys(1, rootIndex: index).lowerBound >= reserved)
                #expect(try last.allocateKeys(1, rootIndex: index).lowerBound >= reserved)
            }
            // And both copies can be worked with: constraints, indexes and references are there.
            for store in [postgres, last] as [any PersistentStore] {
                let context = try PersistentContainer(store: store).newContext()
                let city = try context.insert(entityNamed: "City")
                try city.setValue("c7", forKey: "code")
                #expect(throws: PersistenceError.self) { try context.save() }
            }
            let copy = try PostgresStore.fresh().store
            #expect(try postgres.copy(to: copy).entities == there.entities)
        }

        @Test("Equal stores have equal checksums, and any difference changes them")
        func checksums() throws {
            let folder = try Folder()
            let store = try filled(folder)
            func sums(_ name: String) throws -> [String] {
                let copy = try folder.sqlite(store.model, name)
                let report = try store.copy(to: copy)
                return (report.entities + report.relationships).map(\.checksum)
            }
            let before = try sums("1.sqlite")
            #expect(try sums("2.sqlite") == before)
            let context = try PersistentContainer(store: store).newContext()
            let city = try #require(try context.fetch(FetchRequest<ManagedObject>(entity: "City")).first)
            let streets = try #require(try city.value(forKey: "streets") as? [ManagedObject])
            try city.setValue(Array(streets.reversed()), forKey: "streets")
            try context.save()
            let after = try sums("3.sqlite")
            // Only the order has changed, which is in the rows of the streets.
            #expect(after[3] != before[3])
            #expect(after[1] == before[1] && after[4] == before[4])
        }

        @Test("Random objects of random models, and what random edits leave, are equal there and back")
        func random() throws {
            let seed = RunSeed.value()
            print("copies of random worlds: seed \(seed)")
            var random = SplitMix64(seed: seed)
            let folder = try Folder()
            let database = try PostgresServer.shared.newDatabase()
            var copied = 0
            for number in 1...60 where copied < 12 {
                // Not every random model is valid.
                let world = try? RandomWorld(&random, keepsZeroCharacters: false) { model in
                    try folder.sqlite(model, "world \(number).sqlite")
                }
                guard let world else { continue }
                copied += 1
                try check(world.store, "world \(number)", database, folder)
            }
            #expect(copied == 12)
            let opened = Guarded<SQLiteStore?>(nil)
            let driver = try WorldDriver(seed: seed, place: "edits") { model in
                if let store = opened.withLock(\.self) { store.close() }
                let store = try folder.sqlite(model, "edits.sqlite") {
                    $0.externalStorageThreshold = WorldDriver.largestInlineCover
                }
                opened.withLock { $0 = store }
                return store
            }
            try driver.run(steps: 400, fullCheckEvery: 100)
            let edited = opened.withLock(\.self)
            try check(try #require(edited), "edits", database, folder)
        }

        private func check(
            _ store: any PersistentStore, _ name: String, _ database: String, _ folder: Folder
        ) throws {
            var options = PostgresStore.Options()
            options.schema = name
            let postgres = try PostgresStore.open(model: store.model, at: database, options: options)
            defer { postgres.close() }
            try store.copy(to: postgres)
            let back = try folder.sqlite(store.model, "\(name) back.sqlite")
            try postgres.copy(to: back)
            let content = try StoreContent(store)
            #expect(try StoreContent(postgres) == content, "\(name)")
            #expect(try StoreContent(back) == content, "\(name)")
        }

        @Test("The copy is what the source is at one moment, and others wait to write to the target")
        func oneMoment() throws {
            let folder = try Folder()
            let store = try filled(folder, cities: 300)
            let (postgres, url) = try PostgresStore.fresh()
            let other = try PostgresStore.open(at: url)
            let started = Guarded(false)
            let written = Guarded<[String]>([])
            let thread = DispatchSemaphore(value: 0)
            var options = StoreCopyOptions()
            options.batchSize = 50
            options.onProgress = { step in
                guard step.completed > 0,
                    started.withLock({ was in
                        defer { was = true }
                        return !was
                    })
                else { return }
                // Another connection to the source, which the copy must not see.
                try? SQLiteStore.open(model: store.model, location: store.location).deleteAll("Land")
                Thread.detachNewThread {
                    _ = try? other.insert(("Land", 5_000, ["name": .string("late")]))
                    written.withLock { $0.append("insert") }
                    thread.signal()
                }
                Thread.sleep(forTimeInterval: 0.2)
                written.withLock { $0.append("copy") }
            }
            let report = try store.copy(to: postgres, options: options)
            thread.wait()
            #expect(report.entities.first { $0.name == "Land" }?.count == 2)
            #expect(written.withLock(\.self) == ["copy", "insert"])
            #expect(try postgres.count("Land") == 3)
            #expect(try store.count(FetchPlan(entityIndex: 2)) == 0)
        }

        @Test("After an error the target is as empty as before, and can be filled again")
        func failures() throws {
            let folder = try Folder()
            let store = try filled(folder, cities: 300)
            let (postgres, url) = try PostgresStore.fresh()
            var options = StoreCopyOptions()
            options.batchSize = 50
            let cancellation = ReadCancellation()
            options.cancellation = cancellation
            options.onProgress = { if $0.completed > 300 { cancellation.cancel() } }
            #expect(throws: StoreError.cancelled) { try store.copy(to: postgres, options: options) }
            #expect(try postgres.count("City") == 0)

            // The server ends the session in the middle.
            options.cancellation = nil
            options.onProgress = { if $0.completed > 300 { try? PostgresServer.shared.endSessions(of: url) } }
            #expect(throws: StoreError.self) { try store.copy(to: postgres, options: options) }
            options.onProgress = nil
            #expect(try postgres.count("City") == 0)

            // A file of a value is gone.
            let blobs = folder.path + "/a.sqlite-blobs"
            let name = try #require(
                try FileManager.default.contentsOfDirectory(atPath: blobs).first { $0.hasSuffix(".blob") })
            try FileManager.default.moveItem(atPath: "\(blobs)/\(name)", toPath: folder.path + "/kept")
            #expect {
                try store.copy(to: postgres, options: options)
            } throws: { error in
                guard case .missingFile(let entity, let property, _, let file)? = error as? StoreError else {
                    return false
                }
                return ["City", "Port"].contains(entity) && property == "photo" && file == name
            }
            try FileManager.default.moveItem(atPath: folder.path + "/kept", toPath: "\(blobs)/\(name)")

            try store.copy(to: postgres, options: options)
            #expect(try StoreContent(postgres) == StoreContent(store))
            // It is no longer empty.
            #expect {
                try store.copy(to: postgres)
            } throws: { error in
                guard case .constraint(let entity, let reason)? = error as? StoreError else { return false }
                return entity == "City" && reason.contains("empty")
            }
            let file = try folder.sqlite(store.model, "full.sqlite")
            let context = try PersistentContainer(store: file).newContext()
            _ = try context.insert(entityNamed: "Street")
            try context.save()
            #expect(throws: StoreError.self) { try postgres.copy(to: file) }
            #expect(try file.count(FetchPlan(entityIndex: 0)) == 0)
        }

        @Test("What the target cannot keep is named, and what breaks its rules is refused")
        func refused() throws {
            let folder = try Folder()
            let store = try folder.sqlite(try TestModel.make(), "odd.sqlite")
            let context = try PersistentContainer(store: store).newContext()
            let city = try context.insert(entityNamed: "City")
            try city.setValue("a\u{0}b", forKey: "name")
            try context.save()
            let (postgres, _) = try PostgresStore.fresh()
            #expect {
                try store.copy(to: postgres)
            } throws: { error in
                guard case .invalidData("City", "name", city.objectID.key, _)? = error as? StoreError else {
                    return false
                }
                return true
            }
            try city.setValue("plain", forKey: "name")
            try context.save()
            // Somebody has written a reference to nothing with another tool.
            try store.maintaining { (connection) throws(StoreError) in
                try connection.execute("PRAGMA foreign_keys = OFF")
                try connection.execute("UPDATE city SET land = 77")
                try connection.execute("PRAGMA foreign_keys = ON")
            }
            for target in [postgres, try folder.sqlite(store.model, "strict.sqlite")] as [any PersistentStore] {
                #expect {
                    try store.copy(to: target)
                } throws: { error in
                    guard case .constraint("City", _)? = error as? StoreError else { return false }
                    return true
                }
                #expect(try target.count(FetchPlan(entityIndex: 0)) == 0)
            }
        }

        @Test("Other models, mirrors, and a store as its own target are refused")
        func unfit() throws {
            let folder = try Folder()
            let store = try folder.sqlite(try TestModel.make(), "a.sqlite")
            let larger = try TestModel.make { $0[3].attributes.append(Attribute("width", .double, optional: true)) }
            let other = try folder.sqlite(larger, "b.sqlite")
            #expect {
                try store.copy(to: other)
            } throws: { error in
                guard case .incompatibleModel(_, let differences)? = error as? StoreError else { return false }
                return differences.contains { $0.contains("width") }
            }
            let turned = try ManagedObjectModel(
                name: "Test", entities: Array(try TestModel.make().entities.map(\.declaration).reversed()))
            #expect(throws: StoreError.self) { try store.copy(to: folder.sqlite(turned, "c.sqlite")) }
            #expect(throws: StoreError.self) { try store.copy(to: store) }
            let mirror = try folder.sqlite(store.model, "d.sqlite") { $0.isMirror = true }
            #expect(throws: StoreError.self) { try store.copy(to: mirror) }
            #expect(throws: StoreError.self) { try mirror.copy(to: store) }
            var options = StoreCopyOptions()
            options.batchSize = 0
            #expect(throws: StoreError.self) {
                try store.copy(to: folder.sqlite(store.model, "e.sqlite"), options: options)
            }
        }

        @Test("Containers copy, and those who listen to the other one are notified", .timeLimit(.minutes(10)))
        func containers() async throws {
            let folder = try Folder()
            let source = try PersistentContainer(store: try filled(folder))
            let target = try PersistentContainer(store: try PostgresStore.fresh().store)
            var changes = target.changes.makeAsyncIterator()
            let report = try await source.copy(to: target)
            #expect(report.entities.map(\.count) == [2, 2, 1, 9])
            #expect(await changes.next()?.isEverything == true)
            #expect(try target.store.count(FetchPlan(entityIndex: 0)) == 3)
            await #expect(throws: PersistenceError.self) { try await source.copy(to: target) }
        }

        @Test("A copy may keep the identifier, so that IDs stay valid")
        func identifier() throws {
            let folder = try Folder()
            let store = try filled(folder)
            let (postgres, url) = try PostgresStore.fresh()
            var options = StoreCopyOptions()
            options.keepsIdentifier = true
            try store.copy(to: postgres, options: options)
            postgres.close()
            #expect(try PostgresStore.open(at: url).identifier == store.identifier)
            let back = try folder.sqlite(store.model, "back.sqlite")
            try PostgresStore.open(at: url).copy(to: back, options: options)
            back.close()
            #expect(try folder.sqlite(store.model, "back.sqlite").identifier == store.identifier)
        }
    }

    extension SQLiteStore {
        fileprivate func deleteAll(_ name: String) throws {
            let context = try PersistentContainer(store: self).newContext()
            for object in try context.fetch(FetchRequest<ManagedObject>(entity: name)) { context.delete(object) }
            try context.save()
        }
    }
#endif
