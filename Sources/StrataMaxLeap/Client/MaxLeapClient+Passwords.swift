extension MaxLeapClient {
    /// Gives the user who is logged in another password. Sessions elsewhere may end.
    /// - Parameter old: The password there is; Parse does not look at it.
    /// - Throws: ``RemoteError``, with code 206 if nobody is logged in, 210 if the old password is wrong.
    public func changePassword(
        from old: String, to new: String, options: RequestOptions? = nil
    ) async throws(RemoteError) {
        let (user, id) = try loggedIn()
        guard !new.isEmpty else { throw MaxLeapError.passwordMissing.error("the new password is missing") }
        let action: MaxLeapUserAction =
            dialect.flavor == .maxLeap
            ? .changePassword(old: old, new: new) : .update(id: id, ["password": .string(new)])
        let answer = try dialect.object(await perform(action, options))
        var saved = try user.saved(answer)
        saved.operations = user.operations
        session.note(saved)
    }

    /// Whether a password is that of the user who is logged in. The server is asked by a login, whose session is not used.
    /// - Throws: ``RemoteError``, with code 206 if nobody is logged in, or if it has no name.
    public func isPassword(_ password: String, options: RequestOptions? = nil) async throws(RemoteError) -> Bool {
        guard let name = try loggedIn().0["username"]?.string else {
            throw MaxLeapError.usernameMissing.error("the user who is logged in has no name")
        }
        do throws(RemoteError) {
            _ = try await perform(.logIn(username: name, password: password), options)
            return true
        } catch {
            let codes = [MaxLeapError.passwordMismatch, .objectNotFound, .passwordMissing].map(\.rawValue)
            guard error.domain == MaxLeapError.domain, codes.contains(error.code) else { throw error }
            return false
        }
    }

    /// Has a mail sent by which a user can set the password again.
    /// - Throws: ``RemoteError``, with code 204 if the address is empty.
    public func requestPasswordReset(email: String, options: RequestOptions? = nil) async throws(RemoteError) {
        _ = try await perform(.requestPasswordReset(email: email), options)
    }

    /// Has the mail sent again by which an address is verified.
    /// - Throws: ``RemoteError``, with code 204 if the address is empty.
    public func requestEmailVerify(email: String, options: RequestOptions? = nil) async throws(RemoteError) {
        _ = try await perform(.requestEmailVerify(email: email), options)
    }

    /// Has a code to log in with sent to a phone. MaxLeap only.
    /// - Throws: ``RemoteError``, with code 108 for Parse, which has no codes.
    public func requestLoginCode(phone: String, options: RequestOptions? = nil) async throws(RemoteError) {
        _ = try await perform(.requestLoginCode(phone: phone), options)
    }

    /// Logs a user in by that code, and makes the user where there is none. MaxLeap only.
    /// - Throws: ``RemoteError``, with code 108 for Parse, 200 or 201 if the number or the code is empty.
    @discardableResult
    public func logIn(
        phone: String, code: String, options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapObject {
        try begin(await user(.logInByPhone(number: phone, code: code), options))
    }

    /// Does anything else with users: codes by SMS for phones and passwords, for instance.
    /// - Returns: The answer; empty if it has no body.
    /// - Throws: ``RemoteError``, with code 108 for what the dialect does not have.
    @discardableResult
    public func request(
        _ action: MaxLeapUserAction, options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        try dialect.object(await perform(action, options))
    }
}
