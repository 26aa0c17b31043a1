import Foundation
import StrataSQLite
import StrataStore
import Testing

/// Commits of many new rows, which make the indexes of their table afterwards.
@Suite struct ManyRowsTests {
    let file: TracedFile
    private var store: SQLiteStore { file.store }
    private var log: TraceLog { file.log }

    init() throws {
        file = try TracedFile()
    }

    private func people(_ keys: ClosedRange<Int64>) throws -> ChangeSet {
        var changes = ChangeSet()
        for key in keys {
            // The boss comes later: the reference waits for the end of the transaction.
            changes.inserts.append(
                .init(
                    row: try store.row(
                        "Person", key,
                        ["name": .string("n\(key &* 7919 % 6007)"), "boss": .object(min(key + 1, keys.upperBound))])))
        }
        return changes
    }

    private func schema() throws -> [[String]] {
        try Shell(path: file.path).run("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
    }

    private var dropped: [String] { log.statements.map(\.sql).filter { $0.hasPrefix("DROP INDEX") } }

    @Test func theIndexesAreThereAfterwardsAndComplete() throws {
        let before = try schema()
        let changes = try people(1...6000)
        guard case .committed = try store.commit(changes) else {
            Issue.record("a conflict among new rows")
            return
        }
        #expect(!dropped.isEmpty)
        // Rows that refer to later ones are looked for by this one at each insert.
        #expect(!dropped.contains { $0.contains("person_by_boss") })
        #expect(try schema() == before)
        #expect(try Shell(path: file.path).run("PRAGMA integrity_check") == [["ok"]])
        #expect(try Shell(path: file.path).run("PRAGMA foreign_key_check").isEmpty)
        #expect(
            try Shell(path: file.path).run("SELECT count(*) FROM person INDEXED BY person_by_name_age_desc") == [
                ["6000"]
            ])
    }

    @Test func aTableThatHasManyRowsKeepsItsIndexes() throws {
        _ = try store.commit(try people(1...6000))
        log.clear()
        _ = try store.commit(try people(6001...11_500))
        #expect(dropped.isEmpty)
        #expect(try store.count(FetchPlan(entityIndex: try store.entity("Person").index)) == 11_500)
    }

    @Test func rowsWithKeysThatNobodyReservedDoNotCountAsManyUnlessTheyAre() throws {
        try store.insert(("Person", StoreKeys.firstUnreserved + 5, [:]), ("Person", 1, [:]))
        _ = try store.commit(try people(2...6001))
        #expect(!dropped.isEmpty)
        log.clear()
        let start = StoreKeys.firstUnreserved + 1_000_000
        _ = try store.commit(try people(start...start + 5999))
        #expect(dropped.isEmpty)
        try Shell(path: file.path).run("DELETE FROM person WHERE _id < \(StoreKeys.firstUnreserved)")
        _ = try store.commit(try people(10_001...15_500))
        #expect(dropped.isEmpty)
    }

    @Test func anObjectThatBreaksAUniqueConstraintIsNamed() throws {
        let before = try schema()
        var changes = ChangeSet()
        for key in Int64(1)...6000 {
            changes.inserts.append(
                .init(row: try store.row("Widget", key, ["code": .string(key == 5555 ? "w17" : "w\(key)")])))
        }
        guard case .conflicts(let conflicts) = try store.commit(changes) else {
            Issue.record("no conflict")
            return
        }
        #expect(!dropped.isEmpty)
        #expect(conflicts.map(\.key) == [5555] && conflicts.map(\.otherKey) == [17])
        #expect(try store.keys("Thing").isEmpty)
        #expect(try schema() == before)
    }

    @Test func aReferenceToNothingIsNamed() throws {
        let before = try schema()
        var changes = ChangeSet()
        for key in Int64(1)...6000 {
            changes.inserts.append(
                .init(row: try store.row("Thing", key, ["owner": key == 3 ? .object(99) : .null])))
        }
        let error = #expect(throws: StoreError.self) { try store.commit(changes) }
        guard case .constraint(let entity, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(entity == "Thing" && reason.contains("object 3 refers through owner"))
        #expect(try schema() == before && store.keys("Thing").isEmpty)
    }

    @Test func otherConnectionsGoOnReading() throws {
        let reader = try SQLiteStore.open(model: try TestModel.make(), location: .file(path: file.path))
        defer { reader.close() }
        let name = FetchPredicate.comparison(.keyPath(["name"]), .equal, .constant("n1"), [])
        #expect(try reader.keys("Person", name).isEmpty)
        _ = try store.commit(try people(1...6000))
        #expect(try reader.keys("Person", name) == store.keys("Person", name))
        #expect(try reader.keys("Person", name).count == 1)
        try reader.insert(("Person", 7000, ["name": "n1"]))
        #expect(try store.keys("Person", name).count == 2)
    }
}
