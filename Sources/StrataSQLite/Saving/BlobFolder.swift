import Foundation
import StrataSQL
import StrataStore

/// The folder next to a store with binary values that are too large for the database: a file for each value. A file is
/// never changed once it has its final name.
struct BlobFolder: Sendable {
    let path: String

    /// The folder of a store's file.
    init(storePath: String) { path = storePath + "-blobs" }

    /// The bytes of a value.
    func read(_ name: String) throws(StoreError) -> Data {
        let file = path + "/" + name
        guard Self.isValid(name) else {
            throw .io(path: file, code: 0, reason: "\"\(name)\" is not the name of an external value")
        }
        do {
            return try Data(contentsOf: URL(fileURLWithPath: file))
        } catch {
            throw .io(
                path: file, code: Int(errno), reason: "the external value cannot be read: \(error.localizedDescription)"
            )
        }
    }

    /// Writes a value to a new file and to the disk.
    /// - Returns: The name of the file.
    func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> String {
        let name = UUID().uuidString.lowercased() + ".blob"
        let temporary = path + "/." + name
        let final = path + "/" + name
        if mkdir(path, 0o777) != 0, errno != EEXIST { throw Self.failure(path) }
        let descriptor = Foundation.open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o666)
        guard descriptor >= 0 else { throw Self.failure(temporary) }
        var rest = bytes[...]
        var failed: StoreError?
        while !rest.isEmpty, failed == nil {
            let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                failed = Self.failure(temporary)
            }
        }
        if failed == nil, fsync(descriptor) != 0 { failed = Self.failure(temporary) }
        Foundation.close(descriptor)
        if failed == nil, rename(temporary, final) != 0 { failed = Self.failure(final) }
        if let failed {
            unlink(temporary)
            throw failed
        }
        return name
    }

    /// Makes the names of new files permanent; without it a power failure could lose them after the commit that refers
    /// to them.
    func synchronize() {
        let descriptor = Foundation.open(path, O_RDONLY)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        Foundation.close(descriptor)
    }

    /// Whether there is a file with the given name.
    func exists(_ name: String) -> Bool { Self.isValid(name) && access(path + "/" + name, F_OK) == 0 }

    /// Removes files. One that cannot be removed is left for a later sweep.
    func remove(_ names: some Sequence<String>) {
        for name in names where Self.isValid(name) { unlink(path + "/" + name) }
    }

    /// The files that are older than an age in seconds, temporary ones included.
    func names(olderThan age: Double) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let limit = Date().addingTimeInterval(-age)
        return names.filter { name in
            guard name.hasSuffix(".blob"), Self.isValid(name),
                let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + name),
                let date = attributes[.modificationDate] as? Date
            else { return false }
            return date <= limit
        }
    }

    /// A name from the database must not lead out of the folder.
    private static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/")) && !name.utf8.contains(0)
    }

    /// What the last call of the system that failed means for a file.
    static func failure(_ file: String) -> StoreError {
        let code = errno
        if code == ENOSPC || code == EFBIG || code == EDQUOT { return .diskFull(path: file) }
        return .io(path: file, code: Int(code), reason: String(cString: strerror(code)))
    }
}
