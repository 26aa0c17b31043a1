import Foundation
import StrataSQLite

/// The folder next to a store with the binary values that Core Data keeps in files of their own:
/// `.NAME_SUPPORT/_EXTERNAL_DATA`, where `NAME` is the name of the store's file without its ending.
///
/// A column of an attribute that allows this has a mark before each value: 1 before bytes that follow, 2 before the name of a
/// file, which is a UUID, and a zero byte.
struct SupportFolder: Sendable {
    /// What stands for the name of a file where a value has no mark.
    static let unmarked = "no mark"

    let path: String

    init(storePath: String) {
        let url = URL(fileURLWithPath: storePath)
        let name = url.deletingPathExtension().lastPathComponent
        path = url.deletingLastPathComponent().path + "/.\(name)_SUPPORT/_EXTERNAL_DATA"
    }

    /// The bytes of a file.
    /// - Throws: ``StoreError/io(path:code:reason:)`` if there is no such file, or the name is none of a file in the folder.
    func read(_ name: String) throws(StoreError) -> Data {
        if name == Self.unmarked {
            throw .io(path: path, code: 0, reason: "the value does not say where its bytes are: it has no mark")
        }
        guard let uuid = UUID(uuidString: name) else {
            throw .io(path: path, code: 0, reason: "'\(name.prefix(64))' is not the name of an external value")
        }
        let file = path + "/" + uuid.uuidString
        do {
            return try Data(contentsOf: URL(fileURLWithPath: file))
        } catch {
            throw .io(
                path: file, code: Int(errno),
                reason:
                    "the external value cannot be read; put the folder '\(Self.folderName(of: path))' next to the store"
            )
        }
    }

    /// Whether a file exists.
    func contains(_ name: String) -> Bool {
        UUID(uuidString: name).map { FileManager.default.fileExists(atPath: path + "/" + $0.uuidString) } ?? false
    }

    private static func folderName(of path: String) -> String {
        URL(fileURLWithPath: path).deletingLastPathComponent().lastPathComponent
    }

    /// How many files there are, and their size in bytes.
    func content() -> (count: Int, size: Int) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let sizes = names.map { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + name)
            return (attributes?[.size] as? NSNumber)?.intValue ?? 0
        }
        return (names.count, sizes.reduce(0, +))
    }

    /// The bytes of a value with a mark.
    func bytes(marked value: Data) throws(StoreError) -> Data {
        switch value.first {
        case 1: return Data(value.dropFirst())
        case 2: return try read(String(decoding: value.dropFirst().prefix(36), as: UTF8.self))
        default: return try read(Self.unmarked)
        }
    }
}
