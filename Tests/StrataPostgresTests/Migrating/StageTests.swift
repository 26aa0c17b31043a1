#if Postgres
    import Foundation
    import MigrationWorld
    import PostgresFixture
    import Strata
    import Testing

    @testable import StrataPostgres

    @Suite("Stages with code on PostgreSQL", .needsPostgres)
    struct MigrationStageTests {
        private let url: String

        init() throws { url = try PostgresServer.shared.newDatabase() }

        private func model(@ModelBuilder _ entities: () -> [Entity]) throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "People", entities)
        }

        private func open<T>(
            _ model: ManagedObjectModel, _ stages: [MigrationStage] = [],
            _ change: (inout MigrationOptions) -> Void = { _ in }, _ body: (ManagedObjectContext) throws -> T
        ) throws -> T {
            var options = PostgresStore.Options()
            options.externalStorageThreshold = 100
            options.migration.answers = ["Person.name": .accept, "Owner.pet": .accept]
            options.migration.stages = stages
            change(&options.migration)
            let container = try PersistentContainer(model: model, at: .postgres(url), options: options)
            defer { container.close() }
            let context = container.newContext()
            let result = try body(context)
            try context.save()
            return result
        }

        private func fill(_ count: Int) throws {
            try open(try PeopleVersions.first()) { context throws in
                var last: ManagedObject?
                for number in 0..<count {
                    let person = try context.insert(entityNamed: "Person")
                    person["name"] = "First\(number) Last\(number % 3)"
                    person["photo"] = Data(repeating: UInt8(number % 256), count: number % 2 == 0 ? 50 : 500)
                    if let last { person["friends"] = Set([last]) }
                    last = person
                }
            }
        }

        private func all(_ entity: String, in context: ManagedObjectContext) throws -> [ManagedObject] {
            try context.fetch(FetchRequest<ManagedObject>(entity: entity)).sorted { $0.objectID.key < $1.objectID.key }
        }

        @Test("A stage sees old and new objects side by side, in batches, and what comes after it is inferred")
        func sideBySide() throws {
            try fill(50)
            let stage = try PeopleVersions.split { migration in
                // What was there before can still be read, with its relationships, when everything is new.
                let people = try migration.old.fetch(FetchRequest<ManagedObject>(entity: "Person"))
                #expect(people.count == 50)
                #expect(people.allSatisfy { ($0["name"] as? String)?.hasPrefix("First") == true })
                #expect(people.map { ($0["friends"] as? Set<ManagedObject>)?.count ?? 0 }.reduce(0, +) == 98)
                #expect(Set(people.map { ($0["photo"] as? Data)?.count }) == [50, 500])
            }
            try open(try PeopleVersions.third(), [stage]) { context in
                let people = try all("Human", in: context)
                #expect(people.map { $0["given"] as? String } == (0..<50).map { "First\($0)" })
                #expect(people.map { ($0["photo"] as? Data)?.count } == (0..<50).map { $0 % 2 == 0 ? 50 : 500 })
                let cities = try all("City", in: context)
                #expect(cities.count == 3)
                for city in cities {
                    let members = try #require(city["people"] as? Set<ManagedObject>)
                    #expect(members.allSatisfy { $0["lastName"] as? String == city["name"] as? String })
                }
                #expect(people[0].objectID.key == people[1].objectID.key - 1)
            }
            #expect(try PostgresStore.storeInfo(at: url, isChecked: true).problems == [])
            // New objects get keys that nobody has.
            try open(try PeopleVersions.third()) { context in
                let more = try context.insert(entityNamed: "Human")
                try context.save()
                #expect(more.objectID.key > 50)
            }
        }

        @Test("A stage that throws, or is cancelled, leaves the database as it was")
        func failing() throws {
            struct Failure: Error {}
            try fill(20)
            let stage = MigrationStage.custom(from: try PeopleVersions.first(), to: try PeopleVersions.second()) {
                migration in
                var seen = 0
                try migration.forEach("Person", batchSize: 5) { old, new in
                    new?["firstName"] = "x"
                    seen += 1
                    if seen == 12 { throw Failure() }
                }
            }
            let error = #expect(throws: PersistenceError.self) {
                try open(try PeopleVersions.second(), [stage]) { _ in }
            }
            guard case .store(.migrationFailed(_, _, let reason))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("Failure"))
            let cancellation = ReadCancellation()
            let cancelled = #expect(throws: PersistenceError.self) {
                try open(
                    try PeopleVersions.second(), [try PeopleVersions.split()],
                    {
                        $0.cancellation = cancellation
                        $0.onProgress = { if $0.text.contains("Person"), $0.completed >= 7 { cancellation.cancel() } }
                    }
                ) { _ in }
            }
            guard case .store(.cancelled)? = cancelled else {
                Issue.record("\(String(describing: cancelled))")
                return
            }
            try open(try PeopleVersions.first()) { context throws in
                #expect(try all("Person", in: context).first?["name"] as? String == "First0 Last0")
            }
            #expect(try PostgresStore.storeInfo(at: url, isChecked: true).problems == [])
        }

        @Test("A trial runs the code, and takes back what it did")
        func trial() throws {
            try fill(10)
            var options = PostgresStore.Options()
            options.migration.answers = ["Person.name": .accept]
            let runs = Counter()
            options.migration.stages = [try PeopleVersions.split { _ in _ = runs.next() }]
            _ = try PostgresStore.dryRun(url, to: try PeopleVersions.second(), options: options)
            #expect(runs.next() == 2)
            try open(try PeopleVersions.first()) { context throws in #expect(try all("Person", in: context).count == 10)
            }
        }

        @Test("The old objects cannot be saved, and a save that fails takes back only itself")
        func failingSaves() throws {
            try fill(4)
            let stage = try PeopleVersions.split { migration in
                let old = try #require(try migration.old.fetch(FetchRequest<ManagedObject>(entity: "Person")).first)
                old["name"] = "other"
                let refused = #expect(throws: PersistenceError.self) { try migration.old.save() }
                guard case .store(.readOnly)? = refused else {
                    Issue.record("\(String(describing: refused))")
                    return
                }
                // A city that exists already.
                migration.new.mergePolicy = .error
                let city = try migration.new.insert(entityNamed: "City")
                city["name"] = "Last0"
                #expect(throws: PersistenceError.self) { try migration.new.save() }
                migration.new.rollback()
                let lima = try migration.new.insert(entityNamed: "City")
                lima["name"] = "Lima"
                try migration.new.save()
            }
            try open(try PeopleVersions.second(), [stage]) { context in
                let names = try all("City", in: context).map { $0["name"] as? String ?? "" }
                #expect(names.sorted() == ["Last0", "Last1", "Last2", "Lima"])
            }
        }

        @Test("A stage gives values of a type for which there is no conversion, and a missing one is an error")
        func withoutConversion() throws {
            let before = try model { Entity("Place") { Attribute("value", .geoPoint) } }
            let after = try model { Entity("Place") { Attribute("value", .date) } }
            try open(before) { context in
                for number in 0..<3 {
                    try context.insert(entityNamed: "Place")["value"] = GeoPoint(latitude: Double(number), longitude: 0)
                }
            }
            func stage(_ count: Double) -> MigrationStage {
                .custom(from: before, to: after) { migration in
                    try migration.forEach("Place") { old, new in
                        let latitude = (old["value"] as? GeoPoint)?.latitude ?? -1
                        if latitude < count { new?["value"] = Date(timeIntervalSinceReferenceDate: latitude) }
                    }
                }
            }
            #expect(throws: PersistenceError.self) {
                try open(after, [MigrationStage(from: before, to: after)]) { _ in }
            }
            let error = #expect(throws: PersistenceError.self) { try open(after, [stage(2)]) { _ in } }
            guard case .store(.migrationFailed(_, _, let reason))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("1 objects have no Place.value"))
            try open(after, [stage(3)]) { context in
                let values = try all("Place", in: context).map {
                    ($0["value"] as? Date)?.timeIntervalSinceReferenceDate ?? -1
                }
                #expect(values == [0, 1, 2])
            }
        }

        @Test("A stage chooses the object that stays where a relationship becomes one-to-one")
        func oneToOne() throws {
            func version(_ kind: Relationship.Cardinality) throws -> ManagedObjectModel {
                try model {
                    Entity("Owner") {
                        Attribute("name", .string)
                        Relationship("pet", to: "Pet", kind, inverse: "owner")
                    }
                    Entity("Pet") {
                        Attribute("name", .string)
                        Relationship("owner", to: "Owner", .optionalToOne, inverse: "pet")
                    }
                }
            }
            let before = try version(.toMany)
            let after = try version(.optionalToOne)
            try open(before) { context in
                let owner = try context.insert(entityNamed: "Owner")
                owner["name"] = "Ada"
                for name in ["Tom", "Zoe"] {
                    let pet = try context.insert(entityNamed: "Pet")
                    pet["name"] = name
                    pet["owner"] = owner
                }
            }
            let stage = MigrationStage.custom(from: before, to: after) { migration in
                try migration.forEach("Owner") { old, new in
                    let pets = old["pet"] as? Set<ManagedObject> ?? []
                    let last = pets.max { ($0["name"] as? String ?? "") < ($1["name"] as? String ?? "") }
                    new?["pet"] = try last.flatMap(migration.successor)
                }
            }
            try open(after, [stage]) { context in
                let owner = try #require(try all("Owner", in: context).first)
                #expect((owner["pet"] as? ManagedObject)?["name"] as? String == "Zoe")
                #expect(try all("Pet", in: context).map { $0["owner"] == nil } == [true, false])
            }
            #expect(try PostgresStore.storeInfo(at: url, isChecked: true).problems == [])
        }
    }
#endif
