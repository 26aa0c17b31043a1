import Foundation

/// The error codes of StackMob's client libraries: ``RemoteError/code`` in the domain ``domain``.
///
///     do throws(RemoteError) {
///         try await client.logIn(username: "bob", password: password)
///     } catch {
///         if error.domain == StackMobError.domain, StackMobError(rawValue: error.code) == .temporaryPasswordResetRequired {
///             print("choose a new password")
///         }
///     }
///
/// The client reports with them what it finds itself; failures of the server have the domain ``httpDomain`` and the status as
/// code. To handle errors in the same way for all services, look at ``RemoteError/kind`` instead. ``cacheIDNotFound`` is never
/// reported.
public enum StackMobError: Int, Sendable, Hashable, CaseIterable {
    /// An argument is wrong or missing.
    case invalidArguments = -100
    /// The user logged in with a temporary password and has to give a new one.
    case temporaryPasswordResetRequired = -101
    /// The server did not tell how many objects there are.
    case noCountAvailable = -102
    /// Another request renews the session right now.
    case refreshTokenInProgress = -103
    /// A new user object has no password.
    case passwordForUserObjectNotFound = -104
    /// The server cannot be reached.
    case networkNotReachable = -105
    /// The mirror has no object of that key.
    case cacheIDNotFound = -106
    /// A related object is neither in the mirror nor to be had.
    case couldNotFillRelationshipFault = -107
    /// Objects of a save could not be saved; each has its own error.
    case coreDataSave = -108
    /// The session could not be renewed.
    case refreshTokenFailed = -109
    /// The position of the device is not to be had.
    case locationManagerFailed = -110

    /// The domain of these codes.
    public static let domain = "SMError"
    /// The domain of errors whose code is an HTTP status.
    public static let httpDomain = "HTTP"

    /// The names of the old libraries' exceptions. Here they are errors like all others, with the name as
    /// ``RemoteError/domain`` and the code of ``invalidArguments``.
    public enum Exception: String, Sendable, Hashable, CaseIterable {
        /// An object, a name or a value does not fit the rules of StackMob.
        case incompatibleObject = "SMExceptionIncompatibleObject"
        /// An answer is of a schema that the model does not have.
        case unknownSchema = "SMExceptionUnknownSchema"
        /// The store cannot be opened.
        case addPersistentStore = "SMExceptionAddPersistentStore"
        /// A related object is neither in the mirror nor to be had.
        case cannotFillRelationshipFault = "SMExceptionCannotFillRelationshipFault"
        /// The mirror is damaged.
        case cacheError = "SMExceptionCacheError"
        /// The settings of a client are wrong.
        case clientInitialization = "SMClientInitializationException"
    }

    /// What an error of this code means for the caller.
    public var kind: RemoteError.Kind {
        switch self {
        case .invalidArguments, .passwordForUserObjectNotFound: .invalidRequest
        case .temporaryPasswordResetRequired, .refreshTokenInProgress, .refreshTokenFailed: .unauthorized
        case .noCountAvailable: .invalidAnswer
        case .networkNotReachable, .couldNotFillRelationshipFault: .unreachable
        case .cacheIDNotFound: .notFound
        case .coreDataSave: .rejected
        case .locationManagerFailed: .unavailable
        }
    }

    /// An error of this code.
    /// - Parameter kind: What it means, where that is not ``kind``.
    public func error(
        _ message: String, kind: RemoteError.Kind? = nil, status: Int? = nil, body: Data? = nil,
        underlying: [RemoteError] = []
    ) -> RemoteError {
        RemoteError(
            kind ?? self.kind, domain: Self.domain, code: rawValue, message: message, status: status, body: body,
            underlying: underlying)
    }

    /// What an exception was in the old libraries.
    public static func exception(_ exception: Exception, _ message: String) -> RemoteError {
        RemoteError(.invalidRequest, domain: exception.rawValue, code: invalidArguments.rawValue, message: message)
    }

    static func initialization(_ message: String) -> RemoteError { exception(.clientInitialization, message) }
    static func incompatible(_ message: String) -> RemoteError { exception(.incompatibleObject, message) }
    static func invalid(_ message: String) -> RemoteError { invalidArguments.error(message) }
    /// What the back end cannot do; the code is that of invalid arguments.
    static func unsupported(_ message: String) -> RemoteError {
        invalidArguments.error(message, kind: .unsupported)
    }
}

extension StackMobDialect {
    /// The error that an answer reports; nil if its status is one of success.
    public func failure(_ response: WireResponse) -> RemoteError? {
        let status = response.status
        guard !(200..<300).contains(status) else { return nil }
        let json = try? JSONValue(parsing: response.body)
        let told = json?["error"]?.string
        // A page of a proxy, a firewall or a portal says nothing of objects.
        let isForeign = json == nil && response.isMarkup
        let kind = RemoteError.Kind(status: status)
        return RemoteError(
            isForeign && (status < 500 && kind != .throttled && kind != .timeout) ? .invalidAnswer : kind,
            domain: StackMobError.httpDomain, code: status,
            message: told ?? "the server answered with status \(status)", status: status, body: response.body,
            retryAfter: response[header: "Retry-After"].flatMap(Double.init))
    }
}
