/// What an answer asks of the client in addition to the outcome of the request: a new session, or a wait.
///
///     func reaction(to response: WireResponse) -> AnswerReaction? {
///         // This service reports the end of a session in the body of a 400.
///         let code = (try? JSONValue(parsing: response.body))?["code"]?.integer
///         return code == 209 ? .sessionEnded : AnswerReaction(status: response.status)
///     }
///
/// A dialect returns it from ``RemoteDialect/reaction(to:)``; without a method of its own, the status decides, by
/// ``init(status:)``. ``HTTPBackend`` then renews the session once, or waits as often as ``RequestOptions/retries`` allows, and
/// sends the request again. A middleware asks ``HTTPNext/reaction(to:)``.
public enum AnswerReaction: Sendable, Hashable {
    /// The session has ended: the request is signed and sent again if it can be renewed.
    case sessionEnded
    /// The server asks to wait, and then to send the request again.
    /// - Parameter seconds: How long; nil if `Retry-After` says so. Without that header the request is not sent again.
    case wait(seconds: Double?)

    /// What the status says where a service gives it no meaning of its own: 401 is the end of a session, 429 and 503 ask to
    /// wait (RFC 9110, 15.5.2 and 15.6.4; RFC 6585, 4).
    public init?(status: Int) {
        switch status {
        case 401: self = .sessionEnded
        case 429, 503: self = .wait(seconds: nil)
        default: return nil
        }
    }
}
