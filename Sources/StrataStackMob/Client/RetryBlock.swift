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

extension HTTPBackend {
    /// Sends a request, and asks a closure after each wait whether to send it again.
    /// - Parameter block: Asked after each wait what to do; nil to send the same request again.
    /// - Returns: The last answer, of any status.
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
