import Foundation
import StrataSQLite
import StrataStore

extension PushRun {
    /// Notes that jobs are under way, and freezes what they send: each attempt says the same.
    mutating func started(_ jobs: [Job], isWhole: Bool) async throws(Interruption) -> [Job] {
        var ready: [Job] = []
        for job in jobs {
            let missing = job.entry.secretNames.subtracting(job.write.write.secrets.keys).sorted()
            if missing.isEmpty || job.entry.kind == .delete {
                ready.append(job)
            } else {
                refuse(job, .missing(missing, of: job.identity))
            }
        }
        var unnamed: Set<RowIdentity> = []
        if !mirror.server.assigning.isEmpty {
            let wanted = Set(ready.flatMap(\.write.references))
            unnamed = try here { () throws(StoreError) in try mirror.unnamed(among: wanted) }
            if !unnamed.isEmpty { ready = try leavingOut(ready, unnamed) }
        }
        if ready.isEmpty { return [] }
        let listsMembers = !features.contains(.relating)
        let sent = try here { () throws(StoreError) in
            try mirror.markInFlight(
                ready.map(\.entry), isWhole: isWhole, listsMembers: listsMembers, computes: computes, unnamed: unnamed)
        }
        var result: [Job] = []
        for (entry, write) in sent {
            guard let write else {
                try await skip(entry)
                continue
            }
            guard let ready = try await withFiles(Job(entry: entry, write: write)) else { continue }
            let job = ready
            if job.isEmpty {
                try here { () throws(StoreError) in try mirror.completeUnsent(entry) }
                steps += 1
            } else {
                result.append(job)
            }
        }
        return result
    }

    /// The jobs without changes that refer to objects to which the server has still to give keys: these are left for another
    /// round. New objects go without such references.
    private mutating func leavingOut(_ jobs: [Job], _ unnamed: Set<RowIdentity>) throws(Interruption) -> [Job] {
        var result: [Job] = []
        for job in jobs {
            let names = job.entry.kind == .insert ? [] : job.write.references
            let waits = try here { () throws(StoreError) in try !mirror.unnamed(among: names).isEmpty }
            if waits { postponed.insert(job.entry.seq) } else { result.append(job) }
        }
        return result
    }

    /// Uploads the files that a change refers to.
    /// - Returns: nil if that was refused.
    private mutating func withFiles(_ job: Job) async throws(Interruption) -> Job? {
        guard job.write.write.values.values.contains(where: { StagedFile($0) != nil }) else { return job }
        let upload = FileUpload(
            mirror: mirror, backend: engine.backend, options: engine.options.request,
            progress: engine.options.fileProgress)
        do throws(RemoteError) {
            return Job(entry: job.entry, write: try await upload.ready(job.write))
        } catch {
            if error.concernsAll { throw Interruption(error, [job]) }
            refuse(job, error)
            return nil
        }
    }

    /// Sends jobs that one request can hold.
    mutating func send(_ group: [Job]) async throws(Interruption) {
        var jobs: [Job] = []
        for job in try await started(group, isWhole: false) where try await findBase(job) { jobs.append(job) }
        guard let first = jobs.first else { return }
        if jobs.count > 1 || first.write.relations.isEmpty { return try await sendSplitting([jobs]) }
        try await sendParts(first)
    }

    /// Values and members go one after the other, and what is done is noted in between.
    mutating func sendParts(_ job: Job) async throws(Interruption) {
        if !job.write.write.values.isEmpty || !job.write.write.operations.isEmpty {
            let ticket = mirror.ticket()
            let outcome = try await outcome(.update(entity: job.write.entity, job.write.write), of: job)
            guard case .done(let record) = outcome else { return try await settle(job, outcome, ticket) }
            try here { () throws(StoreError) in
                try mirror.completePart(job.entry, relationship: nil, record, ticket: ticket)
            }
            steps += 1
        }
        var told: RemoteRecord?
        for relation in job.write.relations {
            let ticket = mirror.ticket()
            let outcome = try await outcome(.relate(entity: job.write.entity, relation), of: job)
            guard case .done(let record) = outcome else {
                // It may be the member that is missing, not the owner.
                if case .failed(let error) = outcome, error.kind == .notFound,
                    case .there = try await presence(job)
                {
                    return refuse(job, error)
                }
                return try await settle(job, outcome, ticket)
            }
            try here { () throws(StoreError) in
                try mirror.completePart(job.entry, relationship: relation.relationship, record, ticket: ticket)
            }
            steps += 1
            told = record
        }
        // The version is needed for the next write.
        let ticket = mirror.ticket()
        if told == nil { told = try await stateSince(job, job.identity) }
        // What came to nothing, because members have gone, is done with, too.
        try here { () throws(StoreError) in try mirror.complete(job.entry, told, ticket: ticket) }
        report(job, .updated)
    }

    /// What became of a part of a job. An answer that may be an old one tells nothing of the object.
    private func outcome(_ operation: RemoteOperation, of job: Job) async throws(Interruption) -> RemoteOutcome {
        switch await engine.outcomes(operation, of: [job]) {
        case .success(let outcomes):
            if case .done = outcomes[0], mayBeAnsweredAgain(job) { return .done(nil) }
            return outcomes[0]
        case .failure(let error): throw Interruption(error, [job])
        }
    }

    /// Sends groups. One that the server refuses as a whole is halved until only the culprit is left.
    mutating func sendSplitting(_ groups: [[Job]]) async throws(Interruption) {
        var waiting = groups
        while !waiting.isEmpty {
            let jobs = waiting.removeFirst()
            let ticket = mirror.ticket()
            switch await engine.outcomes(Self.operation(of: jobs), of: jobs) {
            case .success(let outcomes): try await settle(jobs, outcomes, ticket)
            case .failure(let error):
                guard let halves = halves(of: jobs, refused: error) else { throw Interruption(error, jobs) }
                waiting.insert(contentsOf: halves, at: 0)
            }
        }
    }

    /// The halves of a group that was refused as a whole; nil if the error is not about the changes in it.
    private mutating func halves(of jobs: [Job], refused error: RemoteError) -> [[Job]]? {
        guard jobs.count > 1, !error.concernsAll else { return nil }
        let middle = (jobs.count + 1) / 2
        if error.status == 413 { groupLimit = min(groupLimit, middle) }
        return [Array(jobs[..<middle]), Array(jobs[middle...])]
    }

    /// One operation for several jobs.
    static func operation(of jobs: [Job]) -> RemoteOperation {
        if jobs.count == 1 { return jobs[0].operation }
        if jobs.allSatisfy({ $0.entry.kind == .insert && $0.write.entity == jobs[0].write.entity }) {
            return .create(entity: jobs[0].write.entity, jobs.map(\.write.write))
        }
        return .batch(jobs.map(\.operation))
    }

    /// Sends groups whose order does not matter: some are on their way while the answers to others are applied.
    mutating func sendTogether(_ groups: ArraySlice<[Job]>) async throws(Interruption) {
        var split: [[Job]] = []
        let interruption = await withTaskGroup(of: (Int, Result<[RemoteOutcome], RemoteError>).self) { tasks in
            var interruption: Interruption?
            var waiting = groups
            var sent: [Int: (jobs: [Job], ticket: ReadTicket)] = [:]
            while true {
                while interruption == nil, sent.count < max(1, engine.options.requestsAtOnce),
                    let group = waiting.popFirst()
                {
                    do throws(Interruption) {
                        let jobs = try await started(group, isWhole: false)
                        if jobs.isEmpty { continue }
                        let number = waiting.startIndex
                        sent[number] = (jobs, mirror.ticket())
                        tasks.addTask { [engine] in
                            (number, await engine.outcomes(Self.operation(of: jobs), of: jobs))
                        }
                    } catch {
                        interruption = error
                    }
                }
                // It waits for requests that are on their way, whatever became of the others: they may have been
                // carried out.
                guard let (number, result) = await tasks.next(), let (jobs, ticket) = sent.removeValue(forKey: number)
                else { return interruption }
                switch result {
                case .success(let outcomes):
                    do throws(Interruption) {
                        try await settle(jobs, outcomes, ticket)
                    } catch {
                        interruption = interruption ?? error
                    }
                case .failure(let error):
                    if let halves = halves(of: jobs, refused: error) {
                        split += halves
                    } else {
                        interruption = interruption ?? Interruption(error, jobs)
                    }
                }
            }
        }
        if let interruption { throw interruption }
        try await sendSplitting(split)
    }
}

extension SyncEngine {
    /// Sends the writes of jobs, and gives what became of each; an error if nothing can be said of single writes.
    func outcomes(
        _ operation: RemoteOperation, of jobs: [PushRun.Job]
    ) async -> Result<[RemoteOutcome], RemoteError> {
        do throws(RemoteError) {
            try checkCancellation()
            let answer = try await backend.perform(operation, options: options.request)
            guard case .outcomes(let list) = answer, list.count == jobs.count else {
                throw RemoteError(
                    .invalidAnswer, domain: "Strata",
                    message: "\(backend.name) gave no outcome for each of \(jobs.count) writes")
            }
            for (job, outcome) in zip(jobs, list) { try check(outcome, of: job) }
            return .success(
                zip(jobs, list).map { job, outcome in
                    if case .done(let record?) = outcome { .done(job.write.told(record)) } else { outcome }
                })
        } catch {
            // An error of all of one write is that write's.
            if jobs.count == 1, !error.concernsAll { return .success([.failed(error)]) }
            return .failure(error)
        }
    }

    /// Refuses an answer about another object.
    private func check(_ outcome: RemoteOutcome, of job: PushRun.Job) throws(RemoteError) {
        guard case .done(let record?) = outcome else { return }
        let root = mirror.model.entity(named: record.entity)?.rootIndex
        let isSame = mirror.isSame(record, job.write.entity, job.write.write.id) || job.kind == .insert
        guard root == job.write.entity.rootIndex, isSame else {
            throw RemoteError(
                .invalidAnswer, domain: "Strata",
                message: "\(backend.name) answered a write of \(job.identity) with \(record.identity)")
        }
    }
}

extension PushRun.Job {
    /// What is sent.
    var operation: RemoteOperation {
        switch entry.kind {
        case .insert: .create(entity: write.entity, [write.write])
        case .update: .update(entity: write.entity, write.write)
        case .delete: .delete(entity: write.entity, write.write)
        }
    }
}

extension RemoteError {
    /// Secrets that were set for an object in a process that has ended.
    fileprivate static func missing(_ secrets: [String], of identity: RemoteIdentity) -> RemoteError {
        let names = secrets.map { "\"\($0)\"" }.joined(separator: ", ")
        return RemoteError(
            .missingSecret, domain: "Strata",
            message:
                "secrets are held only in memory; set \(names) of \(identity.entity) \(identity.id) again and retry",
            identity: identity)
    }
}
