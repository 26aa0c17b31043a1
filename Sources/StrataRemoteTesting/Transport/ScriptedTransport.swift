import Foundation
import StrataRemote
import StrataStore

/// A transport without a network: you script the server's answers, and it records what was sent.
///
///     let transport = ScriptedTransport()
///     transport.answer(json: #"{"city_id":"1"}"#, status: 201)
///     transport.answer(status: 503, headers: ["Retry-After": "1"])
///     transport.fail(.answerLost)
///     transport.handle { request in .init(HTTPResponse(status: .notFound)) }
///
/// Each request takes the next entry of the script. At the end of the script, the handler answers; without one, the request
/// fails and is listed in ``unexpected``. Pass it as the `transport` of a client or of an `HTTPBackend`.
///
/// Afterwards, compare ``requests`` with what you expect: each attempt is listed, with the headers and the body that were sent.
/// Faults lose, delay and duplicate single requests; delays use the clock, so that a ``VirtualClock`` makes them immediate.
public final class ScriptedTransport: HTTPTransport {
    /// Answers requests as a server would.
    public typealias Handler = @Sendable (WireRequest) async -> WireResponse

    /// What happens to a request on its way.
    public enum Fault: Sendable, Hashable {
        /// There is no connection: the server never sees the request.
        case requestLost
        /// The server does what it is asked; the answer does not arrive in time.
        case answerLost
        /// The answer takes the given number of seconds of the transport's clock. If that is longer than the request's
        /// timeout, the answer is lost.
        case delayed(Double)
        /// The server gets the request twice, and the answer to the second one arrives.
        case duplicated
    }

    private enum Entry {
        case answer(WireResponse)
        case fault(Fault)
        case error(RemoteError)
    }

    private struct State {
        var script: [Entry] = []
        var handler: Handler?
        var requests: [WireRequest] = []
        var received: [WireRequest] = []
        var unexpected: [WireRequest] = []
    }

    private let clock: any RemoteClock
    private let state = Guarded(State())

    /// Makes a transport with an empty script.
    /// - Parameter clock: The clock for delays.
    public init(clock: any RemoteClock = SystemClock(), handler: Handler? = nil) {
        self.clock = clock
        state.withLock { $0.handler = handler }
    }

    /// The requests that were sent, in order, each attempt on its own.
    public var requests: [WireRequest] { state.withLock { $0.requests } }
    /// The requests that came to the server: without lost ones, with duplicates.
    public var received: [WireRequest] { state.withLock { $0.received } }
    /// The requests that had neither an entry in the script nor a handler.
    public var unexpected: [WireRequest] { state.withLock { $0.unexpected } }

    /// Takes over as the server when the script is at its end.
    public func handle(_ handler: @escaping Handler) {
        state.withLock { $0.handler = handler }
    }

    /// Adds an answer to the script.
    public func answer(_ response: WireResponse) {
        state.withLock { $0.script.append(.answer(response)) }
    }

    /// Adds an answer to the script.
    /// - Parameter headers: Names that are none of HTTP's are left out.
    public func answer(status: Int = 200, headers: [String: String] = [:], body: Data = Data()) {
        answer(.scripted(status: status, headers: headers, body: body))
    }

    /// Adds an answer of type `application/json` to the script.
    public func answer(json: String, status: Int = 200, headers: [String: String] = [:]) {
        answer(.scripted(json: json, status: status, headers: headers))
    }

    /// Adds a fault to the script. It meets the next request; what answers that is the entry after it, or the handler.
    /// Several in a row meet the same request, unless it is lost.
    public func fail(_ fault: Fault) {
        state.withLock { $0.script.append(.fault(fault)) }
    }

    /// Adds an error to the script that the next request fails with. The server does not see that request.
    public func fail(with error: RemoteError) {
        state.withLock { $0.script.append(.error(error)) }
    }

    /// Sends a request to the script.
    /// - Throws: ``RemoteError`` that the script has next, or of kind ``RemoteError/Kind/cancelled``.
    public func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        guard !Task.isCancelled else { throw Self.error(.cancelled, "the task was cancelled") }
        state.withLock { $0.requests.append(request) }
        var isLost = false
        var delay = 0.0
        var arrivals = 1
        while let entry = nextBeforeAnswer() {
            switch entry {
            case .error(let error): throw error
            case .fault(.requestLost): throw Self.error(.unreachable, "the script has no connection here")
            case .fault(.answerLost): isLost = true
            case .fault(.delayed(let seconds)): delay += seconds
            case .fault(.duplicated): arrivals += 1
            case .answer: break
            }
        }
        var response: WireResponse?
        for _ in 0..<arrivals { response = try await serve(request) }
        if delay > 0 { try await clock.sleep(seconds: min(delay, timeout)) }
        guard !isLost, delay <= timeout, let response else {
            throw Self.error(.timeout, "the script loses this answer")
        }
        return response
    }

    /// Takes the next entry if it does not answer a request.
    private func nextBeforeAnswer() -> Entry? {
        state.withLock { state in
            guard let first = state.script.first else { return nil }
            if case .answer = first { return nil }
            return state.script.removeFirst()
        }
    }

    private func serve(_ request: WireRequest) async throws(RemoteError) -> WireResponse {
        let (answer, handler) = state.withLock { state -> (WireResponse?, Handler?) in
            state.received.append(request)
            if case .answer(let response) = state.script.first {
                state.script.removeFirst()
                return (response, nil)
            }
            if state.handler == nil { state.unexpected.append(request) }
            return (nil, state.handler)
        }
        if let answer { return answer }
        guard let handler else {
            throw Self.error(
                .unreachable,
                "the script has no answer to \(request.head.method) \(request.head.path ?? ""); add one, or a handler")
        }
        return await handler(request)
    }

    private static func error(_ kind: RemoteError.Kind, _ message: String) -> RemoteError {
        RemoteError(kind, domain: "Script", message: message)
    }
}

extension WireResponse {
    /// An answer for a script. Names of headers that are none of HTTP's are left out.
    public static func scripted(status: Int = 200, headers: [String: String] = [:], body: Data = Data()) -> WireResponse
    {
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return WireResponse(HTTPResponse(status: .init(code: status), headerFields: fields), body: body)
    }

    /// An answer of type `application/json` for a script.
    public static func scripted(json: String, status: Int = 200, headers: [String: String] = [:]) -> WireResponse {
        scripted(
            status: status, headers: headers.merging(["Content-Type": "application/json"]) { given, _ in given },
            body: Data(json.utf8))
    }
}
