import Foundation
import StrataSQLite

extension PushRun {
    private func lookup() throws(RemoteError) -> RemoteLookup {
        try engine.checkCancellation()
        return RemoteLookup(mirror: mirror, backend: engine.backend, options: engine.options.request)
    }

    /// The server's state of the object of a job; nil if it has none.
    func serverState(_ job: Job) async throws(Interruption) -> RemoteRecord? {
        try await serverState(job.write.entity, job.write.write.id)
    }

    func serverState(_ entity: EntityDescription, _ id: String) async throws(Interruption) -> RemoteRecord? {
        do throws(RemoteError) {
            return try await lookup().state(entity, id)
        } catch {
            throw Interruption(error)
        }
    }

    /// Asks the server for the object of a job.
    func presence(_ job: Job) async throws(Interruption) -> RemotePresence {
        try await presence(job.write.entity, job.write.write.id)
    }

    private func presence(_ entity: EntityDescription, _ id: String) async throws(Interruption) -> RemotePresence {
        do throws(RemoteError) {
            return try await lookup().presence(entity, id)
        } catch {
            throw Interruption(error)
        }
    }

    /// The server says that it does not have the object of a job. Nothing is deleted here before it was asked for the
    /// object itself, and for others that it must have: a server with other data lacks those, too.
    mutating func confirmAbsence(_ job: Job, _ error: RemoteError) async throws(Interruption) {
        switch try await presence(job) {
        case .unknown: refuse(job, error)
        // A proxy answered in place of the server, or something else is missing that the change needs.
        case .there: refuse(job, error)
        case .gone where job.kind == .delete:
            try here { () throws(StoreError) in try mirror.complete(job.entry, nil) }
            report(job, .deleted)
        case .gone:
            try await acceptAbsence(job)
        }
    }

    /// The server no longer has the object of a job: the policy decides, unless the server has lost others, too.
    mutating func acceptAbsence(_ job: Job) async throws(Interruption) {
        if try await isWitnessed(job) { return try decide(job, nil) }
        postponed.insert(job.entry.seq)
        postponement =
            postponement
            ?? RemoteError(
                .notFound, domain: "Strata",
                message:
                    "the server has neither \(job.identity) nor other objects that it had; nothing was deleted "
                    + "here. Check the server's address and data, or reset the store",
                identity: job.identity)
    }

    /// Whether the server has one of some other objects of which nothing waits here. With fewer than three of them there
    /// is nothing to hold against its word: they may have been deleted, too.
    mutating func isWitnessed(_ job: Job) async throws(Interruption) -> Bool {
        if let hasWitness { return hasWitness }
        let witnesses = try here { () throws(StoreError) in try mirror.witnesses(limit: 5) }
        var found = witnesses.count < 3
        for witness in witnesses where !found {
            guard let entity = mirror.model.entity(named: witness.entity) else { continue }
            if case .there = try await presence(entity, witness.id) { found = true }
        }
        hasWitness = found
        return found
    }
}
