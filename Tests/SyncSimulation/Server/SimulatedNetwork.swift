import Foundation
import SeededRandom
import StrataRemote

/// How bad the world is.
struct Weather: Sendable {
    var lostRequests = 0.0
    var lostAnswers = 0.0
    var duplicates = 0.0
    var serverErrors = 0.0
    var delay = 0.01
    /// Answers that are not the server's: portals, firewalls, proxies.
    var portals = 0.0
    var proxies404 = 0.0
    var endedSessions = 0.0
    /// Requests with several writes that are refused as a whole.
    var refusedGroups = 0.0
    /// Single writes that are refused.
    var refusals = 0.0
    var expiredCursors = 0.0
    /// How often the people who use a client forget what is on it, or give up what was refused.
    var forgetting = 0.0

    static let calm = Weather()
    /// Whether nothing goes wrong.
    var isCalm: Bool { delay <= Weather.calm.delay }
}

/// The way from one client to the server: requests and answers take their time, get lost, come twice, and overtake each
/// other.
///
/// `@unchecked Sendable`: everything happens on one thread.
final class SimulatedNetwork: RemoteBackend, @unchecked Sendable {
    private let server: ModelServer
    private let executor: SeededExecutor
    private let clock: SimulatedClock
    private let world: SimulationWorld
    private let client: Int
    /// How far the server's clock was ahead when it answered last.
    private(set) var clockOffset = 0.0
    /// What speaks to a server that is known by HTTP.
    private let http: HTTPBackend?

    init(client: Int, clock: SimulatedClock, world: SimulationWorld) {
        http =
            world.variant.isHTTP
            ? HTTPBackend(
                dialect: SimulatedDialect(world.variant),
                transport: SimulatedTransport(client: client, clock: clock, world: world), clock: clock) : nil
        self.client = client
        self.clock = clock
        self.world = world
        server = world.server
        executor = world.executor
    }

    var name: String { "Simulation" }
    var capabilities: RemoteCapabilities { server.capabilities }

    func check(_ operation: RemoteOperation) throws(RemoteError) {
        if let http { return try http.check(operation) }
        guard case .query(let query) = operation else { return }
        let known = Set(query.entity.attributes.map(\.name))
        if let path = query.predicate?.keyPaths.first(where: { $0.count > 1 || !known.contains($0[0]) }) {
            throw RemoteError(.unsupported, domain: "Simulation", message: "a condition on \(path)")
        }
        if query.sorts.contains(where: { $0.expression.keyPaths != [[query.entity.primaryKeyField ?? ""]] }) {
            throw RemoteError(.unsupported, domain: "Simulation", message: "another order than that of primary keys")
        }
    }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        if let http { return try await http.perform(operation, options: options) }
        try await clock.sleep(seconds: executor.random.unit() * world.weather.delay)
        if executor.random.chance(world.weather.lostRequests) {
            try await clock.sleep(seconds: 1)
            throw RemoteError(
                executor.random.chance(0.5) ? .timeout : .unreachable, domain: "Simulation", message: "lost")
        }
        if executor.random.chance(world.weather.serverErrors / 2) { throw Self.unavailable(&executor.random) }
        if let answer = try stranger(operation) { return answer }
        if executor.random.chance(world.weather.duplicates) {
            // The same request once more, at any later time.
            executor.after(executor.random.unit() * 20) { [server] in _ = try? server.perform(operation) }
        }
        let result: Result<RemoteAnswer, RemoteError>
        world.trace("\(client) \(SimulationWorld.text(operation))")
        do throws(RemoteError) {
            result = .success(try server.perform(operation))
        } catch {
            result = .failure(error)
        }
        world.trace("\(client)     -> \(SimulationWorld.text(result))")
        let offset = server.clock.skew - clock.skew
        // The server goes down after its work, or a proxy in front of it does.
        if executor.random.chance(world.weather.serverErrors / 2) { throw Self.unavailable(&executor.random) }
        if executor.random.chance(world.weather.lostAnswers) {
            try await clock.sleep(seconds: 1)
            world.trace("\(client)     answer lost")
            throw RemoteError(.timeout, domain: "Simulation", message: "no answer")
        }
        if executor.random.chance(world.weather.portals / 2) {
            world.struck(.swallowedAnswer, operation)
            throw RemoteError(.invalidAnswer, domain: "Simulation", message: "<html>", status: 200)
        }
        try await clock.sleep(seconds: executor.random.unit() * world.weather.delay)
        clockOffset = offset
        return try result.get()
    }

    /// What answers in the server's place, before it has done anything.
    private func stranger(_ operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer? {
        let weather = world.weather
        if executor.random.chance(weather.portals / 2) {
            world.struck(.portal, operation)
            throw RemoteError(.invalidAnswer, domain: "Simulation", message: "<html>", status: 200)
        }
        if executor.random.chance(weather.endedSessions) {
            world.struck(.endedSession, operation)
            throw RemoteError(.unauthorized, domain: "Simulation", message: "log in", status: 401)
        }
        if case .pull(let pull) = operation, pull.cursor != nil, executor.random.chance(weather.expiredCursors) {
            world.struck(.expiredCursor, operation)
            throw RemoteError(.cursorExpired, domain: "Simulation", message: "begin anew", status: 410)
        }
        guard let count = operation.simulatedWrites else { return nil }
        if count > 1, executor.random.chance(weather.refusedGroups) {
            world.struck(.refusedGroup, operation)
            throw RemoteError(
                .rejected, domain: "Simulation", message: "too large", status: executor.random.chance(0.5) ? 413 : 400)
        }
        guard count == 1 else { return nil }
        if executor.random.chance(weather.proxies404) {
            world.struck(.proxy404, operation)
            return .outcomes([.failed(RemoteError(.notFound, domain: "Simulation", message: "not here", status: 404))])
        }
        if executor.random.chance(weather.refusals) {
            world.struck(.refusal, operation)
            return .outcomes([.failed(RemoteError(.rejected, domain: "Simulation", message: "no", status: 400))])
        }
        return nil
    }

    private static func unavailable(_ random: inout SplitMix64) -> RemoteError {
        RemoteError(
            .unavailable, domain: "Simulation", message: "down", status: 503,
            retryAfter: random.chance(0.3) ? random.unit() * 5 : nil)
    }
}
