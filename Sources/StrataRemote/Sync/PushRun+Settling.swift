import Foundation
import StrataSQLite

extension PushRun {
    /// How many jobs share a transaction at most. Others may come in between two transactions.
    private static let settledAtOnce = 500

    /// Notes what became of jobs. One that cannot be settled does not keep the others from it.
    mutating func settle(_ jobs: [Job], _ outcomes: [RemoteOutcome], _ ticket: ReadTicket) async throws(Interruption) {
        var interruption: Interruption?
        var rest = Array(zip(jobs, outcomes))[...]
        // How many are settled one by one, because they could not be together.
        var alone = 0
        while let (job, outcome) = rest.first {
            await Task.yield()
            let taken = rest.prefix(Self.settledAtOnce).prefix {
                $0.0.isDone($0.1) && !mirror.isWriteOvertaken($0.0.identity, ticket) && !mayBeAnsweredAgain($0.0)
            }
            if alone == 0, taken.count > 1 {
                if complete(taken, ticket) { rest.removeFirst(taken.count) } else { alone = taken.count }
                continue
            }
            rest.removeFirst()
            alone = max(0, alone - 1)
            do throws(Interruption) {
                try await settle(job, outcome, ticket)
            } catch {
                interruption = interruption ?? error
            }
        }
        if let interruption { throw interruption }
    }

    /// Notes that the server has done jobs, in one transaction.
    /// - Returns: Whether that went well; else nothing is noted.
    private mutating func complete(_ list: ArraySlice<(Job, RemoteOutcome)>, _ ticket: ReadTicket) -> Bool {
        do throws(StoreError) {
            try mirror.complete(
                list.map { (job, outcome) in
                    if case .done(let record) = outcome { (job.entry, record) } else { (job.entry, nil) }
                }, ticket: ticket, isOwn: true)
        } catch {
            return false
        }
        for (job, _) in list { reportDone(job) }
        return true
    }

    mutating func reportDone(_ job: Job) {
        switch job.entry.kind {
        case .insert: report(job, .created)
        case .update: report(job, .updated)
        case .delete: report(job, .deleted)
        }
    }

    /// Notes what became of a job.
    mutating func settle(_ job: Job, _ outcome: RemoteOutcome, _ ticket: ReadTicket) async throws(Interruption) {
        switch outcome {
        case .done(let record):
            var ticket = ticket
            var told = record
            var isOwn = true
            if job.kind != .delete, mirror.isWriteOvertaken(job.identity, ticket) || mayBeAnsweredAgain(job) {
                // A read was answered in the meantime, or others have changed the object since an earlier attempt: it is not
                // known whether the answer is the present state.
                ticket = mirror.ticket()
                let now = try await stateSince(job, record?.identity ?? job.identity)
                isOwn = record?.version != nil && now?.version == record?.version
                told = now ?? record
            } else {
                told = try await toldState(job, record)
                isOwn = record != nil
            }
            let isEcho = isOwn
            try here { () throws(StoreError) in try mirror.complete(job.entry, told, ticket: ticket, isOwn: isEcho) }
            reportDone(job)
        case .failed(let error): try await settle(job, error)
        }
    }

    /// What the server has by now of the object of a job that it has done. If others have deleted it since, the next pull finds
    /// that out.
    func stateSince(_ job: Job, _ identity: RemoteIdentity) async throws(Interruption) -> RemoteRecord? {
        let record = try await serverState(job.write.entity, identity.id)
        if record == nil { try here { () throws(StoreError) in try mirror.noteStale(identity) } }
        return record
    }

    /// Whether the answer to a job may be the one that an earlier attempt was given: a server that carries out a write once may
    /// remember what it answered.
    func mayBeAnsweredAgain(_ job: Job) -> Bool {
        job.entry.attempts > 1 && features.contains(.idempotencyTokens) && job.kind != .delete
    }

    /// What the server has after a write. One that says nothing is asked, since its version is needed for the next
    /// write.
    private func toldState(_ job: Job, _ record: RemoteRecord?) async throws(Interruption) -> RemoteRecord? {
        if let record { return record }
        if job.entry.kind == .delete { return nil }
        return try await stateSince(job, job.identity)
    }

    /// Takes out an entry whose object was deleted here since. If it was sent and the answer is not known, the server may have
    /// done it: then its state is another one than the delete is made to. Neither that state nor the one before is a
    /// conflict.
    mutating func skip(_ entry: OutboxEntry) async throws(Interruption) {
        steps += 1
        var told: RemoteRecord?
        var isUndone = false
        if entry.kind == .update, entry.state == .sent {
            let delete = try here { () throws(StoreError) in try mirror.deletion(behind: entry) }
            if let delete {
                let entity = mirror.model.entities[delete.identity.entityIndex]
                told = try await serverState(entity, delete.id)
                if let record = told {
                    let (isDone, isAsBefore) = try here { () throws(StoreError) in
                        (
                            try !mirror.hasChanged(record, since: delete),
                            try !mirror.hasChanged(record, since: entry)
                        )
                    }
                    isUndone = !isDone && isAsBefore
                    if !isDone, !isAsBefore { told = nil }
                }
            }
        }
        try here { () throws(StoreError) in try mirror.skip(entry, told, isUndone: isUndone) }
    }

    private mutating func settle(_ job: Job, _ error: RemoteError) async throws(Interruption) {
        switch WriteReaction.to(error.kind, of: job.kind, attempts: job.entry.attempts) {
        case .retryLater: throw .again(error, [job])
        case .stop: throw .stop(.remote(error))
        case .stopUnsent:
            try here { () throws(StoreError) in try mirror.unmark(job.entry) }
            throw .stop(.remote(error))
        case .confirmAbsence: try await confirmAbsence(job, error)
        case .resolveConflict: try await resolve(job, error)
        case .setAside: refuse(job, error)
        }
    }

    // MARK: Refusals

    /// Sets a change aside at the end of the round.
    mutating func refuse(_ job: Job, _ error: RemoteError) { refusals.append((job, error)) }

    /// Notes the refusals of a round. If the server refused every write in the same way, and that is one in which a
    /// wrong address or a wrong account shows, nothing is set aside: the push ends.
    mutating func noteRefusals(settled: Bool) throws(Interruption) {
        let list = refusals
        refusals = []
        guard let first = list.first?.error else { return }
        let isAlike = list.allSatisfy { $0.error.kind == first.kind && $0.error.status == first.status }
        if !settled, list.count > 1, isAlike, first.kind == .forbidden || first.kind == .notFound {
            for (job, _) in list {
                try here { () throws(StoreError) in try mirror.unmark(job.entry) }
            }
            var error = first
            error.identity = nil
            error.message =
                "all \(list.count) changes were refused in the same way; check the server's address and the account. "
                + first.message
            throw .stop(.remote(error))
        }
        for (job, error) in list {
            try here { () throws(StoreError) in try mirror.fail(job.entry, error) }
            report(job, .failed(error))
        }
    }
}
