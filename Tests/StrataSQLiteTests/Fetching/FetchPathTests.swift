import Foundation
import SeededRandom
import StrataCSQLite
import StrataStore
import Testing

@testable import StrataSQLite

/// Fetches go through an aggregate function and prepared shapes; none of that may show in their answers.
@Suite struct FetchPathTests {
    let file: TracedFile
    private var store: SQLiteStore { file.store }
    private var log: TraceLog { file.log }
    let seed = RunSeed.value()

    init() throws {
        file = try TracedFile()
        var random = SplitMix64(seed: seed)
        var changes = ChangeSet()
        for key in Int64(1)...40 {
            changes.inserts.append(.init(row: try store.row("Person", key, ["name": .string("n\(key % 7)")])))
        }
        for key in Int64(1)...400 {
            var values: [String: Value] = ["owner": .object(.random(in: 1...40, using: &random))]
            if Bool.random(using: &random) { values["title"] = .string("t\(Int.random(in: 0..<50, using: &random))") }
            if Bool.random(using: &random) { values["large"] = .integer(.random(in: -5...5, using: &random)) }
            if Bool.random(using: &random) { values["real"] = .double(.random(in: -1...1, using: &random)) }
            if Bool.random(using: &random) { values["small"] = .integer(.random(in: 0...3, using: &random)) }
            let entity = ["Thing", "Gadget", "Widget"].randomElement(using: &random) ?? "Thing"
            changes.inserts.append(.init(row: try store.row(entity, key, values)))
        }
        guard case .committed = try store.commit(changes) else { throw MissingName(name: "a commit") }
    }

    private func plan(
        _ predicate: FetchPredicate? = nil, sorts: [FetchSort] = [], limit: Int? = nil, offset: Int = 0
    ) throws -> FetchPlan {
        var plan = FetchPlan(entityIndex: try store.entity("Thing").index)
        plan.predicate = predicate
        plan.sorts = sorts
        plan.limit = limit
        plan.offset = offset
        return plan
    }

    private func compare(_ name: String, _ op: ComparisonOperator, _ value: Value) -> FetchPredicate {
        .comparison(.keyPath([name]), op, .constant(value), [])
    }

    /// What a shell reads, column by column.
    private func stepped() throws -> [Int64: [String]] {
        var result: [Int64: [String]] = [:]
        let rows = try Shell(path: file.path).run("SELECT _id, _entity, title, large, real, small, owner FROM thing")
        for row in rows { result[Int64(row[0]) ?? 0] = Array(row.dropFirst()) }
        return result
    }

    private func text(_ value: Value) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let number), .object(let number): "\(number)"
        case .string(let text): text
        default: "\(value)"
        }
    }

    @Test func rowsAreThoseOfAStepLoopInItsOrder() throws {
        var random = SplitMix64(seed: seed)
        let expected = try stepped()
        for round in 0..<200 {
            var parts: [FetchPredicate] = []
            if Bool.random(using: &random) {
                parts.append(compare("large", .greater, .integer(.random(in: -5...5, using: &random))))
            }
            if Bool.random(using: &random) {
                parts.append(
                    compare("title", .equal, Bool.random(using: &random) ? .null : .string("t\(round % 50)")))
            }
            if Bool.random(using: &random) {
                let keys = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                    Value.object(.random(in: 1...40, using: &random))
                }
                parts.append(compare("owner", .isIn, .list(keys)))
            }
            var sorts: [FetchSort] = []
            if Bool.random(using: &random) { sorts.append(FetchSort("title", ascending: .random(using: &random))) }
            if Bool.random(using: &random) { sorts.append(FetchSort("owner.name")) }
            let plan = try plan(
                parts.isEmpty ? nil : .or(parts), sorts: sorts,
                limit: Bool.random(using: &random) ? .random(in: 0...60, using: &random) : nil,
                offset: Bool.random(using: &random) ? .random(in: 0...20, using: &random) : 0)
            // Keys come by a step loop.
            let keys = try store.fetchKeys(plan)
            let rows = try store.fetch(plan).rows
            #expect(rows.map(\.key) == keys, "seed \(seed), \(plan)")
            for row in rows {
                let entity = store.model.entities[row.entityIndex]
                var values = [entity.name]
                for name in ["title", "large", "small", "owner"] {
                    values.append(text(row.value(try #require(entity.slot(named: name)))))
                }
                var wanted = try #require(expected[row.key])
                let real = wanted.remove(at: 3)
                #expect(values == wanted, "seed \(seed)")
                if case .double(let number) = row.value(try #require(entity.slot(named: "real"))) {
                    #expect(abs(number - (Double(real) ?? .nan)) < 1e-9, "seed \(seed)")
                } else {
                    #expect(real == "NULL", "seed \(seed)")
                }
            }
        }
    }

    /// How SQLite runs the last statement.
    private func explained() throws -> String {
        let sql = try #require(log.statements.last).sql
        return try store.pool.read { (connection) throws(StoreError) in
            let statement = try connection.prepare("EXPLAIN QUERY PLAN " + sql)
            var lines: [String] = []
            while try statement.step() { lines.append(statement.text(3)) }
            return lines.joined(separator: "; ")
        }
    }

    @Test func theOrderOfTheSubqueryIsKept() throws {
        _ = try store.fetch(try plan())
        let all = try explained()
        #expect(all.hasPrefix("SCAN t0;") && !all.contains("INDEX t") && !all.contains("CO-ROUTINE"), "\(all)")
        _ = try store.fetch(try plan(compare("title", .greater, "t3")))
        let keys = try explained()
        #expect(keys.contains("CO-ROUTINE") && keys.contains("SEARCH t0 USING INTEGER PRIMARY KEY"), "\(keys)")
        _ = try store.fetch(try plan(sorts: [FetchSort("real")]))
        let sorted = try explained()
        #expect(sorted.contains("CO-ROUTINE") && sorted.contains("USE TEMP B-TREE FOR ORDER BY"), "\(sorted)")
        _ = try store.fetch(try plan(sorts: [FetchSort("title")], limit: 5))
        let page = try explained()
        #expect(page.contains("COVERING INDEX") && !page.contains("TEMP B-TREE"), "\(page)")
    }

    @Test func oneTextServesAllValuesOfAShape() throws {
        func texts(_ values: [Value], _ op: ComparisonOperator = .equal) throws -> Set<String> {
            log.clear()
            for value in values { _ = try store.fetch(try plan(compare("title", op, value))) }
            return Set(log.statements.map(\.sql))
        }
        #expect(try texts((0..<100).map { .string("t\($0)") }).count == 1)
        #expect(try texts([.string("t1"), .null]).count == 2)
        #expect(try texts((0..<9).map { count in .list((0..<count).map { .string("t\($0)") }) }, .isIn).count <= 4)
        #expect(try texts((1..<9).map { .string("t\($0)") }, .beginsWith).count == 1)
    }

    @Test func valuesThatChangeTheSQLAreNotTakenForOneShape() throws {
        let titles = try stepped().mapValues { $0[1] }
        func keys(_ predicate: FetchPredicate) throws -> [Int64] {
            try store.fetch(try plan(predicate)).rows.map(\.key)
        }
        let present = titles.filter { $0.value != "NULL" }.keys.sorted()
        // An empty text to search for is another condition than a letter, in this order and the other.
        for part in ["t", "", "t", "", "zz"] {
            let found = try keys(compare("title", .contains, .string(part)))
            #expect(found == (part == "zz" ? [] : present), "seed \(seed), \(part)")
        }
        let large = try stepped().mapValues { Double($0[2]) }
        for bound in ["1", "1.5", "2", "-0.5"] {
            let limit = try #require(Decimal(string: bound))
            let found = try keys(compare("large", .less, .decimal(limit)))
            let wanted = large.filter { $0.value.map { Decimal($0) < limit } ?? false }.keys.sorted()
            #expect(found == wanted, "seed \(seed), \(bound)")
        }
        for list: [Value] in [[.null, .integer(1)], [.integer(1), .null], [.integer(0), .integer(1)]] {
            let found = try keys(compare("large", .between, .list(list)))
            let wanted = large.filter { list.contains(.null) ? false : (0...1).contains($0.value ?? -1) }.keys.sorted()
            #expect(found == wanted, "seed \(seed), \(list)")
        }
        for flag in [true, false, true] {
            let found = try keys(.comparison(.constant(.integer(1)), .equal, .constant(.integer(flag ? 1 : 2)), []))
            #expect(found.count == (flag ? 400 : 0))
        }
    }

    @Test func membersAreTheSameByIndexAndByAPassOverTheTable() throws {
        let person = try store.entity("Person").index
        let things = try store.relationship("Person", "things").index
        let slot = try #require(try store.entity("Thing").slot(named: "owner")).index
        func members(_ owners: [Int64], _ areAll: Bool) throws -> [Int64: Int64] {
            let rows = try store.memberRows(
                entityIndex: person, relationshipIndex: things, owners: owners, areAll: areAll
            ).rows
            return Dictionary(uniqueKeysWithValues: rows.map { ($0.key, Int64(bitPattern: $0.row.word(slot))) })
        }
        let owner = try stepped().mapValues { Int64($0[5]) ?? 0 }
        for owners in [[7], [1, 3, 5, 99], Array(1...35), Array(1...40)] as [[Int64]] {
            let wanted = owner.filter { owners.contains($0.value) }
            #expect(try members(owners, false) == wanted, "seed \(seed)")
            // Where the owners are said to be all, members of others may come with theirs.
            let hinted = try members(owners, true)
            #expect(hinted.filter { owners.contains($0.value) } == wanted, "seed \(seed)")
            #expect(hinted.allSatisfy { owner[$0.key] == $0.value }, "seed \(seed)")
            if owners.count == 40 { #expect(hinted == wanted, "seed \(seed)") }
            let pairs = try store.memberKeys(entityIndex: person, relationshipIndex: things, owners: owners)
            #expect(Dictionary(uniqueKeysWithValues: pairs.map { ($0.member, $0.owner) }) == wanted, "seed \(seed)")
        }
        log.clear()
        _ = try members(Array(1...40), false)
        #expect(log.statements.last?.sql.contains("NOT INDEXED") == true)
    }

    @Test func whatTheReaderHasComesAsAHeader() throws {
        var plans = [try plan(), try plan(sorts: [FetchSort("title", ascending: false)])]
        plans.append(try plan(compare("large", .greater, 0), limit: 50))
        // Only one entity of the table.
        plans.append(FetchPlan(entityIndex: try store.entity("Gadget").index))
        for plan in plans {
            let whole = try store.fetch(plan)
            let mixed = try store.fetch(plan, known: { _, key, version in key % 3 == 0 && version == 1 })
            #expect(mixed.rows.map(\.key) == whole.rows.map(\.key), "seed \(seed)")
            for (row, full) in zip(mixed.rows, whole.rows) {
                #expect(row.row.isHeaderOnly == (row.key % 3 == 0))
                #expect(row.version == full.version && row.entityIndex == full.entityIndex)
                #expect(row.row.slotCount == (row.key % 3 == 0 ? 0 : full.row.slotCount))
            }
        }
    }

    @Test func aBrokenRowIsATypedErrorAndTheNextFetchWorks() throws {
        _ = try store.fetch(try plan())
        try Shell(path: file.path).run("UPDATE thing SET large = 'many' WHERE _id = 200")
        #expect {
            try store.fetch(try plan())
        } throws: { error in
            guard case .invalidData(_, "large", 200, _)? = error as? StoreError else { return false }
            return true
        }
        #expect(try store.fetch(try plan(compare("small", .less, .integer(9)), limit: 3)).count == 3)
        try Shell(path: file.path).run("UPDATE thing SET large = 1, _entity = 'Elephant' WHERE _id = 200")
        for known: KnownRows? in [nil, { _, _, _ in true }] {
            #expect {
                try store.fetch(try plan(), known: known)
            } throws: { error in
                guard case .invalidData(_, "_entity", 200, _)? = error as? StoreError else { return false }
                return true
            }
        }
        try Shell(path: file.path).run("UPDATE thing SET _entity = 'Thing' WHERE _id = 200")
        #expect(try store.fetch(try plan()).count == 400)
    }

    @Test func rowsOfMoreColumnsThanACallTakes() throws {
        var wide = Entity(name: "Wide", location: nil)
        wide.attributes = (0..<260).map {
            Attribute("a\($0)", $0.isMultiple(of: 2) ? .integer64 : .string, optional: true)
        }
        let model = try ManagedObjectModel(name: "Wide", entities: [wide])
        let store = try SQLiteStore.open(model: model, location: .file(path: file.folder.file("wide.sqlite")))
        func values(_ key: Int64) -> [String: Value] {
            var result: [String: Value] = [:]
            for index in 0..<260 where (index + Int(key)) % 7 != 0 {
                result["a\(index)"] =
                    index.isMultiple(of: 2) ? .integer(key * 1000 + Int64(index)) : .string("\(key) \(index)")
            }
            return result
        }
        for key in Int64(1)...20 { try store.insert(("Wide", key, values(key))) }
        let rows = try store.fetch(FetchPlan(entityIndex: 0)).rows
        #expect(rows.count == 20)
        for row in rows {
            let wanted = values(row.key)
            for slot in model.entities[0].slots { #expect(row.value(slot) == wanted[slot.name] ?? .null) }
        }
        store.close()
    }
}
