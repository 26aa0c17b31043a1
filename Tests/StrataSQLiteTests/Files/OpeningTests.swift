import Foundation
import StrataSQLite
import StrataStore
import Testing

@Suite struct OpeningTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.sqlite")
    }

    func open(_ change: (inout SQLiteStore.Options) -> Void = { _ in }) throws -> SQLiteStore {
        var options = SQLiteStore.Options()
        change(&options)
        return try SQLiteStore.open(model: try TestModel.make(), location: .file(path: path), options: options)
    }

    /// The name of the error's case, so that tests need not repeat SQLite's messages.
    func kind(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "no error"
        } catch {
            return Mirror(reflecting: error).children.first?.label ?? "\(error)"
        }
    }

    @Test func missingFilesAndFolders() throws {
        #expect(throws: StoreError.notFound(path: path)) { try open { $0.createIfMissing = false } }
        #expect(throws: StoreError.notFound(path: path)) { try open { $0.isReadOnly = true } }
        #expect(!FileManager.default.fileExists(atPath: path))
        let model = try TestModel.make()
        #expect(
            kind { _ = try SQLiteStore.open(model: model, location: .file(path: folder.file("none/a.sqlite"))) }
                == "cannotOpen")
        #expect(kind { _ = try SQLiteStore.open(model: model, location: .file(path: folder.path)) } == "cannotOpen")
        #expect(kind { _ = try SQLiteStore.open(model: model, location: .file(path: "")) } == "cannotOpen")
        #if os(Linux)
            // Nobody, not even root, makes files here.
            #expect(
                kind { _ = try SQLiteStore.open(model: model, location: .file(path: "/proc/a.sqlite")) } == "cannotOpen"
            )
        #endif
    }

    @Test func foreignFilesAreLeftAlone() throws {
        try Data("just some text, long enough to be mistaken for a header of a database file, if nobody looks".utf8)
            .write(to: URL(fileURLWithPath: path))
        #expect(kind { _ = try open() } == "notAStore")
        try FileManager.default.removeItem(atPath: path)
        try Shell(path: path).run("CREATE TABLE notes(text); INSERT INTO notes VALUES('mine')")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(kind { _ = try open() } == "notAStore")
        #expect(kind { _ = try SQLiteStore.metadata(at: path) } == "notAStore")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func truncatedAndOverwrittenFiles() throws {
        let store = try open()
        for key in Int64(1)...300 {
            try store.insert(("Thing", key, ["title": .string(String(repeating: "x", count: 500))]))
        }
        store.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: path))
        let found = kind {
            let store = try open()
            defer { store.close() }
            _ = try store.fetch(FetchPlan(entityIndex: 0))
        }
        #expect(found == "corrupt")
        try whole.prefix(60).write(to: URL(fileURLWithPath: path))
        #expect(["corrupt", "notAStore"].contains(kind { _ = try open() }))
        var damaged = whole
        for index in stride(from: 4096 * 2, to: damaged.count, by: 1) { damaged[index] = 0x5A }
        try damaged.write(to: URL(fileURLWithPath: path))
        let reading = kind {
            let store = try open()
            defer { store.close() }
            _ = try store.fetch(FetchPlan(entityIndex: 0))
        }
        #expect(reading == "corrupt")
    }

    @Test func anotherModelIsRefusedWithTheDifference() throws {
        try open().close()
        let other = try TestModel.make(extra: true)
        var options = SQLiteStore.Options()
        options.migration.policy = .never
        let error = #expect(throws: StoreError.self) {
            try SQLiteStore.open(model: other, location: .file(path: path), options: options)
        }
        guard case .incompatibleModel(_, let differences) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(differences.contains { $0.contains("Thing.added") && $0.contains("string") })
        #expect(!differences.contains { $0.contains("Person") })
    }

    @Test func indexesFollowTheModel() throws {
        var city = Entity(name: "City", location: nil)
        city.attributes = [Attribute("name", .string), Attribute("place", .geoPoint)]
        let plain = try ManagedObjectModel(name: "Cities", entities: [city])
        let first = try SQLiteStore.open(model: plain, location: .file(path: path))
        try first.insert(("City", 1, ["name": "Lima", "place": .geoPoint(GeoPoint(latitude: -12, longitude: -77))]))
        first.close()
        city.indexes = [
            Index("name"), Index(["name"], kind: .fullText, location: nil),
            Index(["place"], kind: .spatial, location: nil),
        ]
        let indexed = try ManagedObjectModel(name: "Cities", entities: [city])
        let second = try SQLiteStore.open(model: indexed, location: .file(path: path))
        let shell = Shell(path: path)
        #expect(try second.keys("City", FetchPredicate(format: "name MATCHESTEXT 'lima'")) == [1])
        #expect(try shell.run("SELECT id FROM city_place_area WHERE max_latitude < 0") == [["1"]])
        second.close()
        try SQLiteStore.open(model: plain, location: .file(path: path)).close()
        #expect(try shell.run("SELECT name FROM sqlite_master WHERE name LIKE 'city%'") == [["city"]])
    }

    @Test func spatialAndFullTextIndexesFollowTheRows() throws {
        let store = try open()
        let shell = Shell(path: path)
        func place(_ latitude: Double) -> Value { .geoPoint(GeoPoint(latitude: latitude, longitude: 1)) }
        try store.insert(
            ("Thing", 1, ["place": place(10)]), ("Gadget", 2, ["place": place(20)]),
            ("Group", 1, ["name": "red apples"]))
        var changes = ChangeSet()
        changes.updates = [
            try store.update("Thing", 1, base: 1, ["place": place(30)], changed: ["place"]),
            try store.update("Group", 1, base: 1, ["name": "green pears"], changed: ["name"]),
        ]
        _ = try store.commit(changes)
        #expect(
            try shell.run("SELECT id, min_latitude FROM thing_place_area ORDER BY id") == [
                ["1", "30.0"], ["2", "20.0"],
            ])
        #expect(try store.keys("Group", FetchPredicate(format: "name MATCHESTEXT 'pears'")) == [1])
        #expect(try store.keys("Group", FetchPredicate(format: "name MATCHESTEXT 'apples'")) == [])
        var more = ChangeSet()
        more.updates = [try store.update("Thing", 1, base: 2, [:], changed: ["place"])]
        more.deletes = [.init(entityIndex: try store.entity("Gadget").index, key: 2, baseVersion: 1)]
        _ = try store.commit(more)
        #expect(try shell.run("SELECT count(*) FROM thing_place_area") == [["0"]])
        store.close()
    }

    @Test func readOnlyStoresReadOnly() throws {
        let writer = try open()
        try writer.insert(("Thing", 1, [:]))
        let reader = try open { $0.isReadOnly = true }
        #expect(try reader.keys("Thing") == [1])
        try writer.insert(("Thing", 2, [:]))
        #expect(try reader.keys("Thing") == [1, 2])
        var changes = ChangeSet()
        changes.deletes = [.init(entityIndex: 0, key: 1, baseVersion: nil)]
        let refused = changes
        #expect(throws: StoreError.readOnly(path: path)) { try reader.commit(refused) }
        #expect(throws: StoreError.readOnly(path: path)) { try reader.allocateKeys(1, rootIndex: 0) }
        reader.close()
        writer.close()
    }

    @Test func lockedStoresSaySoInTime() throws {
        let first = try open()
        let second = try open { $0.busyTimeout = 0.1 }
        let shell = Shell(path: path)
        var changes = ChangeSet()
        changes.inserts = [.init(row: try second.row("Thing", 1, [:]))]
        let insert = changes
        try shell.runHolding("BEGIN IMMEDIATE") { () throws -> Void in
            let started = ContinuousClock.now
            #expect(throws: StoreError.locked(path: path)) { try second.commit(insert) }
            #expect(throws: StoreError.locked(path: path)) { try second.allocateKeys(1, rootIndex: 0) }
            // With the default timeout, the two calls would take ten seconds.
            #expect(ContinuousClock.now - started < .seconds(9))
            #expect(try second.keys("Thing") == [])
        }
        guard case .committed = try second.commit(insert) else {
            Issue.record("a conflict")
            return
        }
        #expect(try first.keys("Thing") == [1])
        first.close()
        second.close()
    }

    @Test func aFullDiskLeavesTheStoreAsItWas() throws {
        let small = try SQLiteStore.openLimited(model: try TestModel.make(), path: path, pages: 120)
        try small.insert(("Thing", 1, ["title": "before"]))
        var changes = ChangeSet()
        for key in Int64(2)...2000 {
            changes.inserts.append(
                .init(row: try small.row("Thing", key, ["title": .string(String(repeating: "y", count: 1000))])))
        }
        let big = changes
        #expect(throws: StoreError.diskFull(path: path)) { try small.commit(big) }
        #expect(try small.keys("Thing") == [1])
        try small.insert(("Thing", 2, ["title": "after"]))
        #expect(try small.keys("Thing") == [1, 2])
        #expect(try small.integrityReport().isSound)
        small.close()
    }

    @Test func valuesOfTheWrongTypeAreNamed() throws {
        let store = try open()
        try store.insert(("Gadget", 7, ["small": 1]))
        for (column, property, value) in [
            ("small", "small", "'text'"), ("real", "real", "x'00'"), ("title", "title", "x'ff'"),
            ("token", "token", "x'0102'"),
            ("place", "place", "'here'"), ("exact", "exact", "'many'"), ("data", "data", "'text'"),
            ("owner", "owner", "1.5"),
            ("power", "power", "'strong'"), ("_entity", "_entity", "'Nonsense'"),
        ] {
            let shell = Shell(path: path, knowsFunctions: true)
            try shell.run("UPDATE thing SET \(column) = \(value)")
            let error = #expect(throws: StoreError.self) { try store.fetch(FetchPlan(entityIndex: 0)) }
            guard case .invalidData(_, let named, key: 7, _) = error, named == property else {
                Issue.record("\(column): \(String(describing: error))")
                return
            }
            try shell.run("UPDATE thing SET \(column) = \(column == "_entity" ? "'Gadget'" : "NULL")")
        }
        #expect(try store.keys("Gadget") == [7])
        store.close()
    }

    @Test func infoTellsWhatIsThere() throws {
        let store = try open { $0.externalStorageThreshold = 10 }
        try store.insert(
            ("Thing", 1, ["photo": .binary(Data(repeating: 1, count: 100))]), ("Gadget", 2, [:]), ("Gadget", 3, [:]),
            ("Person", 1, [:]))
        let info = try store.storeInfo()
        let counts = Dictionary(uniqueKeysWithValues: info.entities.map { ($0.name, $0.count) })
        #expect(counts == ["Thing": 1, "Gadget": 2, "Widget": 0, "Person": 1, "Group": 0])
        #expect(info.entities.first { $0.name == "Gadget" }?.parent == "Thing")
        #expect(info.externalCount == 1 && info.externalSize == 100)
        #expect(info.metadata.versionHash == store.model.versionHash && info.metadata.identifier == store.identifier)
        store.close()
        let outside = try SQLiteStore.storeInfo(at: path)
        #expect(outside.entities == info.entities)
        #expect(outside.fileSize > 0 && outside.metadata.modelName == "Test")
        #expect(try SQLiteStore.metadata(at: path) == info.metadata)
        #expect(try SQLiteStore.integrityReport(at: path).isSound)
        try Shell(path: path).run("UPDATE thing SET owner = 55 WHERE _id = 1")
        let report = try SQLiteStore.integrityReport(at: path)
        #expect(report.danglingReferences == ["thing 1 -> person"] && !report.isSound)
    }

    @Test func theFirstWriteDoesNotReadAgainWhatOpeningHasRead() throws {
        try open().close()
        let log = TraceLog()
        let store = try open { $0.trace = log.hook }
        log.clear()
        try store.insert(("Thing", 1, [:]))
        let statements = log.statements.map(\.sql)
        #expect(!statements.isEmpty && statements.allSatisfy { !$0.contains("_metadata") }, "\(statements)")
        store.close()
    }

    @Test func namesThatMeanSomethingToSQLite() throws {
        var select = Entity(name: "Select", location: nil)
        select.attributes = [Attribute("from", .string), Attribute("rowid", .integer64), Attribute("table", .string)]
        select.relationships = [Relationship("order", to: "Select", .orderedToMany)]
        var parent = Entity(name: "Parent", location: nil)
        parent.isAbstract = true
        var left = Entity(name: "Left", location: nil)
        left.parent = "Parent"
        left.attributes = [Attribute("size", .integer32)]
        var right = Entity(name: "Right", location: nil)
        right.parent = "Parent"
        right.attributes = [Attribute("size", .integer32)]
        // Sub-entities before the entity that they inherit from.
        let model = try ManagedObjectModel(name: "Odd", entities: [right, left, select, parent])
        let store = try SQLiteStore.open(model: model, location: .file(path: path))
        try store.insert(
            ("Select", 1, ["from": "a", "rowid": 9, "table": "c"]),
            ("Left", 1, ["size": 1]), ("Right", 2, ["size": 2]))
        #expect(try store.values("Select", 1) == ["from": "a", "rowid": 9, "table": "c"])
        #expect(try store.values("Parent", 1) == ["size": 1])
        #expect(try store.values("Parent", 2) == ["size": 2])
        let columns = try Shell(path: path).run("PRAGMA table_info(parent)").map { $0[1] }
        #expect(columns.filter { $0 == "size" }.count == 1)
        store.close()
    }

    @Test func storesInMemoryShareTheirNameAlone() throws {
        let name = UUID().uuidString
        let model = try TestModel.make()
        let first = try SQLiteStore.open(model: model, location: .memory(name: name))
        let second = try SQLiteStore.open(model: model, location: .memory(name: name))
        let other = try SQLiteStore.open(model: model, location: .memory(name: nil))
        try first.insert(("Thing", 1, [:]))
        #expect(try second.keys("Thing") == [1])
        #expect(try other.keys("Thing") == [])
        #expect(first.identifier == second.identifier && first.identifier != other.identifier)
    }
}
