import Foundation
import StrataSQL
import StrataStore

/// The size of a backup that ``SQLiteStore/backUp(to:)`` has made, and where it is.
///
///     let report = try store.backUp(to: "backups/cities.sqlite")
///     print(report.path, report.fileSize + report.externalSize, "bytes")
///
/// A backup is one database file. Values of attributes with external storage that have files of their own are in a folder next
/// to it, so ``fileSize`` and ``externalSize`` together are the space that the backup takes. Move both if you move the backup.
///
/// You get a report only for a complete backup: if something fails, the call throws and no file has the name of the backup.
public struct BackupReport: Sendable, Hashable {
    /// The full path of the new store.
    public let path: String
    /// The size of its database file in bytes.
    public let fileSize: Int
    /// How many files hold external values. Two objects with the same file count once.
    public let externalCount: Int
    /// The size of these files in bytes.
    public let externalSize: Int
}

extension SQLiteStore {
    /// Copies the store to a new file, as it is at one moment, while others read and write it.
    ///
    ///     try store.backUp(to: "backups/2026-11-25.sqlite")
    ///
    /// The copy is a store like any other: open it, or put it in the place of the original while nobody has that open. It has the
    /// same identity, history and values, those in files of their own included, and no free pages. It has its name only
    /// once it is complete and on the disk, so that a failure leaves nothing behind. A store in memory is written to a file.
    ///
    /// It reads the whole store, and needs as much space as the data; saves go on meanwhile. The call blocks its thread;
    /// `PersistentContainer.backUp(to:)` does not.
    /// - Parameter path: A path at which there is no file yet, in a folder that exists.
    /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if there is a file, or no folder; ``StoreError/diskFull(path:)``;
    ///   ``StoreError/missingFile(entity:property:key:file:)`` if the file of a value is gone; ``StoreError/corrupt(path:reason:)``.
    @discardableResult
    public func backUp(to path: String) throws(StoreError) -> BackupReport {
        let backup = try StoreBackup(to: path, files: files)
        return try pool.read { (connection) throws(StoreError) in try backup.make(from: connection, layout) }
    }

    /// Copies the store of a file that other processes may have open, without its model.
    /// - Parameters:
    ///   - path: The file of the store.
    ///   - target: A path at which there is no file yet, in a folder that exists.
    /// - Throws: As ``backUp(to:)``, and ``StoreError/notFound(path:)`` and ``StoreError/notAStore(path:reason:)``.
    @discardableResult
    public static func backUp(_ path: String, to target: String) throws(StoreError) -> BackupReport {
        try inspect(path) { (connection, path) throws(StoreError) in
            guard let stored = try StoredModel.read(on: connection) else {
                throw .notAStore(path: path, reason: "the file is empty")
            }
            let files = BlobFolder(storePath: path)
            let lock = BlobFolderLock(files, creating: false)
            lock?.share()
            return try StoreBackup(to: target, files: files).make(from: connection, stored.layout)
        }
    }
}

/// One backup: a database and the files of its external values, which get their names at the end.
private struct StoreBackup {
    let target: String
    /// The files of the original.
    let files: BlobFolder?
    /// The database until it is complete.
    private let part: String

    init(to path: String, files: BlobFolder?) throws(StoreError) {
        var options = SQLiteStore.Options()
        options.createIfMissing = true
        target = try ResolvedLocation(.file(path: path), options: options).path
        for taken in [target, BlobFolder(storePath: target).path] where FileManager.default.fileExists(atPath: taken) {
            throw .cannotOpen(path: taken, reason: "there is a file already; choose another name for the backup")
        }
        self.files = files
        part = "\(target).part-\(UUID().uuidString.prefix(8).lowercased())"
    }

    func make(from connection: Connection, _ layout: StoreLayout) throws(StoreError) -> BackupReport {
        let copies = BlobFolder(storePath: part)
        defer {
            for suffix in ["", "-wal", "-shm", "-journal"] { unlink(part + suffix) }
            try? FileManager.default.removeItem(atPath: copies.path)
        }
        // One read transaction, which sees one commit; others go on.
        try connection.execute("VACUUM INTO \(Identifiers.literal(filename))")
        // What the copy refers to: a value that is replaced meanwhile keeps its file for a while.
        let names = try copyFiles(to: copies, layout)
        try synchronize(part)
        // The files first: a database whose values are missing would be a damaged one.
        if names.count > 0 { try move(copies.path, BlobFolder(storePath: target).path) }
        try move(part, target)
        try synchronize(URL(fileURLWithPath: target).deletingLastPathComponent().path)
        return BackupReport(
            path: target, fileSize: StoreInfo.size(of: target), externalCount: names.count, externalSize: names.size)
    }

    /// What SQLite opens. From a store in memory, it would write to memory again.
    private var filename: String {
        guard files == nil else { return part }
        return "file:\(part.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? part)?vfs=unix"
    }

    private func copyFiles(to copies: BlobFolder, _ layout: StoreLayout) throws(StoreError) -> (count: Int, size: Int) {
        guard let files, layout.hasExternalColumns else { return (0, 0) }
        var options = SQLiteStore.Options()
        options.isReadOnly = true
        let copy = try Connection(filename: part, path: part, readOnly: true, create: false, options: options)
        defer { copy.close() }
        var (count, size) = (0, 0)
        for table in layout.tables {
            for column in table.columns where column.allowsExternal {
                let statement = try copy.prepare(
                    "SELECT _id, \(column.quoted) FROM \(table.quoted) WHERE typeof(\(column.quoted)) = 'text'",
                    persistent: false)
                while try statement.step() {
                    let name = statement.text(1)
                    guard files.exists(name) else {
                        throw .missingFile(
                            entity: layout.model.entities[table.rootIndex].name, property: column.name,
                            key: statement.integer(0), file: name)
                    }
                    // Two rows may refer to one file.
                    if copies.exists(name) { continue }
                    size += try copyFile(name, from: files, to: copies)
                    count += 1
                }
            }
        }
        if count > 0 { copies.synchronize() }
        return (count, size)
    }

    private func copyFile(_ name: String, from files: BlobFolder, to copies: BlobFolder) throws(StoreError) -> Int {
        if mkdir(copies.path, 0o777) != 0, errno != EEXIST { throw BlobFolder.failure(copies.path) }
        let file = copies.path + "/" + name
        do {
            try FileManager.default.copyItem(atPath: files.path + "/" + name, toPath: file)
        } catch {
            throw errno == ENOSPC
                ? .diskFull(path: file) : .io(path: file, code: Int(errno), reason: error.localizedDescription)
        }
        try synchronize(file)
        return StoreInfo.size(of: file)
    }

    private func move(_ old: String, _ new: String) throws(StoreError) {
        guard rename(old, new) == 0 else { throw BlobFolder.failure(new) }
    }

    /// Waits until a file or folder is on the disk.
    private func synchronize(_ path: String) throws(StoreError) {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BlobFolder.failure(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw BlobFolder.failure(path) }
    }
}
