import Foundation
import StrataSQLite
import StrataStore
import Testing

@Suite struct StatisticsTests {
    let folder: TemporaryFolder
    let store: SQLiteStore
    let statistics = StatementStatistics()

    init() throws {
        folder = try TemporaryFolder()
        var options = SQLiteStore.Options()
        options.trace = statistics.record
        store = try SQLiteStore.open(
            model: try TestModel.make(), location: .file(path: folder.file("a.sqlite")), options: options)
        var changes = ChangeSet()
        for key in Int64(1)...100 {
            changes.inserts.append(
                .init(row: try store.row("Thing", key, ["title": .string("t\(key)"), "real": .double(Double(key))])))
        }
        _ = try store.commit(changes)
        statistics.clear()
    }

    @Test func runsAreSummedByStatement() throws {
        for _ in 0..<3 { #expect(try store.keys("Thing", sorts: [FetchSort("title")]).count == 100) }
        let line = try #require(statistics.byStatement.first)
        #expect(statistics.byStatement.count == 1 && statistics.runs == 3)
        #expect(line.runs == 3 && line.rows == 300 && line.duration > 0 && line.sql.contains("ORDER BY"))
        // More than one instruction for each row, and the same for each run.
        #expect(line.work.machineSteps > 300 && line.work.machineSteps % 3 == 0)
        #expect(statistics.work == line.work)
        statistics.clear()
        #expect(statistics.byStatement.isEmpty && statistics.runs == 0 && statistics.work == StatementWork())
    }

    @Test func missingIndexesShow() throws {
        _ = try store.keys("Thing", .comparison(.keyPath(["title"]), .equal, .constant("t7"), []))
        #expect(statistics.work.fullScanSteps == 0 && statistics.work.sorts == 0)
        statistics.clear()
        _ = try store.keys("Thing", .comparison(.keyPath(["real"]), .equal, .constant(.double(7)), []))
        #expect(statistics.work.fullScanSteps >= 99 && statistics.work.sorts == 0)
        statistics.clear()
        _ = try store.keys("Thing", sorts: [FetchSort("real")])
        #expect(statistics.work.sorts == 1)
    }

    @Test func groupsUseTheirIndexOnlyIfItHasAllThatIsAskedFor() throws {
        let (title, real) = (FetchExpression.keyPath(["title"]), FetchExpression.keyPath(["real"]))
        func sorts(of column: FetchExpression, limit: Int? = nil) throws -> Int {
            var things = FetchPlan(entityIndex: try store.entity("Thing").index)
            things.limit = limit
            var groups = ValuePlan(things, columns: [FetchColumn("title", title), FetchColumn("value", column)])
            groups.groupBy = [title]
            statistics.clear()
            #expect(
                try store.values(groups).map { $0[0] }
                    == (1...100).map { "t\($0)" }.sorted().prefix(limit ?? 100).map(Value.string))
            return statistics.work.sorts
        }
        #expect(try sorts(of: .function(.count, [.evaluatedObject])) == 0)
        #expect(try sorts(of: .function(.maximum, [title])) == 0)
        // Rows that are read anyway are read in their order.
        #expect(try sorts(of: .function(.sum, [real])) == 1)
        #expect(try sorts(of: .function(.sum, [real]), limit: 3) == 0)
    }

    @Test func theStatementWithTheMostWorkComesFirst() throws {
        _ = try store.rows(entityIndex: try store.entity("Thing").index, keys: [3])
        _ = try store.keys("Thing", sorts: [FetchSort("real")])
        let steps = statistics.byStatement.map(\.work.machineSteps)
        #expect(steps.count == 2 && steps[0] > steps[1] && steps[1] > 0)
    }

    @Test func statementsThatNeverRepeatAreSummedUpAndTheCostlyOnesKept() throws {
        let bounded = StatementStatistics(limit: 100)
        var options = SQLiteStore.Options()
        options.trace = bounded.record
        options.readerCount = 1
        let store = try SQLiteStore.open(
            model: try TestModel.make(), location: .file(path: folder.file("a.sqlite")), options: options)
        for _ in 0..<100 { _ = try store.keys("Thing", sorts: [FetchSort("real")]) }
        let before = bounded.runs
        // Each choice of operators is a statement of its own.
        for number in 1...400 {
            let terms = (0..<9).map { "large \(number >> $0 & 1 == 1 ? "<" : ">") \($0)" }
            _ = try store.keys("Thing", FetchPredicate(format: terms.joined(separator: " OR ")))
        }
        let lines = bounded.byStatement
        #expect(lines.count <= 102 && lines.count > 40)
        #expect(lines.contains { $0.sql == StatementStatistics.others && $0.runs > 200 })
        // What cost most keeps its line.
        #expect(lines.contains { $0.sql.contains("ORDER BY") && $0.runs == 100 })
        #expect(bounded.runs == before + 400)
        store.close()
    }
}
