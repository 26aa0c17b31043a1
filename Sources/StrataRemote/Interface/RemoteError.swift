import Foundation

/// An error of a back end, or on the way to it.
///
///     do throws(RemoteError) {
///         try await users.logIn("bob", password: password)
///     } catch {
///         switch error.kind {
///         case .unreachable, .timeout: print("try again later")
///         case .unauthorized, .notFound: print("wrong name or password")
///         default: print(error)
///         }
///     }
///
/// Clients throw it; stores convert it to ``StoreError/remote(_:)`` with a ``RemoteFailure`` of the same kind. Decide by
/// ``kind``, which means the same for all services; ``domain`` and ``code`` are those that the service's own libraries had.
/// ``isTransient`` tells whether the same request may succeed later.
///
/// A dialect throws it for answers that report a failure. The kind decides what becomes of a waiting change: it is sent again,
/// resolved, or set aside.
public struct RemoteError: Error, Sendable, Hashable {
    /// What the error means for the caller.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// No connection. Nothing can be said about whether the request arrived.
        case unreachable
        /// No answer in time. The request may have been carried out.
        case timeout
        /// The task was cancelled.
        case cancelled
        /// The server asks to wait.
        case throttled
        /// The server cannot answer for now (5xx).
        case unavailable
        /// There is no session, or it has ended and could not be renewed.
        case unauthorized
        /// The session does not allow it.
        case forbidden
        /// No such object or function, or no such schema: nothing says that there ever was one.
        case notFound
        /// The object existed and has been deleted since.
        case gone
        /// The object has another version than the one that the change was made to.
        case conflict
        /// An object with the same primary key or unique value exists already.
        case duplicate
        /// The server refuses the request as it is (other 4xx).
        case rejected
        /// The request cannot be made: an argument is wrong or missing. Nothing was sent.
        case invalidRequest
        /// A secret that goes along with the write is no longer held. Nothing was sent; set it again and retry.
        case missingSecret
        /// The back end does not support it. Nothing was sent. The message names the part.
        case unsupported
        /// The answer is not what the protocol promises: it may come from a portal or proxy instead of the service. It
        /// says nothing about the objects of the request.
        case invalidAnswer
        /// The server no longer knows the cursor of a pull, because it has expired or the server's data was restored.
        /// The pull begins again.
        case cursorExpired
    }

    /// What it means.
    public var kind: Kind
    /// The domain of the code: `HTTP` for a status, otherwise the name that the back end's own libraries use.
    public var domain: String
    /// The code, as the back end's own libraries gave it.
    public var code: Int
    /// What happened and what to do.
    public var message: String
    /// The HTTP status, if there was an answer.
    public var status: Int?
    /// The body of the answer, if there was one.
    public var body: Data?
    /// The object, if it was about one.
    public var identity: RemoteIdentity?
    /// The server's state of the object, if it came with a conflict.
    public var serverRecord: RemoteRecord?
    /// How many seconds to wait before the next attempt, if the server said.
    public var retryAfter: Double?
    /// Other errors that led to this one.
    public var underlying: [RemoteError]

    /// Describes an error.
    public init(
        _ kind: Kind, domain: String = "HTTP", code: Int = 0, message: String, status: Int? = nil, body: Data? = nil,
        identity: RemoteIdentity? = nil, serverRecord: RemoteRecord? = nil, retryAfter: Double? = nil,
        underlying: [RemoteError] = []
    ) {
        self.kind = kind
        self.domain = domain
        self.code = code
        self.message = message
        self.status = status
        self.body = body
        self.identity = identity
        self.serverRecord = serverRecord
        self.retryAfter = retryAfter
        self.underlying = underlying
    }

    /// Whether the same request may succeed later without a change.
    public var isTransient: Bool {
        switch kind {
        case .unreachable, .timeout, .throttled, .unavailable: true
        default: false
        }
    }
}

extension RemoteError {
    /// Errors that a store detects itself, without an answer of the server. The libraries of a back end may have codes
    /// for them.
    public enum Finding: Sendable, Hashable, CaseIterable {
        /// Some objects of a save are not saved; each has its own error.
        case incompleteSave
        /// An object that something refers to is not in the mirror, and the server cannot be reached.
        case objectNotHere
    }

    /// A code and whose it is.
    public struct Code: Sendable, Hashable {
        /// Whose code it is.
        public var domain: String
        /// The code.
        public var code: Int

        /// Names a code.
        public init(domain: String, code: Int) {
            self.domain = domain
            self.code = code
        }
    }
}

extension RemoteError: CustomStringConvertible {
    /// What happened, with the code.
    public var description: String {
        let subject = identity.map { "\($0): " } ?? ""
        return "\(subject)\(message) (\(domain) \(code))"
    }
}
