/// What an answer asks of the client in addition to the outcome of the request.
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
