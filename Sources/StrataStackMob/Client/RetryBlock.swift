import Foundation

/// Decides about one more attempt after a server asked to wait, and the wait is over.
///
///     var request = CustomCodeRequest("report")
///     request.retryBlock = { situation in
///         situation.retriesLeft > 0 ? .sendAgain : .giveUp
///     }
///     let reply = try await client.perform(request)
///
/// It is called after each wait for an answer with `Retry-After`, at most ``RequestOptions/retries`` times. Without a block,
/// the same request is sent again. Use one to stop when the user has gone elsewhere, or to send another request, with a fresh
/// parameter for example. It may suspend; the caller of the request waits for it.
public typealias RetryBlock = @Sendable (RetrySituation) async -> RetryChoice

/// The situation that a ``RetryBlock`` decides about: a request, the answer that asked to wait, and the attempts left.
///
///     var request = CustomCodeRequest("report")
///     request.retryBlock = { situation in
///         print(situation.request.head.path ?? "", "is busy:", situation.response.status)
///         return situation.retriesLeft == 0 ? .giveUp : .sendAgain
///     }
///
/// The request is without its signature; each attempt is signed again. ``retriesLeft`` counts down to 0, in which case the
/// attempt that you decide about is the last one.
public struct RetrySituation: Sendable {
    /// The request that was sent, without its signature.
    public var request: WireRequest
    /// The answer that asked to wait.
    public var response: WireResponse
    /// How many attempts may follow the one that is decided about.
    public var retriesLeft: Int
}

/// The decision of a ``RetryBlock``: the same request, another one, or none.
///
///     var request = CustomCodeRequest("report")
///     request.retryBlock = { situation in
///         var smaller = situation.request
///         smaller.head.path = "/report?rows=10"
///         return .send(smaller)
///     }
///
/// After ``giveUp``, the caller gets the last answer as a `RemoteError` with its status. A request in place of the first one is
/// signed like it, and is the one that a later call of the block sees.
public enum RetryChoice: Sendable {
    /// The same request again.
    case sendAgain
    /// Another request in its place.
    case send(WireRequest)
    /// No further attempt: the answer is the caller's.
    case giveUp
}

extension HTTPBackend {
    /// Sends a request, and asks a closure after each wait whether to send it again.
    /// - Parameter block: Asked after each wait what to do; nil to send the same request again.
    /// - Returns: The last answer, of any status.
    /// - Throws: ``RemoteError`` if there is no answer, or the request cannot be authorized.
    public func send(
        _ request: WireRequest, options: RequestOptions, retrying block: RetryBlock?
    ) async throws(RemoteError) -> WireResponse {
        guard let block else { return try await send(request, options: options) }
        var request = request
        var retries = options.retries
        var once = options
        once.retries = 0
        while true {
            let response = try await send(request, options: once)
            guard retries > 0, let seconds = wait(asked: response), seconds <= options.maximumWait else {
                return response
            }
            retries -= 1
            try await clock.sleep(seconds: seconds)
            switch await block(RetrySituation(request: request, response: response, retriesLeft: retries)) {
            case .sendAgain: break
            case .send(let other): request = other
            case .giveUp: return response
            }
        }
    }
}
