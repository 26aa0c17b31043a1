#if Postgres
    import Foundation
    import PostgresFixture
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("New versions of a model on PostgreSQL", .needsPostgres)
    struct MigrationTests {
        private func refused(_ url: String, _ change: (inout [Entity]) -> Void) throws -> [String] {
            let model = try TestModel.make(change)
            let error = #expect(throws: StoreError.self) { try PostgresStore.open(model: model, at: url) }
            guard case .migrationNeedsAnswers(_, let steps) = error else {
                Issue.record("\(String(describing: error))")
                return []
            }
            return steps.map(\.id).sorted()
        }

        @Test func whatIsNewIsAdded() throws {
            let (store, url) = try PostgresStore.fresh()
            try store.insert(
                ("City", 1, ["name": "Lima", "code": "a"]), ("Port", 2, ["name": "Callao"]),
                ("Land", 1, ["name": "Peru"]))
            let change: (inout [Entity]) -> Void = { entities in
                entities[0].attributes += [
                    Attribute("mayor", .string, optional: true).indexed(),
                    Attribute("rank", .integer32).defaultValue(.integer(7)),
                    Attribute("token", .uuid).defaultValue(.newUUID),
                    Attribute("plan", .binary, optional: true).externalStorage(),
                    Attribute("area", .decimal).defaultValue(.decimal(Decimal(string: "1.5")!)),
                ]
                entities[0].relationships += [
                    Relationship("twin", to: "City", .toMany, inverse: "twin"),
                    Relationship("rivers", to: "River", .orderedToMany, inverse: "mouth"),
                ]
                var river = Entity(name: "River", location: nil)
                river.attributes = [Attribute("name", .string)]
                river.relationships = [Relationship("mouth", to: "City", .optionalToOne, inverse: "rivers")]
                // The table of lands gets another entity.
                var island = Entity(name: "Island", location: nil)
                island.parent = "Land"
                island.attributes = [Attribute("coast", .double, optional: true)]
                entities += [river, island]
            }
            let model = try TestModel.make(change)
            let next = try PostgresStore.open(model: model, at: url)
            #expect(next.identifier == store.identifier)
            let lima = try #require(try next.read("City", 1))
            #expect(lima["name"] == "Lima")
            #expect(lima["rank"] == 7)
            #expect(lima["area"] == .decimal(Decimal(string: "1.5")!))
            guard case .uuid(let first)? = lima["token"], case .uuid(let second)? = try next.read("City", 2)?["token"]
            else {
                Issue.record("\(lima)")
                return
            }
            #expect(first != second)
            // What is new can be used.
            try next.insert(
                ("River", try next.allocateKeys(1, rootIndex: 4).lowerBound, ["name": "Rímac", "mouth": .object(1)]),
                ("Island", 2, ["name": "Chiloé", "coast": .double(1.5)]))
            let river = try #require(model.entity(named: "City")?.relationship(named: "rivers"))
            #expect(
                try next.memberKeys(entityIndex: 0, relationshipIndex: river.index, owners: [1]).map(\.member) == [1])
            #expect(try next.count("Land") == 2)
            #expect(try next.count("Island") == 1)
            #expect(try next.read("Land", 1)?["name"] == "Peru")
            // The older version goes on, but cannot be opened again.
            #expect(try store.insert(("City", 3, ["name": "Cusco"])).effects != nil)
            #expect(try next.read("City", 3)?["mayor"] == .null)
            #expect(throws: StoreError.self) { try PostgresStore.open(at: url) }
            #expect(throws: StoreError.self) { try PostgresStore.open(at: url) { $0.migration.policy = .never } }
            // The second process finds everything done.
            #expect(try PostgresStore.open(model: model, at: url).count("River") == 1)
        }

        @Test func manyServersMigrateAtOnce() throws {
            let (store, url) = try PostgresStore.fresh()
            try store.insert(("City", 1, ["name": "Lima"]))
            let model = try TestModel.make { $0[0].attributes.append(Attribute("mayor", .string, optional: true)) }
            let errors = Guarded<[String]>([])
            onThreads(6) { _ in
                do {
                    _ = try PostgresStore.open(model: model, at: url)
                } catch {
                    errors.withLock { $0.append("\(error)") }
                }
            }
            #expect(errors.withLock(\.self).isEmpty)
        }

        @Test func whatLosesSomethingIsRefused() throws {
            let (store, url) = try PostgresStore.fresh()
            try store.insert(("City", 1, ["name": "Lima"]), ("City", 2, ["name": "Lima"]))
            #expect(try refused(url) { $0[0].attributes.remove(at: 0) } == ["City.name"])
            #expect(
                try refused(url) {
                    $0.removeLast()
                    $0[0].relationships.removeLast()
                } == ["City.streets", "Street"])
            #expect(try refused(url) { $0[0].attributes.append(Attribute("mayor", .string)) } == ["City.mayor"])
            #expect(try refused(url) { $0[0].attributes[1].isOptional = false } == ["City.code"])
            // A constraint that the objects do not meet.
            #expect(try refused(url) { $0[0].attributes[0].isUnique = true } == ["City.name"])
            // The store is as it was.
            #expect(try PostgresStore.open(at: url).read("City", 1)?["name"] == "Lima")
            // A value that all objects have may become required.
            let required = try TestModel.make { $0[0].attributes[0].isOptional = false }
            #expect(try PostgresStore.open(model: required, at: url).count("City") == 2)
        }
    }
#endif
