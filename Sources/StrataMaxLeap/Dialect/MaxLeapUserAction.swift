/// A request about users and sessions.
///
///     try await client.request(.requestPhoneVerify(phone: "4790000000"))  // sends the user who is logged in a code
///     try await client.request(.verifyPhone(code: "1234"))
///
/// ``MaxLeapClient`` has methods for the frequent ones, which also keep the session; send the rest with
/// ``MaxLeapClient/request(_:options:)``. ``MaxLeapDialect/userRequest(_:options:)`` only makes the request. An empty name,
/// password or address is an error, and so is an action that Parse does not have: nothing is sent then.
public enum MaxLeapUserAction: Sendable, Hashable {
    /// A new user, by name and password, or by the data of another service.
    case signUp(JSONObject)
    /// A session by name and password.
    case logIn(username: String, password: String)
    /// A session by a code that was sent to a phone; MaxLeap only.
    case logInByPhone(number: String, code: String)
    /// The end of the session.
    case logOut
    /// The user of the session.
    case currentUser
    /// Changes of a user.
    case update(id: String, JSONObject)
    /// Another password; in Parse a change of the user.
    case changePassword(old: String, new: String)
    /// A mail by which a password can be set again, to an address.
    case requestPasswordReset(email: String)
    /// The new password, for the page that the mail leads to; MaxLeap only.
    case resetPassword(new: String)
    /// A mail that proves an address.
    case requestEmailVerify(email: String)
    /// What that mail leads to.
    case verifyEmail(token: String)
    /// A code by SMS to log in with; MaxLeap only.
    case requestLoginCode(phone: String)
    /// A code by SMS that proves the phone of the user; MaxLeap only.
    case requestPhoneVerify(phone: String)
    /// The code that proves the phone; MaxLeap only.
    case verifyPhone(code: String)
    /// A code by SMS to set the password with; MaxLeap only.
    case requestPasswordResetCode(phone: String)
    /// A new password by that code; MaxLeap only.
    case resetPasswordByCode(code: String, new: String)
    /// The end of a user.
    case delete(id: String)
}

extension MaxLeapDialect {
    /// The request of an action.
    /// - Throws: ``RemoteError`` with code 200, 201 or 204 for a name, password or address that is empty, 108 for what the
    ///   dialect does not have. Nothing is sent then.
    public func userRequest(
        _ action: MaxLeapUserAction, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        switch action {
        case .signUp(let fields):
            if fields["authData"]?.members == nil {
                try Self.check(fields["username"]?.string ?? "", .usernameMissing, "username")
                try Self.check(fields["password"]?.string ?? "", .passwordMissing, "password")
            }
            return try createRequest("_User", fields, options: options)
        case .logIn(let username, let password):
            try Self.check(username, .usernameMissing, "username")
            try Self.check(password, .passwordMissing, "password")
            // An address is written to logs on the way; Parse takes both in the body.
            if flavor == .parse {
                var request = try request(
                    .post, ["login"], json: ["username": .string(username), "password": .string(password)],
                    options: options)
                if let field = field(.revocableSession) { request.head.headerFields[field] = "1" }
                return request
            }
            return try request(
                .get, ["login"],
                parameters: [MaxLeapParameter("username", username), MaxLeapParameter("password", password)],
                options: options)
        case .logOut: return try request(flavor == .maxLeap ? .get : .post, ["logout"], options: options)
        case .currentUser: return try request(.get, ["users", "me"], options: options)
        case .update(let id, let changes): return try updateRequest("_User", id, changes, options: options)
        case .delete(let id): return try deleteRequest("_User", id, options: options)
        case .requestPasswordReset(let email):
            try Self.check(email, .emailMissing, "email")
            return try request(.post, ["requestPasswordReset"], json: ["email": .string(email)], options: options)
        case .requestEmailVerify(let email):
            try Self.check(email, .emailMissing, "email")
            let path = flavor == .maxLeap ? "requestEmailVerify" : "verificationEmailRequest"
            return try request(.post, [path], json: ["email": .string(email)], options: options)
        default:
            guard flavor == .maxLeap else {
                throw MaxLeapError.commandUnavailable.error("Parse does not do this for users: \(action.title)")
            }
            return try maxLeapRequest(action, options)
        }
    }

    /// What only MaxLeap has.
    private func maxLeapRequest(
        _ action: MaxLeapUserAction, _ options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        func post(_ path: [String], _ json: JSONObject) throws(RemoteError) -> WireRequest {
            try request(.post, path, json: json, options: options)
        }
        switch action {
        case .changePassword(let old, let new):
            try Self.check(old, .passwordMissing, "old password")
            try Self.check(new, .passwordMissing, "new password")
            return try post(["updatePassword"], ["password": .string(old), "newPassword": .string(new)])
        case .resetPassword(let new):
            try Self.check(new, .passwordMissing, "new password")
            return try post(["resetPassword"], ["newPassword": .string(new)])
        case .verifyEmail(let token):
            try Self.check(token, .sessionMissing, "token")
            return try request(.get, ["verifyEmail", token], options: options)
        case .logInByPhone(let number, let code):
            try Self.check(number, .usernameMissing, "number")
            try Self.check(code, .passwordMissing, "code")
            return try post(["loginByMobilePhone"], ["mobilePhone": .string(number), "smsCode": .string(code)])
        case .requestLoginCode(let phone): return try post(["requestLoginSmsCode"], try Self.phone(phone))
        case .requestPhoneVerify(let phone): return try post(["requestMobilePhoneVerify"], try Self.phone(phone))
        case .requestPasswordResetCode(let phone):
            return try post(["requestPasswordResetBySmsCode"], try Self.phone(phone))
        case .verifyPhone(let code):
            try Self.check(code, .passwordMissing, "code")
            return try post(["verifyMobilePhone", code], [:])
        case .resetPasswordByCode(let code, let new):
            try Self.check(code, .passwordMissing, "code")
            try Self.check(new, .passwordMissing, "new password")
            return try request(
                .put, ["resetPasswordBySmsCode", code], json: ["password": .string(new)], options: options)
        default: throw MaxLeapError.commandUnavailable.error("MaxLeap does not do this: \(action.title)")
        }
    }

    private static func phone(_ number: String) throws(RemoteError) -> JSONObject {
        try check(number, .usernameMissing, "number")
        return ["mobilePhone": .string(number)]
    }

    private static func check(_ text: String, _ error: MaxLeapError, _ name: String) throws(RemoteError) {
        guard !text.isEmpty else { throw error.error("the \(name) is missing; nothing was sent") }
    }
}

extension MaxLeapUserAction {
    /// Whether it is done for a user who is logged in. What gets or ends a session must not lead to a log-in.
    var needsSession: Bool {
        switch self {
        case .currentUser, .update, .changePassword, .requestPhoneVerify, .verifyPhone, .delete: true
        default: false
        }
    }

    /// Whether it gets a session.
    var opensSession: Bool {
        switch self {
        case .signUp, .logIn, .logInByPhone: true
        default: false
        }
    }

    /// What it is, without its content.
    var title: String { "\(self)".prefix { $0 != "(" }.description }
}
