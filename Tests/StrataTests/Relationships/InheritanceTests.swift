import Foundation
import Strata
import Testing

/// Relationships to entities that others inherit from: only the row tells the class.
@Suite struct InheritanceTests {
    private func zoo(_ context: ManagedObjectContext) throws -> (keeper: ObjectID, cat: ObjectID, dog: ObjectID) {
        let keeper = Keeper(context, name: "k")
        let cat = Cat(context, name: "Tom")
        let dog = Dog(context, name: "Rex")
        keeper.favourites = [dog, cat]
        try context.save()
        return (keeper.objectID, cat.objectID, dog.objectID)
    }

    @Test("Members of several classes come as what they are, in order, from both sides")
    func members() throws {
        let file = try ZooFile()
        let ids = try zoo(file.container.newContext())
        let context = file.container.newContext()
        let keeper = try context.existingObject(Keeper.self, with: ids.keeper)
        #expect(keeper.favourites.map { "\(type(of: $0)) \($0.name)" } == ["Dog Rex", "Cat Tom"])
        #expect(try context.fetch(FetchRequest<Animal>()).allSatisfy { $0.fans == [keeper] })
    }

    @Test("A child changes members whose classes its parent does not know yet")
    func children() throws {
        let file = try ZooFile()
        let ids = try zoo(file.container.newContext())
        for fromOwner in [true, false] {
            let root = file.container.newContext()
            let child = root.makeChild()
            let keeper = try child.existingObject(Keeper.self, with: ids.keeper)
            let cat = try child.existingObject(Cat.self, with: ids.cat)
            let dog = try child.existingObject(Dog.self, with: ids.dog)
            #expect(dog.fans == [keeper] && cat.fans == [keeper])
            if fromOwner { keeper.favourites = [cat, dog] } else { dog.fans = [] }
            try child.save()
            try root.save()
            let reader = file.container.newContext()
            let animals = try reader.fetch(FetchRequest<Animal>(sortedBy: [FetchSort("name")]))
            #expect(animals.map { "\(type(of: $0)) \($0.name)" } == ["Dog Rex", "Cat Tom"])
            let expected = fromOwner ? ["Tom", "Rex"] : ["Tom"]
            #expect(try reader.existingObject(Keeper.self, with: ids.keeper).favourites.map(\.name) == expected)
            #expect(try root.fetch(FetchRequest<Dog>()).map(\.name) == ["Rex"])
        }
    }

    @Test("A batch of several classes loads an inherited relationship together, through a parent, too")
    func mixedBatch() throws {
        let file = try ZooFile()
        let ids = try zoo(file.container.newContext())
        let root = file.container.newContext()
        let child = root.makeChild()
        let animals = try child.fetch(FetchRequest<Animal>(sortedBy: [FetchSort("name")]))
        #expect(animals.map { $0.fans.count } == [1, 1])
        #expect(animals.map { "\(type(of: $0))" } == ["Dog", "Cat"])
        #expect(
            try root.fetch(FetchRequest<Animal>(sortedBy: [FetchSort("name")])).map { "\(type(of: $0)) \($0.name)" }
                == ["Dog Rex", "Cat Tom"])
        #expect(try root.existingObject(Keeper.self, with: ids.keeper).favourites.count == 2)
    }

    @Test("IDs that name another entity of the hierarchy find the object, or nothing, and spoil nothing")
    func otherEntities() throws {
        let file = try ZooFile()
        let ids = try zoo(file.container.newContext())
        let model = Zoo.model
        func id(_ name: String, _ id: ObjectID) throws -> ObjectID {
            ObjectID(entity: try #require(model.entity(named: name)), key: id.key, storeIdentifier: id.storeIdentifier)
        }
        let context = file.container.newContext()
        #expect(try context.existingObject(with: id("Animal", ids.cat)) is Cat)
        #expect(try context.object(with: id("Animal", ids.dog)) is Dog)
        #expect(persistenceError { try context.existingObject(with: id("Dog", ids.cat)) } != nil)
        let wrong = try #require(try context.object(with: id("Dog", ids.cat)) as? Dog)
        #expect(wrong.name == "" && wrong.isMissing)
        let cats = try context.fetch(FetchRequest<Cat>())
        #expect(cats.map(\.name) == ["Tom"] && wrong.name == "")
        #expect(try context.existingObject(Cat.self, with: ids.cat) === cats[0])
    }

    @Test("Access by name works on inherited properties, and models without classes have them all")
    func withoutClasses() throws {
        let file = try ZooFile()
        let ids = try zoo(file.container.newContext())
        let plain = try PersistentContainer(model: Zoo.model, at: .file(path: file.path))
        defer { plain.close() }
        let context = plain.newContext()
        let animals = try context.fetch(FetchRequest<ManagedObject>(entity: "Animal", sortedBy: [FetchSort("name")]))
        #expect(
            animals.map { $0["name"] as? String } == ["Rex", "Tom"] && animals.map(\.entity.name) == ["Dog", "Cat"])
        let keeper = try context.existingObject(with: ids.keeper)
        #expect(keeper["favourites"] as? [ManagedObject] == animals)
        keeper["favourites"] = [animals[1]]
        let new = try context.insert(entityNamed: "Cat")
        new["name"] = "Plain"
        try context.save()
        #expect(try file.container.newContext().count(FetchRequest<Cat>()) == 2)
    }
}
