import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests by `URLSession`.
///
/// Nothing is cached and no cookies are kept: what may be remembered of answers is the mirror's business. Redirects are
/// followed within the host and never from HTTPS to HTTP; any other is an answer like those that are no redirects, and
/// the dialect reads its status. The transport holds on to no request: several may be on their way at once.
///
/// The path goes out as it stands in the request, except that characters which no URI may contain – square brackets in
/// a query are the usual ones – are percent-encoded, since `URL` takes no others (RFC 3986, appendix A).
public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    private let exchanges: URLSessionExchanges

    /// Makes a transport with a session of its own.
    /// - Parameters:
    ///   - configuration: How the session connects; nil for an ephemeral one without cookies and caches. Its delegate
    ///     is the transport's own.
    ///   - maximumBody: The most bytes of an answer's body. A longer answer is an error, and its rest is not read.
    public init(configuration: URLSessionConfiguration? = nil, maximumBody: Int = 256 << 20) {
        exchanges = URLSessionExchanges(maximumBody: maximumBody)
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
    ///   ``RemoteError/Kind/cancelled``, ``RemoteError/Kind/invalidRequest`` if the address is none, or
    ///   ``RemoteError/Kind/invalidAnswer`` for what is no HTTP or too long.
    public func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        guard !Task.isCancelled else { throw URLSessionFailure.cancelled }
        let seconds = timeout.isFinite ? min(max(timeout, 0.001), 1e8) : 1e8
        var urlRequest = try Self.urlRequest(for: request)
        // One second more than the deadline below, which alone decides.
        urlRequest.timeoutInterval = seconds + 1
        let task = session.dataTask(with: urlRequest)
        exchanges.open(task.taskIdentifier)
        let deadline = Task { [exchanges] in
            try await Task.sleep(for: .seconds(seconds))
            exchanges.close(task.taskIdentifier, with: .failure(URLSessionFailure.timeout(after: seconds)))
            task.cancel()
        }
        defer { deadline.cancel() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchanges.wait(for: task.taskIdentifier, continuation)
                task.resume()
            }
        } onCancel: {
            exchanges.close(task.taskIdentifier, with: .failure(URLSessionFailure.cancelled))
            task.cancel()
        }
        return try result.get()
    }

    static func urlRequest(for request: WireRequest) throws(RemoteError) -> URLRequest {
        let head = request.head
        guard let scheme = head.scheme, scheme == "http" || scheme == "https", let authority = head.authority,
            !authority.isEmpty
        else {
            throw URLSessionFailure.noAddress("\(head.scheme ?? "nil")://\(head.authority ?? "nil")")
        }
        var path = head.path ?? ""
        if !path.isEmpty, !path.hasPrefix("/"), !path.hasPrefix("?") { path = "/" + path }
        let text = "\(scheme)://\(authority)\(encodingForbidden(in: path))"
        guard let url = URL(string: text), url.host != nil else { throw URLSessionFailure.noAddress(text) }
        var urlRequest = URLRequest(url: url)
        urlRequest.cachePolicy = .reloadIgnoringLocalCacheData
        urlRequest.httpMethod = head.method.rawValue
        urlRequest.httpBody = request.body
        for field in head.headerFields {
            urlRequest.addValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        return urlRequest
    }

    /// Leaves percent signs alone: `URL`'s own encoding would encode those anew as soon as there is a single character
    /// that it does not take.
    private static func encodingForbidden(in path: String) -> String {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?@!$&'()*+,;=%".utf8)
        guard !path.utf8.allSatisfy(allowed.contains) else { return path }
        var bytes: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in path.utf8 {
            if allowed.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
