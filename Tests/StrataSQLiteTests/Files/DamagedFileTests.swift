import Foundation
import SeededRandom
import StrataSQLite
import StrataStore
import Testing

/// Files in which random bytes or values have been changed: whatever is done with them gives an error or the right data, and
/// never stops the process. STRATA_SEED repeats a run, STRATA_DAMAGE_CASES makes more of them.
@Suite struct DamagedFileTests {
    let folder: TemporaryFolder
    let seed: UInt64
    let count: Int

    init() throws {
        folder = try TemporaryFolder()
        let environment = ProcessInfo.processInfo.environment
        seed = environment["STRATA_SEED"].flatMap(UInt64.init) ?? 20_261_122
        count = environment["STRATA_DAMAGE_CASES"].flatMap(Int.init) ?? 60
    }

    private func options() -> SQLiteStore.Options {
        var options = SQLiteStore.Options()
        options.externalStorageThreshold = 500
        return options
    }

    /// A store with rows of all kinds, closed.
    private func sound() throws -> String {
        let path = folder.file("sound.sqlite")
        let store = try SQLiteStore.open(model: try TestModel.make(), location: .file(path: path), options: options())
        for key in Int64(1)...40 {
            try store.insert(
                (
                    "Person", key,
                    ["name": .string("person \(key)"), "age": .integer(key), "email": .string("\(key)@x")]
                ),
                ("Group", key, ["name": .string("red group \(key)")]))
        }
        for key in Int64(1)...120 {
            let number = Double(key)
            try store.insert(
                (
                    ["Thing", "Gadget", "Widget"][Int(key % 3)], key,
                    [
                        "small": .integer(key), "large": .integer(key << 40), "exact": .decimal(Decimal(number) / 8),
                        "real": .double(number / 7),
                        "title": .string(String(repeating: "t\(key) ", count: Int(key % 50))),
                        "flag": .boolean(key % 2 == 0), "yearBorn": .date(Date(timeIntervalSinceReferenceDate: number)),
                        "photo": .binary(Data(repeating: 1, count: Int(key) * 10)), "token": .uuid(UUID()),
                        "link": .uri(try #require(URL(string: "http://x/\(key)"))),
                        "place": .geoPoint(GeoPoint(latitude: number / 4, longitude: number)),
                        "code": .string("c\(key)"),
                        "owner": .object(key % 40 + 1), "order": .object(key % 40 + 1),
                    ]
                ))
        }
        var changes = ChangeSet()
        let friends = try store.relationship("Person", "friends").index
        let members = try store.relationship("Group", "members").index
        for key in Int64(1)...20 {
            changes.pairs.append(
                .init(
                    entityIndex: try store.entity("Person").index, relationshipIndex: friends, owner: key,
                    added: [key + 1], removed: []))
            changes.pairs.append(
                .init(
                    entityIndex: try store.entity("Group").index, relationshipIndex: members, owner: key,
                    added: [1, 2, key], removed: []))
        }
        _ = try store.commit(changes)
        store.close()
        return path
    }

    private func copy(of path: String, to name: String) throws -> String {
        let target = folder.file(name)
        let manager = FileManager.default
        for ending in ["", "-wal", "-shm", "-blobs"] {
            try? manager.removeItem(atPath: target + ending)
            if manager.fileExists(atPath: path + ending) {
                try manager.copyItem(atPath: path + ending, toPath: target + ending)
            }
        }
        return target
    }

    /// Opens a file and does everything with it that a store can do; errors are what is expected of many of them.
    /// - Returns: What went well.
    @discardableResult
    private func useAll(_ path: String) throws -> Int {
        var done = 0
        func attempt(_ body: () throws -> Void) {
            do {
                try body()
                done += 1
            } catch {
                // Every error of a store is typed; that it says something is all that can be asked for here.
                #expect(error is StoreError || error is MissingName, "\(error)")
                #expect(!"\(error)".isEmpty)
            }
        }
        attempt { _ = try SQLiteStore.metadata(at: path) }
        attempt { _ = try SQLiteStore.storeInfo(at: path) }
        attempt {
            let store = try SQLiteStore.open(
                model: try TestModel.make(), location: .file(path: path), options: options())
            defer { store.close() }
            for entity in store.model.entities {
                var plan = FetchPlan(entityIndex: entity.index)
                attempt { for row in try store.fetch(plan).rows { for slot in entity.slots { _ = row.value(slot) } } }
                attempt { _ = try store.fetchIdentities(plan, cancellation: nil) }
                attempt { _ = try store.rows(entityIndex: entity.index, keys: Array(1...200)) }
                plan.sorts = [FetchSort("name"), FetchSort("title")].filter {
                    entity.slot(named: $0.keyPath?[0] ?? "") != nil
                }
                plan.limit = 7
                plan.offset = 2
                attempt { _ = try store.fetch(plan) }
                for relationship in entity.relationships where relationship.isToMany {
                    attempt {
                        _ = try store.memberKeys(
                            entityIndex: entity.index, relationshipIndex: relationship.index, owners: Array(1...120))
                    }
                }
                attempt { _ = try store.allocateKeys(3, rootIndex: entity.rootIndex) }
            }
            for format in [
                "withinKilometers(place, {5, 20}, 500)", "near(place, {5, 20})", "title CONTAINS[cd] 'T1'",
                "exact > 3.5",
                "owner.name BEGINSWITH 'person'", "yearBorn < now()", "link == 'http://x/5'", "flag == YES",
            ] {
                var plan = FetchPlan(entityIndex: 0)
                plan.predicate = try FetchPredicate(format: format)
                plan.limit = 20
                attempt { _ = try store.fetch(plan) }
                attempt { _ = try store.count(plan) }
                attempt {
                    _ = try store.values(
                        ValuePlan(
                            plan,
                            columns: try ["title", "exact", "link", "place"].map {
                                FetchColumn($0, try FetchExpression(format: $0))
                            }))
                }
            }
            attempt { _ = try store.keys("Group", try FetchPredicate(format: "SELF MATCHESTEXT 'red'")) }
            attempt {
                try store.insert(
                    ("Gadget", 1000, ["title": "new", "code": "new", "photo": .binary(Data(count: 2000))]))
            }
            attempt {
                var changes = ChangeSet()
                changes.updates = [
                    try store.update(
                        "Thing", 3, base: 1, ["title": "changed", "photo": .binary(Data(count: 900))],
                        changed: ["title", "photo"])
                ]
                changes.deletes = [.init(entityIndex: try store.entity("Gadget").index, key: 4, baseVersion: nil)]
                changes.orders = [
                    .init(
                        entityIndex: try store.entity("Person").index,
                        relationshipIndex: try store.relationship("Person", "queue").index, owner: 2,
                        kind: .arrange([121, 81, 41, 1]))
                ]
                _ = try store.commit(changes)
            }
            attempt { _ = try store.removeDroppedFiles() }
            attempt { _ = try store.integrityReport() }
        }
        return done
    }

    @Test func randomBytesOfAFileAreErrorsOrData() throws {
        print("randomBytesOfAFileAreErrorsOrData: seed \(seed), \(count) files")
        let sound = try sound()
        var random = SplitMix64(seed: seed)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        let all = try useAll(try copy(of: sound, to: "untouched.sqlite"))
        var untouched = 0
        for number in 0..<count {
            let path = try copy(of: sound, to: "bytes.sqlite")
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                // Half of them where pages keep what they are made of.
                let page = Int.random(in: 0..<damaged.count / 4096, using: &random) * 4096
                let place =
                    page
                    + (Bool.random(using: &random)
                        ? Int.random(in: 0..<110, using: &random) : Int.random(in: 0..<4096, using: &random))
                damaged[place] = UInt8.random(in: 0...255, using: &random)
            }
            if number % 10 == 0 { damaged = damaged.prefix(Int.random(in: 0..<damaged.count, using: &random)) }
            try damaged.write(to: URL(fileURLWithPath: path))
            if try useAll(path) == all { untouched += 1 }
        }
        // The damage is seen in most files, or the test would say nothing.
        #expect(untouched < count / 2, "\(untouched) of \(count)")
    }

    private static let oddities = [
        "NULL", "0", "-1", "1", "9223372036854775807", "-9223372036854775808", "9223372036854775806", "1e999", "-1e999",
        "1e308",
        "0.5", "''", "'text'", "'NaN'", "'1e999'", "char(0)", "'\u{FFFD}'", "x''", "x'00'", "x'FFFFFFFF'",
        "zeroblob(16)", "zeroblob(100000)",
        "x'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF'", "'../../etc/passwd'", "CAST(x'FFFEFD' AS TEXT)", "'Person'",
        "'http://['",
    ]

    @Test func randomValuesOfAFileAreErrorsOrDataAndLeaveOtherRowsAlone() throws {
        print("randomValuesOfAFileAreErrorsOrDataAndLeaveOtherRowsAlone: seed \(seed), \(count) files")
        let sound = try sound()
        var random = SplitMix64(seed: seed &+ 1)
        let shell = Shell(path: sound)
        let tables = try shell.run("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
            .flatMap(\.self)
        let original = try SQLiteStore.open(
            model: try TestModel.make(), location: .file(path: sound), options: options())
        let titles = try Dictionary(
            uniqueKeysWithValues: original.fetch(FetchPlan(entityIndex: 0)).rows.map {
                ($0.key, $0.value(try #require(original.entity("Thing").slot(named: "title"))))
            })
        original.close()
        for _ in 0..<count {
            let path = try copy(of: sound, to: "values.sqlite")
            let damaging = Shell(path: path, knowsFunctions: true)
            let table = try #require(tables.randomElement(using: &random))
            let columns = try damaging.run("SELECT name FROM pragma_table_info('\(table)')").flatMap(\.self)
            let column = try #require(columns.randomElement(using: &random))
            let odd = try #require(Self.oddities.randomElement(using: &random))
            let key = Int64.random(in: 1...40, using: &random)
            let place =
                columns.contains("_id")
                ? " WHERE _id = \(key)" : " WHERE rowid IN (SELECT rowid FROM \"\(table)\" LIMIT 1 OFFSET \(key % 5))"
            // A constraint of SQLite's own may refuse it; then the file is sound.
            do {
                try damaging.run("PRAGMA foreign_keys = OFF; UPDATE \"\(table)\" SET \"\(column)\" = \(odd)\(place)")
            } catch {
                do { try damaging.run("UPDATE \"\(table)\" SET \"\(column)\" = \(odd)") } catch { continue }
            }
            // The rows that nobody touched are read as they were, or the fetch fails as a whole.
            if let store = try? SQLiteStore.open(
                model: try TestModel.make(), location: .file(path: path), options: options())
            {
                if table == "thing", let rows = try? store.fetch(FetchPlan(entityIndex: 0)).rows {
                    let slot = try #require(try store.entity("Thing").slot(named: "title"))
                    for row in rows where row.key != key && column != "_id" && row.key <= 120 {
                        if column != "title" {
                            #expect(row.value(slot) == titles[row.key], "\(table).\(column) = \(odd)")
                        }
                    }
                }
                store.close()
            }
            try useAll(path)
        }
    }
}
