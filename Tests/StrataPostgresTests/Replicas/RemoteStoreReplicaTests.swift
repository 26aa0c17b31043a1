#if Postgres
    import Foundation
    import PostgresFixture
    import Strata
    import StrataRemote
    import StrataRemoteTesting
    import Testing

    @testable import StrataPostgres

    /// A container of a database with a replica and of a remote store.
    @Suite("Replicas next to a remote store", .needsPostgres, .serialized)
    struct RemoteStoreReplicaTests {
        private let fixture: ReplicaFixture
        private let replica: PostgresServer
        private let server = MemoryBackend()
        private let container: PersistentContainer

        init() throws {
            fixture = try ReplicaFixture()
            let database = try fixture.primary.newDatabase()
            let empty = try Self.open(database, replica: nil, MemoryBackend())
            let context = empty.newContext()
            try context.insert(entityNamed: "City")["name"] = "Lima"
            try context.save()
            empty.close()
            replica = try fixture.replica()
            let container = try Self.open(database, replica: replica.url(like: database), server)
            self.container = container
            try fixture.eventually("the replica is used") {
                _ = try container.newContext(reading: .replica).count(FetchRequest<ManagedObject>(entity: "City"))
                return (Self.database(container)?.replicaStates.first?.answers ?? 0) > 0
            }
        }

        private static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(
                name: "Travel",
                configurations: [
                    ModelConfiguration("Places", ["City"]), ModelConfiguration("Visits", ["Visit", "Stop"]),
                ]
            ) {
                Entity("Stop") {
                    Attribute("stopId", .string, optional: true)
                    Attribute("name", .string)
                    Relationship("visit", to: "Visit", .optionalToOne, inverse: "stops")
                }
                Entity("City") {
                    Attribute("name", .string)
                    Attribute("visit", .uri, optional: true).references("Visit")
                }
                Entity("Visit") {
                    Attribute("visitId", .string, optional: true)
                    Attribute("title", .string)
                    Relationship("stops", to: "Stop", .toMany, inverse: "visit")
                }
            }
        }

        private static func open(
            _ database: String, replica: String?, _ server: MemoryBackend
        ) throws -> PersistentContainer {
            var options = PostgresStore.Options()
            if let replica {
                options.replicas = PostgresStore.Replicas([replica], maximumStaleness: .seconds(600))
                options.replicas?.retryPause = .milliseconds(50)
            }
            return try PersistentContainer(
                model: model(),
                stores: [
                    PersistentStoreDescription(configuration: "Places") { [options] (model) throws(StoreError) in
                        try PostgresStore.open(model: model, at: database, options: options)
                    },
                    PersistentStoreDescription(configuration: "Visits") { (model) throws(StoreError) in
                        try RemoteStore.open(model: model, backend: server, location: .memory(name: nil))
                    },
                ])
        }

        private static func database(_ container: PersistentContainer) -> PostgresStore? {
            container.store(forConfiguration: "Places") as? PostgresStore
        }

        /// Another device with the account of the visits.
        private func device() throws -> ManagedObjectContext {
            let remote = try #require(container.store(forConfiguration: "Visits") as? RemoteStore)
            let store = try RemoteStore.open(model: remote.model, backend: server, location: .memory(name: nil))
            return try PersistentContainer(store: store).newContext()
        }

        private func request(_ entity: String) -> FetchRequest<ManagedObject> { FetchRequest(entity: entity) }

        @Test("The replica answers for the database, and the server for the visits")
        func whoAnswers() async throws {
            defer { container.close() }
            let device = try device()
            let visit = try device.insert(entityNamed: "Visit")
            visit["title"] = "summer"
            let stop = try device.insert(entityNamed: "Stop")
            stop["name"] = "Lima"
            stop["visit"] = visit
            try await device.save()

            let answers = Answers(try #require(Self.database(container)))
            let context = container.newContext(reading: .replica)
            #expect(context.readSource == .replica)
            let found = try #require(try await context.fetch(request("Visit")).first)
            #expect(found["title"] as? String == "summer")
            let stops = try await context.fetch(request("Stop"))
            #expect(stops.map { $0["name"] as? String } == ["Lima"] && stops.first?["visit"] as? ManagedObject == found)
            #expect(try await context.count(request("Visit")) == 1)
            #expect(answers.take() == [])
            #expect(try await context.fetch(request("City")).map { $0["name"] as? String } == ["Lima"])
            let address = try #require(Self.database(container)?.replicaStates.first?.address)
            #expect(answers.take() == [address])
        }

        @Test("A save reaches the database and the server, and the context sees both while the replica is behind")
        func saves() async throws {
            defer { container.close() }
            try replica.pauseReplay()
            let context = container.newContext(reading: .replica)
            let visit = try context.insert(entityNamed: "Visit")
            visit["title"] = "winter"
            let city = try #require(try await context.fetch(request("City")).first)
            city["name"] = "Oslo"
            city["visit"] = visit.objectID.uri
            try await context.save()
            #expect(server.records.count == 1)
            let reader = container.newContext(reading: .replica)
            let again = try #require(try await reader.fetch(request("City")).first)
            #expect(again["name"] as? String == "Oslo")
            let uri = try #require(again["visit"] as? URL)
            let target = try #require(try reader.resolve(ObjectReference<ManagedObject>(.uri(uri))))
            #expect(target["title"] as? String == "winter")
            try replica.resumeReplay()
        }

        @Test("Where the replica is gone, the primary answers, and visits are read as before")
        func failures() async throws {
            defer { container.close() }
            let context = container.newContext(reading: .replica)
            let visit = try context.insert(entityNamed: "Visit")
            visit["title"] = "spring"
            try await context.save()
            try replica.stop()
            let reader = container.newContext(reading: .replica)
            #expect(try await reader.count(request("City")) == 1)
            let mirrored = try await reader.fetch(request("Visit").options(RemoteOptions(fetchPolicy: .cacheOnly)))
            #expect(mirrored.map { $0["title"] as? String } == ["spring"])
            reader.readSource = .primary
            #expect(try await reader.count(request("City")) == 1)
        }
    }
#endif
