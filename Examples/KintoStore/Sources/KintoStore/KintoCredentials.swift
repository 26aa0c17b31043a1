import Foundation
import StrataRemote

/// Signs requests to Kinto: with a name and a password, or with a token of an OpenID or OAuth provider.
///
/// Both go along with each request, so use HTTPS outside of tests.
public struct KintoCredentials: RequestAuthorizer {
    private let authorization: String

    /// Sends a name and a password with each request, as Kinto's accounts ask for.
    public init(user: String, password: String) {
        authorization = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// Sends a token with each request.
    public init(bearer token: String) {
        authorization = "Bearer " + token
    }

    public func authorize(_ request: WireRequest, options: RequestOptions) async throws(RemoteError) -> WireRequest {
        var request = request
        request.head.headerFields[.authorization] = authorization
        return request
    }

    /// The credentials do not get better by themselves.
    public func recover(
        from response: WireResponse, to request: WireRequest, options: RequestOptions
    ) async throws(RemoteError) -> Bool { false }
}
