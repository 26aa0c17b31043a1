/// The users of a StackMob application, in the words that all services share.
///
///     let user = try await client.users.signUp("ann", password: password, fields: ["city": "Oslo"])
///     print(user.id, client.users.currentUser?.name ?? "-")
///     try await client.users.changePassword(from: password, to: other)
///
/// ``StackMobClient`` has the features that only StackMob has, such as temporary passwords and posts on social networks.
///
/// Names are primary keys of the schema of users. StackMob has no anonymous users. Accounts of `facebook` and `twitter` make a
/// user where there is none; those of `gigya` do not, and have the signature as token and its time as `timestamp` in
/// ``ProviderToken/fields``.
public struct StackMobUsers: RemoteUsers {
    let client: StackMobClient
    private var dialect: StackMobDialect { client.configuration.dialect }

    /// `StackMob`.
    public var service: String { dialect.name }
    /// All but anonymous users.
    public var abilities: UserAbilities {
        [.signUp, .passwords, .providers, .refreshing, .changingPasswords, .resettingPasswords, .linking]
    }

    /// The user of the session, with only the name.
    public var currentUser: RemoteUser? {
        client.session.isLoggedIn ? client.session.userID.map { RemoteUser(id: $0, name: $0) } : nil
    }

    /// Makes a user object, and logs in.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    @discardableResult
    public func signUp(_ name: String, password: String, fields: JSONObject) async throws(RemoteError) -> RemoteUser {
        guard !name.isEmpty, !password.isEmpty else {
            throw StackMobError.invalid("a user needs a name and a password; nothing was sent")
        }
        var object = fields
        object[dialect.userPrimaryKeyField] = .string(name)
        object[dialect.userPasswordField] = .string(password)
        try await client.dataStore.create(object, in: dialect.userSchema)
        var user = try await logIn(name, password: password)
        user.isNew = true
        return user
    }

    /// Logs a user in.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    @discardableResult
    public func logIn(_ name: String, password: String) async throws(RemoteError) -> RemoteUser {
        try user(await client.logIn(username: name, password: password))
    }

    /// Logs a user in by an account of Facebook, Twitter or Gigya.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    @discardableResult
    public func logIn(_ token: ProviderToken) async throws(RemoteError) -> RemoteUser {
        switch token.provider {
        case "facebook": return try user(await client.logIn(facebookToken: token.token, createsUser: true))
        case "twitter":
            return try user(
                await client.logIn(twitterToken: token.token, secret: token.secret ?? "", createsUser: true))
        case "gigya":
            let (uid, timestamp) = Self.gigya(token)
            return try user(await client.logIn(gigyaUID: uid, signature: token.token, timestamp: timestamp))
        default: throw unknown(token.provider)
        }
    }

    /// Logs the user out: at the server, and then here.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    public func logOut() async throws(RemoteError) {
        guard client.session.credentials != nil else { return }
        try await client.logOut()
    }

    /// Reads the user of the session.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    @discardableResult
    public func refreshUser() async throws(RemoteError) -> RemoteUser { try user(await client.loggedInUser()) }

    /// Gives the user who is logged in another password.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    public func changePassword(from old: String, to new: String) async throws(RemoteError) {
        try await client.resetPassword(from: old, to: new)
    }

    /// Has a temporary password sent to a user, given by name.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    public func requestPasswordReset(for user: String) async throws(RemoteError) {
        try await client.forgotPassword(username: user)
    }

    /// Gives the user who is logged in an account of Facebook, Twitter or Gigya.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    public func link(_ token: ProviderToken) async throws(RemoteError) {
        switch token.provider {
        case "facebook": try await client.linkFacebook(token: token.token)
        case "twitter": try await client.linkTwitter(token: token.token, secret: token.secret ?? "")
        case "gigya":
            let (uid, timestamp) = Self.gigya(token)
            try await client.linkGigya(uid: uid, signature: token.token, timestamp: timestamp)
        default: throw unknown(token.provider)
        }
    }

    /// Takes the account of Facebook, Twitter or Gigya from the user who is logged in.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    public func unlink(_ provider: String) async throws(RemoteError) {
        switch provider {
        case "facebook": try await client.unlinkFacebook()
        case "twitter": try await client.unlinkTwitter()
        case "gigya": try await client.unlinkGigya()
        default: throw unknown(provider)
        }
    }

    private func user(_ fields: JSONObject) throws(RemoteError) -> RemoteUser {
        guard let id = fields[dialect.userPrimaryKeyField]?.string ?? client.session.userID else {
            throw RemoteError(
                .invalidAnswer, domain: StackMobError.domain,
                message: "the answer has no user with a field \(dialect.userPrimaryKeyField)")
        }
        let secrets = Set(dialect.secretNames.map { $0.lowercased() })
        return RemoteUser(
            id: id, name: id, fields: JSONObject(fields.filter { !secrets.contains($0.name.lowercased()) }))
    }

    private static func gigya(_ token: ProviderToken) -> (uid: String, timestamp: String) {
        let timestamp = token.fields["timestamp"]
        return (token.userID ?? "", timestamp?.string ?? timestamp?.integer.map { String($0) } ?? "")
    }

    private func unknown(_ provider: String) -> RemoteError {
        RemoteError(
            .unsupported, domain: "Strata",
            message: "\(service) knows facebook, twitter and gigya, not \(provider.debugDescription); nothing was sent")
    }
}
