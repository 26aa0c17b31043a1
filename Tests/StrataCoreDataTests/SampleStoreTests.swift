import Foundation
import Strata
import StrataCoreData
import Testing

/// Stores that Core Data wrote.
struct SampleStoreTests {
    @Test("Cars and people of three levels of inheritance")
    func inheritance() throws {
        let path = try Samples.copy("CoreDataPlus-SampleModel_V1.sqlite")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let store = try CoreDataStore.open(path: path)
        #expect(store.coreDataModel.origin == .cache && store.coreDataModel.hasMatchingHashes == true)
        #expect(store.metadata.frameworkVersion == 1044)
        let context = try PersistentContainer(store: store).newContext()
        #expect(try context.all("Car").count == 125)
        #expect(try context.all("SportCar").count == 10)
        #expect(try context.all("ExpensiveSportCar").count == 5)
        #expect(try context.all("Person").count == 20)
        let car = try #require(try context.all("Car", where: "numberPlate == '301'").first)
        #expect(car.objectID.entity.name == "ExpensiveSportCar")
        #expect(car["model"] as? String == "AMG GT S" && car["isLimitedEdition"] as? Bool == true)
        let owner = try #require(car["owner"] as? ManagedObject)
        #expect((owner["cars"] as? Set<ManagedObject>)?.contains(car) == true)
        #expect(owner["id"] is UUID && owner["updatedAt"] is Date)
        let makers = try context.all("Person", where: "ANY cars.maker == 'BMW' AND cars.@count > 1")
        #expect(
            !makers.isEmpty && makers.allSatisfy { (($0["cars"] as? Set<ManagedObject>)?.count ?? 0) > 1 }
        )
        store.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test("The version of a model file is found by the hashes of the store")
    func versions() throws {
        for (name, version) in [("V1", "SampleModel"), ("V2", "SampleModel2")] {
            let path = try Samples.copy("CoreDataPlus-SampleModel_\(name).sqlite")
            let store = try CoreDataStore.open(path: path, model: .file(path: Samples.model))
            #expect(store.coreDataModel.origin == .file(version: version))
            #expect(store.coreDataModel.hasMatchingHashes == true)
        }
        let path = try Samples.copy("CoreDataPlus-SampleModel3_V1.sqlite")
        let error = #expect(throws: StoreError.self) {
            try CoreDataStore.open(path: path, model: .file(path: Samples.model))
        }
        #expect("\(try #require(error))".contains("User"))
    }

    @Test("An entity that was renamed is found by the name that the store has")
    func renamed() throws {
        let store = try CoreDataStore.open(path: try Samples.copy("CoreDataPlus-SampleModel_V2.sqlite"))
        let context = try PersistentContainer(store: store).newContext()
        #expect(try context.all("LuxuryCar").count == 5)
        #expect(try context.all("Car").count == 125)
    }

    @Test("Bookmarks keep their order, and are read from the log")
    func order() throws {
        let store = try CoreDataStore.open(path: try Samples.copy("DDG-Bookmarks_V1.sqlite"))
        let context = try PersistentContainer(store: store).newContext()
        let root = try #require(
            try context.all("BookmarkEntity", where: "uuid == 'bookmarks_root'").first)
        let children = try #require(root["children"] as? [ManagedObject])
        #expect(children.map { $0["title"] as? String } == ["1", "2", "3", "4", "5"])
        let favorites = try #require(
            try context.all("BookmarkEntity", where: "uuid == 'favorites_root'").first)
        #expect(
            (favorites["favorites"] as? [ManagedObject])?.map { $0.objectID.key } == [6, 8, 1, 3, 2])
    }

    @Test("A store of 2009 without a copy of its model is read by its tables")
    func inferred() throws {
        let store = try CoreDataStore.open(path: try Samples.copy("MagicalRecord-Recipes.sqlite"))
        #expect(store.coreDataModel.origin == .inferred)
        #expect(store.warnings.contains { $0.contains("no copy of its model") })
        let context = try PersistentContainer(store: store).newContext()
        #expect(try context.all("Ingredient").count == 31 && context.all("RecipeType").count == 5)
        let recipe = try #require(try context.all("Recipe").first)
        #expect((recipe["thumbnailimage"] as? Data)?.isEmpty == false)
        #expect((recipe["image"] as? ManagedObject)?.objectID.entity.name == "Image")
        let some = try context.all(
            "Ingredient", where: "recipe.name == '\(recipe["name"] as? String ?? "")'")
        #expect(!some.isEmpty && some.allSatisfy { ($0["recipe"] as? ManagedObject) === recipe })
    }

    @Test(
        "Every sample store says what it holds, is read and is exported",
        arguments: Samples.own + Samples.shared)
    func everyStore(name: String) throws {
        let path = try Samples.copy(name)
        let info = try CoreDataStore.info(at: path)
        #expect(info.problems == [] && !info.entities.isEmpty)
        let store = try CoreDataStore.open(path: path)
        let context = try PersistentContainer(store: store).newContext()
        for entity in info.entities where !entity.isAbstract {
            let name = try #require(entity.strataName)
            var request = FetchRequest<ManagedObject>(entity: name)
            request.includesSubentities = false
            let objects = try context.fetch(request)
            #expect(objects.count == entity.count)
            for object in objects {
                for slot in object.objectID.entity.slots where !slot.isTransient {
                    _ = try object.value(forKey: slot.name)
                }
                for relationship in object.objectID.entity.relationships where relationship.isToMany {
                    _ = try object.value(forKey: relationship.name)
                }
            }
        }
        let target = Samples.temporary(".sqlite")
        let report = try CoreDataStore.export(path: path, to: target)
        let written: Int = report.entities.reduce(0) { $0 + $1.written }
        let counted: Int = info.entities.reduce(0) { $0 + $1.count }
        #expect(written == counted)
        #expect(report.integrityProblems.isEmpty)
        let exported = try PersistentContainer(model: store.model, at: .file(path: target)).newContext()
        for entity in store.model.entities where !entity.isAbstract {
            let old = try context.all(entity.name)
            let new = try exported.all(entity.name)
            #expect(old.map(\.objectID.key).sorted() == new.map(\.objectID.key).sorted())
        }
    }

    @Test("What a store holds is told without opening it for writing")
    func info() throws {
        let info = try CoreDataStore.info(at: try Samples.copy("CoreDataPlus-SampleModel_V1.sqlite"))
        #expect(info.entities.map(\.name) == ["Car", "SportCar", "ExpensiveSportCar", "Person"])
        #expect(info.entities.map(\.count) == [115, 5, 5, 20])
        #expect(info.entities.map(\.number) == [1, 2, 3, 4])
        #expect(info.entities.map(\.hasMatchingHash) == [true, true, true, true])
        #expect(info.entities.map(\.parent) == [nil, "Car", "SportCar", nil])
        #expect(info.transactionCount == nil && !info.isCloudMirrored)
        #expect(info.metadata.versionIdentifiers == ["1"])
    }
}
