import Foundation

/// A request about users, other than a log-in: log-out, passwords, accounts at other services.
///
///     let dialect = try StackMobDialect(publicKey: key, apiVersion: "0")
///     let request = try dialect.userRequest(.forgotPassword(username: "bob"))
///     print(request.head.method, request.head.path ?? "")
///
/// ``StackMobDialect/userRequest(_:options:)`` makes the request, which still has to be signed. This is the level of the wire
/// format: apps call the methods of ``StackMobClient``, which send and sign it and return the answer.
public enum UserAction: Sendable, Hashable {
    /// Ends the session.
    case logOut
    /// Reads the user of the session.
    case loggedInUser
    /// Has a temporary password mailed that is good for a day.
    case forgotPassword(username: String)
    /// Changes the password of the user of the session.
    case resetPassword(old: String, new: String)
    /// Makes a user for a token of Facebook.
    case createWithFacebook(token: String, username: String?)
    /// Ties a token of Facebook to the user of the session.
    case linkFacebook(token: String)
    /// Unties it.
    case unlinkFacebook
    /// Has Facebook publish a message of the user.
    case postFacebookMessage(String)
    /// Reads what Facebook knows of the user.
    case facebookUserInfo
    /// Makes a user for a token of Twitter.
    case createWithTwitter(token: String, secret: String, username: String?)
    /// Ties a token of Twitter to the user of the session.
    case linkTwitter(token: String, secret: String)
    /// Unties it.
    case unlinkTwitter
    /// Has Twitter publish a message of the user.
    case updateTwitterStatus(String)
    /// Reads what Twitter knows of the user.
    case twitterUserInfo
    /// Ties a user of Gigya to the user of the session.
    case linkGigya(uid: String, signature: String, timestamp: String)
    /// Unties it.
    case unlinkGigya
}

extension StackMobDialect {
    /// The request for something with users. It still has to be signed.
    /// - Throws: ``RemoteError`` of code ``StackMobError/invalidArguments`` if an argument is empty.
    public func userRequest(
        _ action: UserAction, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        func get(_ method: String, _ parameters: [(name: String, value: String)] = []) throws(RemoteError)
            -> WireRequest
        {
            try Self.check(parameters)
            return try dataRequest(.get, path(method), parameters: parameters, options: options)
        }
        func delete(_ method: String) throws(RemoteError) -> WireRequest {
            try dataRequest(.delete, path(method), options: options)
        }
        func post(
            _ method: String, _ parameters: [(name: String, value: String)], secure: Bool = false
        ) throws(RemoteError) -> WireRequest {
            try Self.check(parameters)
            let members = parameters.map { (name: $0.name, value: JSONValue.string($0.value)) }
            return try dataRequest(
                .post, path(method), json: .object(JSONObject(members)), secure: secure, options: options)
        }
        switch action {
        case .logOut: return try get("logout")
        case .loggedInUser: return try get("loggedInUser")
        case .forgotPassword(let username): return try post("forgotPassword", [("username", username)])
        case .resetPassword(let old, let new):
            try Self.check([("the old password", old), ("the new password", new)])
            return try dataRequest(
                .post, path("resetPassword"),
                json: ["old": ["password": .string(old)], "new": ["password": .string(new)]],
                secure: true, options: options)
        case .createWithFacebook(let token, let username):
            return try post("createUserWithFacebook", [("fb_at", token)] + Self.optional("username", username))
        case .linkFacebook(let token): return try get("linkUserWithFacebook", [("fb_at", token)])
        case .unlinkFacebook: return try delete("unlinkUserFromFacebook")
        case .postFacebookMessage(let message): return try get("postFacebookMessage", [("message", message)])
        case .facebookUserInfo: return try get("getFacebookUserInfo")
        case .createWithTwitter(let token, let secret, let username):
            return try get(
                "createUserWithTwitter",
                [("tw_tk", token), ("tw_ts", secret)] + Self.optional("username", username))
        case .linkTwitter(let token, let secret):
            return try get("linkUserWithTwitter", [("tw_tk", token), ("tw_ts", secret)])
        case .unlinkTwitter: return try delete("unlinkUserFromTwitter")
        case .updateTwitterStatus(let message): return try get("twitterStatusUpdate", [("tw_st", message)])
        case .twitterUserInfo: return try get("getTwitterUserInfo")
        case .linkGigya(let uid, let signature, let timestamp):
            return try post(
                "linkUserWithGigya", [("gigya_uid", uid), ("gigya_sig", signature), ("gigya_ts", timestamp)])
        case .unlinkGigya: return try delete("unlinkUserFromGigya")
        }
    }

    private func path(_ method: String) -> String { "/\(userSchema.lowercased())/\(method)" }

    private static func optional(_ name: String, _ value: String?) -> [(name: String, value: String)] {
        value.map { [(name, $0)] } ?? []
    }

    private static func check(_ parameters: [(name: String, value: String)]) throws(RemoteError) {
        for (name, value) in parameters where value.isEmpty {
            throw StackMobError.invalid("\(name) is empty; nothing was sent")
        }
    }
}
