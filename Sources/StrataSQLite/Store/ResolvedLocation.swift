import Foundation
import StrataSQL
import StrataStore

/// The file or memory of a store as SQLite opens it.
struct ResolvedLocation: Sendable {
    /// What SQLite opens.
    let filename: String
    /// The name for messages; the absolute path of a file.
    let path: String
    let isFile: Bool

    init(_ location: SQLiteStore.Location, options: SQLiteStore.Options) throws(StoreError) {
        switch location {
        case .memory(let name):
            let unique =
                name.map { "named-" + ($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "") }
                ?? UUID().uuidString
            filename = "file:/strata-\(unique)?vfs=memdb"
            path = name.map { "memory:\($0)" } ?? "memory"
            isFile = false
        case .file(let given):
            guard !given.isEmpty, !given.utf8.contains(0) else {
                throw .cannotOpen(path: given, reason: "the path is empty or holds a zero byte")
            }
            path = URL(fileURLWithPath: given).path
            filename = path
            isFile = true
            try Self.check(path, options: options)
        }
    }

    /// Looks at a file before SQLite does, because SQLite's own messages do not tell these cases apart.
    ///
    /// The file is not opened: to close it again would drop the locks that SQLite holds on it for other stores in this
    /// process.
    private static func check(_ path: String, options: SQLiteStore.Options) throws(StoreError) {
        var isFolder: ObjCBool = false
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
                throw .cannotOpen(path: path, reason: "there is no folder \(folder)")
            }
            guard options.createIfMissing, !options.isReadOnly else { throw .notFound(path: path) }
            return
        }
        guard !isFolder.boolValue else { throw .cannotOpen(path: path, reason: "it is a folder") }
        guard access(path, R_OK) == 0 else {
            throw .cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
        guard options.isReadOnly || access(path, W_OK) == 0 else {
            throw .cannotOpen(path: path, reason: "it may not be written")
        }
    }
}
