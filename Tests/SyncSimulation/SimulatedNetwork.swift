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

    static let calm = Weather()
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
    let clockOffset: Double
    private let client: Int

    init(client: Int, server: ModelServer, executor: SeededExecutor, clock: SimulatedClock, world: SimulationWorld) {
        self.client = client
        self.server = server
        self.executor = executor
        self.clock = clock
        self.world = world
        clockOffset = -clock.skew
    }

    var name: String { "Simulation" }
    var capabilities: RemoteCapabilities { server.capabilities }
    func check(_ operation: RemoteOperation) throws(RemoteError) {}

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        try await clock.sleep(seconds: executor.random.unit() * world.weather.delay)
        if executor.random.chance(world.weather.lostRequests) {
            try await clock.sleep(seconds: 1)
            throw RemoteError(
                executor.random.chance(0.5) ? .timeout : .unreachable, domain: "Simulation", message: "lost")
        }
        if executor.random.chance(world.weather.serverErrors / 2) { throw Self.unavailable(&executor.random) }
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
        // The server goes down behind its work, or a proxy in front of it does.
        if executor.random.chance(world.weather.serverErrors / 2) { throw Self.unavailable(&executor.random) }
        if executor.random.chance(world.weather.lostAnswers) {
            try await clock.sleep(seconds: 1)
            world.trace("\(client)     answer lost")
            throw RemoteError(.timeout, domain: "Simulation", message: "no answer")
        }
        try await clock.sleep(seconds: executor.random.unit() * world.weather.delay)
        return try result.get()
    }

    private static func unavailable(_ random: inout SplitMix64) -> RemoteError {
        RemoteError(
            .unavailable, domain: "Simulation", message: "down", status: 503,
            retryAfter: random.chance(0.3) ? random.unit() * 5 : nil)
    }
}

extension SimulationWorld {
    static func text(_ operation: RemoteOperation) -> String {
        func text(_ write: RemoteWrite) -> String {
            "\(write.id) base \(write.baseVersion ?? "-") \(write.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }) \(write.token.uuidString.prefix(4))"
        }
        switch operation {
        case .create(_, let writes): return "create \(writes.map(text))"
        case .update(_, let write): return "update \(text(write))"
        case .delete(_, let write): return "delete \(text(write))"
        case .relate(_, let relation): return "relate \(relation.id) +\(relation.added) -\(relation.removed)"
        case .batch(let operations): return "batch \(operations.map(SimulationWorld.text))"
        case .read(_, let ids): return "read \(ids)"
        case .query(let query): return "query \(query.entity.name) from \(query.offset)"
        case .pull(let pull): return "pull \(pull.entity.name) from \(pull.cursor ?? "-")"
        default: return "\(operation)"
        }
    }

    static func text(_ result: Result<RemoteAnswer, RemoteError>) -> String {
        func text(_ record: RemoteRecord) -> String {
            "\(record.id) v\(record.version ?? "-") \(record.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })"
        }
        switch result {
        case .failure(let error): return "\(error)"
        case .success(.page(let page)):
            return "\(page.records.map(text)) deleted \(page.deleted.map(\.id)) next \(page.next ?? "-")"
        case .success(.outcomes(let outcomes)):
            return outcomes.map { outcome in
                switch outcome {
                case .done(let record): "done \(record.map(text) ?? "")"
                case .failed(let error): "\(error.kind) \(error.serverRecord.map(text) ?? "")"
                }
            }.joined(separator: "; ")
        case .success(let answer): return "\(answer)"
        }
    }
}
