import Foundation

/// A page on which a user logs in with a provider, in the system's browser or in a web view.
///
///     let page = try client.logInPage("facebook", returningTo: "notes")
///     open(page.url)  // the system's browser, which comes back by an address of the scheme: `notes://easyauth.callback/#…`
///     try await client.logIn(page, endedAt: address)
///
/// ``AzureClient/logInPage(_:returningTo:parameters:)`` makes it. With a scheme of your app, open ``url`` in the system's
/// browser, and pass the address that your app is opened with. Without one, show it in a web view and pass each address that it
/// opens: the result is nil until the log-in has ended. A page is good for one log-in; the verifier in ``kind`` is secret.
/// Mobile Services have only web views.
public struct AzureLoginPage: Sendable, Hashable {
    /// How the app learns of the end.
    public enum Kind: Sendable, Hashable {
        /// A web view of the app: when the page leads to an address with this beginning, the log-in has ended.
        case webView(end: String)
        /// The system's browser: it opens an address of the app with this beginning. The verifier is secret.
        case browser(end: String, verifier: String)
    }

    /// What the end of a page tells.
    public enum Result: Sendable, Hashable {
        /// The user.
        case user(AzureUser)
        /// A code that the server gives the user's token for.
        case code(String)
    }

    /// The address to open.
    public let url: String
    /// The provider, as it appears in addresses.
    public let provider: String
    /// How the app learns of the end.
    public let kind: Kind

    /// The challenge of a verifier: its digest, in base64.
    public static func challenge(of verifier: String) -> String {
        SHA256Digest.bytes(of: verifier.utf8).base64EncodedString()
    }

    /// A verifier that nobody can guess.
    public static func newVerifier() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.text((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
