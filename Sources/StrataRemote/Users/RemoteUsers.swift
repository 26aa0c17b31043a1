import Foundation

/// The users of a service: how one signs up, logs in and out, and stays logged in until the next launch.
///
///     let user = try await users.logIn("bob", password: password)
///     print(user.id, users.currentUser?.id ?? "-")
///
/// Services differ in what they have. ``abilities`` tells; what a service lacks throws ``RemoteError`` of kind
/// ``RemoteError/Kind/unsupported`` with the name of the ability, and nothing is sent. All other errors are the service's own.
/// Methods may be called from any task.
public protocol RemoteUsers: Sendable {
    /// The kind of service, for messages: its name.
    var service: String { get }
    /// What the service has.
    var abilities: UserAbilities { get }
    /// The user who is logged in, as far as that is kept here; nil if nobody is. It is there at the next launch, too.
    var currentUser: RemoteUser? { get }

    /// Makes a user, who is logged in then. If an anonymous user is logged in, that one gets the name and keeps what is theirs.
    /// - Parameter fields: Further fields of the user, as the service names them.
    /// - Throws: ``RemoteError`` if the name is taken, or the name or password is empty.
    @discardableResult
    func signUp(_ name: String, password: String, fields: JSONObject) async throws(RemoteError) -> RemoteUser

    /// Logs a user in. The session that was there ends here; the server is not told.
    /// - Throws: ``RemoteError``. A wrong name or password has the service's own code; the session that was there stays then.
    @discardableResult
    func logIn(_ name: String, password: String) async throws(RemoteError) -> RemoteUser

    /// Logs a user in by an account at another service, and makes the user where there is none.
    /// - Throws: ``RemoteError`` if the service does not know the provider, or refuses the token.
    @discardableResult
    func logIn(_ token: ProviderToken) async throws(RemoteError) -> RemoteUser

    /// Logs in a user without a name, who is lost with the session unless ``signUp(_:password:fields:)`` or ``link(_:)`` comes
    /// before.
    /// - Throws: ``RemoteError`` if the service has no anonymous users, or does not make one.
    @discardableResult
    func logInAnonymously() async throws(RemoteError) -> RemoteUser

    /// The user who is logged in, or else an anonymous one that is made now.
    /// - Throws: ``RemoteError`` if the service has no anonymous users, or does not make one.
    @discardableResult
    func automaticUser() async throws(RemoteError) -> RemoteUser

    /// Logs the user out, at the server if the service has that, and then here. Where the server cannot be asked the session
    /// stays.
    /// - Throws: ``RemoteError`` if the server could not be asked; the user is still logged in then.
    func logOut() async throws(RemoteError)

    /// Asks the server about the user who is logged in, and keeps what it says.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unauthorized`` if nobody is logged in.
    @discardableResult
    func refreshUser() async throws(RemoteError) -> RemoteUser

    /// Gives the user who is logged in another password.
    /// - Throws: ``RemoteError`` if the old password is wrong, or nobody is logged in.
    func changePassword(from old: String, to new: String) async throws(RemoteError)

    /// Has a mail sent by which a user gets a new password.
    /// - Parameter user: The name or the mail address, whichever the service asks for.
    /// - Throws: ``RemoteError`` if there is no such user. Services may hide that.
    func requestPasswordReset(for user: String) async throws(RemoteError)

    /// Lets the user who is logged in log in by an account at another service, too.
    /// - Throws: ``RemoteError`` if nobody is logged in, or the account belongs to another user.
    func link(_ token: ProviderToken) async throws(RemoteError)

    /// Takes the account at another service from the user who is logged in.
    /// - Throws: ``RemoteError`` if nobody is logged in, or the user has no account there.
    func unlink(_ provider: String) async throws(RemoteError)
}

extension RemoteUsers {
    /// Makes a user without further fields, who is logged in then.
    /// - Throws: As ``signUp(_:password:fields:)``.
    @discardableResult
    public func signUp(_ name: String, password: String) async throws(RemoteError) -> RemoteUser {
        try await signUp(name, password: password, fields: [:])
    }

    /// The user who is logged in, or else an anonymous one that is made now.
    /// - Throws: As ``logInAnonymously()``, if nobody is logged in.
    public func automaticUser() async throws(RemoteError) -> RemoteUser {
        if let currentUser { return currentUser }
        return try await logInAnonymously()
    }
}

// What a service lacks.

extension RemoteUsers {
    /// Says that the service lacks it.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, always.
    public func signUp(_ name: String, password: String, fields: JSONObject) async throws(RemoteError) -> RemoteUser {
        throw lacking(.signUp)
    }
    /// Says that the service lacks it.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, always.
    public func logIn(_ name: String, password: String) async throws(RemoteError) -> RemoteUser {
        throw lacking(.passwords)
    }
    /// Says that the service lacks it.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, always.
    public func logIn(_ token: ProviderToken) async throws(RemoteError) -> RemoteUser { throw lacking(.providers) }
    /// Says that the service lacks it.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, always.
    public func logInAnonymously() async throws(RemoteError) -> RemoteUser { throw lacking(.anonymousUsers) }
    /// Says that the service lacks it.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, always.
    public func refreshUser() async throws(RemoteError) -> RemoteUser { throw lacking(.refreshing) }
    /// Says that the service lacks it.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, always.
    public func changePassword(from old: String, to new: String) async throws(RemoteError) {
        throw lacking(.changingPasswords)
    }
    /// Says that the service lacks it.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, always.
    public func requestPasswordReset(for user: String) async throws(RemoteError) { throw lacking(.resettingPasswords) }
    /// Says that the service lacks it.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, always.
    public func link(_ token: ProviderToken) async throws(RemoteError) { throw lacking(.linking) }
    /// Says that the service lacks it.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, always.
    public func unlink(_ provider: String) async throws(RemoteError) { throw lacking(.linking) }

    /// The error for what the service lacks.
    public func lacking(_ ability: UserAbilities) -> RemoteError {
        RemoteError(
            .unsupported, domain: "Strata",
            message: "\(service) lacks \(ability); nothing was sent. Ask RemoteUsers.abilities first")
    }
}
