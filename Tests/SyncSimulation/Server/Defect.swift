import Foundation
import StrataRemote

extension SimulationWorld {
    /// A defect that is put into clients on purpose, to see that the simulation finds it. Each is a way in which an engine
    /// can be wrong.
    public enum Defect: String, Sendable, CaseIterable {
        /// A reset forgets the objects, but not how far pulls came.
        case resetKeepsCursors
        /// Discarded changes are not requested again.
        case dropKeepsOldState
        /// A creation that meets a 404 ends as if the object had been deleted by others.
        case notFoundDeletes
        /// What a portal answers to a write counts as success.
        case portalSucceeds
        /// An answer that a later one has overtaken is applied.
        case overtakenCounts
        /// The cursor of a page is kept, and the last record of the page is not.
        case cursorRunsAhead
        /// The echo of a local change counts as a change of others: the change after it is applied to the state before
        /// both.
        case ownEchoIsForeign
        /// A second process may open a mirror.
        case lockIsIgnored
        /// A change of members leaves those out that were added.
        case memberIsNotSent
        /// A server is told twice, under two names, of an operation.
        case operationIsSentTwice
        /// An operation is queued as its result.
        case operationBecomesValue

        /// Whether it takes operations to find it.
        var needsOperations: Bool { self == .operationIsSentTwice || self == .operationBecomesValue }

        /// Whether some 100 simulations find it.
        public var isCommon: Bool {
            switch self {
            // It needs that others change what was refused, that answers overtake each other, or two changes of one value.
            case .dropKeepsOldState, .overtakenCounts, .ownEchoIsForeign: false
            default: true
            }
        }

        /// Looks for the defect in clients of all kinds of servers.
        /// - Returns: The first seed from 1 on that finds it; nil if none of this many does.
        public func firstSeed(of count: UInt64) throws -> UInt64? {
            for seed in 1...max(1, count) {
                let variant = ServerVariant.all[Int(seed % UInt64(ServerVariant.all.count))]
                if try !SimulationWorld.run(seed: seed, variant: variant, defect: self, operates: needsOperations)
                    .isEmpty
                {
                    return seed
                }
            }
            return nil
        }
    }
}

/// A back end through which a client has a defect.
///
/// `@unchecked Sendable`: everything happens on one thread.
final class DefectiveNetwork: RemoteBackend, @unchecked Sendable {
    private let network: SimulatedNetwork
    private let world: SimulationWorld
    private let defect: SimulationWorld.Defect
    /// What was answered before, by request.
    private var answers: [String: RemoteAnswer] = [:]

    init(_ network: SimulatedNetwork, _ defect: SimulationWorld.Defect, world: SimulationWorld) {
        self.network = network
        self.defect = defect
        self.world = world
    }

    var name: String { network.name }
    var capabilities: RemoteCapabilities { network.capabilities }
    var clockOffset: Double { network.clockOffset }
    func check(_ operation: RemoteOperation) throws(RemoteError) { try network.check(operation) }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        do throws(RemoteError) {
            if defect == .operationIsSentTwice, case .update(let entity, var write) = operation,
                !write.operations.isEmpty
            {
                write.token = UUID()
                _ = try await network.perform(.update(entity: entity, write), options: options)
            }
            let sent = defect == .memberIsNotSent ? withoutMembers(operation) : operation
            return changed(try await network.perform(sent, options: options), operation)
        } catch {
            guard defect == .portalSucceeds, error.kind == .invalidAnswer, let count = operation.simulatedWrites else {
                throw error
            }
            return .outcomes(Array(repeating: .done(nil), count: count))
        }
    }

    private func withoutMembers(_ operation: RemoteOperation) -> RemoteOperation {
        switch operation {
        case .batch(let list): return .batch(list.map(withoutMembers))
        case .relate(let entity, var relation):
            relation.added = []
            return .relate(entity: entity, relation)
        default: return operation
        }
    }

    private func changed(_ answer: RemoteAnswer, _ operation: RemoteOperation) -> RemoteAnswer {
        switch (defect, answer, operation) {
        case (.notFoundDeletes, .outcomes(let list), .create):
            return .outcomes(
                list.map { outcome in
                    guard case .failed(var error) = outcome, error.kind == .notFound else { return outcome }
                    error.kind = .gone
                    return .failed(error)
                })
        case (.overtakenCounts, .page, .query), (.overtakenCounts, .page, .read):
            let name = SimulationWorld.text(operation)
            let earlier = answers[name]
            answers[name] = answer
            return world.weather.isCalm || !world.executor.random.chance(0.3) ? answer : earlier ?? answer
        case (.cursorRunsAhead, .page(var page), .pull)
        where page.records.count > 1 && !world.weather.isCalm && world.executor.random.chance(0.2):
            page.records.removeLast()
            return .page(page)
        default: return answer
        }
    }
}

extension RemoteOperation {
    /// How many objects are written; nil for what reads.
    var simulatedWrites: Int? {
        switch self {
        case .create(_, let writes): writes.count
        case .update, .delete, .relate: 1
        case .batch(let list): list.count
        default: nil
        }
    }
}
