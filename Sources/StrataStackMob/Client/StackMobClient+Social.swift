import Foundation

extension StackMobClient {
    // MARK: Facebook

    /// Logs in by a token of Facebook.
    /// - Parameters:
    ///   - createsUser: Whether a user is made if none has that account.
    ///   - username: The primary key of a user that is made; nil for the server's choice.
    /// - Returns: The user.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    @discardableResult
    public func logIn(
        facebookToken: String, createsUser: Bool = false, username: String? = nil, options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        try await logIn(.facebook(token: facebookToken, creates: createsUser, username: username), options: options)
    }

    /// Makes a user who has an account of Facebook. Nobody is logged in by that.
    /// - Returns: The user.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    @discardableResult
    public func createUser(
        facebookToken: String, username: String? = nil, options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        try await perform(.createWithFacebook(token: facebookToken, username: username), options).object()
    }

    /// Gives the user who is logged in an account of Facebook to log in by.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    public func linkFacebook(token: String, options: RequestOptions? = nil) async throws(RemoteError) {
        _ = try await perform(.linkFacebook(token: token), options)
    }

    /// Takes the account of Facebook from the user who is logged in.
    /// - Throws: ``RemoteError``, with code 404 if there is none.
    public func unlinkFacebook(options: RequestOptions? = nil) async throws(RemoteError) {
        _ = try await perform(.unlinkFacebook, options)
    }

    /// Posts a message on Facebook for the user who is logged in.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    public func postToFacebook(_ message: String, options: RequestOptions? = nil) async throws(RemoteError) {
        _ = try await perform(.postFacebookMessage(message), options)
    }

    /// What Facebook reports about the user who is logged in.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    public func facebookUserInfo(options: RequestOptions? = nil) async throws(RemoteError) -> JSONObject {
        try await perform(.facebookUserInfo, options).object()
    }

    // MARK: Twitter

    /// Logs in by a token of Twitter.
    /// - Parameters:
    ///   - createsUser: Whether a user is made if none has that account.
    ///   - username: The primary key of a user that is made; nil for the server's choice.
    /// - Returns: The user.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    @discardableResult
    public func logIn(
        twitterToken: String, secret: String, createsUser: Bool = false, username: String? = nil,
        options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        try await logIn(
            .twitter(token: twitterToken, secret: secret, creates: createsUser, username: username), options: options)
    }

    /// Makes a user who has an account of Twitter. Nobody is logged in by that.
    /// - Returns: The user.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    @discardableResult
    public func createUser(
        twitterToken: String, secret: String, username: String? = nil, options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        try await perform(.createWithTwitter(token: twitterToken, secret: secret, username: username), options).object()
    }

    /// Gives the user who is logged in an account of Twitter to log in by.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    public func linkTwitter(token: String, secret: String, options: RequestOptions? = nil) async throws(RemoteError) {
        _ = try await perform(.linkTwitter(token: token, secret: secret), options)
    }

    /// Takes the account of Twitter from the user who is logged in.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    public func unlinkTwitter(options: RequestOptions? = nil) async throws(RemoteError) {
        _ = try await perform(.unlinkTwitter, options)
    }

    /// Posts a status on Twitter for the user who is logged in.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    public func postToTwitter(_ status: String, options: RequestOptions? = nil) async throws(RemoteError) {
        _ = try await perform(.updateTwitterStatus(status), options)
    }

    /// What Twitter reports about the user who is logged in.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    public func twitterUserInfo(options: RequestOptions? = nil) async throws(RemoteError) -> JSONObject {
        try await perform(.twitterUserInfo, options).object()
    }

    // MARK: Gigya

    /// Logs in by an account of Gigya.
    /// - Parameters:
    ///   - gigyaUID: The user's identifier at Gigya.
    ///   - signature: Gigya's signature of it.
    ///   - timestamp: When that was signed, as Gigya gave it.
    /// - Returns: The user.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    @discardableResult
    public func logIn(
        gigyaUID: String, signature: String, timestamp: String, options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        try await logIn(.gigya(uid: gigyaUID, signature: signature, timestamp: timestamp), options: options)
    }

    /// Gives the user who is logged in an account of Gigya to log in by.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    public func linkGigya(
        uid: String, signature: String, timestamp: String, options: RequestOptions? = nil
    ) async throws(RemoteError) {
        _ = try await perform(.linkGigya(uid: uid, signature: signature, timestamp: timestamp), options)
    }

    /// Takes the account of Gigya from the user who is logged in.
    /// - Throws: ``RemoteError`` if the server refuses, or cannot be reached.
    public func unlinkGigya(options: RequestOptions? = nil) async throws(RemoteError) {
        _ = try await perform(.unlinkGigya, options)
    }
}
