import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A transport that sends requests by `URLSession`. The default of all clients.
///
///     let transport = URLSessionTransport(maximumBody: 16 << 20)  // bytes of one answer
///     let backend = HTTPBackend(dialect: dialect, transport: transport)
///
/// It caches nothing and keeps no cookies: the mirror decides what to remember of answers. A redirect is an answer, which
/// ``HTTPBackend`` follows within the host. Several requests may be under way at the same time.
///
/// The path goes out as it appears in the request, except that characters which no URI may contain – square brackets in a query
/// are the usual ones – are percent-encoded, since `URL` takes no others (RFC 3986, appendix A).
public final class URLSessionTransport: HTTPTransport {
    /// Says what to do about a challenge of the server; see `URLSessionDelegate`.
    public typealias ChallengeHandler =
        @Sendable (URLAuthenticationChallenge) -> (
            URLSession.AuthChallengeDisposition, URLCredential?
        )

    private let session: URLSession
    private let exchanges: URLSessionExchanges

    /// Makes a transport with a session of its own.
    /// - Parameters:
    ///   - configuration: How the session connects; nil for an ephemeral one without cookies and caches. Its delegate
    ///     is the transport's own.
    ///   - maximumBody: The maximum size of an answer's body in bytes. A longer answer is an error, and its rest is not
    ///     read.
    ///   - challenge: Answers the server's challenges: checks its certificate against one that the app brings along, or
    ///     gives the client's own. nil leaves them to the system. On Linux the system checks certificates itself and asks
    ///     about passwords only; use `StrataAsyncHTTP` with a `TLSConfiguration` there.
    public init(
        configuration: URLSessionConfiguration? = nil, maximumBody: Int = 256 << 20,
        challenge: ChallengeHandler? = nil
    ) {
        exchanges = URLSessionExchanges(maximumBody: maximumBody, challenge: challenge)
        session = URLSession(
            configuration: configuration ?? Self.plainConfiguration, delegate: exchanges, delegateQueue: nil)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    private static var plainConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        return configuration
    }

    /// Sends a request and waits for the whole answer.
    /// - Parameter timeout: How many seconds to wait, from now to the last byte.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unreachable``, ``RemoteError/Kind/timeout``,
    ///   ``RemoteError/Kind/cancelled``, ``RemoteError/Kind/invalidRequest`` if the address is invalid, or
    ///   ``RemoteError/Kind/invalidAnswer`` for an answer that is not HTTP or is too long.
    public func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        guard !Task.isCancelled else { throw TransportFailure.cancelled }
        let seconds = TransportFailure.seconds(timeout)
        var urlRequest = try Self.urlRequest(for: request)
        // One second more than the deadline below, which is the only one that counts.
        urlRequest.timeoutInterval = seconds + 1
        let task = session.dataTask(with: urlRequest)
        let progress = FileProgress.current
        exchanges.open(task.taskIdentifier, progress: progress, sending: request.body?.count ?? 0)
        let deadline = Task { [exchanges] in
            try await Task.sleep(for: .seconds(seconds))
            exchanges.close(task.taskIdentifier, with: .failure(TransportFailure.timeout(after: seconds)))
            task.cancel()
        }
        defer { deadline.cancel() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchanges.wait(for: task.taskIdentifier, continuation)
                task.resume()
            }
        } onCancel: {
            exchanges.close(task.taskIdentifier, with: .failure(TransportFailure.cancelled))
            task.cancel()
        }
        // Not every platform reports each part that is sent; an answer says that all of it was.
        if let progress, let count = request.body?.count, case .success = result {
            progress.report(TransferProgress(.upload, completed: count, total: count))
        }
        return try result.get()
    }

    static func urlRequest(for request: WireRequest) throws(RemoteError) -> URLRequest {
        let text = try request.address()
        guard let url = URL(string: text), url.host != nil else { throw TransportFailure.noAddress(text) }
        var urlRequest = URLRequest(url: url)
        urlRequest.cachePolicy = .reloadIgnoringLocalCacheData
        urlRequest.httpMethod = request.head.method.rawValue
        urlRequest.httpBody = request.body
        for field in request.head.headerFields {
            urlRequest.addValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        return urlRequest
    }
}
