import Foundation
import StrataSQLite

/// One push: rounds through the outbox until nothing waits any more.
struct PushRun {
    let engine: SyncEngine
    var results: [SyncResult] = []
    private var failures = 0
    /// How often the change of an object met a conflict in this push.
    private var conflicts: [RowIdentity: Int] = [:]

    init(_ engine: SyncEngine) { self.engine = engine }

    var mirror: Mirror { engine.mirror }
    var features: RemoteCapabilities.Features { engine.backend.capabilities.features }
    var isConditional: Bool { features.contains(.conditionalWrites) }

    /// How many entries are taken out of the outbox at once.
    private static let roundSize = 2000

    mutating func run() async throws(SyncError) {
        engine.news.update { status in
            status.phase = .pushing
            status.done = 0
            status.total = try? mirror.entryCount(failed: false)
        }
        while true {
            let entries = try local { () throws(StoreError) in try mirror.pendingEntries(limit: Self.roundSize) }
            if entries.isEmpty { return }
            do throws(Interruption) {
                try await round(entries)
            } catch {
                switch error {
                case .stop(let error): throw error
                case .again(let error):
                    failures += 1
                    guard failures <= engine.options.retries else { throw .remote(error) }
                    try await engine.pause(failures, error)
                }
            }
        }
    }

    /// Why a round ended before its end.
    enum Interruption: Error {
        /// It makes no sense to go on.
        case stop(SyncError)
        /// It can be tried again after a while.
        case again(RemoteError)

        init(_ error: RemoteError) { self = error.isTransient ? .again(error) : .stop(.remote(error)) }
    }

    /// Runs what reads or writes the mirror.
    func here<T>(_ body: () throws(StoreError) -> T) throws(Interruption) -> T {
        do throws(StoreError) {
            return try body()
        } catch {
            throw .stop(.store(error))
        }
    }

    // MARK: A round

    /// Sends each object's first change.
    private mutating func round(_ entries: [OutboxEntry]) async throws(Interruption) {
        var seen: Set<RowIdentity> = []
        let first = entries.filter {
            seen.insert(RowIdentity(entityIndex: mirror.root($0.identity.entityIndex), key: $0.identity.key)).inserted
        }
        if isConditional {
            let jobs = PushOrder.ordered(try await jobs(first, isWhole: false))
            var rest = jobs[...]
            while !rest.isEmpty {
                let group = PushOrder.group(&rest, capabilities: engine.backend.capabilities)
                try await send(group)
            }
        } else {
            // New objects first, deleted ones last, as back ends without versions have always had it.
            let jobs = PushOrder.ordered(try await jobs(first, isWhole: true)).enumerated()
                .sorted { ($0.element.entry.kind.number, $0.offset) < ($1.element.entry.kind.number, $1.offset) }
            for job in jobs { try await compareAndWrite(job.element) }
        }
    }

    /// An entry and what is to be sent for it.
    struct Job {
        var entry: OutboxEntry
        var write: MirrorWrite

        var identity: RemoteIdentity { RemoteIdentity(entity: write.entity.name, id: write.write.id) }
        var kind: ChangeKind { entry.kind }
        var isEmpty: Bool {
            entry.kind == .update && write.write.values.isEmpty && write.relations.isEmpty
        }
    }

    private func jobs(_ entries: [OutboxEntry], isWhole: Bool) async throws(Interruption) -> [Job] {
        let listsMembers = !features.contains(.relating)
        let writes = try here { () throws(StoreError) in
            try mirror.writes(for: entries, isWhole: isWhole, listsMembers: listsMembers)
        }
        var jobs: [Job] = []
        for (entry, write) in zip(entries, writes) {
            if let write {
                let job = Job(entry: entry, write: write)
                if job.isEmpty {
                    // The members that were added have gone meanwhile.
                    try here { () throws(StoreError) in try mirror.completeUnsent(entry) }
                } else {
                    jobs.append(job)
                }
            } else {
                try await skip(entry)
            }
        }
        return jobs
    }

    /// Notes that jobs are under way, and takes what they send from the objects as they are now.
    mutating func started(_ jobs: [Job], isWhole: Bool) async throws(Interruption) -> [Job] {
        var ready: [Job] = []
        for job in jobs {
            let missing = job.entry.secretNames.subtracting(job.write.write.secrets.keys).sorted()
            if missing.isEmpty || job.entry.kind == .delete {
                ready.append(job)
            } else {
                try fail(job, .missing(missing, of: job.identity))
            }
        }
        let entries = try here { () throws(StoreError) in try mirror.markInFlight(ready.map(\.entry)) }
        return try await self.jobs(entries, isWhole: isWhole)
    }

    /// Sends jobs that one request can hold.
    private mutating func send(_ group: [Job]) async throws(Interruption) {
        var jobs: [Job] = []
        for job in try await started(group, isWhole: false) where try await findBase(job) { jobs.append(job) }
        guard let first = jobs.first else { return }
        if jobs.count > 1 || first.write.relations.isEmpty {
            return try await sendAtOnce(jobs)
        }
        // Values and members go one after the other, and what is done is noted in between.
        if !first.write.write.values.isEmpty {
            let ticket = mirror.ticket()
            let outcome = try await outcomes(.update(entity: first.write.entity, first.write.write), count: 1)[0]
            guard case .done(let record) = outcome else { return try await settle(first, outcome, ticket) }
            try here { () throws(StoreError) in try mirror.completePart(first.entry, relationship: nil, record) }
        }
        var told: RemoteRecord?
        for relation in first.write.relations {
            let outcome = try await outcomes(.relate(entity: first.write.entity, relation), count: 1)[0]
            guard case .done(let record) = outcome else { return try await settle(first, outcome, mirror.ticket()) }
            try here { () throws(StoreError) in
                try mirror.completePart(first.entry, relationship: relation.relationship, record)
            }
            told = record
        }
        // The version is needed for the next write.
        let ticket = mirror.ticket()
        if told == nil { told = try await serverState(first) }
        // What came to nothing, because members have gone, is done with, too.
        try here { () throws(StoreError) in try mirror.complete(first.entry, told, ticket: ticket) }
        report(first, .updated)
    }

    private mutating func sendAtOnce(_ jobs: [Job]) async throws(Interruption) {
        let operations = jobs.map(\.operation)
        let operation: RemoteOperation
        if jobs.count == 1 {
            operation = operations[0]
        } else if jobs.allSatisfy({ $0.entry.kind == .insert && $0.write.entity == jobs[0].write.entity }) {
            operation = .create(entity: jobs[0].write.entity, jobs.map(\.write.write))
        } else {
            operation = .batch(operations)
        }
        let ticket = mirror.ticket()
        let outcomes = try await outcomes(operation, count: jobs.count)
        var interruption: Interruption?
        for (job, outcome) in zip(jobs, outcomes) {
            // Each is settled by a transaction of its own, and others may come in between.
            await Task.yield()
            do throws(Interruption) {
                try await settle(job, outcome, ticket)
            } catch {
                interruption = interruption ?? error
            }
        }
        if let interruption { throw interruption }
    }

    func outcomes(_ operation: RemoteOperation, count: Int) async throws(Interruption) -> [RemoteOutcome] {
        do throws(RemoteError) {
            try engine.checkCancellation()
            let answer = try await engine.backend.perform(operation, options: engine.options.request)
            guard case .outcomes(let list) = answer, list.count == count else {
                throw RemoteError(
                    .invalidAnswer, domain: "Strata",
                    message: "\(engine.backend.name) gave no outcome for each of \(count) writes")
            }
            return list
        } catch {
            // An error of all of one write is that write's.
            if count == 1, !error.isTransient, error.kind != .cancelled, error.kind != .unauthorized {
                return [.failed(error)]
            }
            throw Interruption(error)
        }
    }

    mutating func report(_ job: Job, _ action: SyncResult.Action) {
        let result = SyncResult(identity: job.identity, kind: job.kind, action: action)
        results.append(result)
        engine.news.post(result)
        engine.news.update { $0.done += 1 }
        failures = 0
    }

    /// Whether an object's change may be decided once more.
    mutating func mayDecide(_ job: Job) -> Bool {
        let key = RowIdentity(entityIndex: mirror.root(job.entry.identity.entityIndex), key: job.entry.identity.key)
        conflicts[key, default: 0] += 1
        return conflicts[key, default: 0] <= engine.options.conflictRounds
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
                "secrets are held in memory alone; set \(names) of \(identity.entity) \(identity.id) again and retry",
            identity: identity)
    }
}
