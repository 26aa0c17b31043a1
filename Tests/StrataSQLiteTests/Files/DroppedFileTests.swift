import Foundation
import StrataStore
import Testing

@testable import StrataSQLite

/// Files of external values to which no row refers any more, and rows that are about to refer to them.
@Suite struct DroppedFileTests {
    let folder: TemporaryFolder
    let path: String
    let large = Data(repeating: 7, count: 5000)

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.sqlite")
    }

    private func open(readOnly: Bool = false) throws -> SQLiteStore {
        var options = SQLiteStore.Options()
        options.externalStorageThreshold = 1000
        options.isReadOnly = readOnly
        return try SQLiteStore.open(model: try TestModel.make(), location: .file(path: path), options: options)
    }

    private var files: [String] { BlobTests.files(of: path) }

    /// The row of a thing as a context would hold it.
    private func row(_ store: SQLiteStore) throws -> RowReference {
        try #require(try store.rows(entityIndex: 0, keys: [1]).rows.first)
    }

    private func replacement(_ store: SQLiteStore, base: Int64 = 1) throws -> ChangeSet {
        var changes = ChangeSet()
        changes.updates = [
            try store.update("Thing", 1, base: base, ["photo": .binary(large + [1])], changed: ["photo"])
        ]
        return changes
    }

    /// An update that puts the file of an old row back.
    private func restoration(_ store: SQLiteStore, of old: RowReference, base: Int64) throws -> ChangeSet {
        let slot = try #require(try store.entity("Thing").slot(named: "photo"))
        var builder = RowBatchBuilder()
        builder.beginRow(entity: try store.entity("Thing"), key: 1, version: base + 1)
        old.withBytes(slot) { if let bytes = $0 { builder.setBytes(bytes, slot: slot.index, external: true) } }
        builder.endRow()
        var changes = ChangeSet()
        changes.updates = [.init(row: builder.finish()[0], slots: SlotSet([slot.index]), baseVersion: base)]
        return changes
    }

    private func value(_ store: SQLiteStore, of row: RowReference) throws -> Data? {
        let slot = try #require(try store.entity("Thing").slot(named: "photo"))
        return try row.withBytes(slot) { bytes in
            try bytes.map { try store.externalData(named: String(decoding: $0, as: UTF8.self)) }
        }
    }

    @Test func aReaderOfAnOldRowReadsTheOldValueAfterItWasReplacedOrDeleted() throws {
        let store = try open()
        let reader = try open(readOnly: true)
        try store.insert(("Thing", 1, ["photo": .binary(large)]))
        let old = try row(reader)
        _ = try store.commit(try replacement(store))
        #expect(try value(reader, of: old) == large)
        let new = try row(store)
        var gone = ChangeSet()
        gone.deletes = [.init(entityIndex: 0, key: 1, baseVersion: 2)]
        _ = try store.commit(gone)
        #expect(try value(reader, of: old) == large && value(reader, of: new) == large + [1])
        // Another store that opens and closes the file meanwhile removes nothing either.
        try open().close()
        #expect(try value(reader, of: old) == large && value(store, of: new) == large + [1])
        reader.close()
        store.close()
        #expect(files == [])
    }

    @Test func aRowThatRefersToADroppedFileAgainKeepsIt() throws {
        let store = try open()
        try store.insert(("Thing", 1, ["photo": .binary(large)]))
        let old = try row(store)
        _ = try store.commit(try replacement(store))
        _ = try store.commit(try restoration(store, of: old, base: 2))
        store.close()
        let again = try open()
        #expect(files.count == 1)
        #expect(try value(again, of: try row(again)) == large)
        // Created again after a delete.
        let held = try row(again)
        var gone = ChangeSet()
        gone.deletes = [.init(entityIndex: 0, key: 1, baseVersion: 3)]
        _ = try again.commit(gone)
        var back = ChangeSet()
        back.inserts = [.init(row: held)]
        _ = try again.commit(back)
        again.close()
        let last = try open()
        #expect(try value(last, of: try row(last)) == large)
        last.close()
    }

    @Test func aRowIsNotWrittenThatRefersToAFileThatIsGone() throws {
        let store = try open()
        try store.insert(("Thing", 1, ["photo": .binary(large)]))
        let old = try row(store)
        _ = try store.commit(try replacement(store))
        #expect(try store.removeDroppedFiles() == 1)
        let restored = try restoration(store, of: old, base: 2)
        let error = #expect(throws: StoreError.self) { try store.commit(restored) }
        guard case .missingFile(entity: "Thing", property: "photo", key: 1, file: _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try value(store, of: try row(store)) == large + [1])
        store.close()
    }

    @Test func filesThatAProcessLeftBehindAreRemovedByTheNextOpening() throws {
        // As after a kill between the commit and the end of the process: the list is there, nobody has swept.
        var store: SQLiteStore? = try open()
        try store?.insert(("Thing", 1, ["photo": .binary(large)]))
        if let open = store { _ = try open.commit(try replacement(open)) }
        store = nil
        #expect(files.count == 2)
        let next = try open()
        #expect(files.count == 1)
        #expect(try value(next, of: try row(next)) == large + [1])
        next.close()
    }

    @Test func aFileOfBeforeTheListGetsItAtTheNextOpening() throws {
        let store = try open()
        try store.insert(("Thing", 1, ["photo": .binary(large)]))
        store.close()
        try Shell(path: path).run("DROP TABLE _dropped_files")
        let reader = try open(readOnly: true)
        #expect(try value(reader, of: try row(reader)) == large)
        reader.close()
        let again = try open()
        _ = try again.commit(try replacement(again))
        #expect(files.count == 2)
        again.close()
        #expect(files.count == 1)
    }

    @Test func manyReplacedFilesAreListedInOneCommit() throws {
        let store = try open()
        for key in Int64(1)...300 { try store.insert(("Thing", key, ["photo": .binary(large)])) }
        var changes = ChangeSet()
        for key in Int64(1)...300 {
            changes.updates.append(
                try store.update("Thing", key, base: 1, ["photo": .binary(large + [1])], changed: ["photo"]))
        }
        _ = try store.commit(changes)
        #expect(files.count == 600)
        #expect(try store.removeDroppedFiles(olderThan: 3600) == 0)
        #expect(try store.removeDroppedFiles() == 300)
        store.close()
    }

    @Test func aStoreThatIsClosedGivesNoValues() throws {
        let store = try open()
        try store.insert(("Thing", 1, ["photo": .binary(large)]))
        let held = try row(store)
        store.close()
        #expect(throws: StoreError.closed(path: path)) { try value(store, of: held) }
        #expect(files.count == 1)
    }
}
