import Foundation

/// Why a back end did not do what a store asked of it, in terms that need no remote store to read.
///
///     do throws(PersistenceError) {
///         try await context.save()
///     } catch {
///         guard case .store(.remote(let failure)) = error else { throw error }
///         print(failure.kind, failure.message)
///         for object in failure.objects { print(object.objectID, object.failure.kind) }
///     }
///
/// It is the payload of ``StoreError/remote(_:)``. Decide by ``kind``: `unreachable` and `timeout` mean that you can try again
/// later, `conflict` that others have changed the object, `unauthorized` that the user has to log in. ``domain`` and ``code``
/// are the service's own.
///
/// After a save, ``inserted``, ``updated`` and ``deleted`` list the objects that are not on the server, each with its own
/// failure. All others are saved. The listed objects keep their changes, and the next save sends only these.
public struct RemoteFailure: Error, Sendable, Hashable {
    /// What happened to one object of a save.
    public struct Object: Sendable, Hashable {
        /// The object.
        public var objectID: ObjectID
        /// What happened.
        public var failure: RemoteFailure

        /// Describes what happened to an object.
        public init(objectID: ObjectID, failure: RemoteFailure) {
            self.objectID = objectID
            self.failure = failure
        }
    }

    /// What it means: the name of a `RemoteError.Kind`, `unreachable` for instance.
    public var kind: String
    /// Whose code it is: `HTTP` for a status, otherwise what the back end's own libraries named it.
    public var domain: String
    /// The code, as the back end's own libraries gave it.
    public var code: Int
    /// What happened and what to do.
    public var message: String
    /// The HTTP status, if there was an answer.
    public var status: Int?
    /// The body of the answer, if there was one.
    public var body: Data?
    /// How many seconds to wait before the next attempt, if the server said.
    public var retryAfter: Double?
    /// New objects of a save that are not on the server.
    public var inserted: [Object] = []
    /// Changed objects of a save whose changes are not on the server.
    public var updated: [Object] = []
    /// Deleted objects of a save that are still on the server.
    public var deleted: [Object] = []

    /// Describes a failure.
    public init(
        kind: String, domain: String, code: Int, message: String, status: Int? = nil, body: Data? = nil,
        retryAfter: Double? = nil
    ) {
        self.kind = kind
        self.domain = domain
        self.code = code
        self.message = message
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }

    /// What happened to single objects: new ones, changed ones, deleted ones.
    public var objects: [Object] { inserted + updated + deleted }
}

extension RemoteFailure: CustomStringConvertible {
    /// What happened, with the code and a line for each object.
    public var description: String {
        let lines = objects.map { "\n\($0.objectID): \($0.failure)" }
        return "\(message) (\(domain) \(code))" + lines.joined()
    }
}
