import Foundation
import StrataRemote
import StrataStore

/// A server of a few words: answers each request by a closure, and counts them.
final class WireServer: HTTPTransport {
    typealias Handler = @Sendable (WireRequest) async throws(RemoteError) -> WireResponse

    private let handler: Handler
    private let sent = Guarded<[WireRequest]>([])

    init(_ handler: @escaping Handler) { self.handler = handler }

    /// The requests that arrived, in order.
    var requests: [WireRequest] { sent.withLock { $0 } }

    func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        sent.withLock { $0.append(request) }
        return try await handler(request)
    }

    static let unreachable = RemoteError(.unreachable, domain: "Wire", message: "there is no network in this case")

    /// An answer with a JSON body.
    static func answer(
        _ status: Int, _ body: JSONValue?, headers: [String: String] = [:], type: String = "application/json"
    ) -> WireResponse {
        var fields = HTTPFields()
        if body != nil { fields[.contentType] = type }
        for (name, value) in headers { if let name = HTTPField.Name(name) { fields[name] = value } }
        let code = (100..<1000).contains(status) ? status : 500
        // What was read from a case can be written.
        let data = body.flatMap { try? $0.data() } ?? Data()
        return WireResponse(HTTPResponse(status: .init(code: code), headerFields: fields), body: data)
    }
}

/// A clock that waiting moves.
final class WireClock: RemoteClock {
    private let state: Guarded<(now: Date, sleeps: [Double])>

    init(_ now: Date = Date(timeIntervalSince1970: 1_368_489_600)) { state = Guarded((now, [])) }

    var now: Date { state.withLock { $0.now } }
    /// How long was waited each time, in seconds.
    var sleeps: [Double] { state.withLock { $0.sleeps } }

    func sleep(seconds: Double) async throws(RemoteError) {
        state.withLock { state in
            state.now += seconds
            state.sleeps.append(seconds)
        }
    }
}

/// Holds back waiting tasks until it is opened.
actor WireGate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    func wait() async {
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }
}

/// Counts from 0.
final class WireCounter: Sendable {
    private let number = Guarded(0)

    /// How often ``next()`` was called.
    var count: Int { number.withLock { $0 } }

    func next() -> Int {
        number.withLock { number in
            defer { number += 1 }
            return number
        }
    }
}
