import Foundation
import StrataSQLite
import StrataStore
import Testing

@Suite struct RoundTripTests {
    static let full: [String: Value] = [
        "small": .integer(-32768), "medium": .integer(2_147_483_647), "large": .integer(.min),
        "exact": .decimal(Decimal(string: "12345678901234567890.000000001") ?? 0), "real": .double(0.1),
        "single": .double(Double(Float(0.1))),
        "title": "Łódź \u{0}\u{1F600} e\u{301}", "flag": true,
        "yearBorn": .date(Date(timeIntervalSinceReferenceDate: -123456.789)),
        "data": .binary(Data([0, 255, 1])), "photo": .binary(Data()),
        "token": .uuid(UUID()), "link": .uri(URL(string: "https://example.org/a?b=c")!),
        "place": .geoPoint(GeoPoint(latitude: -12.05, longitude: 179.99)), "tags": .binary(Data("[\"a\"]".utf8)),
        "address.street": "", "address.number": 7, "code": "x",
    ]

    @Test(arguments: [true, false])
    func allTypesComeBack(inMemory: Bool) throws {
        let folder = try TemporaryFolder()
        let location: SQLiteStore.Location = inMemory ? .memory(name: nil) : .file(path: folder.file("a.sqlite"))
        let store = try SQLiteStore.open(model: try TestModel.make(), location: location)
        defer { store.close() }
        try store.insert(("Thing", 1, Self.full), ("Thing", 2, [:]), ("Gadget", 3, ["power": 5, "serial": "s"]))
        let read = try #require(try store.values("Thing", 1))
        for (name, value) in Self.full { #expect(read[name] == value, "\(name)") }
        let empty = try #require(try store.values("Thing", 2))
        #expect(empty.values.filter { !$0.isNull }.isEmpty)
        let batch = try store.fetch(FetchPlan(entityIndex: 0))
        #expect(batch.rows.map { $0.row.key } == [1, 2, 3])
        #expect(batch.rows.map { store.model.entities[$0.row.entityIndex].name } == ["Thing", "Thing", "Gadget"])
        #expect(batch.rows.map { $0.row.version } == [1, 1, 1])
        var plan = FetchPlan(entityIndex: 0)
        plan.includesSubentities = false
        #expect(try store.count(plan) == 2)
        #expect(try store.keys("Gadget") == [3])
        #expect(try store.keys("Widget") == [])
    }

    @Test func valuesSurviveReopening() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.sqlite")
        let store = try SQLiteStore.open(model: try TestModel.make(), location: .file(path: path))
        let identifier = store.identifier
        try store.insert(("Thing", 1, Self.full))
        store.close()
        #expect(throws: StoreError.closed(path: path)) { try store.count(FetchPlan(entityIndex: 0)) }
        var late = ChangeSet()
        late.deletes = [.init(entityIndex: 0, key: 1, baseVersion: nil)]
        let refused = late
        #expect(throws: StoreError.closed(path: path)) { try store.commit(refused) }
        let again = try SQLiteStore.open(model: try TestModel.make(), location: .file(path: path))
        #expect(again.identifier == identifier)
        #expect(try again.values("Thing", 1)?["title"] == Self.full["title"])
        again.close()
        #expect(try Shell(path: path).run("PRAGMA integrity_check; PRAGMA foreign_key_check") == [["ok"]])
    }

    @Test func notANumberIsRefusedWithItsName() throws {
        let store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        var changes = ChangeSet()
        changes.inserts = [.init(row: try store.row("Thing", 1, ["real": .double(.nan)]))]
        let wrong = changes
        let error = #expect(throws: StoreError.self) { try store.commit(wrong) }
        guard case .invalidData(entity: "Thing", property: "real", key: 1, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try store.count(FetchPlan(entityIndex: 0)) == 0)
    }

    @Test func derivedAttributesAreComputed() throws {
        let store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        try store.insert(
            ("Person", 1, ["name": "Ada"]), ("Person", 2, ["name": "Bo"]),
            ("Thing", 1, ["owner": .object(1), "large": 40, "exact": .decimal(Decimal(string: "0.1")!)]),
            ("Gadget", 2, ["owner": .object(1), "large": 2, "exact": .decimal(Decimal(string: "0.2")!)]))
        let ada = try #require(try store.values("Person", 1))
        #expect(ada["thingCount"] == 2)
        #expect(ada["largeSum"] == 42)
        #expect(ada["exactSum"] == .decimal(Decimal(string: "0.3")!))
        #expect(try store.values("Person", 2)?["exactSum"] == .decimal(0))
        #expect(try store.values("Thing", 2)?["ownerName"] == "Ada")
        #expect(try store.keys("Person", .comparison(.keyPath(["thingCount"]), .greater, .constant(1), [])) == [1])
        #expect(try store.keys("Thing", .comparison(.keyPath(["ownerName"]), .equal, .constant("Ada"), [])) == [1, 2])
    }

    @Test func theFileReadsWellInAShell() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.sqlite")
        let store = try SQLiteStore.open(model: try TestModel.make(), location: .file(path: path))
        try store.insert(("Thing", 1, ["yearBorn": .date(Date(timeIntervalSinceReferenceDate: 0.5)), "title": "x"]))
        let shell = Shell(path: path)
        #expect(
            try shell.run("SELECT _id, _entity, _version, year_born, title, address_street FROM thing") == [
                ["1", "Thing", "1", "0.5", "x", "NULL"]
            ])
        let tables = try shell.run(
            """
            SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'group_name_words%' \
            AND name NOT LIKE 'thing_place_area%' ORDER BY name
            """
        ).flatMap(\.self)
        #expect(
            tables == [
                "_dropped_files", "_keys", "_metadata", "group", "group_members", "person", "person_friends", "thing",
            ])
        let columns = try shell.run("PRAGMA table_info(group_members)").map { $0[1] }
        #expect(columns == ["group", "person", "_order_members"])
        #expect(try shell.run("PRAGMA application_id") == [[String(0x5354_5241)]])
        #expect(try shell.run("PRAGMA journal_mode") == [["wal"]])
        store.close()
    }
}
