import Foundation
import StrataSQLite

extension PushRun {
    /// Whether the server has an object.
    enum Presence {
        case there(RemoteRecord)
        /// The server answered for the collection, and the object is not in it.
        case gone
        /// Nothing can be said: the server does not know the collection either.
        case unknown(RemoteError)
    }

    /// The server's state of the object of a job; nil if it has none.
    func serverState(_ job: Job) async throws(Interruption) -> RemoteRecord? {
        try await serverState(job.write.entity, job.write.write.id)
    }

    func serverState(_ entity: EntityDescription, _ id: String) async throws(Interruption) -> RemoteRecord? {
        do throws(RemoteError) {
            return try await records(.read(entity: entity, ids: [id])).first { mirror.isSame($0, entity, id) }
        } catch {
            if error.kind == .notFound || error.kind == .gone { return nil }
            throw Interruption(error)
        }
    }

    /// Asks the server for the object of a job. A query tells a collection without the object from a server that knows
    /// no such collection; a back end that cannot be asked so is asked by primary key.
    func presence(_ job: Job) async throws(Interruption) -> Presence {
        try await presence(job.write.entity, job.write.write.id)
    }

    private func presence(_ entity: EntityDescription, _ id: String) async throws(Interruption) -> Presence {
        var operation = RemoteOperation.read(entity: entity, ids: [id])
        let slot = mirror.primaryKeys[entity.index]
        if let value = PrimaryKey.value(id, slot) {
            var query = RemoteQuery(entity: entity)
            query.predicate = .comparison(.keyPath([slot.name]), .equal, .constant(value), [])
            if (try? engine.backend.check(.query(query))) != nil { operation = .query(query) }
        }
        do throws(RemoteError) {
            return try await records(operation).first { mirror.isSame($0, entity, id) }.map(Presence.there) ?? .gone
        } catch {
            if error.kind == .gone { return .gone }
            if error.kind == .notFound { return .unknown(error) }
            if error.kind == .unsupported, case .query = operation {
                return try await serverState(entity, id).map(Presence.there) ?? .gone
            }
            throw Interruption(error)
        }
    }

    private func records(_ operation: RemoteOperation) async throws(RemoteError) -> [RemoteRecord] {
        try engine.checkCancellation()
        guard case .page(let page) = try await engine.backend.perform(operation, options: engine.options.request) else {
            throw RemoteError(
                .invalidAnswer, domain: "Strata", message: "\(engine.backend.name) answered a read without objects")
        }
        if let unreadable = page.unreadable.first { throw unreadable.error }
        return page.records
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

    /// The server does not have the object of a job any more: the policy decides, unless the server has lost others, too.
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
