/// Why history could not be read or written.
///
///     do throws(HistoryError) {
///         for transaction in try container.history(after: token) { print(transaction.date) }
///     } catch {
///         guard case .expired = error else { throw error }
///         let next = try container.currentHistoryToken()  // take it before you read the objects
///         print("read all objects, then continue after", next)
///     }
///
/// Handle ``expired(token:)`` in every app that keeps a token. It means that you may have missed changes: the history was
/// purged beyond the token, the file was replaced by a backup, or the token belongs to another store. ``notRecorded(store:)``
/// says that the store was opened without ``HistoryRecording/on(keeping:)``. Nothing was changed if one of these is thrown.
/// A minor version may add cases, so end a `switch` over it with `default`.
public enum HistoryError: Error, Sendable, Hashable {
    /// The store records no history; see ``HistoryRecording``.
    case notRecorded(store: String)
    /// The part of history after the token no longer exists, or not in this file: it was purged, or the file was
    /// replaced by an older one, or belongs to another store. Read the objects themselves, take the current token, and
    /// start from there.
    case expired(token: HistoryToken)
    /// The value of a property at the time is not known, because the model does not preserve its old values, or did not then.
    case valueNotKept(entity: String, property: String)
    /// The entity has no such property; `nearest` is the property with the most similar name, if one is similar enough.
    case unknownProperty(entity: String, property: String, nearest: String?)
    /// The store failed.
    case store(StoreError)
}

extension HistoryError: CustomStringConvertible {
    /// What happened and what to do.
    public var description: String {
        switch self {
        case .notRecorded(let store):
            "\(store) records no history; open it with options.history = .on(keeping: .days(7))"
        case .expired(let token):
            "the history after \(token) has expired; read the objects themselves, take the current token, and start over"
        case .valueNotKept(let entity, let property):
            "the value that \(entity).\(property) had is not known; set preservesValueInHistory on the attribute to keep "
                + "old values from then on"
        case .unknownProperty(let entity, let property, let nearest):
            "\(entity) has no property \(property); "
                + (nearest.map { "did you mean '\($0)'?" } ?? "check the spelling, or add the property to the model")
        case .store(let error): error.description
        }
    }
}
