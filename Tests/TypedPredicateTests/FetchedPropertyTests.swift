import Foundation
import Observation
import Strata
import Testing

/// Properties that a condition fills.
@Suite struct FetchedPropertyTests {
    let file: AtlasFile

    init() throws {
        file = try AtlasFile()
        let context = file.container.newContext()
        let peru = Country(context: context, name: "Peru", code: "PE")
        let oman = Country(context: context, name: "Oman", code: "OM")
        let line = Line(context: context, label: "one")
        for number in 0..<6 {
            let city = City(context: context, name: "\(number < 3 ? "peru" : "city") \(number)")
            city.country = number == 5 ? oman : peru
            city.population = Int64(number * 1_000)
            city.position = GeoPoint(latitude: Double(number * number), longitude: 0)
            if number.isMultiple(of: 2) { city.addToLines(line) }
        }
        try context.save()
    }

    private func country(_ name: String, _ context: ManagedObjectContext) throws -> Country {
        try #require(try context.fetchFirst(Country.where { $0.name == name }))
    }

    private func city(_ number: Int, _ context: ManagedObjectContext) throws -> City {
        try #require(try context.fetchFirst(City.where { $0.population == Int64(number * 1_000) }))
    }

    @Test("The object and its key paths stand in condition and order, the declaration's user info too")
    func sources() throws {
        let context = file.container.newContext()
        let peru = try country("Peru", context)
        #expect(peru.largeCities.map(\.name) == ["city 4", "city 3", "peru 2"])
        #expect(peru.namesakes.map(\.name) == ["peru 0", "peru 1", "peru 2"])
        #expect(try country("Oman", context).largeCities.map(\.name) == ["city 5"])
        #expect(try city(3, context).nearest.map(\.name) == ["peru 2", "city 4"])
        let zero = try city(0, context)
        #expect(Set(zero.reachable.map(\.name)) == ["peru 0", "peru 2", "city 4"])
    }

    @Test("Filled at the first access by one fetch and kept until a refresh, merging or not")
    func kept() throws {
        let context = file.container.newContext()
        let peru = try country("Peru", context)
        let first = peru.largeCities
        let other = file.container.newContext()
        try city(0, other).population = 50_000
        try other.save()
        #expect(peru.largeCities == first)
        try context.refresh(peru)
        #expect(peru.largeCities.map(\.name) == ["peru 0", "city 4", "city 3"])
        try city(1, other).population = 60_000
        try other.save()
        peru.area = 5
        try context.refresh(peru)
        #expect(peru.largeCities.map(\.name) == ["peru 1", "peru 0", "city 4"] && peru.area == 5)
        try city(2, other).population = 70_000
        try other.save()
        try context.refresh(peru, mergingChanges: false)
        #expect(peru.largeCities.map(\.name) == ["peru 2", "peru 1", "peru 0"])
        #expect(try country("Peru", context).hasChanges == false)
    }

    @Test("Unsaved changes count, of new owners too; what is deleted goes at once")
    func pendingChanges() throws {
        let context = file.container.newContext()
        let chile = Country(context: context, name: "Chile", code: "CL")
        let lota = City(context: context, name: "Chile's Lota")
        lota.country = chile
        lota.population = 3_000
        #expect(chile.largeCities == [lota] && chile.namesakes == [lota])
        let five = try city(5, context)
        five.country = chile
        #expect(chile.largeCities == [lota])
        try context.refresh(chile)
        #expect(chile.largeCities == [five, lota])
        context.delete(lota)
        #expect(chile.largeCities == [five])
        try context.save()
        #expect(chile.largeCities == [five])
        let other = file.container.newContext()
        context.automaticallyMergesChanges = true
        other.delete(try city(5, other))
        try other.save()
        context.processPendingChanges()
        #expect(chile.largeCities.isEmpty)
    }

    @Test(
        "An object that was new and is rolled back is not shown any more; an owner whose context is gone asks the store"
    )
    func rollback() throws {
        let context = file.container.newContext()
        let oman = try country("Oman", context)
        let city = City(context: context, name: "new")
        city.country = oman
        city.population = 90_000
        #expect(oman.largeCities.count == 2)
        context.rollback()
        #expect(oman.largeCities.map(\.name) == ["city 5"])
        context.reset()
        #expect(oman.largeCities.map(\.name) == ["city 5"])
    }

    @Test("A child context sees its own changes and those of its parents")
    func children() throws {
        let parent = file.container.newContext()
        let five = try city(5, parent)
        five.population = 1
        let child = parent.makeChild()
        let oman = try country("Oman", child)
        #expect(oman.largeCities.isEmpty)
        let city = City(context: child, name: "of the child")
        city.country = oman
        city.population = 5_000
        try child.refresh(oman)
        #expect(oman.largeCities == [city])
        #expect(try country("Oman", parent).largeCities.isEmpty)
    }

    @Test("Access by name: an array that cannot be set; other names are errors")
    func byName() throws {
        let context = file.container.newContext()
        let peru = try country("Peru", context)
        #expect(try peru.fetchedValue(forProperty: "largeCities") == peru.largeCities)
        #expect(try peru.value(forKey: "largeCities", as: [ManagedObject].self) == peru.largeCities)
        #expect(peru["namesakes"] as? [City] == peru.namesakes)
        #expect {
            try peru.setValue([City](), forKey: "largeCities")
        } throws: { error in
            guard case PersistenceError.readOnlyProperty("Country", "largeCities") = error else { return false }
            return true
        }
        for name in ["cities", "name", "nothing"] {
            #expect {
                try peru.fetchedValue(forProperty: name)
            } throws: { error in
                guard case PersistenceError.unknownProperty("Country", name, _) = error else { return false }
                return true
            }
        }
        let request = FetchRequest<Country>(where: try FetchPredicate(format: "largeCities.@count > 1"))
        #expect {
            try context.fetch(request)
        } throws: { "\($0)".contains("largeCities is a fetched property") }
    }

    @Test("A refresh tells observers") @MainActor
    func observation() throws {
        let context = file.container.viewContext
        let peru = try country("Peru", context)
        let told = Guarded()
        withObservationTracking {
            _ = peru.largeCities
        } onChange: {
            told.isSet = true
        }
        #expect(!told.isSet)
        try context.refresh(peru, mergingChanges: false)
        #expect(told.isSet)
    }

    /// Set only on the main actor, as the observed object lives there.
    private final class Guarded: @unchecked Sendable { var isSet = false }

    @Test("Fetched properties come and go without a migration")
    func noMigration() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "fetched-\(UUID().uuidString).sqlite").path
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        func model(_ properties: [FetchedProperty]) throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "Notes") {
                Entity("Note") {
                    Attribute("text", .string)
                    Attribute("rank", .integer64, default: .value(0))
                    properties
                }
            }
        }
        do {
            let container = try PersistentContainer(model: try model([]), at: .file(path: path))
            let context = container.newContext()
            for rank in 0..<3 {
                let note = try context.insert(entityNamed: "Note")
                note["text"] = "note \(rank)"
                note["rank"] = rank
            }
            try context.save()
        }
        let greater = FetchedProperty(
            "greater", of: "Note", where: "rank > $FETCH_SOURCE.rank", sortedBy: "-rank", limit: 5)
        let container = try PersistentContainer(model: try model([greater]), at: .file(path: path))
        let context = container.newContext()
        let notes = try context.fetch(FetchRequest<ManagedObject>(entity: "Note", sortedBy: [FetchSort("rank")]))
        #expect(try notes[0].fetchedValue(forProperty: "greater") == [notes[2], notes[1]])
        #expect(try notes[2].fetchedValue(forProperty: "greater").isEmpty)
    }

    @Test("A long chain of fetched objects is released without a deep stack")
    func longChains() throws {
        let model = try ManagedObjectModel(name: "Chain") {
            Entity("Link") {
                Attribute("number", .integer64, default: .value(0)).indexed()
                FetchedProperty("next", of: "Link", where: "number == $FETCH_SOURCE.number + 1")
            }
        }
        let container = try PersistentContainer(model: model, at: .memory(name: nil))
        let count = 5_000
        let filling = container.newContext()
        for number in 0..<count { try filling.insert(entityNamed: "Link")["number"] = number }
        try filling.save()
        let context = container.newContext()
        var link = try context.fetchFirst(
            FetchRequest<ManagedObject>(entity: "Link", sortedBy: [FetchSort("number")]))
        let first = try #require(link)
        weak var last: ManagedObject?
        while let current = link {
            last = current
            link = try current.fetchedValue(forProperty: "next").first
        }
        #expect(last?["number"] as? Int64 == Int64(count - 1))
        try context.refresh(first, mergingChanges: false)
        #expect(last == nil)
    }
}
