import Foundation

/// A storage with sessions in files that only their owner can read, one for each name.
///
///     let storage = FileSessionStorage(folder: URL(filePath: "/var/lib/notes/sessions"))
///     print(storage.file(named: "notes").path)
///
/// Set it as `sessionStorage` in the configuration of a client. A file is written under another name first, with mode 0600 from its first moment, and then takes the place of the one
/// before: a crash leaves the old session or the new one, never a part. A folder that has to be made gets mode 0700. A file
/// that others may read or change is refused with a ``SessionStorageError``.
public struct FileSessionStorage: SessionStorage {
    /// The folder of the files.
    public let folder: URL

    /// Keeps sessions in a folder, which is made when it is needed.
    /// - Parameter folder: nil for `Strata/Sessions` in the user's folder for application data, which on Linux is
    ///   `~/.local/share`.
    public init(folder: URL? = nil) {
        self.folder = folder ?? Self.usualFolder
    }

    private static var usualFolder: URL {
        let manager = FileManager.default
        let data =
            manager.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? manager.homeDirectoryForCurrentUser
        return data.appending(components: "Strata", "Sessions", directoryHint: .isDirectory)
    }

    /// The file with the given name.
    public func file(named name: String) -> URL {
        folder.appending(component: Self.fileName(for: name), directoryHint: .notDirectory)
    }

    /// What the file with the given name contains.
    /// - Throws: ``SessionStorageError`` also if others than the owner may read or change the file: what is in it may
    ///   no longer be the owner's session.
    public func session(named name: String) throws(SessionStorageError) -> Data? {
        let path = file(named: name).path
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw error(path) }
            return nil
        }
        guard status.st_mode & 0o077 == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SessionStorageError(
                place: path,
                reason: "others than its owner may use it; delete it and log in again, or set its mode to 0600")
        }
        do {
            return try Data(contentsOf: URL(filePath: path))
        } catch {
            throw SessionStorageError(place: path, reason: error.localizedDescription)
        }
    }

    /// Writes the file with the given name.
    /// - Throws: ``SessionStorageError`` with the path and the reason of the system.
    public func keep(_ session: Data, named name: String) throws(SessionStorageError) {
        let path = file(named: name).path
        try makeFolder()
        let draft = path + "." + UUID().uuidString
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw error(draft) }
        do throws(SessionStorageError) {
            try write(session, to: descriptor, draft)
            guard fsync(descriptor) == 0 else { throw error(draft) }
        } catch {
            close(descriptor)
            unlink(draft)
            throw error
        }
        close(descriptor)
        guard rename(draft, path) == 0 else {
            let failure = error(path)
            unlink(draft)
            throw failure
        }
    }

    /// Deletes the file with the given name.
    /// - Throws: ``SessionStorageError`` with the path and the reason of the system.
    public func forget(named name: String) throws(SessionStorageError) {
        let path = file(named: name).path
        guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else { throw error(path) }
    }

    private func makeFolder() throws(SessionStorageError) {
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw SessionStorageError(place: folder.path, reason: error.localizedDescription)
        }
    }

    private func write(_ session: Data, to descriptor: CInt, _ path: String) throws(SessionStorageError) {
        var rest = session[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw error(path) }
            rest = rest.dropFirst(count)
        }
    }

    private func error(_ path: String) -> SessionStorageError {
        SessionStorageError(place: path, reason: String(cString: strerror(errno)))
    }

    /// Names are made of what users choose: nothing in them may lead out of the folder, and no two may meet in one file.
    private static func fileName(for name: String) -> String {
        "session-" + PercentEncoding.encode(name, keeping: .alphanumerics.union("-_."))
    }
}
