import Foundation
import Strata
import Testing

/// What cannot be inferred, because objects would need other keys or somebody has to choose: stages with code do it.
@Suite struct HierarchyStageTests {
    let file: VersionedFile

    init() throws { file = try VersionedFile() }

    /// Options with stages through versions, and answers that accept what the plans to some of the versions lose.
    private func options(
        _ versions: [ManagedObjectModel], _ stages: [MigrationStage], accepting targets: [ManagedObjectModel]
    ) throws -> SQLiteStore.Options {
        var options = SQLiteStore.Options()
        options.migration.versions = versions
        options.migration.stages = stages
        for target in targets {
            for step in try SQLiteStore.migrationPlan(for: file.path, to: target).steps where step.risk != .safe {
                options.migration.answers[step.id] = .accept
            }
        }
        return options
    }

    // MARK: Joining

    private func separate() throws -> ManagedObjectModel {
        try version {
            Entity("Garage") {
                Attribute("name", .string)
                Relationship("cars", to: "Car", .toMany, inverse: "garage")
            }
            Entity("Car") {
                Attribute("name", .string).unique()
                Attribute("seats", .integer64)
                Relationship("garage", to: "Garage", .optionalToOne, inverse: "cars")
            }
            Entity("Truck") {
                Attribute("name", .string).unique()
                Attribute("load", .double)
            }
        }
    }

    /// The joined hierarchy, in which entities have names that the version before does not know.
    private func joined(
        _ car: String = "NewCar", _ truck: String = "NewTruck", renamed: Bool = false
    ) throws -> ManagedObjectModel {
        try version {
            Entity("Garage") {
                Attribute("name", .string)
                Relationship("vehicles", to: "Vehicle", .toMany, inverse: "garage")
            }
            Entity("Vehicle") {
                Attribute("name", .string).unique()
                Relationship("garage", to: "Garage", .optionalToOne, inverse: "vehicles")
            }
            let first = Entity(car, inherits: "Vehicle") { Attribute("seats", .integer64) }
            let second = Entity(truck, inherits: "Vehicle") { Attribute("load", .double) }
            renamed ? first.renamed(from: "NewCar") : first
            renamed ? second.renamed(from: "NewTruck") : second
        }
    }

    private func join() throws -> MigrationStage {
        .custom(from: try separate(), to: try joined()) { migration in
            try migration.forEach("Car", batchSize: 3) { old, _ in
                let car = try migration.new.insert(entityNamed: "NewCar")
                car["name"] = old["name"]
                car["seats"] = old["seats"]
                if let garage = old["garage"] as? ManagedObject { car["garage"] = try migration.successor(of: garage) }
            }
            try migration.forEach("Truck", batchSize: 3) { old, _ in
                let truck = try migration.new.insert(entityNamed: "NewTruck")
                truck["name"] = old["name"]
                truck["load"] = old["load"]
            }
        }
    }

    @Test("Entities with keys of their own get a common parent by a stage, and keep their names")
    func joining() throws {
        try file.open(try separate()) { context throws in
            let garage = try context.make("Garage", ["name": "G"])
            for number in 0..<8 {
                let car = try context.make("Car", ["name": "car \(number)", "seats": Int64(number)])
                if number % 2 == 0 { car["garage"] = garage }
                try context.make("Truck", ["name": "truck \(number)", "load": Double(number) / 2])
            }
        }
        let last = try joined("Car", "Truck", renamed: true)
        // At once it is refused: a car and a truck may have the same key.
        #expect(file.blocked(last, answers: ["Vehicle": .accept]).contains("Vehicle"))

        let middle = try joined()
        let options = try options([try separate(), middle, last], [try join()], accepting: [middle])
        try file.open(last, options) { context throws in
            #expect(try context.all("Vehicle").count == 16)
            #expect(Set(try context.all("Vehicle").map(\.objectID.key)).count == 16)
            #expect(try context.texts("Car", "name") == (0..<8).map { "car \($0)" })
            #expect(try context.texts("Car", "seats") == (0..<8).map { "\($0)" })
            #expect(try context.texts("Truck", "load") == (0..<8).map { "\(Double($0) / 2)" })
            #expect(
                Set(try context.linked("Garage", "vehicles")[0]) == ["car 0", "car 2", "car 4", "car 6"])
        }
        try file.checkSoundness()
        let fresh = try VersionedFile()
        try fresh.open(last) { _ in }
        #expect(try file.shape == fresh.shape)
    }

    // MARK: Splitting

    private func whole() throws -> ManagedObjectModel {
        try version {
            Entity("Vehicle") {
                Attribute("name", .string)
                Relationship("owner", to: "Person", .optionalToOne, inverse: "vehicles")
            }
            Entity("Bicycle", inherits: "Vehicle") { Attribute("gears", .integer64) }
            Entity("Person") {
                Attribute("name", .string)
                Relationship("vehicles", to: "Vehicle", .toMany, inverse: "owner")
            }
        }
    }

    private func apart(_ name: String, renamed: Bool = false) throws -> ManagedObjectModel {
        try version {
            Entity("Vehicle") {
                Attribute("name", .string)
                Relationship("owner", to: "Person", .optionalToOne, inverse: "vehicles")
            }
            let bicycle = Entity(name) {
                Attribute("name", .string)
                Attribute("gears", .integer64)
                Relationship("rider", to: "Person", .optionalToOne, inverse: "bicycles")
            }
            renamed ? bicycle.renamed(from: "NewBicycle") : bicycle
            Entity("Person") {
                Attribute("name", .string)
                Relationship("vehicles", to: "Vehicle", .toMany, inverse: "owner")
                Relationship("bicycles", to: name, .toMany, inverse: "rider")
            }
        }
    }

    @Test("An entity leaves its hierarchy by a stage, with its links and its name")
    func splitting() throws {
        try file.open(try whole()) { context throws in
            let person = try context.make("Person", ["name": "P"])
            for number in 0..<6 {
                try context.make("Vehicle", ["name": "v\(number)", "owner": person])
                try context.make("Bicycle", ["name": "b\(number)", "gears": Int64(number), "owner": person])
            }
        }
        let middle = try apart("NewBicycle")
        let last = try apart("Bicycle", renamed: true)
        #expect(!file.blocked(last).isEmpty)
        let stage = MigrationStage.custom(from: try whole(), to: middle) { migration in
            try migration.forEach("Bicycle", batchSize: 4) { old, new in
                #expect(new == nil)
                let bicycle = try migration.new.insert(entityNamed: "NewBicycle")
                bicycle["name"] = old["name"]
                bicycle["gears"] = old["gears"]
                if let owner = old["owner"] as? ManagedObject { bicycle["rider"] = try migration.successor(of: owner) }
            }
        }
        let options = try options([try whole(), middle, last], [stage], accepting: [middle])
        try file.open(last, options) { context throws in
            #expect(try context.texts("Vehicle", "name") == (0..<6).map { "v\($0)" })
            #expect(try context.texts("Bicycle", "gears") == (0..<6).map { "\($0)" })
            #expect(Set(try context.linked("Person", "vehicles")[0]) == Set((0..<6).map { "v\($0)" }))
            #expect(Set(try context.linked("Person", "bicycles")[0]) == Set((0..<6).map { "b\($0)" }))
        }
        try file.checkSoundness()
    }

    // MARK: One from many

    @Test("A to-many relationship becomes to one, and a stage chooses the object that stays")
    func oneFromMany() throws {
        func model(_ passports: Relationship) throws -> ManagedObjectModel {
            try version {
                Entity("Person") {
                    Attribute("name", .string)
                    passports
                }
                Entity("Passport") {
                    Attribute("name", .string)
                    Attribute("year", .integer64)
                    Relationship("holder", to: "Person", .optionalToOne, inverse: passports.name)
                }
            }
        }
        let before = try model(Relationship("passports", to: "Passport", .toMany, inverse: "holder"))
        let after = try model(
            Relationship("passport", to: "Passport", .optionalToOne, inverse: "holder").renamed(from: "passports"))
        try file.open(before) { context throws in
            for number in 0..<4 {
                let person = try context.make("Person", ["name": "p\(number)"])
                // The newest one is neither the first nor the last.
                for year in [2011, 2021, 2016].prefix(number) {
                    try context.make("Passport", ["name": "\(number) \(year)", "year": Int64(year), "holder": person])
                }
            }
        }
        #expect(!file.blocked(after).isEmpty)
        let stage = MigrationStage.custom(from: before, to: after) { migration in
            try migration.forEach("Person", batchSize: 2) { old, new in
                let passports = (old["passports"] as? any Sequence)?.compactMap { $0 as? ManagedObject } ?? []
                let newest = passports.max { $0["year"] as? Int64 ?? 0 < $1["year"] as? Int64 ?? 0 }
                new?["passport"] = try newest.flatMap { try migration.successor(of: $0) }
            }
        }
        let options = try options([before, after], [stage], accepting: [after])
        try file.open(after, options) { context throws in
            #expect(try context.linked("Person", "passport") == [[], ["1 2011"], ["2 2021"], ["3 2021"]])
            // No passport that was not chosen leads to its former holder.
            let holders = try context.all("Passport").compactMap { passport in
                (passport["holder"] as? ManagedObject).map { "\(passport["name"] ?? "") of \($0["name"] ?? "")" }
            }
            #expect(holders.sorted() == ["1 2011 of p1", "2 2021 of p2", "3 2021 of p3"])
            #expect(try context.all("Passport").count == 6)
        }
        try file.checkSoundness()
    }
}
