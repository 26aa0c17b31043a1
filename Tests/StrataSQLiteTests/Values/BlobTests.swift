import Foundation
import StrataSQLite
import StrataStore
import Testing

@Suite struct BlobTests {
    let folder: TemporaryFolder
    let path: String
    let large = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.sqlite")
    }

    func open(sweepNow: Bool = false) throws -> SQLiteStore {
        try SQLiteStore.openSweeping(model: try TestModel.make(), path: path, threshold: 1000, age: sweepNow ? 0 : 600)
    }

    var files: [String] { Self.files(of: path) }

    static func files(of path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path + "-blobs")) ?? []).filter { $0.hasSuffix(".blob") }
    }

    @Test func largeValuesStandInFilesAndGoWithTheirOwner() throws {
        let store = try open()
        let slot = try #require(try store.entity("Thing").slot(named: "photo")).index
        try store.insert(
            ("Thing", 1, ["photo": .binary(large), "data": .binary(large)]),
            ("Thing", 2, ["photo": .binary(large.prefix(1000))]))
        #expect(files.count == 1)
        let batch = try store.rows(entityIndex: 0, keys: [1])
        defer { withExtendedLifetime(batch) {} }
        let row = batch[0]
        #expect(row.row.isExternal(slot))
        #expect(try store.externalData(named: String(decoding: row.row.bytes(slot), as: UTF8.self)) == large)
        let small = try store.rows(entityIndex: 0, keys: [2])
        #expect(small.rows.map { $0.row.isExternal(slot) } == [false])

        // Written back as it was read: the same file.
        let name = files[0]
        var builder = RowBatchBuilder()
        builder.beginRow(entity: try store.entity("Thing"), key: 1, version: 2)
        builder.setBytes(row.row.bytes(slot), slot: slot, external: true)
        builder.endRow()
        var back = ChangeSet()
        back.updates = [.init(row: builder.finish()[0], slots: SlotSet([slot]), baseVersion: 1)]
        _ = try store.commit(back)
        #expect(files == [name])

        var replaced = ChangeSet()
        replaced.updates = [try store.update("Thing", 1, base: 2, ["photo": .binary(large + [1])], changed: ["photo"])]
        _ = try store.commit(replaced)
        #expect(files.count == 2 && files.contains(name))
        var gone = ChangeSet()
        gone.deletes = [.init(entityIndex: 0, key: 1, baseVersion: 3)]
        _ = try store.commit(gone)
        #expect(files.count == 2)
        store.close()
        #expect(files == [])
    }

    @Test func aFailedCommitLeavesNoFile() throws {
        let store = try open()
        try store.insert(("Thing", 1, ["photo": .binary(large), "code": "a"]))
        let before = files
        var changes = ChangeSet()
        changes.updates = [try store.update("Thing", 1, base: 1, ["photo": .binary(large)], changed: ["photo"])]
        changes.inserts = [.init(row: try store.row("Thing", 2, ["photo": .binary(large), "code": "a"]))]
        guard case .conflicts(let conflicts) = try store.commit(changes) else {
            Issue.record("no conflict")
            return
        }
        #expect(conflicts.count == 1 && files == before)
        changes.inserts = [.init(row: try store.row("Thing", 2, ["photo": .binary(large), "owner": .object(9)]))]
        let dangling = changes
        #expect(throws: StoreError.self) { try store.commit(dangling) }
        #expect(files == before)
        #expect(try store.externalData(named: files[0]) == large)
        store.close()
    }

    @Test func leftoversAreSweptAtOpening() throws {
        let store = try open()
        try store.insert(("Thing", 1, ["photo": .binary(large)]))
        store.close()
        let kept = files
        for name in [".crashed.blob", "crashed.blob"] {
            try Data([1]).write(to: URL(fileURLWithPath: path + "-blobs/" + name))
        }
        try open().close()
        #expect(files.count == 3)
        try open(sweepNow: true).close()
        #expect(files == kept)
    }

    @Test func namesLeadNowhereElse() throws {
        let store = try open()
        for name in ["../a.sqlite", "", "..", "none.blob", "/etc/passwd"] {
            #expect(throws: StoreError.self) { try store.externalData(named: name) }
        }
        store.close()
    }

    @Test func memoryKeepsThemInline() throws {
        var options = SQLiteStore.Options()
        options.externalStorageThreshold = 10
        let store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil), options: options)
        try store.insert(("Thing", 1, ["photo": .binary(large)]))
        #expect(try store.values("Thing", 1)?["photo"] == .binary(large))
    }
}
