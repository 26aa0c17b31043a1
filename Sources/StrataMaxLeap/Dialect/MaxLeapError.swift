import Foundation

/// The error codes of MaxLeap and Parse: ``RemoteError/code`` in the domain ``domain``.
///
///     do throws(RemoteError) {
///         try await client.signUp(username: "bob", password: password)
///     } catch {
///         switch MaxLeapError(rawValue: error.code) {
///         case .usernameTaken: print("choose another name")
///         case .emailTaken: print("this address is in use")
///         default: print(error)
///         }
///     }
///
/// Where the two differ, the meaning is MaxLeap's unless the case says otherwise. Servers have further codes, which come as
/// numbers. To handle errors in the same way for all services, look at ``RemoteError/kind``.
public enum MaxLeapError: Int, Sendable, Hashable, CaseIterable {
    /// Another cause.
    case other = -1
    /// An error within the server.
    case internalServer = 1
    /// A service behind the server failed.
    case thirdParty = 2
    /// There is no connection.
    case connectionFailed = 100
    /// No such object.
    case objectNotFound = 101
    /// The query makes no sense, or cannot be expressed.
    case invalidQuery = 102
    /// No class has this name.
    case invalidClassName = 103
    /// The object has no identifier yet.
    case missingObjectId = 104
    /// No field has this name.
    case invalidKeyName = 105
    /// A pointer or type is malformed.
    case invalidPointer = 106
    /// The text is not JSON, or not what it should be.
    case invalidJSON = 107
    /// The server does not do this.
    case commandUnavailable = 108
    /// The client is not set up.
    case notInitialized = 109
    /// A change of an object is malformed.
    case invalidUpdate = 110
    /// A value does not fit its field or operation.
    case incorrectType = 111
    /// The name of a channel is malformed.
    case invalidChannel = 112
    /// The class that something refers to was not found.
    case classNotBound = 113
    /// Push messages are not set up as they should be.
    case pushMisconfigured = 115
    /// The object is larger than the server takes.
    case objectTooLarge = 116
    /// An identifier is malformed.
    case invalidObjectId = 118
    /// The access rules forbid it.
    case operationForbidden = 119
    /// The cache has no such result.
    case cacheMiss = 120
    /// A member of a dictionary has a name that it may not have.
    case invalidNestedKey = 121
    /// The name of a file is malformed.
    case invalidFileName = 122
    /// Access rules are malformed.
    case invalidACL = 123
    /// No answer in time.
    case timeout = 124
    /// An address of mail is malformed.
    case invalidEmail = 125
    /// A file has no content type.
    case missingContentType = 126
    /// A file has no length.
    case missingContentLength = 127
    /// The length of a file is malformed.
    case invalidContentLength = 128
    /// A file is larger than the server takes.
    case fileTooLarge = 129
    /// The server could not save a file.
    case fileNotSaved = 130
    /// A role keeps its name.
    case roleNameImmutable = 136
    /// A value exists already that may be there once.
    case duplicateValue = 137
    /// The name of a role is malformed.
    case invalidRoleName = 139
    /// The application has used what it may.
    case quotaExceeded = 140
    /// Code on the server failed.
    case cloudCodeFailed = 141
    /// There is no such role; in Parse, code on the server does not accept a value.
    case roleNotFound = 142
    /// There is no such code on the server.
    case cloudCodeNotDeployed = 143
    /// The bytes are not an image that the server can read.
    case invalidImage = 150
    /// A file is not uploaded yet.
    case unsavedFile = 151
    /// The time of a push message is malformed.
    case invalidPushTime = 152
    /// The server could not delete a file.
    case fileNotDeleted = 153
    /// The session has ended. Parse says ``invalidSessionTokenOfParse``.
    case invalidSessionToken = 160
    /// The username is missing.
    case usernameMissing = 200
    /// The password is missing.
    case passwordMissing = 201
    /// Another user has the name.
    case usernameTaken = 202
    /// Another user has the address.
    case emailTaken = 203
    /// The address is missing.
    case emailMissing = 204
    /// No user has the address.
    case emailNotFound = 205
    /// There is no session.
    case sessionMissing = 206
    /// Users are made by signing up.
    case mustCreateThroughSignUp = 207
    /// The account of the other service belongs to another user.
    case accountAlreadyLinked = 208
    /// The session has ended, in Parse.
    case invalidSessionTokenOfParse = 209
    /// The password is wrong.
    case passwordMismatch = 210
    /// There is no such user.
    case userNotFound = 211
    /// Something else has the name.
    case nameTaken = 212
    /// Something else has the identifier.
    case identifierTaken = 213
    /// Fields are missing that must be there.
    case fieldsMissing = 214
    /// The user has not verified the mail address yet.
    case emailNotVerified = 215
    /// A receipt of a purchase is not valid.
    case invalidReceipt = 216
    /// There are as many as there may be.
    case quantityReached = 217
    /// The type of a device is wrong.
    case invalidDeviceType = 220
    /// A task is in a state in which this cannot be done.
    case invalidTaskState = 221
    /// A task is malformed.
    case invalidTask = 222
    /// A failure of a task or a push message that MaxLeap's documentation does not explain.
    case unexplainedTaskFailure = 223
    /// A failure of a task or a push message that MaxLeap's documentation does not explain.
    case unexplainedPushFailure = 224
    /// The system that sends push messages failed.
    case pushFailed = 225
    /// The push message has ended.
    case pushEnded = 226
    /// The code that came by SMS is missing.
    case smsCodeMissing = 239
    /// Another user has the phone.
    case phoneTaken = 240
    /// The code that came by SMS is wrong.
    case wrongSmsCode = 241
    /// As many messages were sent by SMS as may be.
    case smsQuotaReached = 242
    /// A request for an SMS is malformed.
    case invalidSmsRequest = 243
    /// The identifier of the account at the other service is missing.
    case linkedIdMissing = 250
    /// The session at the other service is not valid.
    case invalidLinkedSession = 251
    /// The server does not know the other service.
    case unsupportedService = 252
    /// The data of the other service is malformed.
    case invalidAuthData = 253
    /// The user has not verified the phone yet.
    case phoneNotVerified = 254
    /// The captcha was answered wrongly.
    case wrongCaptcha = 301
    /// Who asks may not.
    case unauthorized = 401
    /// The object has another version than the one that a change was made to: an answer of `strata-server` to
    /// ``MaxLeapDialect/usesExtensions``.
    case changed = 412
    /// Too many requests.
    case rateLimited = 503
    /// The request is malformed.
    case invalidRequest = 601
    /// The service for payments failed.
    case billingFailed = 602

    /// The domain of these codes, in both dialects.
    public static let domain = "MaxLeap"

    /// What an error of a code means for the caller; nil for a code that says nothing beyond the HTTP status.
    static func kind(ofCode code: Int) -> RemoteError.Kind? {
        switch code {
        case 1, 2: .unavailable
        case 100: .unreachable
        case 101, 205, 211: .notFound
        // The user is known, and must verify the address or the phone first.
        case 119, 215, 254: .forbidden
        case 124: .timeout
        case 412: .conflict
        case 137, 202, 203, 208, 212, 213, 240: .duplicate
        case 160, 206, 209, 210, 251, 401: .unauthorized
        case 140, 155, 503: .throttled
        default: nil
        }
    }

    /// An error that the client itself finds.
    /// - Parameter kind: What it means; ``RemoteError/Kind/invalidRequest`` unless said otherwise.
    func error(_ message: String, kind: RemoteError.Kind = .invalidRequest, underlying: [RemoteError] = [])
        -> RemoteError
    {
        RemoteError(kind, domain: Self.domain, code: rawValue, message: message, underlying: underlying)
    }

    /// What the back end cannot do.
    static func unsupported(_ message: String) -> RemoteError {
        invalidQuery.error(message, kind: .unsupported)
    }
}

extension MaxLeapDialect {
    /// The error that an answer reports; nil if it is a success. An error is told by the status, or by `errorCode` in an
    /// answer whose status says otherwise.
    public func failure(_ response: WireResponse) -> RemoteError? {
        let json = try? JSONValue(parsing: response.body)
        return failure(response.status, json, response)
    }

    /// - Parameter json: The body, read; nil if it is not JSON.
    func failure(_ status: Int, _ json: JSONValue?, _ response: WireResponse) -> RemoteError? {
        let told = Self.told(json)
        let isSuccess = (200..<300).contains(status)
        if isSuccess, json?["errorCode"]?.integer == nil { return nil }
        // A page of a proxy, a firewall or a portal says nothing of objects.
        let isForeign = json?.members == nil && !response.body.isEmpty && response.isMarkup
        let ofStatus = RemoteError.Kind(status: status)
        var kind = ofStatus
        if isForeign, status < 500, ofStatus != .throttled, ofStatus != .timeout { kind = .invalidAnswer }
        if let code = told.code {
            kind = MaxLeapError.kind(ofCode: code) ?? (isSuccess ? .rejected : ofStatus)
        }
        return RemoteError(
            kind, domain: MaxLeapError.domain, code: told.code ?? Self.code(ofStatus: status),
            message: told.message ?? "the server answered with status \(status)", status: status,
            body: response.body, retryAfter: response[header: "Retry-After"].flatMap(Double.init))
    }

    /// Code and message of a body, in either spelling.
    static func told(_ json: JSONValue?) -> (code: Int?, message: String?) {
        let code = (json?["code"] ?? json?["errorCode"])?.integer.flatMap { Int(exactly: $0) }
        let message = json?["error"]?.string ?? json?["errorMessage"]?.string
        // Code on the server may report objects.
        return (code, message ?? (json?["error"] ?? json?["errorMessage"]).map(\.description))
    }

    /// The code of an answer that tells none.
    static func code(ofStatus status: Int) -> Int {
        let error: MaxLeapError =
            switch status {
            case 401: .unauthorized
            case 403: .operationForbidden
            case 404, 410: .objectNotFound
            case 408: .timeout
            case 409: .duplicateValue
            case 413: .objectTooLarge
            case 429, 503: .rateLimited
            case 500...: .internalServer
            default: .other
            }
        return error.rawValue
    }
}
