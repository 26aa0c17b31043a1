import Foundation

/// Where sessions of users are kept between launches. Implement it to use the key chain of a platform.
///
/// The content is secret. Methods may be called from any task.
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
