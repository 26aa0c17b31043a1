import Foundation

/// A place where the sessions of users are kept between launches. Implement it to use the key chain of a platform.
///
///     // `Keychain` is a wrapper of your own.
///     struct KeychainStorage: SessionStorage {
///         func session(named name: String) throws(SessionStorageError) -> Data? { try Keychain.read(name) }
///         func keep(_ session: Data, named name: String) throws(SessionStorageError) { try Keychain.write(session, name) }
///         func forget(named name: String) throws(SessionStorageError) { try Keychain.remove(name) }
///     }
///
/// Set it in the configuration of a client. ``FileSessionStorage`` is the default; ``MemorySessionStorage`` forgets everything
/// at the end of the process.
///
/// The content is secret and has no fixed format: keep it as it is. Methods may be called from any task, and must replace a
/// session as a whole or not at all. If a session cannot be kept, the client goes on with it in memory.
public protocol SessionStorage: Sendable {
    /// The content under a name; nil if there is none.
    /// - Throws: ``SessionStorageError`` if there may be something that cannot be read.
    func session(named name: String) throws(SessionStorageError) -> Data?
    /// Saves a session under its name, replacing an earlier one, as a whole or not at all.
    /// - Throws: ``SessionStorageError`` if it could not be kept; the earlier content is unchanged.
    func keep(_ session: Data, named name: String) throws(SessionStorageError)
    /// Removes the content under a name. It is not an error if there is none.
    /// - Throws: ``SessionStorageError`` if the content could not be removed.
    func forget(named name: String) throws(SessionStorageError)
}

/// Why a session could not be saved, read or removed.
///
///     let storage = FileSessionStorage()
///     do throws(SessionStorageError) {
///         _ = try storage.session(named: "notes")
///     } catch {
///         print(error.place, error.reason)
///     }
///
/// Clients do not throw it: a user whose session cannot be kept is logged in until the process ends. They report it by their
/// `session.storageFailure` and `session.onStorageFailure`. Your own ``SessionStorage`` throws it with the place as a user
/// would name it, and the reason of the platform.
public struct SessionStorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where it should be.
    public var place: String
    /// What went wrong.
    public var reason: String

    /// Describes an error.
    public init(place: String, reason: String) {
        self.place = place
        self.reason = reason
    }

    /// Place and reason, and what to do.
    public var description: String {
        "the session at \(place) cannot be kept or read: \(reason); check the folder, or choose another storage"
    }
}
