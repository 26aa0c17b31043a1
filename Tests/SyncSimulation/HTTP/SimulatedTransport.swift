import Foundation
import StrataRemote

/// The way from one client to the server as bytes: what comes back may be cut off, garbled, or somebody else's.
///
/// `@unchecked Sendable`: everything happens on one thread.
final class SimulatedTransport: HTTPTransport, @unchecked Sendable {
    private let front: SimulatedFront
    private let executor: SeededExecutor
    private let clock: SimulatedClock
    private let world: SimulationWorld
    private let client: Int

    init(client: Int, clock: SimulatedClock, world: SimulationWorld) {
        self.client = client
        self.clock = clock
        self.world = world
        front = SimulatedFront(server: world.server)
        executor = world.executor
    }

    func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        let weather = world.weather
        try await clock.sleep(seconds: executor.random.unit() * weather.delay)
        if executor.random.chance(weather.lostRequests) {
            try await clock.sleep(seconds: 1)
            throw RemoteError(executor.random.chance(0.5) ? .timeout : .unreachable, message: "lost")
        }
        if let answer = stranger(request) { return answer }
        if executor.random.chance(weather.duplicates) {
            // The same request once more, at any later time.
            executor.after(executor.random.unit() * 20) { [front] in _ = front.answer(request) }
        }
        world.trace("\(client) \(Self.text(request))")
        let answer = front.answer(request)
        world.trace("\(client)     -> \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
        if executor.random.chance(weather.serverErrors / 2) { return unavailable() }
        if executor.random.chance(weather.lostAnswers) {
            try await clock.sleep(seconds: 1)
            world.trace("\(client)     answer lost")
            throw RemoteError(.timeout, message: "no answer")
        }
        let damaged = damage(answer, request)
        try await clock.sleep(seconds: executor.random.unit() * weather.delay)
        return damaged
    }

    private static func text(_ request: WireRequest) -> String {
        let body = request.body.map { String(decoding: $0, as: UTF8.self) } ?? ""
        return "\(request.head.method) \(request.head.path ?? "") \(request.head.headerFields[.ifMatch] ?? "") \(body)"
    }

    // MARK: In the server's place

    /// What answers before the server has heard about the request.
    private func stranger(_ request: WireRequest) -> WireResponse? {
        let weather = world.weather
        if executor.random.chance(weather.serverErrors / 2) { return unavailable() }
        if executor.random.chance(weather.portals / 2) {
            struck(.portal, request)
            return executor.random.one(of: [
                page(.ok), page(HTTPResponse.Status(code: 511)), page(.forbidden),
                redirect("http://portal.example/login"),
                redirect("//portal.example/"),
            ])
        }
        if executor.random.chance(weather.portals / 4) {
            // Followed within the host: the same address.
            struck(.redirect, request)
            return redirect(request.head.path ?? "/", HTTPResponse.Status(code: 307))
        }
        if executor.random.chance(weather.endedSessions) {
            struck(.endedSession, request)
            return front.refusal(.unauthorized, "log in")
        }
        let isPull = request.head.path?.hasPrefix("/changes/") == true
        if isPull, request.head.path?.contains("since=0&") != true, executor.random.chance(weather.expiredCursors) {
            struck(.expiredCursor, request)
            return front.refusal(.gone, "begin anew")
        }
        guard request.head.method != .get else { return nil }
        var count = 1
        if case .array(let list)? = request.body.flatMap({ try? JSONValue(parsing: $0) }) { count = list.count }
        if count > 1, executor.random.chance(weather.refusedGroups) {
            struck(.refusedGroup, request)
            return front.refusal(executor.random.chance(0.5) ? .contentTooLarge : .badRequest, "too large")
        }
        guard count == 1 else { return nil }
        if executor.random.chance(weather.proxies404) {
            struck(.proxy404, request)
            return executor.random.chance(0.5) ? page(.notFound) : front.refusal(.notFound, "no such route")
        }
        if executor.random.chance(weather.refusals) {
            struck(.refusal, request)
            return front.refusal(.badRequest, "no")
        }
        return nil
    }

    private func unavailable() -> WireResponse {
        var answer = executor.random.chance(0.5) ? page(.serviceUnavailable) : page(.badGateway)
        if executor.random.chance(0.3) {
            answer.head.headerFields[.retryAfter] = "\(executor.random.below(5))"
        }
        return answer
    }

    private func page(_ status: HTTPResponse.Status) -> WireResponse {
        var head = HTTPResponse(status: status)
        head.headerFields[.contentType] = "text/html"
        return WireResponse(head, body: Data("<html><body>Welcome</body></html>".utf8))
    }

    private func redirect(_ location: String, _ status: HTTPResponse.Status = .found) -> WireResponse {
        var head = HTTPResponse(status: status)
        head.headerFields[.location] = location
        return WireResponse(head)
    }

    // MARK: On the way back

    /// What becomes of the server's answer before it arrives.
    private func damage(_ answer: WireResponse, _ request: WireRequest) -> WireResponse {
        var answer = answer
        guard executor.random.chance(world.weather.portals / 2) else { return answer }
        switch executor.random.below(5) {
        case 0 where answer.body.count > 1:
            struck(.truncated, request)
            answer.body = answer.body.prefix(1 + executor.random.below(answer.body.count - 1))
        case 1 where !answer.body.isEmpty:
            struck(.garbled, request)
            // Compressed, and nobody says so.
            answer.body = Data([0x1F, 0x8B]) + answer.body.dropFirst(2)
        case 2 where !answer.body.isEmpty:
            struck(.emptyAnswer, request)
            answer.body = Data()
        case 3:
            struck(.wrongType, request)
            answer.head.headerFields[.contentType] = "text/html; charset=utf-8"
        default:
            struck(.swallowedAnswer, request)
            answer = page(.ok)
        }
        return answer
    }

    private func struck(_ fault: SimulationWorld.Fault, _ request: WireRequest) {
        world.struck(fault)
        world.trace("    \(fault.rawValue): \(Self.text(request))")
    }
}
