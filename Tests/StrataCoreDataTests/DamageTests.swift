import Foundation
import SeededRandom
import Strata
import StrataCoreData
import Testing

/// Files that are not stores, and stores that are damaged: typed errors, and never a trap.
struct DamageTests {
    /// Everything that may be asked of a store.
    private func exercise(_ path: String) throws {
        _ = try CoreDataStore.info(at: path)
        let store = try CoreDataStore.open(path: path)
        let context = try PersistentContainer(store: store).newContext()
        for entity in store.model.entities where !entity.isAbstract {
            for object in try context.all(entity.name) {
                for slot in object.objectID.entity.slots { _ = try object.value(forKey: slot.name) }
                for relationship in object.objectID.entity.relationships where relationship.isToMany {
                    _ = try object.value(forKey: relationship.name)
                }
            }
        }
    }

    private func error(_ path: String, model: CoreDataModelSource = .automatic) -> StoreError? {
        #expect(throws: StoreError.self) { try CoreDataStore.open(path: path, model: model) }
    }

    @Test("Files that are no stores of Core Data")
    func otherFiles() throws {
        let missing = Samples.temporary(".sqlite")
        #expect(error(missing) == .notFound(path: missing))
        let text = Samples.temporary(".sqlite")
        try Data(
            "this is a text, and it is long enough to be more than a header of a database file".utf8
        )
        .write(to: URL(fileURLWithPath: text))
        guard case .notAStore? = error(text) else {
            Issue.record("another error")
            return
        }
        let empty = Samples.temporary(".sqlite")
        try Data().write(to: URL(fileURLWithPath: empty))
        guard case .notAStore? = error(empty) else {
            Issue.record("another error")
            return
        }
        let own = Samples.temporary(".sqlite")
        try SQLiteStore.open(
            model: ManagedObjectModel(name: "M", entities: [Entity(name: "A", location: nil)]),
            location: .file(path: own)
        ).close()
        guard case .notAStore(_, let reason)? = error(own) else {
            Issue.record("another error")
            return
        }
        #expect(reason.contains("Z_METADATA"))
        #expect(throws: StoreError.self) {
            try CoreDataStore.open(path: FileManager.default.temporaryDirectory.path)
        }
    }

    @Test("Housekeeping tables with a wrong content")
    func housekeeping() throws {
        for (damage, word) in [
            ("DELETE FROM Z_METADATA", "no row"), ("UPDATE Z_METADATA SET Z_UUID = 'x'", "not a UUID"),
            ("UPDATE Z_METADATA SET Z_PLIST = x'626c6973743030ff'", "Z_PLIST"),
            ("UPDATE Z_METADATA SET Z_PLIST = 'text'", "Z_PLIST"),
            ("DROP TABLE Z_METADATA", "Z_METADATA"),
            ("DROP TABLE Z_PRIMARYKEY", "Z_PRIMARYKEY"),
            ("ALTER TABLE Z_PRIMARYKEY RENAME Z_SUPER TO Z_S", "Z_SUPER"),
            ("INSERT INTO Z_PRIMARYKEY VALUES(900, 'Animal', 0, 0)", "twice"),
            ("INSERT INTO Z_PRIMARYKEY VALUES(-4, 'Other', 0, 0)", "without a number"),
            ("DROP TABLE ZANIMAL", "ZANIMAL"), ("ALTER TABLE ZPERSON DROP COLUMN ZDEGREE", "ZDEGREE"),
            ("DROP TABLE Z_1CLUBS", "pairs"), ("ALTER TABLE ZCLUB RENAME Z_OPT TO Z_O", "Z_OPT"),
        ] {
            let zoo = try Zoo()
            try zoo.apple.run(damage)
            let error = #expect(throws: StoreError.self, "\(damage)") { try zoo.open() }
            #expect("\(try #require(error))".contains(word), "\(damage): \(error!)")
        }
    }

    @Test("A copy of the model that is damaged")
    func modelCache() throws {
        for content in [
            Data([1, 2, 3]), Data([0x2b, 0xc9, 0x57, 0x48, 0x4a, 0x55]),
            Data(repeating: 0xff, count: 99),
        ] {
            let zoo = try Zoo()
            try zoo.apple.run("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
            try zoo.apple.run("INSERT INTO Z_MODELCACHE VALUES(?)", content)
            guard case .corrupt(_, let reason)? = error(zoo.path) else {
                Issue.record("another error")
                return
            }
            #expect(reason.contains("give the model file"))
            #expect(throws: Never.self) { _ = try zoo.open() }
        }
    }

    @Test("Entities that inherit from themselves or from nobody")
    func cycles() throws {
        for damage in [
            "UPDATE Z_PRIMARYKEY SET Z_SUPER = 2 WHERE Z_ENT = 1",
            "UPDATE Z_PRIMARYKEY SET Z_SUPER = 1 WHERE Z_ENT = 1",
            "UPDATE Z_PRIMARYKEY SET Z_SUPER = 77 WHERE Z_ENT = 2",
        ] {
            let zoo = try Zoo()
            try zoo.apple.run(damage)
            guard case .corrupt? = error(zoo.path, model: .inferred) else {
                Issue.record("another error: \(damage)")
                return
            }
        }
    }

    @Test("Huge numbers of entities and columns")
    func hugeCounts() throws {
        let zoo = try Zoo()
        try zoo.apple.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
            INSERT INTO Z_PRIMARYKEY SELECT i, 'E' || i, 0, 9223372036854775807 FROM n
            """)
        #expect(throws: Never.self) { _ = try zoo.open() }
        let columns = (0..<1900).map { "ZC\($0) INTEGER" }.joined(separator: ", ")
        try zoo.apple.run(
            "CREATE TABLE ZE100 (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(columns))")
        _ = try? CoreDataStore.open(path: zoo.path, model: .inferred)
    }

    @Test("Values of another kind name the property and the object")
    func values() throws {
        let zoo = try Zoo()
        try zoo.animal(1, ["ZNAME": "Leo", "ZBORN": "yesterday"])
        try zoo.animal(2, entity: 99, ["ZNAME": "nobody"])
        let context = try PersistentContainer(store: zoo.open()).newContext()
        let error = #expect(throws: PersistenceError.self) { try context.all("Animal") }
        #expect("\(try #require(error))".contains("Animal.born of object 1"))
        #expect(try context.count(FetchRequest<ManagedObject>(entity: "Animal")) == 1)
    }

    @Test("A model that is not that of the store")
    func otherModel() throws {
        let zoo = try Zoo()
        let other = try ManagedObjectModel(name: "M", entities: [Entity(name: "Robot", location: nil)])
        let error = #expect(throws: StoreError.self) {
            try CoreDataStore.open(path: zoo.path, model: .model(zoo.file), as: other)
        }
        guard case .incompatibleModel(_, let differences)? = error else {
            Issue.record("another error")
            return
        }
        #expect(differences.contains { $0.contains("Robot") })
        #expect(throws: StoreError.self) {
            try CoreDataStore.open(path: zoo.path, model: .file(path: "/nowhere/Model.xcdatamodeld"))
        }
        #expect(throws: StoreError.self) {
            try CoreDataStore.open(path: zoo.path, model: .file(path: Samples.model))
        }
    }

    @Test("Truncated stores and stores with random bytes")
    func randomDamage() throws {
        let seed = RunSeed.value()
        print("seed of damaged stores: \(seed)")
        var random = SplitMix64(seed: seed)
        var failures = 0
        for round in 0..<120 {
            let name = Samples.own[round % Samples.own.count]
            let path = try Samples.copy(name)
            defer {
                try? FileManager.default.removeItem(
                    at: URL(fileURLWithPath: path).deletingLastPathComponent())
            }
            var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            if round % 5 == 0 {
                bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
            } else {
                for _ in 0..<Int.random(in: 1...40, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                        in: 0...255, using: &random)
                }
            }
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            do {
                try exercise(path)
                _ = try CoreDataStore.export(path: path, to: path + ".exported")
            } catch {
                #expect(error is StoreError || error is PersistenceError, "\(error)")
                failures += 1
            }
        }
        #expect(failures > 10)
    }
}
