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
            var rest = PushOrder.ordered(try await jobs(first, isWhole: false))[...]
            var groups: [[Job]] = []
            while !rest.isEmpty {
                groups.append(PushOrder.group(&rest, capabilities: engine.backend.capabilities))
            }
            var waiting = groups[...]
            while !waiting.isEmpty {
                let stretch = PushOrder.stretch(waiting)
                if stretch.count > 1 {
                    waiting.removeFirst(stretch.count)
                    try await sendTogether(stretch)
                } else {
                    try await send(waiting.removeFirst())
                }
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

        /// Whether an outcome says all that there is to know about the object.
        func isDone(_ outcome: RemoteOutcome) -> Bool {
            if case .done(let record) = outcome { record != nil || entry.kind == .delete } else { false }
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
        let ticket = mirror.ticket()
        let outcomes = try await outcomes(Self.operation(of: jobs), count: jobs.count)
        try await settle(jobs, outcomes, ticket)
    }

    /// One operation for several jobs.
    private static func operation(of jobs: [Job]) -> RemoteOperation {
        if jobs.count == 1 { return jobs[0].operation }
        if jobs.allSatisfy({ $0.entry.kind == .insert && $0.write.entity == jobs[0].write.entity }) {
            return .create(entity: jobs[0].write.entity, jobs.map(\.write.write))
        }
        return .batch(jobs.map(\.operation))
    }

    /// Sends groups whose order does not matter: some are on their way while the answers to others are taken in.
    private mutating func sendTogether(_ groups: ArraySlice<[Job]>) async throws(Interruption) {
        let interruption = await withTaskGroup(of: (Int, Result<[RemoteOutcome], Interruption>).self) { tasks in
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
                            (number, await engine.outcomes(Self.operation(of: jobs), count: jobs.count))
                        }
                    } catch {
                        interruption = error
                    }
                }
                // What is on its way is waited for, whatever became of the others: it may have been done.
                guard let (number, result) = await tasks.next(), let (jobs, ticket) = sent.removeValue(forKey: number)
                else { return interruption }
                do throws(Interruption) {
                    try await settle(jobs, result.get(), ticket)
                } catch {
                    interruption = interruption ?? error
                }
            }
        }
        if let interruption { throw interruption }
    }

    func outcomes(_ operation: RemoteOperation, count: Int) async throws(Interruption) -> [RemoteOutcome] {
        try await engine.outcomes(operation, count: count).get()
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

extension SyncEngine {
    /// Sends writes, and gives what became of each.
    fileprivate func outcomes(
        _ operation: RemoteOperation, count: Int
    ) async -> Result<[RemoteOutcome], PushRun.Interruption> {
        do throws(RemoteError) {
            try checkCancellation()
            let answer = try await backend.perform(operation, options: options.request)
            guard case .outcomes(let list) = answer, list.count == count else {
                throw RemoteError(
                    .invalidAnswer, domain: "Strata",
                    message: "\(backend.name) gave no outcome for each of \(count) writes")
            }
            return .success(list)
        } catch {
            // An error of all of one write is that write's.
            if count == 1, !error.isTransient, error.kind != .cancelled, error.kind != .unauthorized {
                return .success([.failed(error)])
            }
            return .failure(PushRun.Interruption(error))
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
                "secrets are held in memory alone; set \(names) of \(identity.entity) \(identity.id) again and retry",
            identity: identity)
    }
}
