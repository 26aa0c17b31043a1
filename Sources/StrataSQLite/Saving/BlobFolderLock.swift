import Foundation

/// Tells the stores that have a ``BlobFolder`` open, in this process and in others, of each other: each holds a shared
/// lock on a file of the folder, and a store that can make its lock exclusive is the only one.
///
/// The lock belongs to a file of its own, not to the database: to close any other descriptor of the database would drop
/// the locks that SQLite holds on it in this process.
final class BlobFolderLock: Sendable {
    private let descriptor: Int32

    /// Takes no lock yet.
    /// - Parameter creating: Whether folder and file are created where they are missing.
    /// - Returns: nil if there is no such file; a reader of a store without one has nothing to protect.
    init?(_ folder: BlobFolder, creating: Bool) {
        let file = folder.path + "/.lock"
        if creating { mkdir(folder.path, 0o777) }
        let flags = creating ? O_RDWR | O_CREAT : O_RDONLY
        descriptor = Foundation.open(file, flags | O_CLOEXEC, 0o666)
        if descriptor < 0 { return nil }
    }

    deinit {
        // Closing is not enough: a process that is just being started has the file open, too.
        release()
        close(descriptor)
    }

    /// Takes the lock for only this store, if no other store holds it. A shared lock that is held already may be lost
    /// where this fails.
    func tryExclusive() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    /// Takes the lock together with others; waits while another store sweeps.
    func share() { while flock(descriptor, LOCK_SH) != 0, errno == EINTR {} }

    /// Gives the lock back.
    func release() { flock(descriptor, LOCK_UN) }
}
