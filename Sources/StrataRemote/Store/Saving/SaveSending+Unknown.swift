import Foundation
import StrataSQLite
import StrataStore

/// Writes that were sent before without an answer, and that the server is known to have carried out by now.
struct RepeatedWrites {
    /// All that the context has sent without a known outcome.
    let unknown: OwnUnknownWrites
    /// What is left of the writes of the save after them, by position.
    var rests: [Int: MirrorWrite] = [:]
    /// The earlier writes, as long as what is left is not done.
    var earlier: [RowIdentity: UnknownWrite] = [:]
    /// Objects whose rest is in conflict with a state that the server told.
    var overtaken: Set<RowIdentity> = []
    /// All of them.
    var carriedOut = CarriedOutWrites()
}

extension SaveSending {
    /// Objects that the server has in another state than was thought, and did not tell.
    var unseen: [RemoteIdentity] {
        failures
            .filter { write, error in
                switch error.kind {
                case .conflict, .duplicate: error.serverRecord == nil
                case .notFound, .gone: write.kind == .update
                default: false
                }
            }
            .map { RemoteIdentity(entity: $0.write.entity.name, id: $0.write.write.id) }
    }

    /// New objects whose primary keys the server has already, or had, by topmost entity and key.
    var duplicates: Set<RowIdentity> {
        Set(
            failures.filter { $0.write.kind == .insert && ($0.error.kind == .duplicate || $0.error.kind == .gone) }
                .map { rooted($0.write) })
    }

    /// Changed objects of which the server has another state than the change was made to.
    var conflicting: Set<RowIdentity> {
        Set(failures.filter { $0.write.kind == .update && $0.error.kind == .conflict }.map { rooted($0.write) })
    }

    /// Whether an object is as the save wanted it, or as the server has it by now.
    func isPassed(_ object: RowIdentity) -> Bool { !undone.contains(object) || repeated.overtaken.contains(object) }

    /// Sends what earlier saves of the same objects have sent and got no answer to, as it was, and takes what the server
    /// has done then out of the writes of this save.
    mutating func settleUnknown() async {
        for (position, write) in writes.enumerated() {
            var next = repeated.unknown.claim(rooted(write))
            // Nothing of it has to be left out.
            if let earlier = next, earlier.isHere, earlier.write.computed.isEmpty { next = nil }
            while let earlier = next { next = await settle(earlier, before: write, at: position) }
        }
        writes = writes.enumerated().compactMap { position, write in repeated.rests[position] ?? write }
            .filter { !$0.isNothing && !undone.contains(rooted($0)) }
    }

    /// Sends an earlier write once more, and takes what it has done out of a write of this save.
    /// - Returns: The write before the earlier one if the earlier one was not carried out.
    private mutating func settle(
        _ earlier: UnknownWrite, before write: MirrorWrite, at position: Int
    ) async -> UnknownWrite? {
        if earlier.write.kind == .delete, write.kind != .delete {
            await settleDeletion(earlier, takenBackBy: write)
            return nil
        }
        let (missing, outcome) = await outcomeOnce(of: earlier, before: write)
        let earlier = earlier.without(missing)
        switch outcome {
        case .done(var record):
            repeated.carriedOut.add(earlier.write.write.token, missing: missing)
            if record == nil, !write.computed.isEmpty {
                // The results of operations are made of what the server has now.
                do throws(RemoteError) {
                    record = try await state(of: earlier.write)
                } catch {
                    fail(write, error)
                    return nil
                }
            }
            let rest = await takingBack(earlier, in: rest(of: write, behind: earlier, record), write, record)
            if let record, await isOvertaken(rest, behind: earlier, record) {
                await overtake(write, earlier, record)
                return nil
            }
            // An object that is deleted next is not reported again. Of a changed one what follows tells the latest state; the
            // mirror may have a later one than the server remembers.
            if let record, write.kind != .delete {
                if rest.isNothing || earlier.isCarriedOut || !store.mirror.server.remembersWrites {
                    guard await noteLatest(record, of: earlier, before: write) else { return nil }
                } else {
                    noteName(record, of: earlier.write)
                }
            }
            repeated.rests[position] = rest
            if rest.isNothing {
                repeated.unknown.remove(rooted(write))
            } else {
                // Without the rest the save is not done, and what the mirror lacks is still to be sent in front of it.
                repeated.earlier[rooted(write)] = earlier
            }
        case .failed(let error): return await failRepetition(of: earlier, write, error)
        }
        return nil
    }

    /// Whether others have changed what a save changes or deletes next since the earlier write: a server that answers the
    /// repetition with what it has now would take the save for one that was made to that.
    private func isOvertaken(_ rest: MirrorWrite, behind earlier: UnknownWrite, _ record: RemoteRecord) async -> Bool {
        guard rest.kind != .insert else { return false }
        let told = earlier.told
        let names = rest.kind == .delete ? Set(record.values.keys) : Set(rest.write.values.keys)
        // The results of operations are made of what the server has.
        let assigned = names.filter {
            rest.computed[$0] == nil && earlier.write.computed[$0]?.covered.isEmpty ?? true
        }
        let isChanged = assigned.contains { name in
            guard let sent = told[name], let now = record.values[name] else { return false }
            // The server may have filled in what a new object lacked.
            if rest.kind == .delete, earlier.isOfNewObject, isEqual(nil, sent) { return false }
            // What an object refers to may have another key by now, which the server knew before.
            return !isEqual(now, sent) && rest.write.values[name].map { isEqual(now, $0) } != true
        }
        if isChanged { return true }
        // Of what the earlier write did not send the mirror has what the save was made to.
        let others = Set(assigned.filter { told[$0] == nil })
        guard !others.isEmpty, store.backend.capabilities.features(of: rest.entity).contains(.conditionalWrites) else {
            return false
        }
        let differs = try? await store.surroundings.elsewhere { [store] () throws(StoreError) in
            try store.mirror.differs(record, from: rest.identity, in: others)
        }
        return differs ?? false
    }

    /// The mirror gets what the server says, and the merge policy of the context compares with that.
    private mutating func overtake(_ write: MirrorWrite, _ earlier: UnknownWrite, _ record: RemoteRecord) async {
        guard await noteLatest(record, of: earlier, before: write, endsHere: true) else { return }
        noteOvertaken(earlier, rooted(write))
        fail(
            write,
            RemoteError(
                .conflict, domain: "Strata", message: "others have changed the object since an earlier save",
                identity: record.identity, serverRecord: record))
    }

    /// The mirror gets what the server says now, with an earlier write in it. The context still has the operations that the server
    /// has carried out: the next save has to leave them out, too. It is in no conflict with what the write has made of the object.
    mutating func noteOvertaken(_ earlier: UnknownWrite, _ identity: RowIdentity) {
        repeated.unknown.put(earlier.isOfNewObject ? .operations(of: earlier.write) : earlier.carriedOut, identity)
        repeated.overtaken.insert(identity)
    }

    /// An earlier write was not carried out by this request.
    /// - Returns: The write before it, which was.
    private mutating func failRepetition(
        of earlier: UnknownWrite, _ write: MirrorWrite, _ error: RemoteError
    ) async -> UnknownWrite? {
        // A proxy's "not found" says nothing of a creation either: the server may have the object, under a key of its own.
        if error.concernsAll || error.kind == .notFound && earlier.write.kind == .insert {
            fail(write, error)
            return nil
        }
        if mayBeCarriedOut(earlier, error) {
            var refused = earlier
            refused.refusals += 1
            repeated.unknown.put(refused, rooted(write))
            fail(write, error)
            return nil
        }
        if error.kind == .conflict, write.kind == .update, let record = error.serverRecord,
            let missing = missingInDoubt(of: earlier.write, record)
        {
            // The values that it assigned are in conflict with those of others.
            await overtake(write, earlier.without(missing), record)
            return nil
        }
        let before = error.kind == .gone ? nil : earlier.before.flatMap(UnknownWrite.operations)
        repeated.unknown.put(before, rooted(write))
        guard write.kind == .insert, earlier.isOfNewObject else { return before }
        if error.kind == .gone {
            noteDeleted(write)
            fail(write, error)
        } else if let born = earlier.born {
            // The server has it, but not the change.
            repeated.unknown.put(UnknownWrite(write: born), rooted(write))
            fail(write, error)
        }
        return nil
    }

    /// A new object existed at the server, and others have deleted it: the merge policy decides whether to create it again.
    func noteDeleted(_ write: MirrorWrite) {
        repeated.unknown.remove(rooted(write))
        store.mirror.online.deleted.withLock { _ = $0.insert(rooted(write)) }
    }

    /// Whether a server that refuses the repetition of a write may have carried it out at the first time, without a way to see
    /// that: it has done operations, or made a new object, perhaps under a key of its own. Somebody in front of it may have
    /// refused. The save fails then, and the next one asks again, because to send its own changes would do the same twice. A server
    /// that refuses again and again has not carried it out: one that recognizes writes would say so.
    func mayBeCarriedOut(_ earlier: UnknownWrite, _ error: RemoteError) -> Bool {
        let write = earlier.write
        guard write.kind == .insert || !write.write.operations.isEmpty || !write.computed.isEmpty,
            earlier.refusals < 2, store.mirror.server.remembersWrites
        else { return false }
        // "Not found" is not about the object, which is there: otherwise it would be "gone".
        return switch error.kind {
        case .conflict, .duplicate, .gone: false
        default: true
        }
    }

    /// What became of an earlier write, which is sent once more unless that would carry out its operations a second time.
    /// - Parameter next: What the save is about to send of the object; nil if the write is another context's.
    /// - Returns: The outcome, and the properties that the server lacks nevertheless, as far as they are operations or members.
    func outcomeOnce(
        of earlier: UnknownWrite, before next: MirrorWrite?
    ) async -> (missing: Set<String>, RemoteOutcome) {
        let write = earlier.write
        if earlier.isCarriedOut || mayRepeatOperations(of: write) {
            do throws(RemoteError) {
                guard let record = try await state(of: write) else {
                    let error = RemoteError(.notFound, domain: "Strata", message: "the object cannot be found")
                    return ([], await absence(of: write, error))
                }
                if earlier.isCarriedOut { return ([], .done(record)) }
                let missing = missingOperations(of: write, record)
                if missing.count < write.computed.count {
                    // The changes of members are requests of their own.
                    let unmade = write.relations.filter { !isMade($0, in: record) }.map(\.relationship)
                    return (missing.union(unmade), .done(record))
                }
            } catch {
                return ([], .failed(error))
            }
        }
        let (unmade, outcome) = await outcome(of: write)
        if case .failed(let error) = outcome, error.kind == .conflict, let record = error.serverRecord,
            write.isComputed, next?.kind != .delete, let missing = missingInDoubt(of: write, record)
        {
            return (missing, .done(record))
        }
        return (unmade, outcome)
    }

    /// The attributes whose operations the server lacks after it has refused the repetition of a write, if it may have carried out
    /// the others: it recognizes no repetition, and what stands in the way may be what others have made of the write since.
    /// - Returns: nil if it has not carried out the write, or would have said so.
    func missingInDoubt(of write: MirrorWrite, _ record: RemoteRecord) -> Set<String>? {
        guard write.kind == .update, !store.mirror.server.remembersWrites else { return nil }
        let missing = missingOperations(of: write, record)
        return missing.count < write.computed.count ? missing : nil
    }

    /// What became of a write that is sent once more. A conflict comes with what the server has.
    /// - Returns: The outcome, and the relationships whose changes of members the server has refused after it has taken the values.
    private func outcome(of write: MirrorWrite) async -> (unmade: Set<String>, RemoteOutcome) {
        var last: RemoteRecord?
        var isBegun = false
        for operation in operations(of: write) {
            do throws(RemoteError) {
                guard case .outcomes(let list) = try await store.backend.perform(operation, options: options.request),
                    let outcome = list.first, list.count == 1
                else {
                    throw RemoteError(
                        .invalidAnswer, domain: "Strata",
                        message: "\(store.backend.name) did not say what became of a write")
                }
                switch outcome {
                case .done(let record):
                    last = record
                    isBegun = true
                case .failed(let error): throw error
                }
            } catch {
                if write.kind == .delete { return ([], await confirmed(.failed(error), of: write)) }
                if isBegun, !error.concernsAll, case .relate = operation {
                    return (Set(write.relations.map(\.relationship)), .done(last))
                }
                var error = error
                if write.kind == .update, error.kind == .notFound,
                    case .failed(let found) = await absence(of: write, error)
                {
                    error = found
                }
                guard saysNothing(error, of: write) else { return ([], .failed(error)) }
                do throws(RemoteError) {
                    // A server that gave the object another key tells it with the refusal. Others may have changed the object
                    // between the refusal and the reading.
                    let record = try await state(of: write) ?? error.serverRecord
                    var part = write
                    // The changes of members come after it.
                    if case .update = operation { part.relations = [] }
                    guard let record, isWork(of: part, record) || isWork(of: part, error.serverRecord) else {
                        if error.kind == .conflict { error.serverRecord = record }
                        return ([], .failed(error))
                    }
                    last = record
                    isBegun = true
                } catch {
                    return ([], .failed(error))
                }
            }
        }
        return ([], .done(last))
    }

    /// Whether a refusal of the repetition says nothing of the first attempt: a server without idempotency tokens finds its own
    /// work in the way, and somebody in front of it may have refused what it has carried out.
    private func saysNothing(_ error: RemoteError, of write: MirrorWrite) -> Bool {
        if error.kind == .duplicate || error.kind == .conflict { return true }
        guard !error.concernsAll else { return false }
        if write.kind == .insert { return true }
        return error.kind != .gone && (write.computed.isEmpty || !store.mirror.server.remembersWrites)
    }

    /// What became of a change whose object cannot be found.
    func absence(of write: MirrorWrite, _ error: RemoteError) async -> RemoteOutcome {
        do throws(RemoteError) {
            guard try await isGone(write.write.id, write.entity) else { return .failed(error) }
            var error = error
            error.kind = .gone
            return .failed(error)
        } catch {
            return .failed(error)
        }
    }

    func state(of write: MirrorWrite) async throws(RemoteError) -> RemoteRecord? {
        try await state(of: write.write.id, write.entity)
    }

    private func state(of id: String, _ entity: EntityDescription) async throws(RemoteError) -> RemoteRecord? {
        let read = RemoteOperation.read(entity: entity, ids: [id])
        guard case .page(let page) = try await store.backend.perform(read, options: options.request) else { return nil }
        return page.records.first { store.mirror.isSame($0, entity, id) }
    }

    /// Takes what the server has now of an object whose earlier write it has carried out. A server that carries out a write once may
    /// answer the repetition with what it remembers of the first attempt, and others may have changed the object since.
    /// - Parameter endsHere: Whether the save of the object goes no further. If others have deleted a new object, nothing else
    ///   keeps the next save from making it again.
    /// - Returns: Whether that is known. If not, the save of the object fails, and the next one asks.
    private mutating func noteLatest(
        _ record: RemoteRecord, of earlier: UnknownWrite, before write: MirrorWrite, endsHere: Bool = false
    ) async -> Bool {
        guard store.mirror.server.remembersWrites, !earlier.isCarriedOut else {
            note(record, of: earlier.write)
            return true
        }
        do throws(RemoteError) {
            if let found = try await state(of: record.id, earlier.write.entity) {
                note(found, of: earlier.write)
                return true
            }
            if endsHere, earlier.isOfNewObject, try await isGone(record.id, earlier.write.entity) {
                noteDeleted(write)
                fail(write, RemoteError(.gone, domain: "Strata", message: "others have deleted the object"))
                return false
            }
        } catch {
            if earlier.write.kind == .update || isHere(record, earlier.write.entity) {
                // One that the server has renamed is found by its creation only.
                let isFound = store.mirror.isSame(record, earlier.write.entity, earlier.write.write.id)
                repeated.unknown.put(isFound ? earlier.carriedOut : earlier, rooted(write))
                fail(write, error)
                return false
            }
        }
        // The next pull finds out.
        try? await store.surroundings.elsewhere { [store] () throws(StoreError) in
            try store.mirror.noteStale(record.identity)
        }
        if earlier.write.kind == .insert { note(record, of: earlier.write) }
        return true
    }

    /// Whether answers have told about an object by the name that the server has for it.
    private func isHere(_ record: RemoteRecord, _ entity: EntityDescription) -> Bool {
        let mirror = store.mirror
        let known = try? mirror.store.reading { (connection) throws(StoreError) in
            try mirror.known(mirror.canonical(record.id, entity), root: entity.rootIndex, on: connection)
        }
        return known?.version != nil
    }

    /// Whether the server's state is what a write has made of an object, whatever others have made of that. What a new object lacks
    /// the server may have filled in.
    func isWork(of write: MirrorWrite, _ record: RemoteRecord?) -> Bool {
        guard let record, write.write.operations.isEmpty else { return false }
        if !write.computed.isEmpty {
            // The state does not tell whether it has operations of others in it. A server that recognizes writes would have said so.
            if store.mirror.server.remembersWrites { return false }
            let isShown = write.computed.contains { name, value in
                guard case (.value(let now)?, .value(let before)) = (record.values[name], value.before) else {
                    return false
                }
                return value.operations.areShown(in: now, since: before)
            }
            if isShown { return true }
        }
        // Servers tell no secrets.
        if write.kind == .update, write.write.values.isEmpty, write.relations.isEmpty { return false }
        guard write.relations.allSatisfy({ isMade($0, in: record) }) else { return false }
        return write.write.values.allSatisfy { name, value in
            if write.kind == .insert, value == .value(.null) || value == .reference(nil) { return true }
            return isEqual(record.values[name], value)
        }
    }

    /// Whether the server's state has the members of a change, as far as the server tells them.
    private func isMade(_ relation: RemoteRelation, in record: RemoteRecord) -> Bool {
        guard case .references(let members)? = record.values[relation.relationship] else { return false }
        return Set(relation.added).isSubset(of: members) && Set(relation.removed).isDisjoint(with: members)
    }

    /// Whether a value of the server is the one that was sent; what the server does not tell may be.
    func isEqual(_ told: RemoteValue?, _ sent: RemoteValue) -> Bool {
        switch (told, sent) {
        case (nil, .value(.null)), (nil, .reference(nil)), (nil, .references): true
        case (.references(let a)?, .references(let b)): Set(a) == Set(b)
        case (.value(.double(let a))?, .value(.integer(let b))): a == Double(b)
        case (.value(.integer(let a))?, .value(.double(let b))): Double(a) == b
        case (let told?, _): told == sent
        case (nil, _): false
        }
    }
}

extension MirrorWrite {
    /// Whether the write has operations, and nothing else.
    fileprivate var isComputed: Bool {
        !computed.isEmpty && relations.isEmpty && write.values.keys.allSatisfy { computed[$0] != nil }
    }

    /// Whether there is nothing to be sent.
    fileprivate var isNothing: Bool {
        kind == .update && write.values.isEmpty && write.operations.isEmpty && relations.isEmpty
    }
}
