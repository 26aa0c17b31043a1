import Foundation

extension MaxLeapClient {
    /// The user who is logged in, as the server last told; nil if nobody is.
    public var currentUser: MaxLeapObject? { session.user }

    /// Makes a user, who is logged in then. An anonymous user who is logged in becomes this one, and keeps what is theirs.
    /// - Parameters:
    ///   - email: An address, which may have to be verified.
    ///   - fields: Further fields.
    /// - Throws: ``RemoteError``, with code 200 or 201 for an empty name or password, 202 or 203 if another user has the name
    ///   or address.
    @discardableResult
    public func signUp(
        username: String, password: String, email: String? = nil, fields: [String: MaxLeapValue] = [:],
        options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapObject {
        guard !username.isEmpty else { throw MaxLeapError.usernameMissing.error("the username is missing") }
        guard !password.isEmpty else { throw MaxLeapError.passwordMissing.error("the password is missing") }
        var user = MaxLeapObject("_User")
        for (key, value) in fields { user[key] = value }
        user["username"] = .string(username)
        if let email { user["email"] = .string(email) }
        var body = try user.changes()
        body["password"] = .string(password)
        if let current = currentUser, let id = current.objectId, current.isAnonymous {
            body["authData"] = ["anonymous": nil]
            var known = current
            known.operations = user.operations
            let answer = try dialect.object(await perform(.update(id: id, body), options))
            var saved = try known.saved(answer)
            saved.setAuthData(nil, of: "anonymous")
            session.note(saved)
            return saved
        }
        let answer = try dialect.object(await perform(.signUp(body), options))
        return try begin(user.saved(answer))
    }

    /// Logs a user in. The session that was there ends here; the server is not told.
    /// - Throws: ``RemoteError``, with code 200 or 201 for an empty name or password; if one is wrong, 210 or 211 from MaxLeap
    ///   and 101 from Parse.
    @discardableResult
    public func logIn(
        username: String, password: String, options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapObject {
        try begin(await user(.logIn(username: username, password: password), options))
    }

    /// Logs a user in by an account at another service, and makes the user where there is none: ``MaxLeapObject/isNew``
    /// tells.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    @discardableResult
    public func logIn(
        _ data: MaxLeapAuthData, options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapObject {
        var user = try await user(.signUp(["authData": data.json]), options)
        if user.authData(of: data.provider) == nil { user.setAuthData(data.fields, of: data.provider) }
        return try begin(user)
    }

    /// Logs in a user without a name, who is lost with the session unless ``signUp(username:password:email:fields:options:)``
    /// or ``link(_:options:)`` comes before.
    /// - Throws: ``RemoteError`` if the server does not make the user.
    @discardableResult
    public func logInAnonymously(options: RequestOptions? = nil) async throws(RemoteError) -> MaxLeapObject {
        try await logIn(.anonymous(), options: options)
    }

    /// The user who is logged in, or else an anonymous one: this call makes the account at the server. Calls of the same time
    /// make one account. The request is not cancelled with the task of a caller, so that the account is not lost.
    /// - Parameter options: How the request is made; of several calls, those of the first one count.
    /// - Throws: ``RemoteError`` if the server does not make the user; the next call tries again.
    public func automaticUser(options: RequestOptions? = nil) async throws(RemoteError) -> MaxLeapObject {
        let guest = session.guest { () async throws(RemoteError) in
            try await self.logInAnonymously(options: options)
        }
        if let guest { return try await guest.value.get() }
        // The user may have logged out meanwhile.
        guard let user = currentUser else { return try await automaticUser(options: options) }
        return user
    }

    /// Takes up a session by its token, for instance one that an app extension or another device shares. The server is asked whose
    /// it is.
    /// - Throws: ``RemoteError``, with code 160 or 209 if it has ended; the session that was there stays.
    @discardableResult
    public func become(token: String, options: RequestOptions? = nil) async throws(RemoteError) -> MaxLeapObject {
        guard let field = dialect.field(.sessionToken), !token.isEmpty else {
            throw MaxLeapError.sessionMissing.error("the token is missing")
        }
        var options = self.options(options)
        options.renewsSession = false
        options.headers[field.rawName] = token
        let user = try await user(.currentUser, options)
        session.replace(token: token, user: user)
        return user
    }

    /// Logs the user out: at the server, and then here. Where the server cannot be asked the session stays;
    /// ``MaxLeapSession/replace(token:user:)`` with nil forgets it all the same.
    /// - Throws: ``RemoteError`` if the server could not be asked; the user is still logged in then.
    public func logOut(options: RequestOptions? = nil) async throws(RemoteError) {
        guard session.isLoggedIn else { return }
        do throws(RemoteError) {
            _ = try await perform(.logOut, options)
        } catch {
            // A session that has already ended is fine.
            guard error.kind == .unauthorized else { throw error }
        }
        session.replace(token: nil, user: nil)
    }

    /// Reads the user who is logged in again.
    /// - Throws: ``RemoteError``, with code 206 if nobody is logged in.
    @discardableResult
    public func refreshUser(options: RequestOptions? = nil) async throws(RemoteError) -> MaxLeapObject {
        _ = try loggedIn()
        let user = try await user(.currentUser, options)
        session.note(user)
        return user
    }

    // MARK: Other services

    /// Lets the user who is logged in log in by an account at another service, too. An anonymous user is anonymous no longer.
    /// - Throws: ``RemoteError``, with code 206 if nobody is logged in, 208 if the account is another user's.
    public func link(_ data: MaxLeapAuthData, options: RequestOptions? = nil) async throws(RemoteError) {
        try await link(data.provider, data.fields, options)
    }

    /// Takes that back.
    /// - Throws: ``RemoteError``, with code 206 if nobody is logged in.
    public func unlink(_ provider: String, options: RequestOptions? = nil) async throws(RemoteError) {
        try await link(provider, nil, options)
    }

    private func link(
        _ provider: String, _ fields: JSONObject?, _ options: RequestOptions?
    ) async throws(RemoteError) {
        let (user, id) = try loggedIn()
        let anonymous = "anonymous"
        let endsAnonymity = fields != nil && provider != anonymous && user.isAnonymous
        var data: JSONObject = [provider: fields.map(JSONValue.object) ?? .null]
        if endsAnonymity { data[anonymous] = .null }
        let answer = try dialect.object(await perform(.update(id: id, ["authData": .object(data)]), options))
        var saved = try user.saved(answer)
        saved.operations = user.operations
        saved.setAuthData(fields, of: provider)
        if endsAnonymity { saved.setAuthData(nil, of: anonymous) }
        session.note(saved)
    }

    // MARK: Requests

    /// The user who is logged in, with the identifier.
    func loggedIn() throws(RemoteError) -> (MaxLeapObject, String) {
        guard let user = currentUser, let id = user.objectId else {
            throw MaxLeapError.sessionMissing.error("nobody is logged in", kind: .unauthorized)
        }
        return (user, id)
    }

    /// Sends what is about users.
    func perform(
        _ action: MaxLeapUserAction, _ options: RequestOptions?
    ) async throws(RemoteError) -> WireResponse {
        var options = self.options(options)
        if !action.needsSession { options.renewsSession = false }
        return try await send(
            dialect.userRequest(action, options: options), options, opensSession: action.opensSession)
    }

    func user(_ action: MaxLeapUserAction, _ options: RequestOptions?) async throws(RemoteError) -> MaxLeapObject {
        try MaxLeapObject("_User", dialect.object(await perform(action, options)))
    }

    /// Begins a session with what a login answered.
    func begin(_ user: MaxLeapObject) throws(RemoteError) -> MaxLeapObject {
        guard let token = user.values["sessionToken"]?.string, user.objectId != nil else {
            throw MaxLeapError.invalidJSON.error(
                "the answer to a login has no user with a session", kind: .invalidAnswer)
        }
        session.replace(token: token, user: user)
        return user
    }
}

extension MaxLeapObject {
    /// Whether the login made the user.
    public var isNew: Bool { values["isNew"] == .boolean(true) }
    /// Whether the mail address of a user is verified: nil if the server does not verify addresses or the user has none, false
    /// until the link in the mail was opened, then true. It is false again when another address has been saved.
    public var isEmailVerified: Bool? {
        if case .boolean(let flag)? = values["emailVerified"] { flag } else { nil }
    }
    /// Whether the user has no name of their own yet.
    public var isAnonymous: Bool { authData(of: "anonymous") != nil }

    /// What the server reported about a user's account at another service; nil if there is none.
    public func authData(of provider: String) -> [String: MaxLeapValue]? {
        guard case .dictionary(let services)? = values["authData"], case .dictionary(let data)? = services[provider]
        else { return nil }
        return data
    }

    mutating func setAuthData(_ fields: JSONObject?, of provider: String) {
        var services: [String: MaxLeapValue] = [:]
        if case .dictionary(let there)? = values["authData"] { services = there }
        services[provider] = fields.flatMap { try? MaxLeapValue(.object($0)) }
        values["authData"] = .dictionary(services)
    }
}
