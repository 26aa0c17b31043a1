import Foundation
import Strata
import StrataTesting
import Testing

@Suite struct SeveralStoresTests {
    @Test("A ten-line use: two files, one context, a reference across")
    func use() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let town = Town(context, "Lima", Region(context, "PE"))
        let visit = Visit(context, "warm", town)
        visit.traveller = Traveller(context, "Ann")
        try context.save()
        let fresh = files.container.newContext()
        let request = FetchRequest<Visit>(where: try FetchPredicate(format: "traveller.name == 'Ann'"))
        let same = try #require(try fresh.fetchFirst(request))
        #expect(same.note == "warm")
        let lima = try #require(try fresh.resolve(same.spot))
        #expect(lima.name == "Lima" && lima is Town && lima.region?.code == "PE")
    }

    @Test("Each file has only the tables and the model of its entities, and can be opened by that model")
    func files() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        _ = Town(context, "Lima", Region(context, "PE"))
        _ = Visit(context, "warm")
        try context.save()
        files.container.close()
        func tables(_ path: String) throws -> Set<String> {
            Set(
                try SQLiteShell(path).lines(
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'"))
        }
        #expect(try tables(files.placesPath) == ["region", "spot"])
        #expect(try tables(files.visitsPath).isSuperset(of: ["traveller", "visit", "label"]))
        #expect(try tables(files.visitsPath).isDisjoint(with: ["region", "spot"]))
        let names: Set = ["Region", "Spot", "Town", "Village"]
        var entities = Travel.entities.filter { names.contains($0.name) }
        entities[0].fetchedProperties = []
        let model = try ManagedObjectModel(name: "Travel", entities: entities)
        #expect(try SQLiteStore.metadata(at: files.placesPath).versionHash == model.versionHash)
        let alone = try PersistentContainer(model: model, at: .file(path: files.placesPath))
        #expect(try alone.newContext().count(FetchRequest<ManagedObject>(entity: "Spot")) == 1)
        alone.close()
    }

    @Test("IDs have the identity of the file that keeps the object, alone and among others, and URIs lead back")
    func identifiers() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let town = Town(context, "Lima")
        let visit = Visit(context, "warm")
        try context.save()
        #expect(town.objectID.storeIdentifier == files.places.identifier)
        #expect(visit.objectID.storeIdentifier == files.visits.identifier)
        #expect(files.container.objectID(for: town.objectID.uri) == town.objectID)
        let other = try files.stranger()
        defer { other.close() }
        let id = try #require(other.objectID(for: town.objectID.uri))
        #expect(try other.newContext().existingObject(Town.self, with: id).name == "Lima")
        #expect(other.store.identifier == files.container.store.identifier)
        // The right key in the wrong store is of nobody.
        let wrong = ObjectID(
            entity: town.objectID.entity, key: town.objectID.key, storeIdentifier: files.visits.identifier)
        #expect(files.container.objectID(for: wrong.uri) == nil)
        #expect(context.registeredObject(for: wrong) == nil)
        #expect { try context.object(with: wrong) } throws: { error in
            if case PersistenceError.foreignObject = error { true } else { false }
        }
        // Fetches of values and lists name the same stores.
        let values = try context.fetchIDs(FetchRequest<Visit>())
        #expect(values == [visit.objectID])
        #expect(try context.live(FetchRequest<Town>()).snapshot.ids == [town.objectID])
    }

    @Test("Stores that do not fit the model are refused with all reasons, and nothing is created")
    func refusals() throws {
        let files = try TravelFiles()
        func reasons(
            _ stores: [PersistentStoreDescription], _ model: ManagedObjectModel = Travel.model
        ) throws -> String {
            do throws(PersistenceError) {
                try PersistentContainer(model: model, stores: stores).close()
                return ""
            } catch {
                guard case .invalidStores = error else { return "another error: \(error)" }
                return error.description
            }
        }
        let memory = SQLiteStore.Location.memory(name: nil)
        #expect(try reasons([]).contains("describe at least one"))
        #expect(
            try reasons([.init(configuration: "Place", at: memory)]).contains(
                "no configuration Place; did you mean 'Places'?"))
        #expect(
            try reasons([.init(configuration: "Places", at: memory)])
                .contains("no store keeps Traveller, Visit, Label; add a store without a configuration"))
        #expect(
            try reasons([.init(at: memory), .init(at: memory)]).contains("two stores are for the configuration Default")
        )
        let new = files.folder.appendingPathComponent("new.sqlite").path
        #expect(
            try reasons([
                .init(configuration: "Places", at: .file(path: new)),
                .init(at: .file(path: files.folder.path + "/./new.sqlite")),
            ]).contains("two stores are in the file"))
        let crossing = try ManagedObjectModel(
            name: "Crossing", configurations: [ModelConfiguration("Far", ["City", "Town"]), .init("Near", ["Town"])]
        ) {
            Entity("City") { Relationship("visits", to: "Visit", .toMany, inverse: "city") }
            Entity("Town") {}
            Entity("Visit") { Relationship("city", to: "City", .optionalToOne, inverse: "visits") }
        }
        #expect(try reasons([.init(at: memory)], crossing) == "")
        let both = try reasons([.init(configuration: "Far", at: .file(path: new)), .init(at: memory)], crossing)
        #expect(both.contains("City.visits leads from the store of Far to that of Default"))
        #expect(both.contains("Visit.city leads from the store of Default to that of Far"))
        #expect(both.contains("Attribute(\"city\", .uri).references(\"City\")"))
        #expect(
            try reasons(
                [.init(configuration: "Far", at: memory), .init(configuration: "Near", at: memory), .init(at: memory)],
                crossing
            ).contains("Town is in both Far and Near"))
        let whole = try ManagedObjectModel(name: "Whole", configurations: [ModelConfiguration("All", ["One"])]) {
            Entity("One") {}
        }
        #expect(
            try reasons([.init(configuration: "All", at: memory), .init(at: memory)], whole).contains("keeps nothing"))
        #expect(!FileManager.default.fileExists(atPath: new))
    }

    @Test("A store whose model describes an entity in another way is refused")
    func otherModel() throws {
        let strange = try ManagedObjectModel(name: "Strange") {
            Entity("Region") { Attribute("code", .integer64) }
        }
        let stores = [
            PersistentStoreDescription(configuration: "Places") { (_) throws(StoreError) in
                try SQLiteStore.open(model: strange, location: .memory(name: nil))
            },
            PersistentStoreDescription(at: .memory(name: nil)),
        ]
        #expect {
            try PersistentContainer(Travel.self, stores: stores)
        } throws: { error in
            "\(error)".contains("its Region has other properties") && "\(error)".contains("it lacks Spot")
        }
    }

    @Test("One store is the plain store itself, by a configuration of everything, too")
    func single() throws {
        let container = try PersistentContainer(Travel.self, stores: [.init(at: .memory(name: nil))])
        #expect(container.store is SQLiteStore)
        #expect(container.store(forConfiguration: nil) == nil)
    }

    @Test("If one store cannot be opened, the others are closed and the error is its own")
    func openingFails() throws {
        let files = try TravelFiles()
        let opened = Opened()
        let stores = [
            PersistentStoreDescription(configuration: "Places") { (model) throws(StoreError) in
                let store = try SQLiteStore.open(model: model, location: .memory(name: nil))
                opened.store = store
                return store
            },
            PersistentStoreDescription(at: .file(path: files.folder.path + "/missing/visits.sqlite")),
        ]
        #expect {
            try PersistentContainer(Travel.self, stores: stores)
        } throws: { error in
            if case PersistenceError.store(.cannotOpen) = error { true } else { false }
        }
        let store = try #require(opened.store)
        #expect(throws: StoreError.self) { try store.count(FetchPlan(entityIndex: 0)) }
    }

    private final class Opened: @unchecked Sendable {
        // Sendable because the container opens its stores on the thread of the test.
        var store: (any PersistentStore)?
    }

    @Test("A new version of one part of the model migrates only the store of that part")
    func migration() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        _ = Town(context, "Lima")
        _ = Visit(context, "warm")
        try context.save()
        files.container.close()
        func fingerprint(_ path: String) throws -> [String] {
            try SQLiteShell(path).lines("SELECT value FROM _metadata WHERE key = 'fingerprint'")
        }
        let before = try (fingerprint(files.placesPath), fingerprint(files.visitsPath))
        var entities = Travel.entities
        entities[2].attributes.append(Attribute("weather", .string, optional: true))
        let model = try ManagedObjectModel(
            name: "Travel", entities: entities, configurations: Travel.model.configurations)
        let container = try PersistentContainer(model: model, stores: files.descriptions())
        let visit = try #require(try container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Visit")).first)
        #expect(try visit.value(forKey: "note") as? String == "warm")
        container.close()
        #expect(try fingerprint(files.placesPath) == before.0)
        #expect(try fingerprint(files.visitsPath) != before.1)
    }

    @Test("A file and memory: what is in memory is gone, and references to it resolve to nil")
    func fileAndMemory() throws {
        let files = try TravelFiles()
        files.container.close()
        let stores = [
            PersistentStoreDescription(configuration: "Places", at: .memory(name: nil)), files.descriptions()[1],
        ]
        var container = try PersistentContainer(Travel.self, stores: stores)
        var context = container.newContext()
        let visit = Visit(context, "warm", Town(context, "Lima"))
        try context.save()
        #expect(try context.resolve(visit.spot)?.name == "Lima")
        #expect(container.store.capabilities.isDisjoint(with: .persistent))
        container.close()
        container = try PersistentContainer(Travel.self, stores: stores)
        context = container.newContext()
        let again = try #require(try context.fetchFirst(FetchRequest<Visit>()))
        #expect(again.spot != nil)
        #expect(try context.resolve(again.spot) == nil)
        #expect(try context.count(FetchRequest<Spot>()) == 0)
        container.close()
    }

    @Test("A change for a read-only store is refused before anything is written, and the rest can be saved")
    func readOnly() throws {
        let files = try TravelFiles()
        let first = files.container.newContext()
        _ = Town(first, "Lima")
        try first.save()
        files.container.close()
        var options = SQLiteStore.Options()
        options.isReadOnly = true
        let container = try PersistentContainer(
            Travel.self, stores: files.descriptions(options).reversed())
        defer { container.close() }
        let context = container.newContext()
        let lima = try #require(try context.fetchFirst(FetchRequest<Spot>()))
        let visit = Visit(context, "warm", lima)
        let cusco = Town(context, "Cusco")
        #expect {
            try context.save()
        } throws: { error in
            guard case PersistenceError.store(.readOnly(let path)) = error else { return false }
            return path.contains("Places") && path.contains("places.sqlite")
        }
        // Visits come first in this container, and yet nothing of them was written.
        #expect(try container.newContext().count(FetchRequest<Visit>()) == 0)
        #expect(visit.isInserted && cusco.isInserted && visit.note == "warm")
        context.delete(cusco)
        try context.save()
        #expect(try container.newContext().fetch(FetchRequest<Visit>()).map(\.note) == ["warm"])
        #expect(!container.store.isReadOnly)
    }
}
