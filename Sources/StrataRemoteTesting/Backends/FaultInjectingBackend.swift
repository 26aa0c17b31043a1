import Foundation
import StrataRemote
import StrataStore

/// A back end behind a bad network: requests get lost before they arrive, answers on their way back, and some requests arrive
/// twice. All of it is decided by a seed.
///
///     let backend = FaultInjectingBackend(MemoryBackend(), seed: 1)
///     let store = try RemoteStore.open(model: model, backend: backend, location: .memory(name: nil))
///     backend.rates = .init(lostRequests: 0.2, lostAnswers: 0.2, duplicates: 0.1)
///     _ = try? await store.sync.synchronize()  // may fail
///     backend.rates = .init()
///     try await store.sync.synchronize()  // and must recover
///
/// Use it to check what your app shows while a synchronization fails, and that nothing is lost when the network returns. The
/// same seed and the same calls give the same faults; print the seed in the message of a failed test. A lost answer is a
/// timeout, a lost request an unreachable server. For faults of single HTTP requests, use ``ScriptedTransport``.
public final class FaultInjectingBackend: RemoteBackend {
    /// How often something goes wrong, from 0 to 1.
    public struct Rates: Sendable, Hashable {
        /// Requests that never arrive.
        public var lostRequests: Double
        /// Requests that are carried out, but whose answers are lost.
        public var lostAnswers: Double
        /// Writes that arrive a second time, after the answer to the first.
        public var duplicates: Double

        /// Describes how often something goes wrong; by default, nothing does.
        public init(lostRequests: Double = 0, lostAnswers: Double = 0, duplicates: Double = 0) {
            self.lostRequests = lostRequests
            self.lostAnswers = lostAnswers
            self.duplicates = duplicates
        }
    }

    private let base: any RemoteBackend
    private let state: Guarded<(rates: Rates, random: UInt64)>

    /// Puts a bad network in front of a back end. Nothing goes wrong until ``rates`` are set.
    public init(_ base: some RemoteBackend, seed: UInt64) {
        self.base = base
        state = Guarded((Rates(), seed))
    }

    /// How often something goes wrong.
    public var rates: Rates {
        get { state.withLock(\.rates) }
        set { state.withLock { $0.rates = newValue } }
    }

    public var name: String { base.name }
    public var capabilities: RemoteCapabilities { base.capabilities }
    public var clockOffset: Double { base.clockOffset }
    public func check(_ model: ManagedObjectModel) throws(RemoteError) { try base.check(model) }
    public func check(_ operation: RemoteOperation) throws(RemoteError) { try base.check(operation) }
    public func lists(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Bool {
        base.lists(relationship, of: entity)
    }
    public func code(of finding: RemoteError.Finding) -> RemoteError.Code? { base.code(of: finding) }

    public func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer
    {
        if happens(\.lostRequests) {
            throw RemoteError(.unreachable, domain: "Faults", message: "the request got lost")
        }
        let answer = try await base.perform(operation, options: options)
        if operation.isWrite, happens(\.duplicates) { _ = try? await base.perform(operation, options: options) }
        if happens(\.lostAnswers) { throw RemoteError(.timeout, domain: "Faults", message: "the answer got lost") }
        return answer
    }

    /// Numbers of SplitMix64 (Steele, Lea and Flood, 2014).
    private func happens(_ rate: KeyPath<Rates, Double> & Sendable) -> Bool {
        state.withLock { state in
            state.random &+= 0x9E37_79B9_7F4A_7C15
            var number = state.random
            number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
            number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
            number ^= number >> 31
            return Double(number >> 11) * 0x1p-53 < state.rates[keyPath: rate]
        }
    }
}

extension RemoteOperation {
    /// Whether it changes something at the server.
    fileprivate var isWrite: Bool {
        switch self {
        case .create, .update, .delete, .relate, .batch: true
        case .query, .count, .read, .pull, .upload, .call, .ping: false
        }
    }
}
