import Foundation
import StrataStore

/// Some writes of a save, and the requests that they take one after the other.
struct SaveJob: Sendable {
    let writes: [MirrorWrite]
    /// Each with the positions of the writes that its outcomes are about.
    let requests: [(operation: RemoteOperation, writes: [Int])]

    /// Sends the requests. Those of an object of which one failed are not sent.
    func run(
        _ backend: any RemoteBackend, _ options: RequestOptions
    ) async -> [(write: MirrorWrite, outcome: RemoteOutcome)] {
        var result: [(write: MirrorWrite, outcome: RemoteOutcome)] = []
        var failed: Set<Int> = []
        for (operation, positions) in requests where !positions.allSatisfy(failed.contains) {
            for (position, outcome) in zip(positions, await outcomes(operation, positions.count, backend, options)) {
                if case .failed = outcome { failed.insert(position) }
                result.append((writes[position], outcome))
            }
        }
        return result
    }

    private func outcomes(
        _ operation: RemoteOperation, _ count: Int, _ backend: any RemoteBackend, _ options: RequestOptions
    ) async -> [RemoteOutcome] {
        do throws(RemoteError) {
            guard case .outcomes(let list) = try await backend.perform(operation, options: options), list.count == count
            else {
                throw RemoteError(
                    .invalidAnswer, domain: "Strata",
                    message: "\(backend.name) did not say what became of \(count) writes")
            }
            for (outcome, write) in zip(list, operation.writes) {
                guard case .done(let record?) = outcome else { continue }
                guard write.mayBeRenamed || record.id.caseInsensitiveCompare(write.id) == .orderedSame else {
                    throw RemoteError(
                        .invalidAnswer, domain: "Strata",
                        message: "\(backend.name) answered a write of \(write.id) with \(record.identity)")
                }
            }
            return list
        } catch {
            // A batch that is refused as a whole is halved until only the culprit is left.
            guard count > 1, !error.concernsAll, let halves = operation.halves else {
                return Array(repeating: .failed(error), count: count)
            }
            var result: [RemoteOutcome] = []
            for half in halves { result += await outcomes(half, half.writeCount ?? 0, backend, options) }
            return result
        }
    }
}

extension RemoteOperation {
    /// The objects that a write of objects is about, and whether the server may name them.
    fileprivate var writes: [(id: String, mayBeRenamed: Bool)] {
        switch self {
        case .create(_, let list): list.map { ($0.id, true) }
        case .update(_, let write), .delete(_, let write): [(write.id, false)]
        case .relate(_, let relation): [(relation.id, false)]
        case .batch(let list): list.flatMap(\.writes)
        case .query, .count, .read, .pull, .upload, .call, .ping: []
        }
    }

    /// Two operations that write the same; nil if there is one write only.
    fileprivate var halves: [RemoteOperation]? {
        switch self {
        case .create(let entity, let list) where list.count > 1:
            let middle = list.count / 2
            return [
                .create(entity: entity, Array(list[..<middle])), .create(entity: entity, Array(list[middle...])),
            ]
        case .batch(let list) where list.count > 1:
            let middle = list.count / 2
            return [list[..<middle], list[middle...]].map { $0.count == 1 ? $0[$0.startIndex] : .batch(Array($0)) }
        default: return nil
        }
    }
}
