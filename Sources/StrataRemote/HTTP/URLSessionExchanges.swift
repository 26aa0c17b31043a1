import Foundation
import HTTPTypes
import StrataStore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What ``URLSessionTransport`` waits for: gathers answers as they come in, and follows no redirect.
final class URLSessionExchanges: NSObject, URLSessionDataDelegate, Sendable {
    private struct Exchange {
        var continuation: CheckedContinuation<Result<WireResponse, RemoteError>, Never>?
        var result: Result<WireResponse, RemoteError>?
        var body = Data()
        /// Is told how far the bytes have come.
        var progress: FileProgress?
        /// How many bytes are sent.
        var sending = 0
    }

    private let maximumBody: Int
    /// By task identifier. An exchange is there from ``open(_:)`` until its continuation has been resumed, which happens
    /// once because it is taken out first.
    private let exchanges = Guarded<[Int: Exchange]>([:])

    private let challenge: URLSessionTransport.ChallengeHandler?

    init(maximumBody: Int, challenge: URLSessionTransport.ChallengeHandler? = nil) {
        self.maximumBody = maximumBody
        self.challenge = challenge
    }

    func open(_ task: Int, progress: FileProgress? = nil, sending: Int = 0) {
        exchanges.withLock { $0[task] = Exchange(progress: progress, sending: sending) }
    }

    /// Resumes immediately if the exchange was closed before the wait began.
    func wait(for task: Int, _ continuation: CheckedContinuation<Result<WireResponse, RemoteError>, Never>) {
        let early = exchanges.withLock { exchanges -> Result<WireResponse, RemoteError>? in
            guard let result = exchanges[task]?.result else {
                exchanges[task]?.continuation = continuation
                return nil
            }
            exchanges[task] = nil
            return result
        }
        if let early { continuation.resume(returning: early) }
    }

    /// The first one to close an exchange decides what becomes of it.
    func close(_ task: Int, with result: Result<WireResponse, RemoteError>) {
        let continuation = exchanges.withLock { exchanges in
            guard exchanges[task]?.result == nil, let continuation = exchanges[task]?.continuation else {
                if exchanges[task]?.result == nil { exchanges[task]?.result = result }
                return CheckedContinuation<Result<WireResponse, RemoteError>, Never>?.none
            }
            exchanges[task] = nil
            return continuation
        }
        continuation?.resume(returning: result)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let (isTooLong, progress, count) = exchanges.withLock { exchanges -> (Bool, FileProgress?, Int) in
            guard let exchange = exchanges[dataTask.taskIdentifier] else { return (false, nil, 0) }
            let count = exchange.body.count + data.count
            guard count <= maximumBody else { return (true, nil, 0) }
            exchanges[dataTask.taskIdentifier]?.body.append(data)
            return (false, exchange.progress, count)
        }
        if let progress {
            let expected = dataTask.response?.expectedContentLength ?? -1
            progress.report(
                TransferProgress(.download, completed: count, total: expected < 0 ? nil : Int(clamping: expected)))
        }
        guard isTooLong else { return }
        close(dataTask.taskIdentifier, with: .failure(TransportFailure.tooLong(maximumBody)))
        dataTask.cancel()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard let exchange = exchanges.withLock({ $0[task.taskIdentifier] }) else { return }
        exchange.progress?.report(
            TransferProgress(.upload, completed: Int(clamping: totalBytesSent), total: exchange.sending))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error {
            return close(task.taskIdentifier, with: .failure(URLSessionFailure.error(for: error)))
        }
        guard let response = task.response as? HTTPURLResponse else {
            return close(task.taskIdentifier, with: .failure(TransportFailure.noAnswer))
        }
        let body = exchanges.withLock { $0[task.taskIdentifier]?.body } ?? Data()
        close(task.taskIdentifier, with: .success(WireResponse(Self.head(of: response), body: body)))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let handler = self.challenge else { return completionHandler(.performDefaultHandling, nil) }
        let (disposition, credential) = handler(challenge)
        completionHandler(disposition, credential)
    }

    private static func head(of response: HTTPURLResponse) -> HTTPResponse {
        var fields = HTTPFields()
        for (name, value) in response.allHeaderFields {
            guard let name = HTTPField.Name("\(name)") else { continue }
            fields.append(HTTPField(name: name, value: "\(value)"))
        }
        return HTTPResponse(status: .init(code: response.statusCode), headerFields: fields)
    }
}
