import StrataSQLite
import StrataStore

extension SaveSending {
    /// Makes sure that writes say which of the server's states they are made to. That is not known of an object whose creation waits
    /// in the outbox without an answer, and others may have changed the object already.
    mutating func findBases() async {
        for position in writes.indices {
            let write = writes[position]
            guard lacksBase(write) else { continue }
            do {
                guard let record = try await state(of: write), record.version != nil else { continue }
                if try await isChanged(write, record) {
                    take(.failed(conflict(record)), of: write)
                } else {
                    writes[position].write.baseVersion = record.version
                }
            } catch let error as RemoteError {
                fail(write, error)
            } catch {
                fail(write, RemoteError(.invalidRequest, domain: "Strata", message: "\(error)"))
            }
        }
        writes = writes.filter { !undone.contains(rooted($0)) }
    }

    /// Whether a server that compares versions could not compare any for a write.
    private func lacksBase(_ write: MirrorWrite) -> Bool {
        guard write.write.baseVersion == nil, repeated.earlier[rooted(write)] == nil else { return false }
        guard write.kind == .delete || write.kind == .update && !write.write.values.isEmpty else { return false }
        return store.backend.capabilities.features(of: write.entity).contains(.conditionalWrites)
    }

    /// Whether others have changed what a write replaces, or anything of what it deletes.
    private func isChanged(_ write: MirrorWrite, _ record: RemoteRecord) async throws(StoreError) -> Bool {
        let names = write.kind == .delete ? Set(record.values.keys) : Set(write.write.values.keys)
        return try await store.surroundings.elsewhere { [store] () throws(StoreError) in
            try store.mirror.isForeign(record, of: write.identity, in: names)
        }
    }

    private func conflict(_ record: RemoteRecord) -> RemoteError {
        RemoteError(
            .conflict, domain: "Strata", message: "others have changed the object since it was made here",
            identity: record.identity, serverRecord: record)
    }
}
