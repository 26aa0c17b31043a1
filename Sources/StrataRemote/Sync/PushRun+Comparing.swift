import Foundation
import StrataSQLite

extension PushRun {
    /// Reads the object, compares, and writes: for back ends that cannot refuse a write because of its base.
    mutating func compareAndWrite(_ waiting: Job) async throws(Interruption) {
        let fills = !mirror.server.assigning.isEmpty && mirror.fillsOnly(waiting.entry)
        let isWhole = !fills && !tellsOperationsAlone(waiting)
        guard let job = try await started([waiting], isWhole: isWhole).first else { return }
        let ticket = mirror.ticket()
        let answer: SyncDecision.Answer
        do throws(RemoteError) {
            try engine.checkCancellation()
            let page = try await engine.backend.perform(
                .read(entity: job.write.entity, ids: [job.write.write.id]), options: engine.options.request)
            guard case .page(let page) = page else {
                throw RemoteError(
                    .invalidAnswer, domain: "Strata", message: "\(engine.backend.name) answered a read without objects")
            }
            if let unreadable = page.unreadable.first { return refuse(job, unreadable.error) }
            answer =
                page.records.first { mirror.isSame($0, job.write.entity, job.write.write.id) }
                .map(SyncDecision.Answer.found) ?? .missing
        } catch {
            if error.kind == .notFound || error.kind == .gone {
                answer = .missing
            } else if error.concernsAll {
                // Nothing was sent. What may have been done is not told from what was not, once others change the same.
                if !job.entry.operations.isEmpty {
                    try here { () throws(StoreError) in try mirror.unmark(job.entry) }
                }
                throw Interruption(error, [job])
            } else {
                return refuse(job, error)
            }
        }
        // What was sent before, and whose answer was lost, is not a conflict with itself.
        if case .found(let record) = answer, try isOwnWork(job, record) {
            try here { () throws(StoreError) in try mirror.complete(job.entry, record, ticket: ticket) }
            return reportDone(job)
        }
        if case .found(let record) = answer, try await sendMembers(job, behind: record) { return }
        if fills, case .found(let record) = answer, mirror.lacks(job.entry, record) {
            // Nobody's value is replaced, whatever else has changed since.
            return try await act(job, .replace, answer)
        }
        var decision = try decision(job, answer)
        if case .found(let record) = answer, job.kind == .update, !job.entry.operations.isEmpty {
            if job.onlyOperates {
                decision = .replace
                if try isPartlyDone(job, record) { return try settle(job, record, .client) }
            } else if try here({ () throws(StoreError) in try mirror.isBehind(job.entry, record) }) {
                // Operations are done again to what the server has; the next round sends what comes of it.
                guard mayDecide(job) else {
                    return refuse(
                        job,
                        RemoteError(
                            .conflict, domain: "Strata", message: "others change the object all the time",
                            identity: job.identity))
                }
                return try settle(job, record, decision == .replace ? .client : .server)
            } else if job.entry.slots.allSatisfy({ job.entry.operations[$0] != nil }) {
                decision = .replace
            }
        } else if decision == .create, job.kind == .update, !job.write.write.operations.isEmpty {
            return try decide(job, nil)
        }
        try await act(job, decision, answer)
    }

    /// What is to be done. Times tell that the server's state is the one that a change was made to. If they do not, values may: the
    /// time is not known of what an earlier change of this client made of the object, if its answer was lost.
    private func decision(_ job: Job, _ answer: SyncDecision.Answer) throws(Interruption) -> SyncDecision {
        let conflict = try conflict(job, nil)
        let policy = engine.options.policies.policy(job.kind, capabilities: engine.backend.capabilities)
        let (decision, isConflict) = SyncDecision.decide(conflict, answer, policy: policy)
        guard isConflict, job.kind != .insert, case .found(let record) = answer,
            try !here({ () throws(StoreError) in try mirror.hasChanged(record, since: job.entry) })
        else { return decision }
        return job.kind == .delete ? .delete : .replace
    }

    /// Whether an update has nothing but operations of which the server is told as such.
    private func tellsOperationsAlone(_ job: Job) -> Bool {
        job.kind == .update && job.entry.members.isEmpty && !job.entry.slots.isEmpty
            && job.entry.slots.allSatisfy { slot in
                guard let done = job.entry.operations[slot], done.steps.count == 1 else { return false }
                return done.steps.allSatisfy { computes.contains($0.feature) }
            }
    }

    private mutating func act(
        _ decided: Job, _ decision: SyncDecision, _ answer: SyncDecision.Answer
    ) async throws(Interruption) {
        var job = decided
        // The decision is about the state that was just read; the server refuses the write if it has another one by now.
        if case .found(let record) = answer, let version = record.version { job.write.write.baseVersion = version }
        let entity = job.write.entity
        switch decision {
        case .replace where !job.write.relations.isEmpty:
            // An online save has said it before, and got no answer.
            try await sendParts(job)
        case .create, .replace, .delete:
            let operation: RemoteOperation =
                switch decision {
                case .create: .create(entity: entity, [job.write.write])
                case .replace: .update(entity: entity, job.write.write)
                default: .delete(entity: entity, job.write.write)
                }
            let ticket = mirror.ticket()
            switch await engine.outcomes(operation, of: [job]) {
            case .failure(let error): throw Interruption(error, [job])
            case .success(let outcomes):
                guard case .failed(let error) = outcomes[0] else { return try await settle(job, outcomes[0], ticket) }
                if error.concernsAll { return try await settle(job, outcomes[0], ticket) }
                // The object changed between the read and the write: it is read again.
                let isRace =
                    switch (error.kind, decision) {
                    case (.conflict, _), (.duplicate, .create), (.notFound, .replace), (.notFound, .delete), (.gone, _):
                        true
                    default: false
                    }
                if isRace, mayDecide(job) { return }
                refuse(job, error)
            }
        case .takeServer:
            guard case .found(let record) = answer else { return }
            try settle(job, record, .server)
        case .deleteHere:
            try await acceptAbsence(job)
        case .drop:
            try here { () throws(StoreError) in try mirror.complete(job.entry, nil) }
            report(job, .deleted)
        case .fail: break
        }
    }
}
