#if Server
    import Foundation
    import StrataMaxLeap
    import StrataServer
    import StrataStore
    import Testing

    /// New objects that refer to each other, saved at a server that gives them their keys, over HTTP.
    @Suite struct NamingTests {
        enum Kind: String, CaseIterable, Sendable { case parse, maxLeap, conditional }

        private static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "League") {
                Entity("Team") {
                    Attribute("teamId", .string)
                    Attribute("name", .string, default: .value(""))
                    Relationship("captain", to: "Player", .optionalToOne)
                    Relationship("players", to: "Player", .toMany, inverse: "team")
                }
                Entity("Player") {
                    Attribute("playerId", .string)
                    Attribute("name", .string, default: .value(""))
                    Relationship("team", to: "Team", .optionalToOne, inverse: "players")
                    Relationship("mentor", to: "Player", .optionalToOne)
                    Relationship("friends", to: "Player", .toMany)
                }
            }
        }

        private final class Device {
            let wire = Wire()
            let store: RemoteStore
            let context: ManagedObjectContext

            init(_ kind: Kind, _ server: LoopbackServer, _ policy: SavePolicy = .networkThenCache) throws {
                var options = RemoteStore.Options()
                options.fetchPolicy = policy == .cacheOnly ? .cacheOnly : .networkOnly
                options.savePolicy = policy
                options.request.timeout = 300
                options.sync.request.timeout = 300
                options.sync.retries = 0
                let client = try server.maxLeapClient(kind == .parse ? .parse : .maxLeap, transport: wire) {
                    $0.sendsObjectIds = false
                    $0.usesConditionalWrites = kind == .conditional
                }
                store = try RemoteStore.open(
                    model: try NamingTests.model(), backend: client.backend(for: try NamingTests.model()),
                    location: .memory(name: nil), options: options)
                context = try PersistentContainer(store: store).newContext(automaticallyMergesChanges: true)
            }

            func make(_ entity: String, _ name: String) throws -> ManagedObject {
                let object = try context.insert(entityNamed: entity)
                _ = try object.assignObjectID()
                object["name"] = name
                return object
            }

            /// What there is, by name.
            func contents() async throws -> [String] {
                let context = try PersistentContainer(store: store).newContext()
                func name(_ value: Any?) -> String { (value as? ManagedObject)?["name"] as? String ?? "-" }
                var lines: [String] = []
                let teams = try await context.fetch(FetchRequest<ManagedObject>(entity: "Team"))
                let players = try await context.fetch(FetchRequest<ManagedObject>(entity: "Player"))
                for team in teams {
                    lines.append("\(team["name"] ?? ""): captain \(name(team["captain"]))")
                }
                for player in players {
                    let friends = (player["friends"] as? Set<ManagedObject> ?? []).map { name($0) }.sorted()
                    lines.append(
                        "\(player["name"] ?? ""): team \(name(player["team"])), mentor \(name(player["mentor"])), \(friends)"
                    )
                }
                return lines.sorted()
            }
        }

        /// A chain, two circles, an object that refers to itself, and friends in a circle of pairs.
        private func fill(_ device: Device) throws -> [ManagedObject] {
            let red = try device.make("Team", "red")
            let players = try ["ann", "bob", "cid", "dan"].map { try device.make("Player", $0) }
            red["captain"] = players[0]
            for player in players { player["team"] = red }
            players[0]["mentor"] = players[0]
            players[1]["mentor"] = players[2]
            players[2]["mentor"] = players[3]
            players[3]["mentor"] = players[1]
            players[0]["friends"] = [players[1], players[2]] as Set<ManagedObject>
            players[1]["friends"] = [players[0]] as Set<ManagedObject>
            return [red] + players
        }

        private static let expected = [
            "ann: team red, mentor ann, [\"bob\", \"cid\"]", "bob: team red, mentor cid, [\"ann\"]",
            "cid: team red, mentor dan, []", "dan: team red, mentor bob, []", "red: captain ann",
        ]

        private func withLeague(_ body: (LoopbackServer) async throws -> Void) async throws {
            try await withServer(model: Self.model(), { $0.dialects = Places.all }, body)
        }

        @Test("One save makes objects that refer to each other in any way", arguments: Kind.allCases)
        func online(_ kind: Kind) async throws {
            try await withLeague { server in
                let device = try Device(kind, server)
                let objects = try fill(device)
                let ids = objects.map(\.objectID)
                try await device.context.save(options: nil)
                #expect(objects.map(\.objectID) == ids)
                #expect(!device.context.hasChanges)
                #expect((objects[0]["teamId"] as? String)?.count ?? 36 < 36)
                let own = try await device.contents()
                #expect(own == Self.expected)
                #expect(try await Device(kind, server).contents() == Self.expected)
                // A later change goes to the server's keys.
                objects[4]["mentor"] = objects[1]
                try await device.context.save(options: nil)
                #expect(try await Device(kind, server).contents()[3] == "dan: team red, mentor ann, []")
            }
        }

        @Test("A push makes what was saved offline, whatever refers to what", arguments: Kind.allCases)
        func offline(_ kind: Kind) async throws {
            try await withLeague { server in
                let device = try Device(kind, server, .cacheOnly)
                let objects = try fill(device)
                let ids = objects.map(\.objectID)
                try await device.context.save(options: nil)
                let report = try await device.store.sync.push()
                #expect(report.failures.isEmpty, "\(report.failures)")
                #expect(try device.store.sync.pendingCount() == 0)
                #expect(objects.map(\.objectID) == ids)
                #expect(try await device.contents() == Self.expected)
                #expect(try await Device(kind, server).contents() == Self.expected)
                // A pull brings nothing twice.
                try await device.store.sync.synchronize()
                #expect(try await device.contents() == Self.expected)
            }
        }

        @Test("A push that is cut off between two objects goes on where it was", arguments: [Kind.parse, .maxLeap])
        func interrupted(_ kind: Kind) async throws {
            try await withLeague { server in
                let device = try Device(kind, server, .cacheOnly)
                _ = try fill(device)
                try await device.context.save(options: nil)
                var options = 0
                while try device.store.sync.pendingCount() > 0, options < 40 {
                    options += 1
                    device.wire.limit(options)
                    _ = try? await device.store.sync.push()
                }
                device.wire.limit(nil)
                _ = try await device.store.sync.push()
                #expect(try await Device(kind, server).contents() == Self.expected)
            }
        }
    }
#endif
