import Foundation
import StrataRemote
import StrataStore

/// A back end whose service only takes changes that name all values of an object, as one that takes any change: what a check does
/// not name is read first, as a push does.
struct WholeObjectBackend: RemoteBackend {
    let inner: any RemoteBackend

    var name: String { inner.name }
    var clockOffset: Double { inner.clockOffset }
    var capabilities: RemoteCapabilities { inner.capabilities }

    func lists(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Bool {
        inner.lists(relationship, of: entity)
    }

    func check(_ operation: RemoteOperation) throws(RemoteError) {
        switch operation {
        case .update(let entity, var write):
            write.isWhole = true
            try inner.check(.update(entity: entity, write))
        default: try inner.check(operation)
        }
    }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        try await inner.perform(try await whole(operation), options: options)
    }

    private func whole(_ operation: RemoteOperation) async throws(RemoteError) -> RemoteOperation {
        switch operation {
        case .update(let entity, let write): return .update(entity: entity, try await whole(write, entity))
        case .batch(let operations):
            var result: [RemoteOperation] = []
            for operation in operations { result.append(try await whole(operation)) }
            return .batch(result)
        default: return operation
        }
    }

    private func whole(_ write: RemoteWrite, _ entity: EntityDescription) async throws(RemoteError) -> RemoteWrite {
        var whole = write
        whole.isWhole = true
        let read = RemoteOperation.read(entity: entity, ids: [write.id])
        guard case .page(let page) = try await inner.perform(read, options: RequestOptions()),
            let record = page.records.first
        else { return whole }
        whole.values = record.values.merging(write.values) { $1 }
        return whole
    }
}
