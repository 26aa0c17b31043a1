#if Server
    import Foundation
    import SeededRandom
    import StrataRemote
    import StrataServer
    import StrataStore

    /// The way from clients to a server in this process, over which requests and answers get lost, come twice or cut off, or are
    /// somebody else's. A seed decides.
    final class StormTransport: Sendable {
        /// The end of the way at one device.
        struct End: HTTPTransport {
            let way: StormTransport
            let device: String

            func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
                try await way.send(request, from: device)
            }
        }

        enum Fault: String, CaseIterable, Sendable {
            case requestLost, answerLost, duplicated, unavailable, unavailableAfterwards, busy, portal, redirected
            case truncated, garbled, emptied, wrongType
        }

        private struct State {
            var random: SplitMix64
            var isCalm = false
            var struck: [Fault: Int] = [:]
            var log: [String] = []
        }

        private let server: DataServer
        private let clock: any RemoteClock
        private let state: Guarded<State>

        init(_ server: DataServer, clock: any RemoteClock, seed: UInt64) {
            self.server = server
            self.clock = clock
            state = Guarded(State(random: SplitMix64(seed: seed)))
        }

        /// From now on everything arrives.
        func calmDown() { state.withLock { $0.isCalm = true } }
        /// How often each fault met a request.
        var struck: [Fault: Int] { state.withLock(\.struck) }
        /// All requests, answers and edits in order.
        var log: [String] { state.withLock(\.log) }

        /// Adds a line to the log.
        func log(_ line: String) { state.withLock { $0.log.append(line) } }

        private func send(_ request: WireRequest, from device: String) async throws(RemoteError) -> WireResponse {
            guard !Task.isCancelled else { throw RemoteError(.cancelled, message: "cancelled") }
            let fault = fault()
            note(request, device, fault)
            switch fault {
            case .requestLost: throw RemoteError(.unreachable, message: "lost")
            case .unavailable: return page(503, retryAfter: nil)
            case .busy: return page(429, retryAfter: 2)
            case .portal: return page(200, retryAfter: nil)
            case .redirected:
                return .scripted(status: 302, headers: ["Location": "http://portal.example/login"], body: Data())
            case .duplicated: _ = await answer(request, device)
            default: break
            }
            var response = await answer(request, device)
            try await clock.sleep(seconds: 0.05)
            switch fault {
            case .answerLost: throw RemoteError(.timeout, message: "no answer")
            case .unavailableAfterwards: return page(502, retryAfter: nil)
            case .truncated: response.body = response.body.prefix(response.body.count / 2)
            case .garbled: response.body = Data([0x1F, 0x8B]) + response.body.dropFirst(2)
            case .emptied: response.body = Data()
            case .wrongType: response.head.headerFields[.contentType] = "text/html; charset=utf-8"
            default: break
            }
            return response
        }

        private func fault() -> Fault? {
            state.withLock { state in
                guard !state.isCalm, state.random.oneIn(3) else { return nil }
                let fault = state.random.pick(Fault.allCases)
                if let fault { state.struck[fault, default: 0] += 1 }
                return fault
            }
        }

        private func note(_ request: WireRequest, _ device: String, _ fault: Fault?) {
            let body = request.body.map { String(decoding: $0, as: UTF8.self) } ?? ""
            log("\(device): \(request.head.method) \(request.head.path ?? "") \(body) \(fault?.rawValue ?? "")")
        }

        private func answer(_ request: WireRequest, _ device: String) async -> WireResponse {
            let answer = await server.respond(to: request)
            log("\(device):     \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
            return answer
        }

        private func page(_ status: Int, retryAfter: Int?) -> WireResponse {
            var headers = ["Content-Type": "text/html"]
            if let retryAfter { headers["Retry-After"] = "\(retryAfter)" }
            return .scripted(status: status, headers: headers, body: Data("<html><body>Welcome</body></html>".utf8))
        }
    }
#endif
