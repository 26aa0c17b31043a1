import Foundation
import StrataSQLite
import StrataStore
import Testing

/// Spatial and full-text indexes that another model, another process or a shell has worked on.
@Suite struct IndexTruthTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.sqlite")
    }

    private func model(indexed: Bool) throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Cities") {
            Entity("City") {
                Attribute("name", .string).optional()
                Attribute("place", .geoPoint).optional()
                if indexed {
                    Index("name", kind: .fullText)
                    Index("place", kind: .spatial)
                }
            }
        }
    }

    private func open(indexed: Bool, readOnly: Bool = false) throws -> SQLiteStore {
        var options = SQLiteStore.Options()
        options.isReadOnly = readOnly
        return try SQLiteStore.open(
            model: try model(indexed: indexed), location: .file(path: path), options: options)
    }

    private static let formats = [
        "withinKilometers(place, {-12, -77}, 50)", "withinBox(place, {-13, -78}, {-11, -76})",
        "name MATCHESTEXT 'lima'",
        "SELF MATCHESTEXT 'lim*'",
    ]

    /// The keys that all conditions must find, and that the nearest ones are.
    private func check(_ store: SQLiteStore, _ keys: [Int64]) throws {
        for format in Self.formats {
            #expect(try store.keys("City", FetchPredicate(format: format)).sorted() == keys, "\(format)")
        }
        var nearest = FetchPlan(entityIndex: 0)
        nearest.predicate = try FetchPredicate(format: "near(place, {-12, -77})")
        nearest.limit = keys.count
        #expect(try store.fetchKeys(nearest).sorted() == keys)
    }

    private func insert(_ store: SQLiteStore, _ key: Int64) throws {
        try store.insert(("City", key, ["name": "Lima", "place": .geoPoint(GeoPoint(latitude: -12, longitude: -77))]))
    }

    @Test func aReadOnlyFileFromBeforeItsIndexesAnswersWithoutThem() throws {
        let writer = try open(indexed: false)
        try insert(writer, 1)
        try writer.insert(("City", 2, ["name": "Paris", "place": .geoPoint(GeoPoint(latitude: 49, longitude: 2))]))
        writer.close()
        let reader = try open(indexed: true, readOnly: true)
        try check(reader, [1])
        let explanation = try reader.explain(FetchPlan(entityIndex: 0))
        #expect(!explanation.sql.contains("_area"))
        reader.close()
        try open(indexed: true).close()
        let again = try open(indexed: true, readOnly: true)
        try check(again, [1])
        again.close()
    }

    @Test func rowsThatAProcessWithoutTheIndexWritesAreFoundByIt() throws {
        let old = try open(indexed: false)
        try insert(old, 1)
        let new = try open(indexed: true)
        try check(new, [1])
        // The old one goes on, and knows nothing of the indexes that the file has by now.
        try insert(old, 2)
        try check(new, [1, 2])
        var changes = ChangeSet()
        changes.updates = [
            try old.update(
                "City", 1, base: 1,
                ["name": "Paris", "place": .geoPoint(GeoPoint(latitude: 49, longitude: 2))], changed: ["name", "place"])
        ]
        _ = try old.commit(changes)
        try check(new, [2])
        var gone = ChangeSet()
        gone.deletes = [.init(entityIndex: 0, key: 2, baseVersion: 1)]
        _ = try old.commit(gone)
        try check(new, [])
        old.close()
        new.close()
    }

    @Test func aShellCannotLeaveAnIndexIncompleteWithoutAnError() throws {
        let store = try open(indexed: true)
        try insert(store, 1)
        let shell = Shell(path: path)
        #expect(throws: (any Error).self) {
            try shell.run("INSERT INTO city(_id, _version, place) SELECT 2, 1, place FROM city")
        }
        #expect(throws: (any Error).self) { try shell.run("UPDATE city SET place = NULL") }
        try check(store, [1])
        store.close()
    }

    @Test func anIndexWhoseTriggersWereDroppedIsCreatedAnew() throws {
        let store = try open(indexed: true)
        try insert(store, 1)
        let shell = Shell(path: path)
        for name in try shell.run("SELECT name FROM sqlite_master WHERE type = 'trigger'").flatMap(\.self) {
            try shell.run("DROP TRIGGER \(name)")
        }
        try shell.run("INSERT INTO city(_id, _version, name, place) SELECT 2, 1, name, place FROM city")
        store.close()
        let reader = try open(indexed: true, readOnly: true)
        try check(reader, [1, 2])
        reader.close()
        let again = try open(indexed: true)
        try check(again, [1, 2])
        #expect(try shell.run("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") == [["6"]])
        again.close()
    }

    @Test func anIndexThatAShellDroppedIsCreatedAtTheNextOpening() throws {
        let store = try open(indexed: true)
        try insert(store, 1)
        store.close()
        try Shell(path: path).run("DROP TABLE city_place_area")
        let reader = try open(indexed: true, readOnly: true)
        try check(reader, [1])
        reader.close()
        let again = try open(indexed: true)
        try check(again, [1])
        again.close()
    }

    @Test func pointsThatAreNowhereAreInNoArea() throws {
        let store = try open(indexed: true)
        try insert(store, 1)
        try store.insert(
            ("City", 2, ["name": "x"]),
            ("City", 3, ["name": "y", "place": .geoPoint(GeoPoint(latitude: .infinity, longitude: 0))]))
        try check(store, [1])
        #expect(try Shell(path: path).run("SELECT count(*) FROM city_place_area") == [["1"]])
        store.close()
    }
}
