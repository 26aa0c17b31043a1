import Foundation
import StrataPostgres
import StrataSQL
import StrataSQLite
import StrataStore
import Testing

@testable import StrataSQLite

/// What the dialects make of the same requests. The recorded text shows a change of either; `STRATA_RECORD=1` records it
/// again.
@Suite("Dialects")
struct DialectTests {
    private static let dialects: [(name: String, dialect: any SQLDialect)] = [
        ("SQLite", SQLiteDialect()), ("PostgreSQL", PostgresDialect()),
    ]

    @Test("Each condition has the recorded SQL in both dialects")
    func conditions() throws {
        let texts = try Self.dialects.map { ($0.name, try DialectText($0.dialect)) }
        var lines: [String] = []
        for condition in predicateTable {
            lines.append(condition)
            for (name, text) in texts { lines.append("  \(name): \(try text.keys(condition).text)") }
        }
        try compare(lines, with: "Conditions.txt")
    }

    @Test("Each kind of request has the recorded SQL in both dialects")
    func requests() throws {
        let texts = try Self.dialects.map { ($0.name, try DialectText($0.dialect)) }
        var lines: [String] = []
        for (label, plan, answer) in try Self.plans() {
            lines.append(label)
            for (name, text) in texts { lines.append("  \(name): \(try text.answer(plan, answer).text)") }
        }
        for (label, plan) in try Self.valuePlans() {
            lines.append(label)
            for (name, text) in texts { lines.append("  \(name): \(try text.values(plan).text)") }
        }
        for (name, text) in texts {
            lines.append("Tables of \(name)")
            lines += text.schema.tableStatements.flatMap { $0.split(separator: "\n").map { "  \($0)" } }
            lines += text.schema.objects.map { "  " + $0.sql.replacing("\n", with: " ") }
            lines.append("Writing of \(name)")
            for entity in text.schema.layout.model.entities {
                let plan = WritePlan(schema: text.schema, entity: entity)
                let statements = [
                    plan.insertSQL(rows: 2), plan.updateSQL(Array(plan.fields.prefix(2))),
                    plan.updateSQL(Array(plan.fields.prefix(1)), rows: 2), plan.byKey.delete, plan.byKey.versions,
                ]
                lines += statements.map { "  \($0)" }
            }
        }
        try compare(lines, with: "Requests.txt")
    }

    private static func plans() throws -> [(String, FetchPlan, FetchCompiler.Answer)] {
        var all = FetchPlan(entityIndex: 0)
        var managers = FetchPlan(entityIndex: 1)
        managers.predicate = try FetchPredicate(format: "level > 1")
        var page = FetchPlan(entityIndex: 0)
        page.predicate = try FetchPredicate(format: "age > 1")
        page.sorts = [
            FetchSort(FetchExpression.keyPath(["name"]), ascending: false),
            FetchSort(FetchExpression.keyPath(["boss", "age"])),
        ]
        page.limit = 10
        page.offset = 20
        var sorted = page
        sorted.limit = nil
        sorted.offset = 0
        var skipped = sorted
        skipped.offset = 5
        var nearest = FetchPlan(entityIndex: 0)
        nearest.predicate = try FetchPredicate(format: "near(place, {1, 2})")
        nearest.limit = 3
        var without = all
        without.includesSubentities = false
        all.sorts = []
        return [
            ("all rows", all, .rows), ("rows of one entity", managers, .rows), ("no sub-entities", without, .rows),
            ("a page", page, .rows), ("a page's identities", page, .identities), ("a page's count", page, .count),
            ("sorted rows", sorted, .rows), ("sorted rows from an offset", skipped, .rows),
            ("a count", managers, .count), ("the nearest", nearest, .rows),
        ]
    }

    private static func valuePlans() throws -> [(String, ValuePlan)] {
        func column(_ name: String, _ format: String) throws -> FetchColumn {
            FetchColumn(name, try FetchExpression(format: format))
        }
        var grouped = ValuePlan(
            FetchPlan(entityIndex: 0),
            columns: [try column("age", "age"), try column("n", "count:(name)"), try column("most", "max:(height)")])
        grouped.groupBy = [try FetchExpression(format: "age")]
        grouped.having = try FetchPredicate(format: "$n > 1")
        var distinct = ValuePlan(
            FetchPlan(entityIndex: 0), columns: [try column("name", "name"), try column("boss", "boss.name")])
        distinct.isDistinct = true
        let whole = ValuePlan(
            FetchPlan(entityIndex: 2),
            columns: [
                try column("sum", "sum:(quantity)"), try column("price", "sum:(price)"),
                try column("mean", "average:(weight)"),
            ])
        return [("values by group", grouped), ("distinct values", distinct), ("values of all", whole)]
    }

    private func compare(_ lines: [String], with file: String) throws {
        let text = lines.joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["STRATA_RECORD"] != nil {
            let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            return try text.write(to: source.appending(path: "Fixtures/\(file)"), atomically: true, encoding: .utf8)
        }
        let recorded = try String(
            contentsOf: Bundle.module.bundleURL.appending(path: "Fixtures/\(file)"), encoding: .utf8)
        let old = recorded.split(separator: "\n", omittingEmptySubsequences: false)
        let new = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(old.count == new.count)
        for (was, now) in zip(old, new) { #expect(was == now) }
    }

    // MARK: Names

    @Test("A name that is too long for the engine is cut, and stays unlike others")
    func longNames() throws {
        let long = String(repeating: "ä", count: 40)
        let short = NamePool.shortened(long, to: 63)
        #expect(short.utf8.count <= 63 && short.hasPrefix("ää"))
        #expect(NamePool.shortened(long + "b", to: 63) != short)
        #expect(NamePool.shortened("name", to: 63) == "name")
        var pool = NamePool(limit: 63)
        let names = (0..<3).map { _ in pool.take(long) }
        #expect(Set(names).count == 3 && names.allSatisfy { $0.utf8.count <= 63 })
    }

    @Test("Names are quoted where they must be")
    func quoting() {
        #expect(SQLiteDialect().quote("City") == "City")
        #expect(SQLiteDialect().quote("order") == "\"order\"")
        #expect(SQLiteDialect().quote("a\"b") == "\"a\"\"b\"")
        #expect(PostgresDialect().quote("City") == "\"City\"")
        #expect(Identifiers.unquoted(PostgresDialect().quote("a\"b")) == "a\"b")
    }

    // MARK: Values

    @Test(
        "A whole number is rounded to a floating-point number with the same order",
        arguments: [
            0, 5, -5, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1, (1 << 60) + 1, .max, .max - 1, .min, .min + 1,
        ] as [Int64])
    func rounding(_ whole: Int64) throws {
        let dialect = PostgresDialect()
        func bound(_ op: ComparisonOperator) throws -> Double? {
            switch dialect.rounded(.integer(whole), for: op) {
            case .double(let number): return number
            case .null: return nil
            default: throw CocoaError(.coderInvalidValue)
            }
        }
        let near = Double(whole)
        for number in [near, near.nextUp, near.nextDown, near.nextUp.nextUp, near.nextDown.nextDown, 0, .infinity] {
            for op in [ComparisonOperator.less, .lessOrEqual, .greater, .greaterOrEqual, .equal] {
                let expected = try op.evaluate(.double(number), .integer(whole))
                guard let bound = try bound(op) else {
                    #expect(!expected, "\(number) \(op) \(whole)")
                    continue
                }
                #expect(try op.evaluate(.double(number), .double(bound)) == expected, "\(number) \(op) \(whole)")
            }
        }
    }

    @Test("The end of a range of texts comes after all that begin with the text, and before the next")
    func endsOfPrefixes() throws {
        func end(_ text: String) throws -> String {
            guard case .text(let end) = PostgresDialect().endOfPrefix(text) else {
                throw CocoaError(.coderInvalidValue)
            }
            return end
        }
        for text in ["a", "az", "ä", "\u{D7FF}", "a\u{10FFFF}", "\u{10FFFE}", "€"] {
            let end = try end(text)
            for rest in ["", "a", "\u{10FFFF}\u{10FFFF}"] { #expect(TextComparison.isLess(text + rest, end)) }
            #expect(!end.hasPrefix(text))
        }
        #expect(try end("\u{D7FF}") == "\u{E000}")
        #expect(try end("a\u{10FFFF}") == "b")
    }

    // MARK: Places of members

    @Test("Members are appended after the last and arranged with as few writes as possible")
    func places() {
        typealias Places = OrderedPlaces
        func changed(_ kind: ChangeSet.OrderChange.Kind, _ now: [Places.Member]) -> [Int64: Int64] {
            Dictionary(uniqueKeysWithValues: Places.changes(kind, to: now).map { ($0.member, $0.place) })
        }
        let now: [Places.Member] = [(1, 1024), (2, 2048), (3, 3072)]
        #expect(changed(.append([7, 8, 7]), now) == [7: 4096, 8: 5120])
        #expect(changed(.arrange([3, 1, 2]), now) == [3: 0])
        #expect(changed(.arrange([2]), now) == [:])
        #expect(changed(.append([9]), [(1, nil), (2, nil)]) == [1: 1024, 2: 2048, 9: 3072])
        // No room between two places: all are given again.
        #expect(changed(.arrange([1, 3, 2]), [(1, 1), (2, 2), (3, 3)]).count >= 1)
        #expect(
            changed(.arrange([1, 3, 2]), [(1, .max - 1), (2, .max), (3, nil)]).values.sorted() == [1024, 2048, 3072])
    }
}
