import Foundation
import Strata
import StrataCoreData
import StrataStore
import Testing

/// Core Data stores as new stores of Strata.
struct ExportTests {
    private func export(
        _ zoo: Zoo, to target: String,
        _ configure: (inout CoreDataStore.ExportOptions) -> Void = { _ in }
    ) throws -> CoreDataExportReport {
        var options = CoreDataStore.ExportOptions()
        configure(&options)
        return try CoreDataStore.export(
            path: zoo.path, to: target, model: .model(zoo.file), options: options)
    }

    @Test("The exported store has the same objects, values and orders")
    func same() throws {
        let zoo = try Zoo()
        try zoo.fill()
        let target = Samples.temporary(".sqlite")
        let steps = Guarded<[MigrationProgress]>([])
        let report = try export(zoo, to: target) { options in
            options.batchSize = 2
            options.onProgress = { step in steps.withLock { $0.append(step) } }
            options.store.transformers["MoodTransformer"] = {
                .string(String(decoding: $0, as: UTF8.self))
            }
        }
        #expect(report.entities.map { [$0.entity: $0.written] }.contains(["Bird": 2]))
        #expect(report.entities.allSatisfy { $0.read == $0.written })
        #expect(report.pairs.allSatisfy { $0.read == $0.written })
        let store = try zoo.open()
        let old = try PersistentContainer(store: store).newContext()
        let new = try PersistentContainer(model: store.model, at: .file(path: target)).newContext()
        for name in ["Animal", "Club", "Person"] {
            let (before, after) = (try old.all(name), try new.all(name))
            #expect(before.count == after.count)
            for (a, b) in zip(before, after) {
                #expect(
                    a.objectID.key == b.objectID.key && a.objectID.entity.name == b.objectID.entity.name)
                for slot in a.objectID.entity.slots
                where !slot.isTransient && !["mood", "notes", "rating"].contains(slot.name) {
                    let values = [a, b].map { object in
                        (try? object.value(forKey: slot.name)).map { value in
                            (value as? ManagedObject).map { "\($0.objectID)" } ?? "\(value as Any)"
                        }
                    }
                    #expect(values[0] == values[1], "\(name).\(slot.name)")
                }
                for relationship in a.objectID.entity.relationships where relationship.isToMany {
                    func keys(_ object: ManagedObject) throws -> [Int64] {
                        let value = try object.value(forKey: relationship.name)
                        if let list = value as? [ManagedObject] { return list.map(\.objectID.key) }
                        return (value as? Set<ManagedObject> ?? []).map(\.objectID.key).sorted()
                    }
                    #expect(try keys(a) == keys(b), "\(name).\(relationship.name)")
                }
            }
        }
        let leo = try #require(try new.all("Animal", where: "name == 'Leo'").first)
        #expect(leo["rating"] as? Decimal == Decimal(string: "4.25"))
        let tweety = try #require(try new.all("Animal", where: "name == 'Tweety'").first)
        #expect((tweety["photo"] as? Data)?.count == 300_000)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: target + "-blobs").contains {
                $0.hasSuffix(".blob")
            })
        #expect(try SQLiteStore.integrityReport(at: target).isSound)
        #expect(steps.withLock { $0.last?.fraction } == 1 && steps.withLock(\.count) > 5)
        // The new store is one like any other.
        leo["name"] = "Lea"
        try new.save()
        #expect(
            try new.count(
                FetchRequest<ManagedObject>(
                    entity: "Animal", where: FetchPredicate(format: "name == 'Lea'"))) == 1)
    }

    @Test("Everything that cannot be taken over is in the report")
    func problems() throws {
        let zoo = try Zoo()
        try zoo.fill()
        try zoo.animal(
            10, ["ZNAME": nil, "ZNUMBER": 70000, "ZBORN": "yesterday", "ZKEEPER": 77, "ZTAG": Data([1])])
        try zoo.apple.run("INSERT INTO Z_1CLUBS VALUES(99, 1, 9)")
        let report = try export(zoo, to: Samples.temporary(".sqlite"))
        #expect(!report.isComplete)
        func reason(_ property: String, _ key: Int64?) -> String? {
            report.problems.first { $0.property == property && $0.key == key }?.reason
        }
        #expect(reason("number", 10)?.contains("70000") == true)
        #expect(reason("born", 10)?.contains("yesterday") == true)
        #expect(reason("tag", 10) != nil)
        #expect(reason("notes", 4)?.contains("UIColor") == true)
        #expect(reason("photo", 5)?.contains("missing") == true)
        #expect(reason("rating", 3)?.contains("NaN") == true)
        #expect(reason("mood", 1) != nil)
        #expect(reason("keeper", 10)?.contains("77") == true)
        #expect(reason("name", nil)?.contains("required") == true)
        #expect(report.problemCounts[.value] == 7 && report.problemCounts[.missingValue] == 1)
        #expect(report.problemCounts[.reference] == 2 && report.problems.count == 10)
        let few = try export(zoo, to: Samples.temporary(".sqlite")) { $0.maximumProblems = 3 }
        #expect(few.problems.count == 3 && few.problemCounts == report.problemCounts)
    }

    @Test("Objects that break a constraint are left out, and said to be")
    func constraints() throws {
        let path = try Samples.copy("CoreDataPlus-SampleModel_V1.sqlite")
        let apple = try AppleStore.existing(path)
        try apple.run("DROP INDEX Z_Car_UNIQUE_numberPlate")
        try apple.run("UPDATE ZCAR SET ZNUMBERPLATE = '301' WHERE Z_PK IN (1, 2)")
        let report = try CoreDataStore.export(path: path, to: Samples.temporary(".sqlite"))
        #expect(report.problemCounts[.object] == 2)
        #expect(report.entities.reduce(0) { $0 + $1.written } == 143)
        #expect(
            report.problems.filter { $0.kind == .object }.allSatisfy {
                $0.entity == "Car" && $0.key != nil
            })
    }

    @Test("A failed or cancelled export leaves nothing, and replaces nothing")
    func failures() throws {
        let zoo = try Zoo()
        try zoo.fill()
        let folder = Samples.temporary()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let cancellation = ReadCancellation()
        #expect(throws: StoreError.cancelled) {
            try export(zoo, to: folder + "/a.sqlite") { options in
                options.cancellation = cancellation
                options.onProgress = { _ in cancellation.cancel() }
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/b.sqlite"))
        #expect(throws: StoreError.self) { try export(zoo, to: folder + "/b.sqlite") }
        #expect(try String(contentsOfFile: folder + "/b.sqlite", encoding: .utf8) == "mine")
        #expect(throws: StoreError.self) { try export(zoo, to: folder + "/none/c.sqlite") }
        #expect(throws: StoreError.self) {
            try export(zoo, to: folder + "/d.sqlite") { $0.batchSize = 0 }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["b.sqlite"])
    }

    @Test("The store is made for the model of the application")
    func appModel() throws {
        let zoo = try Zoo()
        try zoo.fill()
        let converted = zoo.file.converted()
        var entities = converted.entities
        let position = try #require(entities.firstIndex { $0.name == "Animal" })
        let notes = try #require(entities[position].attributes.firstIndex { $0.name == "notes" })
        #expect(entities[position].attributes[notes].type == .binary)
        let model = try ManagedObjectModel(name: "App", entities: entities)
        let target = Samples.temporary(".sqlite")
        let report = try CoreDataStore.export(
            path: zoo.path, to: target, model: .model(zoo.file), as: model)
        #expect(!report.problems.contains { $0.property == "notes" })
        let context = try PersistentContainer(model: model, at: .file(path: target)).newContext()
        let rex = try #require(try context.all("Animal", where: "name == 'Rex'").first)
        #expect(rex["notes"] as? Data == archiveOfUnknownClass("UIColor"))
        entities[position].attributes[notes].type = .date
        let other = try ManagedObjectModel(name: "App", entities: entities)
        let error = #expect(throws: StoreError.self) {
            try CoreDataStore.export(
                path: zoo.path, to: Samples.temporary(), model: .model(zoo.file), as: other)
        }
        #expect(
            "\(try #require(error))".contains(
                "Animal.notes is of the type Transformable in the store, and of date"))
    }
}
