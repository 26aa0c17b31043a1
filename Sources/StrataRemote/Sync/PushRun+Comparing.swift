import Foundation
import StrataSQLite

extension PushRun {
    /// Reads the object, compares, and writes: for back ends that cannot refuse a write because of its base.
    mutating func compareAndWrite(_ waiting: Job) async throws(Interruption) {
        let fills = features.contains(.assignsIDs) && mirror.fillsOnly(waiting.entry)
        guard let job = try await started([waiting], isWhole: !fills).first else { return }
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
        if fills, case .found(let record) = answer, mirror.lacks(job.entry, record) {
            // Nobody's value is replaced, whatever else has changed since.
            return job.write.relations.isEmpty ? try await act(job, .replace, answer) : try await sendParts(job)
        }
        let policy = engine.options.policies.policy(job.kind, capabilities: engine.backend.capabilities)
        let (decision, _) = SyncDecision.decide(try conflict(job, nil), answer, policy: policy)
        try await act(job, decision, answer)
    }

    private mutating func act(
        _ job: Job, _ decision: SyncDecision, _ answer: SyncDecision.Answer
    ) async throws(Interruption) {
        let entity = job.write.entity
        switch decision {
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
