import Foundation

extension StackMobClient {
    /// Logs a user in. A session that was there ends here; the server is not told.
    ///
    ///     do throws(RemoteError) {
    ///         let user = try await client.logIn(username: "bob", password: password)
    ///         print(user["username"]?.string ?? "")
    ///     } catch {
    ///         print(error.kind == .unauthorized ? "wrong name or password" : "\(error)")
    ///     }
    ///
    /// - Returns: The user, with the fields of its schema.
    /// - Throws: ``RemoteError`` with code -100 if a name or password is empty, -101 if the password is a temporary one (see
    ///   ``logIn(username:temporaryPassword:newPassword:options:)``), 401 if one of them is wrong.
    @discardableResult
    public func logIn(
        username: String, password: String, options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        try await logIn(.password(username: username, password: password), options: options)
    }

    /// Logs a user in with a temporary password, which a new one takes the place of.
    /// - Returns: The user.
    /// - Throws: ``RemoteError``, with code -100 if an argument is empty.
    @discardableResult
    public func logIn(
        username: String, temporaryPassword: String, newPassword: String, options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        try await logIn(
            .temporaryPassword(username: username, password: temporaryPassword, newPassword: newPassword),
            options: options)
    }

    /// Logs a user in by whatever there is to show: a password, or a token of Facebook, Twitter or Gigya.
    /// - Returns: The user.
    /// - Throws: ``RemoteError``, with code -100 if a part of it is empty.
    @discardableResult
    public func logIn(
        _ grant: TokenGrant, options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        try await session.begin(grant, options ?? configuration.requestOptions)
    }

    /// Logs the user out: at the server, and then here.
    ///
    /// Where the server cannot be asked the session stays; ``UserSession/replace(with:)`` of nil forgets it all the same.
    /// - Throws: ``RemoteError`` if the server could not be asked; the user is still logged in then.
    public func logOut(options: RequestOptions? = nil) async throws(RemoteError) {
        _ = try await perform(.logOut, options)
        session.replace(with: nil)
    }

    /// The user who is logged in, as the server has it now.
    /// - Throws: ``RemoteError``, with code 401 if nobody is logged in.
    public func loggedInUser(options: RequestOptions? = nil) async throws(RemoteError) -> JSONObject {
        try await perform(.loggedInUser, options).object()
    }

    /// Has a temporary password sent to a user by mail. It is good for 24 hours.
    /// - Throws: ``RemoteError``, with code -100 if the name is empty.
    public func forgotPassword(username: String, options: RequestOptions? = nil) async throws(RemoteError) {
        _ = try await perform(.forgotPassword(username: username), options)
    }

    /// Gives the user who is logged in another password.
    /// - Throws: ``RemoteError``, with code -100 if an argument is empty.
    public func resetPassword(
        from old: String, to new: String, options: RequestOptions? = nil
    ) async throws(RemoteError) {
        _ = try await perform(.resetPassword(old: old, new: new), options)
    }

    /// Does something with users.
    func perform(_ action: UserAction, _ options: RequestOptions?) async throws(RemoteError) -> WireResponse {
        var options = options ?? configuration.requestOptions
        // An address is seen by everybody on the way.
        if action.carriesSecret, configuration.dialect.securesCredentials { options.isSecure = true }
        return try await send(configuration.dialect.userRequest(action, options: options), options)
    }

    /// Sends a signed request.
    /// - Throws: ``RemoteError``, including for answers that report a failure.
    func send(
        _ request: WireRequest, _ options: RequestOptions, retrying block: RetryBlock? = nil
    ) async throws(RemoteError) -> WireResponse {
        let response = try await sender.send(request, options: options, retrying: block)
        if let failure = configuration.dialect.failure(response) { throw failure }
        return response
    }
}

extension UserAction {
    /// Whether a password or token goes along.
    fileprivate var carriesSecret: Bool {
        switch self {
        case .resetPassword, .createWithFacebook, .linkFacebook, .createWithTwitter, .linkTwitter, .linkGigya: true
        case .logOut, .loggedInUser, .forgotPassword, .unlinkFacebook, .postFacebookMessage, .facebookUserInfo,
            .unlinkTwitter, .updateTwitterStatus, .twitterUserInfo, .unlinkGigya:
            false
        }
    }
}
