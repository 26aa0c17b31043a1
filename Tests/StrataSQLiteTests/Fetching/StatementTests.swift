import Foundation
import StrataSQLite
import StrataStore
import Testing

@Suite struct StatementTests {
    let file: TracedFile
    private var store: SQLiteStore { file.store }
    private var log: TraceLog { file.log }

    init() throws {
        file = try TracedFile()
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
        var plan = FetchPlan(entityIndex: try store.entity(entity).index)
        plan.predicate = predicate
        plan.sorts = sorts
        return try store.explain(plan).steps.joined(separator: "; ")
    }

    func plan(_ entity: String, _ format: String) throws -> String {
        try plan(entity, FetchPredicate(format: format))
    }

    @Test func conditionsOnIndexedPropertiesSearch() throws {
        let prefix = "SEARCH t0 USING COVERING INDEX thing_by_title"
        for (format, steps) in [
            ("title == 't5'", "\(prefix) (title=?)"), ("title BEGINSWITH 't5'", "\(prefix) (title>? AND title<?)"),
            ("title > 't5'", "\(prefix) (title>?)"), ("'t5' <= title", "\(prefix) (title>?)"),
            ("title BETWEEN {'a', 'b'}", "\(prefix) (title>? AND title<?)"),
            ("title IN {'a', 'b', 'c'}", "\(prefix) (title=?)"), ("NOT (NOT (title == 't5'))", "\(prefix) (title=?)"),
            ("NOT (title != 't5')", "\(prefix) (title=?)"), ("title == nil", "\(prefix) (title=?)"),
            ("title == 'a' OR title == 'b'", "\(prefix) (title=?)"),
            ("title == uppercase('t5')", "\(prefix) (title=?)"), ("SELF == owner.boss", "SCAN"),
            ("owner.name == 'n5'", "thing_by_owner (owner=?)"),
            ("place != nil AND withinKilometers(place, {10, 20}, 5)", "SCAN thing_place_area VIRTUAL TABLE INDEX"),
            ("withinBox(place, {10, 170}, {20, -170})", "SCAN thing_place_area VIRTUAL TABLE INDEX"),
        ] {
            let found = try plan("Thing", format)
            #expect(found.contains(steps), "\(format): \(found)")
            #expect(steps == "SCAN" || !found.contains("SCAN t0"), "\(format): \(found)")
        }
        let any = try plan("Person", "ANY things.title == 't5'")
        #expect(any.contains("thing_by_"), "\(any)")
        let words = try plan("Group", "name MATCHESTEXT 'red'")
        #expect(words.contains("SCAN group_name_words VIRTUAL TABLE INDEX") && !words.contains("SCAN t0"), "\(words)")
    }

    @Test func aSearchByAreaLooksAtFewRows() throws {
        var changes = ChangeSet()
        for key in Int64(1000)..<3000 {
            let point = GeoPoint(latitude: Double(key % 180) - 90, longitude: Double(key % 360) - 180)
            changes.inserts.append(.init(row: try store.row("Thing", key, ["place": .geoPoint(point)])))
        }
        _ = try store.commit(changes)
        let near = try store.keys("Thing", FetchPredicate(format: "withinKilometers(place, {10.2, 100.1}, 60)"))
        #expect(near == [1000..<3000].joined().filter { $0 % 180 == 100 && $0 % 360 == 280 })
    }

    @Test("Comparisons, prefixes and orders use the indexes")
    func indexesServe() throws {
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

    @Test func conditionsOfAnySizeHaveAnAnswer() throws {
        let title = FetchExpression.keyPath(["title"])
        let equal = (1...100_000).map {
            FetchPredicate.comparison(title, .equal, .constant(.string("t\($0)")), [])
        }
        #expect(try store.keys("Thing", .or(equal)).count == 200)
        #expect(try store.keys("Thing", .not(.or(equal))).isEmpty)
        #expect(try store.keys("Thing", .not(.and(Array(equal.prefix(5000))))).count == 200)
        let unequal = equal.dropFirst().map { FetchPredicate.not($0) }
        #expect(try store.keys("Thing", .and(unequal)) == [1])
        let list = Value.list((2...100_000).map { .string("t\($0)") })
        #expect(try store.keys("Thing", .not(.comparison(title, .isIn, .constant(list), []))) == [1])
        let mixed = (1...3000).map { number in
            FetchPredicate.comparison(title, number % 2 == 0 ? .less : .greater, .constant(.string("t\(number)")), [])
        }
        #expect(try store.keys("Thing", .or(mixed)).count == 200)
        #expect(try store.keys("Thing", .and(mixed)).isEmpty)
    }

    @Test func whatIsNestedTooDeeplyIsRefused() throws {
        var predicate = FetchPredicate.comparison(.keyPath(["small"]), .equal, .constant(1), [])
        for level in 0..<PredicateLimits.nesting {
            predicate = .or([
                .and([predicate, .comparison(.keyPath(["small"]), .less, .constant(.integer(Int64(level))), [])]),
                .constant(false),
            ])
        }
        var plan = FetchPlan(entityIndex: 0)
        plan.predicate = predicate
        #expect(throws: StoreError.invalidPredicate(.nestedTooDeeply)) { try store.count(plan) }
    }

    @Test func whatHasNoAnswerIsAnError() throws {
        for format in [
            "title == $missing", "title MATCHES '('", "small < 'a'", "small BETWEEN {1}", "ANY title == 'a'",
            "small + title == 1", "owner.things[FIRST] == nil",
        ] {
            let error = #expect(throws: StoreError.self) { try store.keys("Thing", FetchPredicate(format: format)) }
            guard case .invalidPredicate = error else {
                Issue.record("\(format): \(String(describing: error))")
                continue
            }
        }
        // A pattern is looked at each time, even where the SQL exists already.
        #expect(try store.keys("Thing", FetchPredicate(format: "title MATCHES 't1'")) == [1])
        #expect(throws: StoreError.self) { try store.keys("Thing", FetchPredicate(format: "title MATCHES '('")) }
        #expect(try store.keys("Thing", FetchPredicate(format: "title MATCHES 't2'")) == [2])
    }

    @Test func oneTranslationServesAllConstantsOfAKind() throws {
        _ = try store.keys("Thing", FetchPredicate(format: "title == 't1' AND small != 3"))
        for (format, count) in [("title == 't7' AND small != 4", 1), ("title == nil AND small != 3", 0)] {
            #expect(try store.keys("Thing", FetchPredicate(format: format)).count == count)
        }
        for number in ["1", "1.5", "CAST('1', 'NSDecimalNumber')", "CAST('1.5', 'NSDecimalNumber')"] {
            let found = try store.keys("Person", FetchPredicate(format: "age == \(number)"))
            #expect(found == (number.contains("5") ? [] : [1]), "\(number)")
        }
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
