import Foundation

/// The users of a MaxLeap or Parse application, in the words that all services share.
///
///     let guest = try await client.users.automaticUser()  // the user who is logged in, or an anonymous one
///     let user = try await client.users.signUp("eve", password: password, fields: ["email": "eve@example.com"])
///     print(guest.id == user.id)  // true: the anonymous user has a name now
///
/// ``MaxLeapClient`` has the features that only these services have, such as log-in by phone and verified mail addresses.
///
/// Passwords are reset by mail address. An account at another service is sent with `id`, `access_token` and `expiration_date`,
/// that of `twitter` with `auth_token` and `auth_token_secret`; give what else the service needs in ``ProviderToken/fields``.
public struct MaxLeapUsers: RemoteUsers {
    let client: MaxLeapClient

    /// `MaxLeap` or `Parse`.
    public var service: String { client.dialect.name }
    /// All.
    public var abilities: UserAbilities {
        [
            .signUp, .passwords, .providers, .anonymousUsers, .refreshing, .changingPasswords, .resettingPasswords,
            .linking,
        ]
    }

    /// The user who is logged in, with the fields that the server last told.
    public var currentUser: RemoteUser? { client.currentUser.flatMap { try? Self.user($0) } }

    /// Makes a user, or gives the anonymous user who is logged in a name.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    @discardableResult
    public func signUp(_ name: String, password: String, fields: JSONObject) async throws(RemoteError) -> RemoteUser {
        var values: [String: MaxLeapValue] = [:]
        for (field, value) in fields where field != "email" { values[field] = try MaxLeapValue(value) }
        let wasAnonymous = client.currentUser?.isAnonymous == true
        var user = try Self.user(
            await client.signUp(username: name, password: password, email: fields["email"]?.string, fields: values))
        user.isNew = !wasAnonymous
        return user
    }

    /// Logs a user in.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    @discardableResult
    public func logIn(_ name: String, password: String) async throws(RemoteError) -> RemoteUser {
        try Self.user(await client.logIn(username: name, password: password))
    }

    /// Logs a user in by an account at another service, and makes the user where there is none.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    @discardableResult
    public func logIn(_ token: ProviderToken) async throws(RemoteError) -> RemoteUser {
        try Self.user(await client.logIn(Self.data(token)))
    }

    /// Logs in a user without a name.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    @discardableResult
    public func logInAnonymously() async throws(RemoteError) -> RemoteUser {
        try Self.user(await client.logInAnonymously())
    }

    /// The user who is logged in, or else an anonymous one: this call makes the account at the server. Calls of the same time
    /// make one account.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    public func automaticUser() async throws(RemoteError) -> RemoteUser { try Self.user(await client.automaticUser()) }

    /// Logs the user out: at the server, and then here.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    public func logOut() async throws(RemoteError) { try await client.logOut() }

    /// Reads the user who is logged in again.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    @discardableResult
    public func refreshUser() async throws(RemoteError) -> RemoteUser { try Self.user(await client.refreshUser()) }

    /// Gives the user who is logged in another password. Parse does not look at the old one.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    public func changePassword(from old: String, to new: String) async throws(RemoteError) {
        try await client.changePassword(from: old, to: new)
    }

    /// Has a mail sent to an address, with a link by which its user sets a new password.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    public func requestPasswordReset(for user: String) async throws(RemoteError) {
        try await client.requestPasswordReset(email: user)
    }

    /// Lets the user who is logged in log in by an account at another service, too. An anonymous user is anonymous no longer.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    public func link(_ token: ProviderToken) async throws(RemoteError) { try await client.link(Self.data(token)) }

    /// Takes that back.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    public func unlink(_ provider: String) async throws(RemoteError) { try await client.unlink(provider) }

    static func data(_ token: ProviderToken) throws(RemoteError) -> MaxLeapAuthData {
        var fields: JSONObject = [:]
        if let id = token.userID { fields["id"] = .string(id) }
        if token.provider == "twitter" {
            fields["auth_token"] = .string(token.token)
            if let secret = token.secret { fields["auth_token_secret"] = .string(secret) }
        } else {
            fields["access_token"] = .string(token.token)
        }
        if let expiration = token.expiration {
            guard let date = MaxLeapDate.text(expiration) else {
                throw MaxLeapError.invalidAuthData.error("the token ends at no date that can be sent: \(expiration)")
            }
            fields["expiration_date"] = .string(date)
        }
        fields.merge(token.fields)
        return MaxLeapAuthData(token.provider, fields)
    }

    private static func user(_ object: MaxLeapObject) throws(RemoteError) -> RemoteUser {
        var providers: Set<String> = []
        if case .dictionary(let services)? = object.values["authData"] {
            providers = Set(services.keys).filter { object.authData(of: $0) != nil && $0 != "anonymous" }
        }
        let hidden: Set<String> = ["sessionToken", "password", "authData", "isNew"]
        return RemoteUser(
            id: object.objectId ?? "", name: object["username"]?.string, isAnonymous: object.isAnonymous,
            isNew: object.values["isNew"].map { $0 == .boolean(true) }, providers: providers,
            fields: JSONObject(try object.kept().filter { !hidden.contains($0.name) }))
    }
}
