import Foundation
import Strata
import StrataCSQLite
import Testing

@testable import StrataSQLite

/// More of what the world can do to a migration: others that hold the file, damage, full disks, files that are missing.
@Suite struct HazardTests {
    let file: VersionedFile

    init() throws { file = try VersionedFile() }

    /// Version 1 makes texts of numbers, which writes the table again.
    private func model(_ number: Int) throws -> ManagedObjectModel {
        try version {
            Entity("Item") {
                Attribute("name", .string)
                Attribute("value", number == 0 ? .integer64 : .string)
            }
        }
    }

    private func fill(_ count: Int = 50) throws {
        try file.open(try model(0)) { context throws in
            for number in 0..<count { try context.make("Item", ["name": "item \(number)", "value": Int64(number)]) }
        }
    }

    private func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file.path)) }

    /// The error of `SQLiteStore.migrate`.
    private func failure(
        _ model: ManagedObjectModel, _ options: SQLiteStore.Options = .init()
    ) -> StoreError? {
        do throws(StoreError) {
            try SQLiteStore.migrate(file.path, to: model, options: options)
            return nil
        } catch {
            return error
        }
    }

    @Test("A file that somebody else writes to is locked, and is migrated afterwards")
    func otherWriter() throws {
        try fill()
        let other = try Intruder(file.path)
        try other.run("BEGIN IMMEDIATE; UPDATE item SET value = 7 WHERE _id = 1")
        var options = SQLiteStore.Options()
        options.busyTimeout = 0.05
        #expect(failure(try model(1), options) == .locked(path: file.path))
        try other.run("COMMIT")
        try file.open(try model(1)) { context throws in #expect(try context.texts("Item", "value")[0] == "7") }
    }

    @Test("Somebody who reads keeps what he reads, and sees the new version afterwards")
    func otherReader() throws {
        try fill()
        let other = try Intruder(file.path)
        try other.run("BEGIN")
        #expect(try other.value("SELECT typeof(value) FROM item LIMIT 1") == "integer")
        #expect(failure(try model(1)) == nil)
        #expect(try other.value("SELECT typeof(value) FROM item LIMIT 1") == "integer")
        try other.run("COMMIT")
        #expect(try other.value("SELECT typeof(value) FROM item LIMIT 1") == "text")
    }

    @Test("A file that is opened as read-only is not migrated, whoever asks")
    func readOnly() throws {
        try fill()
        let before = try bytes()
        var options = SQLiteStore.Options()
        options.isReadOnly = true
        let later = try model(1)
        #expect(failure(later, options) == .readOnly(path: file.path))
        let error = #expect(throws: PersistenceError.self) { try file.open(later, options) { _ in } }
        guard case .store(.incompatibleModel(_, let differences))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(differences.count == 1 && differences[0].contains("Item.value"))
        #expect(try SQLiteStore.migrationPlan(for: file.path, to: later).steps.map(\.id) == ["Item.value"])
        #expect(try bytes() == before)
    }

    @Test(
        "A file that may not be written is refused, and stays as it is",
        .enabled(if: geteuid() != 0, "root may write all"))
    func permissions() throws {
        try fill()
        let before = try bytes()
        chmod(file.path, 0o444)
        defer { chmod(file.path, 0o644) }
        let error = failure(try model(1))
        guard case .cannotOpen(_, let reason)? = error, reason.contains("may not be written") else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try bytes() == before)
    }

    @Test("A file with pages that make no sense is reported as damaged, and stays as it is")
    func damagedPages() throws {
        try fill(3000)
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file.path))
        let size = try handle.seekToEnd()
        try handle.seek(toOffset: size / 2 / 4096 * 4096)
        try handle.write(contentsOf: Data(repeating: 0xEE, count: 8 * 4096))
        try handle.close()
        let before = try bytes()
        let error = failure(try model(1))
        guard case .corrupt(let path, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(path == file.path)
        #expect(try bytes() == before)
    }

    @Test("What a crash has left in the write-ahead log is migrated, too")
    func log() throws {
        try fill(10)
        let container = try PersistentContainer(model: try model(0), at: .file(path: file.path))
        let context = container.newContext()
        try context.make("Item", ["name": "late", "value": Int64(99)])
        try context.save()
        // What a process leaves that does not close the file.
        let crashed = try VersionedFile()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: file.path + suffix, toPath: crashed.path + suffix)
        }
        container.close()
        let size = try FileManager.default.attributesOfItem(atPath: crashed.path + "-wal")[.size] as? Int
        #expect(size ?? 0 > 0)
        let later = try model(1)
        #expect(try SQLiteStore.migrationPlan(for: crashed.path, to: later).steps.first?.rows == 11)
        #expect(try SQLiteStore.dryRun(crashed.path, to: later).steps.count == 1)
        try crashed.open(later) { context throws in #expect(try context.texts("Item", "value").last == "99") }
        try crashed.checkSoundness()
    }

    @Test("A file whose format needs a newer writer is refused with both numbers, and stays as it is")
    func newerFormat() throws {
        try fill()
        try file.sql("UPDATE _metadata SET value = '9' WHERE key = 'minimum_writer'")
        try file.sql("PRAGMA user_version = 9")
        let before = try bytes()
        let error = failure(try model(1))
        guard case .unsupported(_, let feature)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(feature.contains("format version 9") && feature.contains("2"))
        #expect(try bytes() == before)
    }

    @Test("A disk that is full while a stage writes leaves the old store")
    func fullDiskInStage() throws {
        try fill(500)
        let later = try version {
            Entity("Item") {
                Attribute("name", .string)
                Attribute("value", .integer64)
                Attribute("text", .string).optional()
            }
        }
        var options = SQLiteStore.Options()
        options.migration.stages = [
            .custom(from: try model(0), to: later) { migration in
                try migration.forEach("Item", batchSize: 50) { _, new in
                    new?["text"] = String(repeating: "long ", count: 500)
                }
            }
        ]
        let pages = try #require(Int(try file.sql("PRAGMA page_count")[0][0]))
        options.maximumPageCount = pages + 20
        #expect(failure(later, options) == .diskFull(path: file.path))
        try file.open(try model(0)) { context throws in #expect(try context.all("Item").count == 500) }
        try file.checkSoundness()
        options.maximumPageCount = SQLiteStore.Options().maximumPageCount
        #expect(failure(later, options) == nil)
    }

    @Test("Stages that are done stay done when a later one fails, and are not done again")
    func interruptedStages() throws {
        struct Failure: Error {}
        try fill(20)
        let second = try version {
            Entity("Item") {
                Attribute("name", .string)
                Attribute("number", .integer64).renamed(from: "value")
            }
        }
        let third = try version {
            Entity("Item") {
                Attribute("name", .string)
                Attribute("number", .integer64).renamed(from: "value")
                Attribute("note", .string).optional()
            }
        }
        let doubling = MigrationStage.custom(from: try model(0), to: second) { migration in
            try migration.forEach("Item") { old, new in new?["number"] = (old["value"] as? Int64 ?? 0) * 2 }
        }
        var options = SQLiteStore.Options()
        options.migration.stages = [doubling, .custom(from: second, to: third) { _ in throw Failure() }]
        guard case .migrationFailed? = failure(third, options) else {
            Issue.record("migrated")
            return
        }
        try file.open(second) { context throws in #expect(try context.texts("Item", "number").last == "38") }
        options.migration.stages = [
            doubling,
            .custom(from: second, to: third) { migration in
                try migration.forEach("Item") { old, new in new?["note"] = old["name"] }
            },
        ]
        try file.open(third, options) { context throws in
            #expect(try context.texts("Item", "number").last == "38")
            #expect(try context.texts("Item", "note").last == "item 19")
        }
        try file.checkSoundness()
    }

    @Test("A half-written copy that a crash has left is replaced by a whole one")
    func halfCopy() throws {
        try fill()
        let fingerprint = try SQLiteStore.migrationPlan(for: file.path, to: try model(1)).source.fingerprint
        let copy = "\(file.path).before-\(fingerprint.prefix(8))"
        try Data("half".utf8).write(to: URL(fileURLWithPath: copy + ".part"))
        var options = SQLiteStore.Options()
        options.migration.keepsOriginal = true
        #expect(try SQLiteStore.migrate(file.path, to: try model(1), options: options).original == copy)
        #expect(!FileManager.default.fileExists(atPath: copy + ".part"))
        let container = try PersistentContainer(model: try model(0), at: .file(path: copy))
        #expect(try container.newContext().texts("Item", "value").last == "49")
        container.close()
    }

    // MARK: Values in files of their own

    private func pictures(_ isExternal: Bool, _ number: AttributeType = .integer64) throws -> ManagedObjectModel {
        try version {
            Entity("Picture") {
                Attribute("number", number)
                isExternal
                    ? Attribute("bytes", .binary).optional().externalStorage() : Attribute("bytes", .binary).optional()
            }
        }
    }

    /// Two pictures, the first one without its file.
    private func fillWithoutFile() throws -> (options: SQLiteStore.Options, kept: Data) {
        var options = SQLiteStore.Options()
        options.externalStorageThreshold = 8
        let kept = Data(repeating: 2, count: 4000)
        try file.open(try pictures(true), options) { context throws in
            try context.make("Picture", ["number": Int64(1), "bytes": Data(repeating: 1, count: 4000)])
            try context.make("Picture", ["number": Int64(2), "bytes": kept])
        }
        let name = try file.sql("SELECT bytes FROM picture ORDER BY _id")[0][0]
        try FileManager.default.removeItem(atPath: "\(file.path)-blobs/\(name)")
        return (options, kept)
    }

    @Test("Values whose files are missing do not stand against other changes")
    func missingFilesElsewhere() throws {
        let (options, kept) = try fillWithoutFile()
        try file.open(try pictures(true, .string), options) { context throws in
            #expect(try context.texts("Picture", "number") == ["1", "2"])
            #expect(try context.all("Picture")[1]["bytes"] as? Data == kept)
        }
    }

    @Test("Values that are to move into the database and whose files are missing stop the migration by name")
    func missingFiles() throws {
        let (options, kept) = try fillWithoutFile()
        let name = try file.sql("SELECT bytes FROM picture ORDER BY _id")[0][0]
        let error = failure(try pictures(false), options)
        guard case .io(_, _, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains(name))
        try file.open(try pictures(true), options) { context throws in
            #expect(try context.all("Picture")[1]["bytes"] as? Data == kept)
        }
        try file.checkSoundness()
    }
}

/// Somebody who uses the file without Strata.
private final class Intruder {
    private var handle: OpaquePointer?

    init(_ path: String) throws { try #require(sqlite3_open(path, &handle) == SQLITE_OK) }

    deinit { sqlite3_close_v2(handle) }

    func run(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw SQLProblem(text: String(cString: sqlite3_errmsg(handle)))
        }
    }

    func value(_ sql: String) throws -> String? {
        var statement: OpaquePointer?
        try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { return nil }
        return sqlite3_column_text(statement, 0).map { String(cString: $0) }
    }
}
