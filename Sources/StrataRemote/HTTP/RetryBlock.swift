import Foundation

/// Decides about one more attempt after a server asked to wait, and the wait is over.
public typealias RetryBlock = @Sendable (RetrySituation) async -> RetryChoice

/// What a ``RetryBlock`` is told.
public struct RetrySituation: Sendable {
    /// The request that was sent, without its signature.
    public var request: WireRequest
    /// The answer that asked to wait.
    public var response: WireResponse
    /// How many attempts may follow the one that is decided about.
    public var retriesLeft: Int
}

/// What a ``RetryBlock`` decides.
public enum RetryChoice: Sendable {
    /// The same request again.
    case sendAgain
    /// Another request in its place.
    case send(WireRequest)
    /// No further attempt: the answer is the caller's.
    case giveUp
}
