import Foundation
import Strata
import StrataCoreData
import Testing

/// New stores in Core Data's format, compared with those that Core Data made for the same models.
struct CreateTests {
    private func rows(_ path: String, _ sql: String) throws -> [String] {
        try AppleStore.rows(path, sql)
    }

    @Test(
        "A new store has the tables, columns, indexes and hashes of Core Data's own",
        arguments: [
            "BigNerdRanch-TestModel.sqlite", "CoreDataPlus-SampleModel3_V1.sqlite",
            "CoreDataPlus-SampleModel_V1.sqlite",
            "DDG-Bookmarks_V1.sqlite",
        ])
    func sameAsApples(name: String) throws {
        let apple = try Samples.copy(name)
        let info = try CoreDataStore.info(at: apple)
        let path = Samples.temporary(".sqlite")
        try CoreDataStore.create(path: path, model: info.model.file)
        for query in [
            "SELECT name FROM sqlite_master WHERE type = 'table'",
            "SELECT m.name || '.' || c.name || ' ' || c.type || ' ' || c.pk FROM sqlite_master m, pragma_table_info(m.name) c",
            "SELECT m.tbl_name || ' ' || m.name || ' ' || c.seqno || ' ' || coalesce(c.name, '') || ' ' || c.desc FROM sqlite_master m, pragma_index_xinfo(m.name) c WHERE m.type = 'index' AND m.sql IS NOT NULL AND c.key",
            "SELECT Z_ENT || ' ' || Z_NAME || ' ' || Z_SUPER FROM Z_PRIMARYKEY", "PRAGMA auto_vacuum",
            "PRAGMA page_size",
            "PRAGMA user_version",
        ] { #expect(try rows(path, query) == rows(apple, query), "\(query)") }
        let made = try CoreDataStore.info(at: path)
        #expect(made.metadata.versionHashes == info.metadata.versionHashes)
        #expect(made.metadata.versionIdentifiers == info.metadata.versionIdentifiers)
        if let checksum = info.metadata.checksum { #expect(made.metadata.checksum == checksum) }
        #expect(made.model.origin == .cache && made.model.hasMatchingHashes == true)
        #expect(made.entities.map(\.name) == info.entities.map(\.name))
        #expect(made.problems == [] && made.entities.allSatisfy { $0.count == 0 })
        #expect(
            try PersistentContainer(store: CoreDataStore.open(path: path)).newContext().all(
                made.entities[0].name
            )
            .isEmpty)
    }

    @Test("The digest of the version is Core Data's")
    func digest() throws {
        for name in Samples.own {
            let path = try Samples.copy(name)
            let plist = try rows(path, "SELECT hex(Z_PLIST) FROM Z_METADATA")[0]
            let digits = Array(plist)
            let data = Data(
                stride(from: 0, to: digits.count, by: 2).map {
                    UInt8(String(digits[$0...$0 + 1]), radix: 16)!
                })
            let list = try #require(
                try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
            guard let digest = list["NSStoreModelVersionHashesDigest"] as? String else { continue }
            let info = try CoreDataStore.info(at: path)
            #expect(CoreDataVersionHashes(info.model.file.model).digest == digest)
        }
    }

    @Test("What a new store cannot have is refused, and nothing is replaced")
    func refusals() throws {
        let zoo = try Zoo()
        #expect(throws: StoreError.self) { try CoreDataStore.create(path: zoo.path, model: zoo.file) }
        var model = zoo.file
        model.model.entities[0].attributes[0].derivation = "now()"
        let path = Samples.temporary(".sqlite")
        let error = #expect(throws: StoreError.self) {
            try CoreDataStore.create(path: path, model: model)
        }
        #expect("\(try #require(error))".contains("derived"))
        #expect(throws: StoreError.self) {
            try CoreDataStore.create(path: "/nowhere/a.sqlite", model: zoo.file)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("What the copy of the model in a new store lacks gives a warning with its name and line")
    func warnings() throws {
        let zoo = try Zoo()
        #expect(try CoreDataStore.create(path: Samples.temporary(".sqlite"), model: zoo.file) == [])
        var file = zoo.file
        file.path = "Zoo.xcdatamodel/contents"
        var request = CoreDataFetchRequest(name: "tame", entity: "Animal")
        request.source.line = 40
        file.model.fetchRequests = [request]
        file.model.configurations = [CoreDataConfiguration(name: "People", entities: ["Person", "Vet"])]
        file.model.compositeTypes = [CoreDataCompositeType(name: "Address")]
        let animal = try #require(file.model.entities.firstIndex { $0.name == "Animal" })
        let number = try #require(file.model.entities[animal].attributes.firstIndex { $0.name == "number" })
        file.model.entities[animal].attributes[number].validation.minimum = "1"
        file.model.entities[animal].fetchedProperties = [CoreDataFetchedProperty(name: "others", request: request)]
        var index = CoreDataFetchIndex(name: "byNumber", elements: [.init(property: "number")])
        index.predicate = "number > 0"
        file.model.entities[animal].indexes.append(index)

        let path = Samples.temporary(".sqlite")
        let warnings = try CoreDataStore.create(path: path, model: file)
        #expect(
            warnings.map(\.message)
                == [
                    "the fetch request tame", "the configuration People", "the composite type Address",
                    "the validation of Animal.number", "the fetched property Animal.others",
                    "the index byNumber of Animal",
                ].map { $0 + " is left out of the compiled model" })
        #expect(warnings.allSatisfy { $0.file == "Zoo.xcdatamodel/contents" } && warnings[0].line == 40)
        // The warnings tell the truth: what they name is not in the store.
        let copy = try CoreDataStore.info(at: path).model.file.model
        #expect(copy.fetchRequests.isEmpty && copy.configurations.isEmpty && copy.compositeTypes.isEmpty)
        #expect(copy.entity(named: "Animal")?.fetchedProperties == [])
        #expect(copy.entity(named: "Animal")?.attributes.first { $0.name == "number" }?.validation.minimum == nil)
    }

    @Test("A new store of everything that the format knows reads back with its model")
    func readsBack() throws {
        let zoo = try Zoo()
        let path = Samples.temporary(".sqlite")
        try CoreDataStore.create(path: path, model: zoo.file)
        let store = try CoreDataStore.open(path: path)
        #expect(store.coreDataModel.hasMatchingHashes == true)
        #expect(
            store.model.entities.map(\.name).sorted()
                == (try zoo.open()).model.entities.map(\.name).sorted())
        #expect(
            Set(try rows(path, "SELECT name FROM pragma_table_info('ZANIMAL')")) == Set(Zoo.animalColumns)
        )
    }
}
