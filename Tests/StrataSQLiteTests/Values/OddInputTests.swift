import Foundation
import StrataStore
import Testing

@testable import StrataSQLite

/// Numbers at the ends of their ranges: options, keys, versions, limits. None of them stops the process.
@Suite struct OddInputTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.sqlite")
    }

    private func open(_ change: (inout SQLiteStore.Options) -> Void = { _ in }) throws -> SQLiteStore {
        var options = SQLiteStore.Options()
        change(&options)
        return try SQLiteStore.open(model: try TestModel.make(), location: .file(path: path), options: options)
    }

    // MARK: Options

    @Test(arguments: [0, 0.0001, 1e6, 1e300, .greatestFiniteMagnitude, .infinity])
    func everyTimeoutFromZeroOnOpensAStore(_ timeout: Double) throws {
        let store = try open { $0.busyTimeout = timeout }
        try store.insert(("Thing", 1, [:]))
        #expect(try store.keys("Thing") == [1])
        store.close()
    }

    @Test func optionsThatMeanNothingAreRefusedByName() throws {
        let changes: [(String, (inout SQLiteStore.Options) -> Void)] = [
            ("busyTimeout", { $0.busyTimeout = .nan }), ("busyTimeout", { $0.busyTimeout = -1 }),
            ("busyTimeout", { $0.busyTimeout = -.infinity }), ("readerCount", { $0.readerCount = 0 }),
            ("readerCount", { $0.readerCount = .min }), ("readerCount", { $0.readerCount = .max }),
            ("cacheSize", { $0.cacheSize = -1 }), ("cacheSize", { $0.cacheSize = .max }),
            ("externalStorageThreshold", { $0.externalStorageThreshold = -1 }),
            ("externalRetention", { $0.externalRetention = .nan }),
            ("externalRetention", { $0.externalRetention = -1 }),
        ]
        for (name, change) in changes {
            let error = #expect(throws: StoreError.self) { try open(change) }
            guard case .invalidOption(name, _, _) = error else {
                Issue.record("\(name): \(String(describing: error))")
                continue
            }
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func theEndsOfTheRangesOfOptionsOpenAStore() throws {
        try open { options in
            options.readerCount = 1000
            options.cacheSize = Int(Int32.max)
            options.externalStorageThreshold = .max
            options.externalRetention = .infinity
        }.close()
        try open { options in
            options.readerCount = 1
            options.cacheSize = 0
            options.externalStorageThreshold = 0
            options.externalRetention = 0
        }.close()
    }

    @Test func aLibraryThatIsTooOldIsNamedWithTheVersionThatIsNeeded() throws {
        try SQLiteVersion.check()
        let error = #expect(throws: StoreError.self) { try SQLiteVersion.check(3_036_005) }
        #expect(error?.description.contains("3.36.5") == true && error?.description.contains("3.37.0") == true)
    }

    @Test func aFileSystemWithoutSharedMemoryIsRefused() throws {
        // This way to lock files, which comes with SQLite, has no shared memory.
        let connection = try Connection(
            filename: "file:\(path)?vfs=unix-dotfile", path: path, readOnly: false, create: true,
            options: SQLiteStore.Options())
        defer { connection.close() }
        let error = #expect(throws: StoreError.self) { try SQLiteStore.useWAL(connection, timeout: 0) }
        #expect(error?.description.contains("shared memory") == true)
    }

    // MARK: Keys and versions

    @Test(arguments: ["0", "-1", "-1024", "-1025", "\(Int64.min)"])
    func aRowWithAKeyBelowOneIsAnErrorThatNamesIt(_ key: String) throws {
        let store = try open()
        try Shell(path: path).run("INSERT INTO person(_id, _version, name) VALUES(\(key), 1, 'x')")
        let plan = FetchPlan(entityIndex: try store.entity("Person").index)
        for read in [{ _ = try store.fetch(plan) }, { _ = try store.fetchIdentities(plan, cancellation: nil) }]
            as [() throws -> Void]
        {
            let error = #expect(throws: StoreError.self) { try read() }
            guard case .invalidData(entity: "Person", property: "_id", key: Int64(key), reason: _) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        // New objects get keys of their own, whatever is in the file.
        let keys = try store.allocateKeys(10, rootIndex: plan.entityIndex)
        #expect(keys.lowerBound >= 1 && keys.count == 10)
        store.close()
    }

    @Test(arguments: ["\(Int64.max)", "\(Int64.max - 1)", "-1", "'text'", "1.5", "x'00'", "9e99"])
    func aRowWithAnImpossibleVersionIsAnErrorThatNamesIt(_ version: String) throws {
        let store = try open()
        try Shell(path: path).run("INSERT INTO person(_id, _version, name) VALUES(5, \(version), 'x')")
        let error = #expect(throws: StoreError.self) {
            try store.fetch(FetchPlan(entityIndex: try store.entity("Person").index))
        }
        guard case .invalidData(entity: "Person", property: "_version", key: 5, reason: _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        store.close()
    }

    @Test(arguments: ["0", "-5", "\(Int64.min)", "'text'", "NULL + 0.5", "1e300", "\(Int64.max)", "\(Int64.max - 100)"])
    func whateverStandsInTheTableOfKeysNewKeysAreNewOrRefused(_ next: String) throws {
        let store = try open()
        let root = try store.entity("Person").index
        try store.insert(("Person", 40, [:]))
        _ = try store.allocateKeys(1, rootIndex: root)
        try Shell(path: path).run("UPDATE OR IGNORE _keys SET next = \(next)")
        do throws(StoreError) {
            let keys = try store.allocateKeys(512, rootIndex: root)
            #expect(keys.lowerBound > 40 && keys.count == 512)
        } catch {
            guard case .constraint(entity: "Person", reason: _) = error else {
                Issue.record("\(error)")
                return
            }
        }
        store.close()
    }

    @Test func aRowWithTheMaximumOfReservedKeysLeavesNoneAndSaysSo() throws {
        let store = try open()
        let root = try store.entity("Person").index
        let last = StoreKeys.firstUnreserved - 1
        try store.insert(("Person", last, ["name": "last"]))
        #expect(try store.keys("Person") == [last])
        let error = #expect(throws: StoreError.self) { try store.allocateKeys(1, rootIndex: root) }
        #expect(error?.description.contains("no keys left") == true)
        store.close()
    }

    @Test(arguments: [StoreKeys.firstUnreserved, StoreKeys.firstUnreserved + 12_345, StoreKeys.end - 1, .max])
    func keysThatNobodyReservedDoNotMoveTheNextBlock(_ key: Int64) throws {
        let store = try open()
        let root = try store.entity("Person").index
        try store.insert(("Person", key, [:]), ("Person", 7, [:]))
        #expect(try store.allocateKeys(3, rootIndex: root) == 8..<11)
        #expect(try store.allocateKeys(3, rootIndex: root) == 11..<14)
        try Shell(path: path).run(
            "UPDATE _keys SET next = \(key) WHERE entity = 'Person' AND \(key) > \(StoreKeys.firstUnreserved)")
        #expect(try store.allocateKeys(1, rootIndex: root).lowerBound < 100)
        #expect(try store.keys("Person") == [7, key])
        store.close()
    }

    @Test func anyNumberOfKeysIsReservedOrRefused() throws {
        let store = try open()
        let root = try store.entity("Person").index
        #expect(try store.allocateKeys(0, rootIndex: root).isEmpty)
        #expect(try store.allocateKeys(-1, rootIndex: root).isEmpty)
        #expect(try store.allocateKeys(.min, rootIndex: root).isEmpty)
        #expect(throws: StoreError.self) { try store.allocateKeys(.max, rootIndex: root) }
        #expect(try store.allocateKeys(3, rootIndex: root).count == 3)
        store.close()
    }

    // MARK: Not a number

    @Test func aValueThatIsNotANumberIsRefusedForEveryNumericType() throws {
        let store = try open()
        let values: [(String, Value)] = [
            ("real", .double(.nan)), ("single", .double(.nan)), ("exact", .decimal(.nan)),
            ("yearBorn", .date(Date(timeIntervalSinceReferenceDate: .nan))),
            ("place", .geoPoint(GeoPoint(latitude: .nan, longitude: 1))),
            ("place", .geoPoint(GeoPoint(latitude: 1, longitude: .nan))),
        ]
        for (name, value) in values {
            var changes = ChangeSet()
            changes.inserts = [.init(row: try store.row("Thing", 1, [name: value]))]
            let insert = changes
            let error = #expect(throws: StoreError.self) { try store.commit(insert) }
            guard case .invalidData(entity: "Thing", property: name, key: 1, reason: _) = error else {
                Issue.record("\(name): \(String(describing: error))")
                continue
            }
        }
        #expect(try store.keys("Thing") == [])
        store.close()
    }

    // MARK: Limits

    @Test(arguments: [Int.min, -1, 0, 1, 2, .max], [Int.min, -1, 0, 1, .max])
    func everyLimitAndOffsetHasAnAnswer(_ limit: Int, _ offset: Int) throws {
        let store = try open()
        try store.insert(("Person", 1, ["name": "a"]), ("Person", 2, ["name": "b"]), ("Person", 3, ["name": "c"]))
        var plan = FetchPlan(entityIndex: try store.entity("Person").index)
        plan.limit = limit
        plan.offset = offset
        let expected = Array([Int64(1), 2, 3].dropFirst(max(0, offset)).prefix(max(0, limit)))
        #expect(try store.fetchKeys(plan) == expected)
        #expect(try store.fetch(plan).rows.map(\.key) == expected)
        #expect(try store.count(plan) == expected.count)
        let values = ValuePlan(plan, columns: [FetchColumn("name", .keyPath(["name"]))])
        let names: [Value] = ["a", "b", "c"].map(Value.string)
        let wanted = Array(names.dropFirst(max(0, offset)).prefix(max(0, limit)))
        #expect(try store.values(values).map { $0[0] } == wanted)
        #expect(try values.evaluate(over: names.map { Value.composite(["name": $0]) }).map { $0[0] } == wanted)
        store.close()
    }
}
