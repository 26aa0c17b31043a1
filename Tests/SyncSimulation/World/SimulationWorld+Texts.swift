import StrataRemote

// How operations and answers are told in a trace.

extension SimulationWorld {
    static func text(_ operation: RemoteOperation) -> String {
        func text(_ write: RemoteWrite) -> String {
            "\(write.id) base \(write.baseVersion ?? "-") \(write.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }) \(write.operations.isEmpty ? "" : "\(write.operations)") \(write.token.uuidString.prefix(4))"
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
