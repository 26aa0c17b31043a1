import Foundation
import StrataSQLite
import StrataStore

/// The file of a mirror: it belongs to one store of one process, and only its owner can read it.
///
/// A second engine on the same outbox would send everything twice, and decide conflicts with itself. The lock ends with the
/// process, however that ends.
final class MirrorFile: Sendable {
    private let descriptor: Guarded<Int32?>

    /// Takes the file.
    /// - Returns: nil for a mirror in memory.
    /// - Throws: ``StoreError/locked(path:)`` if another store has the mirror open, in this process or in another one.
    static func take(
        _ location: SQLiteStore.Location, model: ManagedObjectModel, creating: Bool
    ) throws(StoreError) -> MirrorFile? {
        guard case .file(let path) = location, creating || FileManager.default.fileExists(atPath: path) else {
            return nil
        }
        let lock = path + "-owner"
        let descriptor = Foundation.open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        // A folder that is missing or cannot be written is told by the store itself.
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .locked(path: path)
        }
        // SQLite makes its further files with the permissions of the first.
        let file = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if file >= 0 { close(file) }
        for part in [path, path + "-wal", path + "-shm"] { chmod(part, 0o600) }
        // Only bytes are ever kept in files of their own.
        let hasBlobs = model.entities.contains { entity in
            entity.slots.contains { $0.storage == .bytes }
        }
        if hasBlobs { mkdir(path + "-blobs", 0o700) }
        chmod(path + "-blobs", 0o700)
        return MirrorFile(descriptor)
    }

    private init(_ descriptor: Int32) { self.descriptor = Guarded(descriptor) }

    /// Lets others take the file.
    func release() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            descriptor = nil
            // Closing is not enough: a process that is just being started has the file open, too, until it runs its program.
            flock(open, LOCK_UN)
            close(open)
        }
    }

    deinit { release() }
}
