import Foundation
import Strata
import StrataCoreData
import Testing

/// A Core Data store and a SQLite file of Strata in one container.
struct SeveralStoresTests {
    private let zoo: Zoo
    private let path = Samples.temporary(".sqlite")

    init() throws {
        zoo = try Zoo()
        try CoreDataStore.create(path: path, model: zoo.file)
    }

    /// The converted model, with an entity of another store before it.
    private func model() throws -> ManagedObjectModel {
        let store = try CoreDataStore.open(path: path)
        defer { store.close() }
        let visit = Entity("ZooVisit") {
            Attribute("note", .string)
            Attribute("animal", .uri, optional: true).references("Animal")
        }
        return try ManagedObjectModel(
            name: "ZooVisits", naming: store.model.naming, entities: [visit] + store.model.entities.map(\.declaration),
            configurations: [ModelConfiguration("Visits", ["ZooVisit"])])
    }

    private func open(readOnly: Bool) throws -> PersistentContainer {
        var options = CoreDataStore.Options()
        options.isReadOnly = readOnly
        let (path, writing) = (path, options)
        return try PersistentContainer(
            model: model(),
            stores: [
                PersistentStoreDescription { (_) throws(StoreError) in
                    try CoreDataStore.open(path: path, options: writing)
                },
                PersistentStoreDescription(configuration: "Visits", at: .memory(name: nil)),
            ])
    }

    @Test("A save writes both by their rules, and references lead from one to the other")
    func both() throws {
        let container = try open(readOnly: false)
        let context = container.newContext()
        let bird = try context.insert(entityNamed: "Bird")
        bird["name"] = "Tweety"
        let person = try context.insert(entityNamed: "Person")
        bird["keeper"] = person
        let visit = try context.insert(entityNamed: "ZooVisit")
        visit["note"] = "sings"
        let reference = ObjectReference<ManagedObject>(bird)
        visit["animal"] = reference.uri
        try context.save()
        #expect(try AppleStore.rows(path, "SELECT ZNAME FROM ZANIMAL") == ["Tweety"])
        let fresh = container.newContext()
        let found = try #require(try fresh.resolve(reference))
        #expect(found.entity.name == "Bird" && found["name"] as? String == "Tweety")
        #expect(found["keeper"] as? ManagedObject != nil)
        #expect(try fresh.fetch(FetchRequest<ManagedObject>(entity: "ZooVisit")).count == 1)
        container.close()
    }

    @Test("A store that is only read refuses changes before the other is written")
    func readOnly() throws {
        let container = try open(readOnly: true)
        let context = container.newContext()
        let visit = try context.insert(entityNamed: "ZooVisit")
        visit["note"] = "closed"
        let bird = try context.insert(entityNamed: "Bird")
        bird["name"] = "Tweety"
        #expect {
            try context.save()
        } throws: { error in
            if case PersistenceError.store(.readOnly) = error { true } else { false }
        }
        context.delete(bird)
        try context.save()
        #expect(try container.newContext().count(FetchRequest<ManagedObject>(entity: "ZooVisit")) == 1)
        container.close()
    }
}
