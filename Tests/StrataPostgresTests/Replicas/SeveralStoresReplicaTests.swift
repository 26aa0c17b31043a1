#if Postgres
    import Foundation
    import PostgresFixture
    import Strata
    import Testing

    @testable import StrataPostgres

    /// A container of three stores: two databases, of which one has a replica, and memory.
    @Suite("Replicas of one of several stores", .needsPostgres, .serialized)
    struct SeveralStoresReplicaTests {
        private let fixture: ReplicaFixture
        private let replica: PostgresServer
        private let places: String
        private let events: String

        init() throws {
            fixture = try ReplicaFixture()
            places = try fixture.primary.newDatabase()
            events = try fixture.primary.newDatabase()
            let container = try Self.open(places, events)
            defer { container.close() }
            let context = container.newContext()
            let lima = try context.insert(entityNamed: "City")
            lima["name"] = "Lima"
            try context.insert(entityNamed: "City")["name"] = "Oslo"
            let street = try context.insert(entityNamed: "Street")
            street["name"] = "Jirón"
            street["city"] = lima
            try context.insert(entityNamed: "Event")["title"] = "opened"
            try context.save()
            replica = try fixture.replica()
        }

        /// The entities of the stores are mixed, so that no store has them at the positions that the model gives them.
        private static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(
                name: "Split",
                configurations: [
                    ModelConfiguration("Places", ["City", "Street"]), ModelConfiguration("Events", ["Event"]),
                ]
            ) {
                Entity("Note") {
                    Attribute("text", .string)
                    Attribute("city", .uri, optional: true).references("City")
                }
                Entity("Street") {
                    Attribute("name", .string)
                    Relationship("city", to: "City", .optionalToOne, inverse: "streets")
                }
                Entity("Event") { Attribute("title", .string) }
                Entity("City") {
                    Attribute("name", .string)
                    Attribute("count", .integer64, default: .value(0))
                    Relationship("streets", to: "Street", .toMany, inverse: "city")
                }
            }
        }

        /// - Parameter replicas: The addresses of replicas, by configuration.
        private static func open(
            _ places: String, _ events: String, replicas: [String: String] = [:]
        ) throws -> PersistentContainer {
            func description(_ name: String, _ url: String) -> PersistentStoreDescription {
                var options = PostgresStore.Options()
                if let address = replicas[name] {
                    options.replicas = PostgresStore.Replicas([address], maximumStaleness: .seconds(600))
                    options.replicas?.retryPause = .milliseconds(50)
                }
                return PersistentStoreDescription(configuration: name) { [options] (model) throws(StoreError) in
                    try PostgresStore.open(model: model, at: url, options: options)
                }
            }
            return try PersistentContainer(
                model: model(),
                stores: [
                    description("Places", places), description("Events", events),
                    PersistentStoreDescription(at: .memory(name: nil)),
                ])
        }

        /// A container once it uses the replica for the places.
        private func container(eventsToo: Bool = false) throws -> PersistentContainer {
            var replicas = ["Places": replica.url(like: places)]
            if eventsToo { replicas["Events"] = replica.url(like: events) }
            let container = try Self.open(places, events, replicas: replicas)
            try fixture.eventually("the replica is used") {
                let context = container.newContext(reading: .replica)
                _ = try (context.count(request("City")), context.count(request("Event")))
                return replicas.keys.allSatisfy { (states(container, $0).first?.answers ?? 0) > 0 }
            }
            return container
        }

        private func states(_ container: PersistentContainer, _ name: String) -> [PostgresStore.ReplicaState] {
            (container.store(forConfiguration: name) as? PostgresStore)?.replicaStates ?? []
        }

        private func answers(_ container: PersistentContainer) throws -> Answers {
            Answers(try #require(container.store(forConfiguration: "Places") as? PostgresStore))
        }

        private func request(_ entity: String, _ format: String? = nil) throws -> FetchRequest<ManagedObject> {
            var request = FetchRequest<ManagedObject>(entity: entity)
            request.predicate = try format.map { try FetchPredicate(format: $0) }
            return request
        }

        @Test("The replica answers for its store, and each other store for itself")
        func whoAnswers() async throws {
            let container = try container()
            defer { container.close() }
            let answers = try answers(container)
            let address = try #require(states(container, "Places").first?.address)
            func answered(_ what: String) { #expect(answers.take() == [address], "\(what)") }

            let writer = container.newContext()
            let note = try writer.insert(entityNamed: "Note")
            note["text"] = "warm"
            let known = try #require(try await writer.fetch(request("City", "name == 'Lima'")).first)
            note["city"] = known.objectID.uri
            try await writer.save()
            #expect(answers.take() == ["primary"])

            let context = container.newContext(reading: .replica)
            #expect(context.readSource == .replica && container.newContext().readSource == .primary)
            #expect(try await context.fetch(request("City")).count == 2)
            answered("fetch")
            #expect(try await context.count(request("City", "name != 'Lima'")) == 1)
            answered("count")
            let names = try request("City").select(FetchColumn("name", FetchExpression(format: "name")))
            #expect(try await context.fetchValues(names).count == 2)
            answered("values")
            try readWithoutWaiting(context, answered)
            #expect(try await container.read(from: .replica) { try $0.count(FetchRequest(entity: "City")) } == 2)
            answered("container.read")
            #expect(try await context.fetch(request("Note")).map { $0["text"] as? String } == ["warm"])
            #expect(try await context.fetch(request("Event")).map { $0["title"] as? String } == ["opened"])
            #expect(answers.take() == [])
        }

        private func readWithoutWaiting(_ context: ManagedObjectContext, _ answered: (String) -> Void) throws {
            let lima = try #require(try context.fetch(request("City", "name == 'Lima'")).first)
            answered("fetch that blocks")
            #expect((lima["streets"] as? Set<ManagedObject>)?.map { $0["name"] as? String } == ["Jirón"])
            answered("members")
            try context.refresh(lima, mergingChanges: false)
            #expect(lima["name"] as? String == "Lima")
            answered("fault")
            #expect(try context.makeChild().count(request("Street")) == 1)
            answered("a child")
        }

        @Test("A context sees what this process has saved in all of the stores, and never goes back")
        func ownWrites() throws {
            let container = try container()
            defer { container.close() }
            let answers = try answers(container)
            try replica.pauseReplay()
            let writer = container.newContext()
            let lima = try #require(try writer.fetch(request("City", "name == 'Lima'")).first)
            lima["name"] = "Callao"
            try writer.insert(entityNamed: "Event")["title"] = "renamed"
            try writer.insert(entityNamed: "Note")["text"] = "renamed"
            try writer.save()
            _ = answers.take()
            let reader = container.newContext(reading: .replica)
            #expect(try reader.count(request("City", "name == 'Callao'")) == 1)
            #expect(answers.take() == ["primary"])
            #expect(try reader.count(request("Event")) == 2 && reader.count(request("Note")) == 1)

            let other = try #require(try reader.fetch(request("City", "name == 'Oslo'")).first)
            other["name"] = "Bergen"
            try reader.save()
            #expect(try reader.count(request("City", "name == 'Bergen'")) == 1)
            // The commits of another process: a conflict is found on the primary, and its rows are shown from then on.
            let others = try Self.open(places, events)
            defer { others.close() }
            let foreign = others.newContext()
            let again = try #require(try foreign.fetch(request("City", "name == 'Bergen'")).first)
            again["count"] = Int64(7)
            try foreign.save()
            other["count"] = Int64(2)
            #expect(throws: PersistenceError.self) { try reader.save() }
            reader.rollback()
            try reader.refresh(other)
            #expect(other["count"] as? Int64 == 7)

            try replica.resumeReplay()
            try fixture.catchUp(replica)
            _ = answers.take()
            try fixture.eventually("the replica answers again") {
                let found = try container.newContext(reading: .replica).count(request("City", "name == 'Bergen'"))
                #expect(found == 1)
                return answers.take() != ["primary"]
            }
        }

        @Test("Each store has replicas of its own, and where one is gone, its primary answers")
        func severalReplicas() throws {
            let container = try container(eventsToo: true)
            defer { container.close() }
            let context = container.newContext(reading: .replica)
            let before = (states(container, "Places")[0].answers, states(container, "Events")[0].answers)
            #expect(try context.count(request("City")) == 2 && context.count(request("Event")) == 1)
            #expect(states(container, "Places")[0].answers > before.0)
            #expect(states(container, "Events")[0].answers > before.1)
            try replica.stop()
            for _ in 0..<3 {
                #expect(try context.count(request("City")) == 2 && context.count(request("Event")) == 1)
            }
            context.readSource = .primary
            #expect(try context.readSource == .primary && context.count(request("City")) == 2)
        }

        @Test("Without any replica, a context reads the stores")
        func withoutReplicas() throws {
            let container = try Self.open(places, events)
            defer { container.close() }
            let context = container.newContext(reading: .replica)
            #expect(context.readSource == .primary)
            #expect(try context.count(request("City")) == 2)
        }
    }
#endif
