import Foundation
import StrataSQLite
import StrataStore

extension PushRun {
    func conflict(_ job: Job, _ record: RemoteRecord?) throws(Interruption) -> SyncConflict {
        let base = try here { () throws(StoreError) in try mirror.baseModified(job.entry) }
        return SyncConflict(
            kind: job.kind, identity: job.identity,
            client: RemoteRecord(
                entity: job.identity.entity, id: job.identity.id, values: job.write.write.values,
                modified: job.entry.changed),
            server: record, baseModified: base)
    }

    /// The server has another state of the object than the one that the change was made to, or has it already.
    mutating func resolve(_ job: Job, _ error: RemoteError) async throws(Interruption) {
        guard mayDecide(job) else { return refuse(job, error) }
        noteDecided(job)
        var record = error.serverRecord
        if record == nil { record = try await serverState(job) }
        guard let record else {
            // It was deleted in the meantime: the next attempt reports that.
            if job.kind == .insert { return refuse(job, error) }
            return try await confirmAbsence(job, error)
        }
        if try isOwnWork(job, record) {
            let ticket = mirror.ticket()
            try here { () throws(StoreError) in try mirror.complete(job.entry, record, ticket: ticket) }
            return reportDone(job)
        }
        // A delete based on exactly the values that the server has is not a conflict: only its version was unknown
        // here.
        if job.kind == .delete, try !here({ () throws(StoreError) in try mirror.hasChanged(record, since: job.entry) })
        {
            return try settle(job, record, .client)
        }
        if try await sendMembers(job, behind: record) { return }
        try decide(job, record)
    }

    /// Sends the changes of members of a job whose values an earlier attempt has told the server: only these were carried out then.
    /// - Returns: Whether it was such a job.
    mutating func sendMembers(_ job: Job, behind record: RemoteRecord) async throws(Interruption) -> Bool {
        guard job.entry.attempts > 1, job.kind == .update, !job.entry.slots.isEmpty, !job.write.relations.isEmpty,
            try here({ () throws(StoreError) in try compare(job, record).isCarriedOut })
        else { return false }
        let ticket = mirror.ticket()
        try here { () throws(StoreError) in
            try mirror.completePart(job.entry, relationship: nil, record, ticket: ticket)
        }
        var rest = job
        (rest.write.write.values, rest.write.write.operations) = ([:], [:])
        try await sendParts(rest)
        return true
    }

    /// Whether the server's state is what an earlier attempt of the change has made of it.
    func isOwnWork(_ job: Job, _ record: RemoteRecord) throws(Interruption) -> Bool {
        guard job.entry.attempts > 1, job.kind != .delete, job.entry.members.isEmpty else { return false }
        return try here { () throws(StoreError) in try compare(job, record).isCarriedOut }
    }

    /// Whether some operations of the change count as carried out by an earlier attempt.
    func isPartlyDone(_ job: Job, _ record: RemoteRecord) throws(Interruption) -> Bool {
        guard job.entry.attempts > 1 else { return false }
        let equal = try here { () throws(StoreError) in try compare(job, record).equal }
        return equal.contains { job.entry.operations[$0] != nil }
    }

    private func compare(_ job: Job, _ record: RemoteRecord) throws(StoreError) -> EntryComparison {
        try mirror.compare(job.entry, with: record, isKnown: features.contains(.idempotencyTokens))
    }

    /// Lets the policy decide about a conflict.
    /// - Parameter record: What the server has; nil if it has nothing.
    mutating func decide(_ job: Job, _ record: RemoteRecord?) throws(Interruption) {
        let policy = engine.options.policies.policy(job.kind, capabilities: engine.backend.capabilities)
        let choice = policy.choice(try conflict(job, record))
        guard let record else {
            let recreates = choice == .client
            if recreates, !mayDecide(job) {
                return refuse(
                    job,
                    RemoteError(
                        .notFound, domain: "Strata", message: "the server deletes the object each time",
                        identity: job.identity))
            }
            try here { () throws(StoreError) in try mirror.settleGone(job.entry, recreates: recreates) }
            return recreates ? () : report(job, .deletedHere)
        }
        try settle(job, record, choice)
    }

    private func noteDecided(_ job: Job) {
        mirror.online.undecided.withLock { _ = $0.remove(identity(job.entry)) }
    }

    /// Puts a change and the server's state together.
    mutating func settle(
        _ job: Job, _ record: RemoteRecord, _ choice: ConflictPolicy.Choice
    ) throws(Interruption) {
        steps += 1
        noteDecided(job)
        if job.entry.kind == .delete {
            try here { () throws(StoreError) in
                try mirror.settle(
                    job.entry, with: record, keeping: SlotSet(), keepsMembers: false, deletes: choice == .client)
            }
            return choice == .client ? () : report(job, .serverWon)
        }
        if job.entry.kind == .insert {
            // An earlier save may have made the object, and the server has given it another key.
            let object = identity(job.entry)
            try here { () throws(StoreError) in try mirror.rename(object, to: record.id, wasRefused: true) }
        }
        let state = try here { () throws(StoreError) in try compare(job, record) }
        var kept = SlotSet()
        var overridden = SlotSet()
        for slot in state.all where !state.equal.contains(slot) {
            let isKept =
                choice == .client || job.entry.operations[slot] != nil
                || (choice == .merge && !state.conflicting.contains(slot))
            if isKept { kept.insert(slot) } else { overridden.insert(slot) }
        }
        let keepsMembers = choice != .server
        try here { () throws(StoreError) in
            try mirror.settle(
                job.entry, with: record, keeping: kept, overriding: overridden, doubtful: state.doubtful,
                keepsMembers: keepsMembers)
        }
        let slots = mirror.model.entities[job.entry.identity.entityIndex].slots
        let isOver = kept.isEmpty && (!keepsMembers || job.entry.members.isEmpty)
        if !state.doubtful.isEmpty {
            let lost = state.doubtful.map { slots[$0].name }
            return report(job, .merged(overridden: lost + state.conflicting.map { slots[$0].name }))
        }
        switch choice {
        case .server where !kept.isEmpty:
            // Operations are kept; assigned values are overridden.
            if !overridden.isEmpty { report(job, .merged(overridden: overridden.map { slots[$0].name })) }
        case .server: report(job, .serverWon)
        case .merge where !state.conflicting.isEmpty:
            report(job, .merged(overridden: state.conflicting.map { slots[$0].name }))
        default: if isOver { report(job, job.entry.kind == .insert ? .created : .updated) }
        }
    }

    /// Makes sure that a change says which of the server's states it is made to. That is not known of a new object whose
    /// creation was answered late, when others had changed it already.
    /// - Returns: Whether the change can be sent, otherwise it has been settled, or waits for the next round.
    mutating func findBase(_ job: Job) async throws(Interruption) -> Bool {
        guard job.entry.kind != .insert, job.write.write.baseVersion == nil else { return true }
        if job.onlyOperates, features.contains(.idempotencyTokens) { return true }
        let found = try await serverState(job)
        if let found, found.version == nil {
            // A server that has no version for it cannot compare any. Of entities that never have one, values are compared here.
            let mayCompare = engine.backend.capabilities.features(of: job.write.entity).contains(.conditionalWrites)
            if mayCompare { return true }
            if try !hasChanged(job, found) { return true }
        }
        guard mayDecide(job) else {
            refuse(
                job,
                RemoteError(
                    .conflict, domain: "Strata", message: "others change the object all the time",
                    identity: job.identity, serverRecord: found))
            return false
        }
        guard let record = found else {
            try await confirmAbsence(
                job, RemoteError(.notFound, domain: "Strata", message: "not there", identity: job.identity))
            return false
        }
        if try hasChanged(job, record) { try decide(job, record) } else { try settle(job, record, .client) }
        return false
    }

    /// Whether the server has other values than a change was made to, of those that it replaces.
    private func hasChanged(_ job: Job, _ record: RemoteRecord) throws(Interruption) -> Bool {
        try here { () throws(StoreError) in
            job.entry.kind == .delete
                ? try mirror.hasChanged(record, since: job.entry)
                : try !compare(job, record).conflicting.isEmpty
        }
    }
}
