import Foundation

/// The error codes of the client libraries: ``RemoteError/code`` in the domain ``AzureVersion/errorDomain``.
///
///     do throws(AzureFailure) {
///         try await client.table("Note").update(note)
///     } catch {
///         switch error.code {
///         case .preconditionFailed: print("others have changed it:", error.serverItem ?? [:])
///         case .missingItemID, .invalidItemID: print("the item needs an id")
///         default: print(error)
///         }
///     }
///
/// ``AzureFailure/code`` gives the case. Codes say where something failed; to handle errors in the same way for all services,
/// look at the kind of ``AzureFailure/error``. Three of them are for situations that this client does not have:
/// ``syncContextInvalid``, ``loginOperationInProgress`` and ``pushLocalStorageCorrupt``.
public enum AzureError: Int, Sendable, Hashable, CaseIterable {
    /// No item was given.
    case expectedItem = -1101
    /// The item has no id.
    case missingItemID = -1102
    /// The item is not a JSON object, or has a value that JSON does not have.
    case invalidItem = -1103
    /// No id was given.
    case expectedItemID = -1104
    /// The id is invalid.
    case invalidItemID = -1105
    /// A parameter of the application's own has a name that it must not have.
    case invalidUserParameter = -1106
    /// A new item has an id that only the server can give.
    case existingItemID = -1107
    /// The version of the server does not have what is requested: a renewal of the token, or a log-in in the system's browser,
    /// in ``AzureVersion/mobileServices``; tags of an installation in the newer versions. Nothing is sent.
    case invalidBackendVersion = -1108
    /// The action is not possible after the one that waits.
    case syncTableInvalidAction = -1150
    /// The local tables cannot be read or written.
    case syncTableLocalStore = -1153
    /// The local tables contradict themselves.
    case syncTableInternal = -1154
    /// The name of an incremental pull is invalid.
    case invalidQueryID = -1155
    /// The operation cannot be cancelled so.
    case syncTableCancel = -1156
    /// There is no such operation.
    case syncTableOperationNotFound = -1157
    /// There are no local tables. This client never reports it: an ``AzureSyncContext`` always has a storage.
    case syncContextInvalid = -1160
    /// A push sent everything, and the server refused some of it.
    case pushCompleteWithErrors = -1170
    /// A push ended because the local tables failed.
    case pushAbortedDataSource = -1171
    /// A push ended because there was no connection.
    case pushAbortedNetwork = -1172
    /// A push ended because nobody is logged in.
    case pushAbortedAuthentication = -1173
    /// A push ended for another reason: its task was cancelled.
    case pushAbortedUnknown = -1174
    /// A table has operations that wait, so that it cannot be emptied.
    case purgeAbortedPendingChanges = -1180
    /// A pull ended early: its task was cancelled.
    case pullAbortedUnknown = -1190
    /// The answer is not an item.
    case expectedItemInResponse = -1201
    /// The answer is not a list of items.
    case expectedItemsInResponse = -1202
    /// The answer does not tell how many items there are.
    case expectedTotalCountInResponse = -1203
    /// The answer has no body.
    case expectedBodyInResponse = -1204
    /// The server reports an error and says nothing about it.
    case errorNoMessage = -1301
    /// The server reports an error in words.
    case errorMessage = -1302
    /// The server has another version of the item.
    case preconditionFailed = -1303
    /// A condition has no words in this protocol.
    case predicateNotSupported = -1400
    /// A parameter is wrong.
    case invalidParameter = -1401
    /// The user could not be logged in.
    case loginFailed = -1501
    /// The answer to a log-in has no user or no token.
    case loginInvalidResponseSyntax = -1502
    /// The log-in did not take place: its task was cancelled. If the user closes the page, the app knows, and need not call
    /// ``AzureClient/logIn(_:endedAt:options:)``.
    case loginCanceled = -1503
    /// No token was given to log in by.
    case loginExpectedToken = -1504
    /// The token to log in by is not JSON.
    case loginInvalidToken = -1505
    /// The page that the user came back by is none of a log-in.
    case loginInvalidURL = -1506
    /// Another log-in is on its way. This client never reports it: each ``AzureLoginPage`` is a value of its own, and the
    /// log-in that ends last counts.
    case loginOperationInProgress = -1507
    /// The server knows no renewal of this token.
    case refreshBadRequest = -1511
    /// The token can no longer be renewed.
    case refreshUnauthorized = -1512
    /// The user may not renew the token.
    case refreshForbidden = -1513
    /// The token could not be renewed.
    case refreshUnexpectedError = -1514
    /// A registration for push messages lacks something.
    case pushRequiredParameter = -1600
    /// The local list of registrations cannot be read. This client never reports it: it keeps no such list, but asks the
    /// server.
    case pushLocalStorageCorrupt = -1601

    /// The domain of faults of JSON in an answer.
    public static let jsonDomain = "JSON"

    /// What an error of this code means for the caller.
    public var kind: RemoteError.Kind {
        switch self {
        case .expectedItemInResponse, .expectedItemsInResponse, .expectedTotalCountInResponse, .expectedBodyInResponse,
            .loginInvalidResponseSyntax:
            .invalidAnswer
        case .errorNoMessage, .errorMessage, .pushCompleteWithErrors, .refreshBadRequest: .rejected
        case .preconditionFailed: .conflict
        case .predicateNotSupported, .invalidBackendVersion: .unsupported
        case .pushAbortedNetwork: .unreachable
        case .pushAbortedAuthentication, .loginFailed, .refreshUnauthorized: .unauthorized
        case .refreshForbidden: .forbidden
        case .loginCanceled: .cancelled
        case .pushAbortedUnknown, .pullAbortedUnknown, .refreshUnexpectedError, .pushAbortedDataSource,
            .syncTableLocalStore, .syncTableInternal, .pushLocalStorageCorrupt:
            .unavailable
        default: .invalidRequest
        }
    }

    /// What is said of the error where nothing better can be.
    public var message: String {
        switch self {
        case .expectedItem: "No item was provided."
        case .missingItemID: "The item provided did not have an id."
        case .invalidItem: "The item provided was not valid."
        case .expectedItemID: "The item id was not provided."
        case .invalidItemID: "The item provided did not have a valid id."
        case .existingItemID: "The item provided must not have an id."
        case .expectedItemInResponse: "The answer is not an item."
        case .expectedItemsInResponse: "The answer is not a list of items."
        case .expectedTotalCountInResponse: "The answer does not tell the number of all items."
        case .expectedBodyInResponse: "The answer has no body."
        case .errorNoMessage: "The server reports an error and says nothing about it."
        case .preconditionFailed: "The server's version did not match the passed version"
        case .predicateNotSupported: "The predicate is not supported."
        case .loginInvalidResponseSyntax:
            "The token in the login response was invalid. The token must be a JSON object with both a userId and an "
                + "authenticationToken."
        case .loginExpectedToken: "The token to log in by was not provided."
        case .loginInvalidToken: "The token to log in by is not a JSON object."
        case .refreshUnauthorized: "The token can no longer be renewed; log in again."
        default: "\(self)"
        }
    }

    /// An error of this code.
    /// - Parameters:
    ///   - message: What happened and what to do; ``message`` without one.
    ///   - version: Whose domain it has.
    ///   - kind: What it means, where that is not ``kind``.
    public func error(
        _ message: String? = nil, version: AzureVersion = .mobileApps, kind: RemoteError.Kind? = nil,
        status: Int? = nil, body: Data? = nil, underlying: [RemoteError] = []
    ) -> RemoteError {
        RemoteError(
            kind ?? self.kind, domain: version.errorDomain, code: rawValue, message: message ?? self.message,
            status: status, body: body, underlying: underlying)
    }
}
