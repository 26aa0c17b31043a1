import StrataSQLite
import StrataStore

// Writes of other contexts that got no answer are settled before anything else is sent of the same objects. Those contexts still
// have the changes. They leave out the operations that the server has carried out; its values are changes by others to them.

extension RemoteStore {
    /// Finds out what the server has done of what other contexts have sent of some objects, and reads these.
    /// - Parameters:
    ///   - objects: By topmost entity and key.
    ///   - source: The context that saves.
    /// - Throws: What keeps it from being found out. Nothing is lost, and the next call asks again.
    func settleOthers(
        of objects: Set<RowIdentity>, besides source: ChangeSource?, _ options: Options
    ) async throws(SyncError) {
        if mirror.online.unknown.isEmpty { return }
        for identity in objects.sorted(by: { ($0.entityIndex, $0.key) < ($1.entityIndex, $1.key) }) {
            for other in mirror.online.unknown.others(of: identity, besides: source) {
                let sending = SaveSending(store: self, options: options, writes: [], source: nil)
                guard let done = try await sending.settle(other, of: identity) else { continue }
                if try await isHere(done, sending) { mirror.online.unknown.take(done, identity) }
            }
        }
    }

    /// Waits for online saves of an object that are under way, and finds out what those without an answer have done.
    func settleOnline(_ object: RowIdentity) async throws(SyncError) {
        do throws(StoreError) {
            try await mirror.online.turns.begin([object])
        } catch {
            throw .store(error)
        }
        defer { mirror.online.turns.end([object]) }
        try await settleOthers(of: [object], besides: nil, options(nil))
    }

    /// Takes what the server has now of an object.
    /// - Returns: Whether the mirror has what was written.
    private func isHere(_ done: UnknownWrite, _ sending: SaveSending) async throws(SyncError) -> Bool {
        let (entity, id) = (done.write.entity, done.write.write.id)
        let ticket = mirror.ticket()
        var page = RemotePage()
        do throws(RemoteError) {
            if let record = try await sending.state(of: done.write) {
                page.records = [record]
            } else if try await sending.isGone(id, entity) {
                page.deleted = [RemoteIdentity(entity: entity.name, id: id)]
            } else {
                throw RemoteError(.notFound, domain: "Strata", message: "the object cannot be found")
            }
        } catch {
            throw .remote(error)
        }
        let told = page
        do throws(StoreError) {
            return try await surroundings.elsewhere { [mirror] () throws(StoreError) in
                try mirror.apply(told, ticket: ticket, keeps: false).overtaken.isEmpty
            }
        } catch {
            throw .store(error)
        }
    }
}

extension SaveSending {
    /// Finds out what became of what another context has sent of an object, and remembers that for the context.
    /// - Returns: What the server has done; nil if that is nothing.
    fileprivate func settle(_ other: UnknownWrite, of identity: RowIdentity) async throws(SyncError) -> UnknownWrite? {
        let unknown = store.mirror.online.unknown
        if other.write.kind == .delete {
            do throws(RemoteError) {
                let done = try await isCarriedOut(deletion: other.write) ? other.carriedOut : nil
                unknown.replace(other, identity, by: done)
                return done
            } catch {
                throw .remote(error)
            }
        }
        let (missing, outcome) = await outcomeOnce(of: other, before: nil)
        var done: UnknownWrite? = other.without(missing).carriedOut
        if case .failed(let error) = outcome {
            guard error.kind == .gone || !error.concernsAll && !other.isCarriedOut else { throw .remote(error) }
            if mayBeCarriedOut(other, error) {
                var refused = other
                refused.refusals += 1
                unknown.replace(other, identity, by: refused)
                throw .remote(error)
            }
            done = error.kind == .gone ? nil : other.before.map { UnknownWrite(write: $0).carriedOut }
            if error.kind == .conflict, let record = error.serverRecord,
                let missing = missingInDoubt(of: other.write, record)
            {
                done = other.without(missing).carriedOut
            }
        }
        unknown.replace(other, identity, by: done)
        return done
    }
}
