import Foundation
import StrataSQLite
import Testing

/// Rows as the in-memory evaluator sees them.
private struct Source: PropertySource {
    let row: [String: Value]
    let key: Int64
    let persons: [Int64: [String: Value]]

    var evaluatedObject: Value { .object(key) }

    func property(_ name: String) -> PropertyValue {
        switch row[name] {
        case .object(let next)?:
            return .object(Source(row: persons[next] ?? [:], key: next, persons: persons))
        case let value?: return .value(value)
        case nil:
            let elements = row.filter { $0.key.hasPrefix(name + ".") }.map {
                (String($0.key.dropFirst(name.count + 1)), $0.value)
            }
            return .value(.composite(Dictionary(uniqueKeysWithValues: elements)))
        }
    }
}

@Suite struct PredicateDifferentialTests {
    static let paths: [[String]] = [
        ["small"], ["large"], ["exact"], ["real"], ["single"], ["title"], ["flag"], ["yearBorn"], ["data"], ["token"],
        ["link"],
        ["place"], ["address", "street"], ["address", "number"], ["owner"], ["owner", "name"], ["owner", "age"],
        ["owner", "boss", "name"], ["owner", "boss"], ["ownerName"], ["owner", "thingCount"],
    ]
    static let uuids = (0..<3).map { UUID(uuid: (UInt8($0 * 100), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)) }
    static let texts = [
        "", "a", "A", "ab", "Äb", "äb", "a\u{308}b", "abc", "ß", "b\u{0}c", "b", "\u{10FFFF}", "\u{7F}",
        "%_", "O'Neil",
        "1",
    ]

    static let operators = ComparisonOperator.allCases.filter { ![.like, .matches, .matchesText].contains($0) }

    static func number(_ random: inout RandomSource) -> Value {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .integer([-1, 0, 1, 2, 3, .max, .min, 1 << 53, 1 << 53 + 1].randomElement(using: &random)!)
        case 1:
            .double(
                [0, -0.0, 0.5, 1, 2, 0x1p53, 0x1p63, -0x1p63, .infinity, -.infinity, .nan, 0.1].randomElement(
                    using: &random)!)
        case 2:
            .decimal(
                Decimal(
                    string: [
                        "0", "1", "2", "0.1", "0.5", "1.00", "-1", "9223372036854775807", "9223372036854775808",
                        "0.30000000000000000001",
                    ].randomElement(using: &random)!)!)
        case 3: .boolean(.random(using: &random))
        default: .integer(.random(in: -2...3, using: &random))
        }
    }

    static func constant(_ random: inout RandomSource) -> Value {
        switch Int.random(in: 0..<14, using: &random) {
        case 0: .null
        case 1...4: number(&random)
        case 5...7: .string(texts.randomElement(using: &random)!)
        case 8: .date(Date(timeIntervalSinceReferenceDate: [0, 1, 0.5, -1].randomElement(using: &random)!))
        case 9: .binary([Data(), Data([1]), Data([1, 2]), Data([255])].randomElement(using: &random)!)
        case 10: .uuid(uuids.randomElement(using: &random)!)
        case 11: .uri(URL(string: ["a", "https://example.org/b", "abc"].randomElement(using: &random)!)!)
        case 12:
            .geoPoint(
                GeoPoint(
                    latitude: [0, -0.0, 1].randomElement(using: &random)!,
                    longitude: [0, 2].randomElement(using: &random)!))
        default: .object(.random(in: 1...5, using: &random))
        }
    }

    static func value(for slot: SlotDescription, _ random: inout RandomSource) -> Value {
        if Int.random(in: 0..<4, using: &random) == 0 { return .null }
        for _ in 0..<200 {
            let value = constant(&random)
            if case .double(let number) = value, number.isNaN { continue }
            switch (slot.storage, value) {
            case (.integer, .integer(let number)):
                if slot.type == .integer64 || abs(Double(number)) < 1000 { return value }
            case (.double, .double), (.boolean, .boolean), (.date, .date), (.key, .object), (.decimal, .decimal),
                (.uuid, .uuid),
                (.geoPoint, .geoPoint), (.bytes, .binary):
                return value
            case (.text, .uri): if slot.type == .uri { return value }
            case (.text, .string): if slot.type == .string { return value }
            default: break
            }
        }
        return .null
    }

    static func expression(_ random: inout RandomSource) -> FetchExpression {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: .evaluatedObject
        case 1...3: .constant(constant(&random))
        default: .keyPath(paths.randomElement(using: &random)!)
        }
    }

    static func predicate(_ random: inout RandomSource, depth: Int) -> FetchPredicate {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &random) {
        case 6: return .not(predicate(&random, depth: depth - 1))
        case 7:
            return .and((0..<Int.random(in: 0...3, using: &random)).map { _ in predicate(&random, depth: depth - 1) })
        case 8:
            return .or((0..<Int.random(in: 0...3, using: &random)).map { _ in predicate(&random, depth: depth - 1) })
        case 9: return .constant(.random(using: &random))
        default:
            let op = operators.randomElement(using: &random)!
            let options = ComparisonOptions(rawValue: .random(in: 0...3, using: &random))
            var right = expression(&random)
            if op == .isIn {
                right = .constant(.list((0..<Int.random(in: 0...6, using: &random)).map { _ in constant(&random) }))
            } else if op == .between {
                right = .constant(.list([constant(&random), constant(&random)]))
            }
            return .comparison(expression(&random), op, right, options)
        }
    }

    /// Every random predicate and order selects the same rows in SQL as in memory.
    @Test func sqlAgreesWithMemory() throws {
        let seed = ProcessInfo.processInfo.environment["STRATA_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
        print("sqlAgreesWithMemory: seed \(seed)")
        var random = RandomSource(seed: seed)
        let store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        let thing = try store.entity("Thing")
        let person = try store.entity("Person")
        var changes = ChangeSet()
        for key in Int64(1)...5 {
            var values: [String: Value] = [:]
            for name in ["name", "age", "boss"] { values[name] = Self.value(for: person.slot(named: name)!, &random) }
            changes.inserts.append(.init(row: try store.row("Person", key, values)))
        }
        let settable = thing.slots.filter {
            $0.derivation == nil && !$0.isTransient && !["photo", "code"].contains($0.name)
        }
        for key in Int64(1)...60 {
            var values: [String: Value] = [:]
            for slot in settable { values[slot.name] = Self.value(for: slot, &random) }
            changes.inserts.append(.init(row: try store.row("Thing", key, values)))
        }
        guard case .committed = try store.commit(changes) else {
            Issue.record("conflicts among new rows")
            return
        }
        var things: [Int64: [String: Value]] = [:]
        var persons: [Int64: [String: Value]] = [:]
        for key in Int64(1)...60 { things[key] = try store.values("Thing", key) }
        for key in Int64(1)...5 { persons[key] = try store.values("Person", key) }
        let sources = (Int64(1)...60).map { Source(row: things[$0] ?? [:], key: $0, persons: persons) }
        for round in 0..<4000 {
            var plan = FetchPlan(entityIndex: thing.index)
            plan.predicate = Self.predicate(&random, depth: 3)
            plan.sorts = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                FetchSort(
                    Self.paths.randomElement(using: &random)!, ascending: .random(using: &random),
                    options: ComparisonOptions(rawValue: .random(in: 0...3, using: &random)))
            }
            // What has no order is an error in memory, for which SQL has no counterpart among columns without a type.
            guard var expected = try? sources.filter({ try plan.predicate!.evaluate(on: $0) }) else { continue }
            expected.sort { a, b in
                for sort in plan.sorts {
                    let order = ValueComparison.sortOrder(
                        a.value(at: sort.keyPath), b.value(at: sort.keyPath), sort.options)
                    if order != .orderedSame { return (order == .orderedAscending) == sort.ascending }
                }
                return a.key < b.key
            }
            let count = expected.count
            if .random(using: &random) {
                plan.offset = .random(in: 0...5, using: &random)
                plan.limit = .random(in: 0...20, using: &random)
                expected = Array(expected.dropFirst(plan.offset).prefix(plan.limit!))
            }
            let found: [Int64]
            do {
                found = try store.fetchKeys(plan)
            } catch {
                // Two constants without an order; in memory no row may have reached them.
                guard error.description.contains("have no order") else { throw error }
                continue
            }
            #expect(
                found == expected.map(\.key), "seed \(seed), round \(round): \(plan.predicate!) sorted by \(plan.sorts)"
            )
            if found != expected.map(\.key) { return }
            #expect(try store.count(plan) == (plan.limit == nil ? count : expected.count))
            if round % 50 == 0 {
                let rows = try store.fetch(plan).rows.map { $0.row.key }
                #expect(rows == found)
            }
        }
    }

    @Test func whatCannotBeTranslatedIsNamed() throws {
        let store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        for (path, word) in [
            (["note"], "transient"), (["nothing"], "nothing"), (["address"], "composite"), (["photo"], "file"),
            (["owner", "things"], "to-many"),
        ] {
            let error = #expect(throws: StoreError.self) {
                try store.keys("Thing", .comparison(.keyPath(path), .equal, .constant(.binary(Data([1]))), []))
            }
            guard case .unsupported(_, let feature) = error else {
                Issue.record("\(path): \(String(describing: error))")
                continue
            }
            #expect(feature.contains(word) && feature.contains(path.last!), "\(feature)")
        }
        #expect(try store.keys("Thing", .comparison(.keyPath(["photo"]), .equal, .constant(.null), [])) == [])
    }
}
