import StrataSQLite
import StrataStore

extension SaveSending {
    /// Makes sure that writes say which of the server's states they are made to. That is not known of an object whose creation waits
    /// in the outbox without an answer, and others may have changed the object already.
    /// - Returns: The writes that can be sent.
    mutating func withBases(_ list: [MirrorWrite]) async -> [MirrorWrite] {
        var result: [MirrorWrite] = []
        var common: RemoteError?
        for var write in list {
            if let common {
                refuse(write, common)
                continue
            }
            if lacksBase(write) {
                do throws(RemoteError) {
                    let record = try await state(of: write)
                    if let record, record.version != nil {
                        if await isChanged(write, record) {
                            take(.failed(.changed(record)), of: write)
                            continue
                        }
                        write.write.baseVersion = record.version
                    }
                } catch {
                    if error.concernsAll { common = error }
                    refuse(write, error)
                    continue
                }
            }
            result.append(write)
        }
        return result
    }

    /// Whether a server that compares versions could not compare any for a write.
    private func lacksBase(_ write: MirrorWrite) -> Bool {
        guard write.write.baseVersion == nil, repeated.earlier[rooted(write)] == nil else { return false }
        guard write.kind == .delete || write.kind == .update && !write.write.values.isEmpty else { return false }
        return store.backend.capabilities.features(of: write.entity).contains(.conditionalWrites)
    }

    /// Whether others have changed what a write replaces, or anything of what it deletes; also if that cannot be found out.
    private func isChanged(_ write: MirrorWrite, _ record: RemoteRecord) async -> Bool {
        let names = write.kind == .delete ? Set(record.values.keys) : Set(write.write.values.keys)
        let differs = try? await store.surroundings.elsewhere { [store] () throws(StoreError) in
            try store.mirror.differs(record, from: write.identity, in: names, orWaiting: true)
        }
        return differs ?? true
    }
}

extension RemoteError {
    /// Others have changed an object.
    fileprivate static func changed(_ record: RemoteRecord) -> RemoteError {
        RemoteError(
            .conflict, domain: "Strata", message: "others have changed the object since it was made here",
            identity: record.identity, serverRecord: record)
    }
}
