#if Postgres
    import Foundation
    import PostgresFixture
    import Strata
    import Testing

    @testable import StrataPostgres

    /// Each kind of change, with data, compared with the same migration on SQLite.
    @Suite("What a new version of a model may change on PostgreSQL", .needsPostgres)
    struct PlanTests {
        private func version(@ModelBuilder _ content: () -> [Entity]) throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "Test", content)
        }

        /// Migrates objects of one version to another, in both stores.
        /// - Returns: The pair, migrated.
        @discardableResult
        private func compare(
            _ old: ManagedObjectModel, _ new: ManagedObjectModel, _ answers: [String: MigrationAnswer] = [:],
            _ fill: (ManagedObjectContext) throws -> Void
        ) throws -> StorePair {
            let pair = try StorePair()
            try pair.fill(old, fill)
            let problems = try pair.migrate(new, answers)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
            return pair
        }

        /// The steps that both stores refuse, which must be the same.
        private func refused(
            _ pair: StorePair, _ model: ManagedObjectModel, _ answers: [String: MigrationAnswer] = [:]
        ) throws -> [MigrationStep] {
            func steps(_ body: () throws -> Void) -> [MigrationStep] {
                let error = #expect(throws: StoreError.self) { try body() }
                guard case .migrationNeedsAnswers(_, let steps) = error else {
                    Issue.record("\(String(describing: error))")
                    return []
                }
                return steps
            }
            let file = steps { try pair.openFile(model, answers).close() }
            let database = steps { try pair.openDatabase(model, answers).close() }
            #expect(file.map(\.id) == database.map(\.id))
            #expect(file.map(\.misfits) == database.map(\.misfits))
            return database
        }

        @Test("Renamed entities, attributes and relationships keep their data")
        func namesChange() throws {
            let old = try version {
                Entity("City") {
                    Attribute("name", .string).indexed()
                    Attribute("nickname", .string, optional: true).unique()
                    Relationship("mayor", to: "Person", .optionalToOne, inverse: "cities")
                }
                Entity("Person") {
                    Attribute("name", .string)
                    Relationship("cities", to: "City", .orderedToMany, inverse: "mayor")
                    Relationship("friends", to: "Person", .toMany, inverse: "friends")
                }
            }
            let new = try version {
                // Two attributes exchange their names.
                Entity("Town") {
                    Attribute("nickname", .string).indexed().renamed(from: "name")
                    Attribute("name", .string, optional: true).unique().renamed(from: "nickname")
                    Relationship("head", to: "Human", .optionalToOne, inverse: "towns").renamed(from: "mayor")
                }.renamed(from: "City")
                Entity("Human") {
                    Attribute("name", .string)
                    Relationship("towns", to: "Town", .orderedToMany, inverse: "head").renamed(from: "cities")
                    Relationship("peers", to: "Human", .toMany, inverse: "peers").renamed(from: "friends")
                }.renamed(from: "Person")
            }
            let pair = try compare(old, new) { context in
                let people = try ["Ada", "Bo"].map { name in
                    let person = try context.insert(entityNamed: "Person")
                    person["name"] = name
                    return person
                }
                people[0]["friends"] = Set([people[1]])
                let cities = try (0..<3).map { number in
                    let city = try context.insert(entityNamed: "City")
                    city["name"] = "City \(number)"
                    if number > 0 { city["nickname"] = "n\(number)" }
                    return city
                }
                people[0]["cities"] = [cities[2], cities[0]]
            }
            let store = try pair.openDatabase(new)
            #expect(try store.read("Town", 3)?["nickname"] == "City 2")
            #expect(try store.read("Town", 3)?["name"] == "n2")
            // Keys go on.
            let town = try #require(new.entity(named: "Town"))
            #expect(try store.allocateKeys(1, rootIndex: town.index).lowerBound > 3)
        }

        @Test func valuesAreConverted() throws {
            let old = try version {
                Entity("Thing") {
                    Attribute("a", .integer32)
                    Attribute("b", .double)
                    Attribute("c", .decimal)
                    Attribute("d", .boolean)
                    Attribute("e", .string)
                    Attribute("f", .date)
                    Attribute("g", .uuid)
                    Attribute("h", .string, optional: true)
                    Attribute("i", .array(.string), optional: true)
                }
            }
            let new = try version {
                Entity("Thing") {
                    Attribute("a", .string)
                    Attribute("b", .string)
                    Attribute("c", .string)
                    Attribute("d", .integer64)
                    Attribute("e", .decimal)
                    Attribute("f", .string)
                    Attribute("g", .string)
                    Attribute("h", .date, optional: true)
                    Attribute("i", .string, optional: true)
                }
            }
            try compare(old, new) { context in
                let doubles = [0.1, 1, -1e20, 1e-7, 123_456_789.125, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
                for (number, double) in doubles.enumerated() {
                    let thing = try context.insert(entityNamed: "Thing")
                    thing["a"] = Int32(number - 3)
                    thing["b"] = double
                    thing["c"] = Decimal(string: ["0.10", "-5", "1e3", "12345678901234567890.5"][number % 4])
                    thing["d"] = number % 2 == 0
                    thing["e"] = ["1.50", "-7", "1e2"][number % 3]
                    thing["f"] = Date(timeIntervalSinceReferenceDate: Double(number) * 1000.5)
                    thing["g"] = UUID()
                    thing["h"] = number % 2 == 0 ? nil : "2020-01-0\(number)T00:00:00Z"
                    thing["i"] = number % 2 == 0 ? nil : ["é", "a\"b", String(repeating: "long ", count: 2000)]
                }
            }
        }

        @Test func whatDoesNotFitIsNamed() throws {
            let old = try version {
                Entity("City") {
                    Attribute("size", .string, optional: true)
                    Attribute("code", .string, optional: true)
                    Attribute("gone", .string, optional: true)
                }
            }
            let new = try version {
                Entity("City") {
                    Attribute("size", .integer16, optional: true)
                    Attribute("code", .string)
                }
            }
            let pair = try StorePair()
            try pair.fill(old) { context in
                for size in ["12", "many", "99999", nil] {
                    let city = try context.insert(entityNamed: "City")
                    city["size"] = size
                    city["code"] = size.map { "c\($0)" }
                    city["gone"] = size
                }
            }
            let steps = try refused(pair, new)
            #expect(Set(steps.map(\.id)) == ["City.size", "City.code", "City.gone"])
            let size = try #require(steps.first { $0.id == "City.size" })
            #expect(size.misfits == 2)
            #expect(Set(size.samples) == ["many", "99999"])
            // Nothing was changed.
            #expect(try pair.openDatabase(old).read("City", 2)?["size"] == "many")
            let plan = try PostgresStore.migrationPlan(for: pair.url, to: new)
            #expect(plan.steps.first { $0.id == "City.gone" }?.misfits == 3)
            let answers: [String: MigrationAnswer] = [
                "City.size": .fill(.integer(7)), "City.code": .fill(.string("none")), "City.gone": .accept,
            ]
            #expect(try pair.migrate(new, answers) == [])
            let store = try pair.openDatabase(new)
            #expect(try (1...4).map { try store.read("City", $0)?["size"] } == [12, 7, 7, .null])
            #expect(try store.read("City", 4)?["code"] == "none")
        }

        @Test func duplicatesAreListedAndMerged() throws {
            let old = try version {
                Entity("City") {
                    Attribute("code", .string, optional: true)
                    Relationship("streets", to: "Street", .toMany, inverse: "city")
                    Relationship("twins", to: "City", .toMany, inverse: "twins")
                    Relationship("capital", to: "Land", .optionalToOne, inverse: "seat")
                }
                Entity("Street") { Relationship("city", to: "City", .optionalToOne, inverse: "streets") }
                Entity("Land") { Relationship("seat", to: "City", .optionalToOne, inverse: "capital") }
            }
            let new = try version {
                Entity("City") {
                    Attribute("code", .string, optional: true).unique()
                    Relationship("streets", to: "Street", .toMany, inverse: "city")
                    Relationship("twins", to: "City", .toMany, inverse: "twins")
                    Relationship("capital", to: "Land", .optionalToOne, inverse: "seat")
                }
                Entity("Street") { Relationship("city", to: "City", .optionalToOne, inverse: "streets") }
                Entity("Land") { Relationship("seat", to: "City", .optionalToOne, inverse: "capital") }
            }
            for answer in [MigrationAnswer.keepFirst, .keepLast] {
                let pair = try StorePair()
                try pair.fill(old) { context in
                    let cities = try ["a", "b", "a", nil, "a", nil].map { code in
                        let city = try context.insert(entityNamed: "City")
                        city["code"] = code
                        return city
                    }
                    for (number, city) in cities.enumerated() {
                        city["streets"] = Set([
                            try context.insert(entityNamed: "Street"), try context.insert(entityNamed: "Street"),
                        ])
                        city["twins"] = Set([cities[(number + 1) % 6]])
                        if number > 1 { city["capital"] = try context.insert(entityNamed: "Land") }
                    }
                }
                let steps = try refused(pair, new)
                #expect(steps.first?.samples == ["a (3 objects)"])
                let problems = try pair.migrate(new, [steps.first?.id ?? "": answer])
                #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
                #expect(try pair.openDatabase(new).count("City") == 4)
            }
        }

        @Test func derivedValuesAreComputed() throws {
            let old = try version {
                Entity("City") {
                    Attribute("name", .string)
                    Attribute("code", .integer32)
                    Attribute("lower", .string, optional: true).derived(.lowercase("name"))
                }
            }
            let new = try version {
                Entity("City") {
                    Attribute("title", .string).renamed(from: "name")
                    Attribute("code", .string)
                    Attribute("lower", .string, optional: true).derived(.uppercase("title"))
                    Attribute("plain", .string, optional: true).derived(.canonical("title")).indexed()
                    Attribute("digits", .string, optional: true).derived(.lowercase("code"))
                    Attribute("kind", .string).defaultValue(.string("CITY"))
                    Attribute("small", .string, optional: true).derived(.lowercase("kind"))
                }
            }
            let pair = try compare(old, new) { context in
                for (number, name) in ["Straße", "ÉCOLE", "İstanbul", ""].enumerated() {
                    let city = try context.insert(entityNamed: "City")
                    city["name"] = name
                    city["code"] = Int32(number)
                }
            }
            #expect(try pair.openDatabase(new).read("City", 1)?["lower"] == "STRASSE")
            #expect(try pair.openDatabase(new).read("City", 1)?["small"] == "city")
        }

        @Test("Changes of a hierarchy of entities are planned")
        func hierarchiesChange() throws {
            let old = try version {
                Entity("Place") { Attribute("name", .string, optional: true) }
                Entity("City", inherits: "Place") { Attribute("size", .integer32, optional: true) }
                Entity("Port", inherits: "City") { Attribute("berth", .string, optional: true) }
                Entity("Note") {
                    Attribute("text", .string, optional: true)
                    Relationship("place", to: "Place", .optionalToOne)
                }
            }
            // Ports are no longer cities, places have no objects of their own, and notes are gone.
            let new = try version {
                Entity("Place", abstract: true) {
                    Attribute("name", .string, optional: true)
                    Attribute("size", .integer64, optional: true)
                }
                Entity("City", inherits: "Place") {}
                Entity("Port", inherits: "Place") { Attribute("quay", .string, optional: true).renamed(from: "berth") }
            }
            let pair = try StorePair()
            try pair.fill(old) { context in
                for (number, entity) in ["Place", "City", "Port", "City"].enumerated() {
                    let place = try context.insert(entityNamed: entity)
                    place["name"] = "p\(number)"
                    if entity == "Port" { place["berth"] = "b" }
                    if entity != "Place" { place["size"] = Int32(number) }
                    let note = try context.insert(entityNamed: "Note")
                    note["place"] = place
                }
            }
            let steps = try refused(pair, new)
            #expect(steps.contains { $0.id == "Note" })
            let answers = Dictionary(steps.map { ($0.id, MigrationAnswer.accept) }, uniquingKeysWith: { a, _ in a })
            let problems = try pair.migrate(new, answers)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        @Test func relationshipsChangeTheirShape() throws {
            func model(_ cities: Relationship.Cardinality, _ land: Relationship.Cardinality) throws
                -> ManagedObjectModel
            {
                try version {
                    Entity("Land") {
                        Attribute("name", .string)
                        Relationship("cities", to: "City", cities, inverse: "lands")
                    }
                    Entity("City") {
                        Attribute("name", .string)
                        Relationship("lands", to: "Land", land, inverse: "cities")
                    }
                }
            }
            let pair = try StorePair()
            try pair.fill(model(.toMany, .optionalToOne)) { context in
                for land in 0..<3 {
                    let object = try context.insert(entityNamed: "Land")
                    object["name"] = "l\(land)"
                    object["cities"] = Set(
                        try (0..<land).map { number in
                            let city = try context.insert(entityNamed: "City")
                            city["name"] = "c\(number)"
                            return city
                        })
                }
            }
            for (cities, land) in [
                (.orderedToMany, .optionalToOne), (.orderedToMany, .toMany), (.toMany, .orderedToMany),
                (.toMany, .optionalToOne), (.optionalToOne, .toMany),
            ] as [(Relationship.Cardinality, Relationship.Cardinality)] {
                let model = try model(cities, land)
                let plan = try PostgresStore.migrationPlan(for: pair.url, to: model)
                let answers = Dictionary(
                    plan.steps.filter { $0.risk != .safe }.map { ($0.id, MigrationAnswer.accept) },
                    uniquingKeysWith: { a, _ in a })
                let problems = try pair.migrate(model, answers)
                #expect(problems.isEmpty, "\(cities) \(land): \(problems.joined(separator: "\n"))")
            }
        }

        @Test func valuesThatAreKeptApartFollow() throws {
            let old = try version {
                Entity("Photo") {
                    Attribute("a", .binary, optional: true).externalStorage()
                    Attribute("b", .binary, optional: true).externalStorage()
                    Attribute("c", .binary, optional: true).externalStorage()
                    Attribute("d", .binary, optional: true)
                }
            }
            let new = try version {
                Entity("Image") {
                    Attribute("x", .binary).externalStorage().renamed(from: "a").defaultValue(.binary(Data([1])))
                    Attribute("b", .binary, optional: true)
                    Attribute("d", .binary, optional: true).externalStorage()
                }.renamed(from: "Photo")
            }
            let pair = try compare(old, new, ["Photo.c": .accept, "Image.c": .accept]) { context in
                for size in [10, 5000, 0] {
                    let photo = try context.insert(entityNamed: "Photo")
                    for (number, name) in ["a", "b", "c", "d"].enumerated() where size > 0 {
                        photo[name] = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 + number) })
                    }
                }
            }
            // Values without a row are removed later.
            let connection = try PostgresConnection(PostgresSettings(address: pair.url))
            let blobs = try connection.execute("SELECT count(dropped_at), count(*) FROM \"_blobs\"")
            #expect(blobs.integer(0, 0) == 2)
            #expect(blobs.integer(0, 1) == 3)
        }
    }
#endif
