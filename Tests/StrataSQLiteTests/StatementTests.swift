import Foundation
import StrataSQLite
import Testing

@Suite struct StatementTests {
    let folder: TemporaryFolder
    let path: String
    let store: SQLiteStore
    let log = TraceLog()

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.sqlite")
        var options = SQLiteStore.Options()
        options.trace = log.hook
        store = try SQLiteStore.open(model: try TestModel.make(), location: .file(path: path), options: options)
        var changes = ChangeSet()
        for key in Int64(1)...50 {
            changes.inserts.append(
                .init(row: try store.row("Person", key, ["name": .string("n\(key)"), "age": .integer(key)])))
        }
        for key in Int64(1)...200 {
            changes.inserts.append(
                .init(
                    row: try store.row(
                        "Thing", key,
                        ["title": .string("t\(key)"), "owner": .object(key % 50 + 1), "order": .object(1)])))
        }
        _ = try store.commit(changes)
        log.clear()
    }

    func plan(_ entity: String, _ predicate: FetchPredicate, sorts: [FetchSort] = []) throws -> String {
        log.clear()
        _ = try store.keys(entity, predicate, sorts: sorts)
        let sql = try #require(log.statements.last).sql
        // The functions of the store are not in a shell; these plans need none.
        return try Shell(path: path).run("EXPLAIN QUERY PLAN " + sql.replacing("?", with: "'x'")).map { $0[3] }.joined(
            separator: "; ")
    }

    @Test func indexesServe() throws {
        let title = FetchExpression.keyPath(["title"])
        #expect(
            try plan("Thing", .comparison(title, .equal, .constant("t5"), [])).contains(
                "USING COVERING INDEX thing_by_title"))
        #expect(
            try plan("Thing", .comparison(title, .beginsWith, .constant("t5"), [])).contains(
                "thing_by_title (title>? AND title<?)"))
        #expect(
            try plan("Thing", .comparison(.keyPath(["owner"]), .equal, .constant(.object(3)), [])).contains(
                "thing_by_owner"))
        let sorted = try plan(
            "Person", .comparison(.keyPath(["name"]), .equal, .constant("a"), []),
            sorts: [FetchSort("age", ascending: false)])
        #expect(sorted.contains("person_by_name_age_desc") && !sorted.contains("TEMP B-TREE"))
        let all = try plan("Thing", .constant(true), sorts: [FetchSort("title")])
        #expect(all.contains("thing_by_title") && !all.contains("TEMP B-TREE"))
    }

    @Test func keysOfAnyNumberTakeOneStatement() throws {
        log.clear()
        let rows = try store.rows(entityIndex: 0, keys: Array(1...100_000))
        #expect(rows.count == 200)
        #expect(log.statements.count == 1 && log.statements[0].rows == 200 && log.statements[0].duration > 0)
        log.clear()
        #expect(try store.rows(entityIndex: 0, keys: [500, 7]).rows.map { $0.row.key } == [7])
        #expect(try store.rows(entityIndex: 0, keys: [7]).count == 1)
        #expect(try store.rows(entityIndex: 0, keys: []).count == 0)
        #expect(log.statements.count == 2)
        #expect(try store.rows(entityIndex: try store.entity("Gadget").index, keys: [7]).count == 0)
        log.clear()
        let person = try store.entity("Person").index
        let things = try store.relationship("Person", "things").index
        #expect(
            try store.memberRows(entityIndex: person, relationshipIndex: things, owners: Array(1...50)).count == 200)
        // A count in the index decides between the index and the table.
        #expect(log.statements.count == 2)
        log.clear()
        let many = Value.list((0..<5000).map { .string("t\($0)") })
        #expect(try store.keys("Thing", .comparison(.keyPath(["title"]), .isIn, .constant(many), [])).count == 200)
        #expect(log.statements.count == 1)
    }

    @Test func aCommitTracesItsTransaction() throws {
        log.clear()
        try store.insert(("Group", 1, [:]), ("Group", 2, [:]))
        let sql = log.statements.map(\.sql)
        #expect(sql.first == "BEGIN IMMEDIATE" && sql.last == "COMMIT" && sql.count == 4)
    }

    @Test func manyAlternativesAreNoProblem() throws {
        let parts = (1...5000).map {
            FetchPredicate.comparison(.keyPath(["title"]), .equal, .constant(.string("t\($0)")), [])
        }
        #expect(try store.keys("Thing", .or(parts)).count == 200)
        #expect(try store.keys("Thing", .not(.and(parts))).count == 200)
    }

    @Test func anEmptyChangeSetTouchesNothing() throws {
        log.clear()
        guard case .committed = try store.commit(ChangeSet()) else {
            Issue.record("a conflict")
            return
        }
        #expect(log.statements.isEmpty)
    }
}
