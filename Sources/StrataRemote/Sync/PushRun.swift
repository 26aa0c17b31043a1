import Foundation
import StrataSQLite
import StrataStore

/// One push: rounds through the outbox until nothing waits any more.
///
/// Each round either settles changes, or sets them aside, or leaves them for the next push, or waits, or ends the push:
/// there is no round after one that did nothing.
struct PushRun {
    let engine: SyncEngine
    var results: [SyncResult] = []
    /// Attempts that failed one after the other for a passing reason.
    var failures = 0
    /// How often the change of an object met a conflict in this push.
    private var conflicts: [RowIdentity: Int] = [:]
    /// What counts as progress: changes that left the outbox, were set aside or decided.
    var steps = 0
    /// Entries that this push leaves for the next one.
    var postponed: Set<Int64> = []
    /// Why entries were postponed. The push ends with it once all others are done.
    var postponement: RemoteError?
    /// Refusals of the present round, noted at its end.
    var refusals: [(job: Job, error: RemoteError)] = []
    /// The most changes in one request; less than the back end's own limit after it refused a request as too large.
    var groupLimit = Int.max
    /// Whether the server has objects that it is known to have had; nil until it is needed.
    var hasWitness: Bool?
    /// Objects whose online saves have been looked at.
    private var settled: Set<RowIdentity> = []

    init(_ engine: SyncEngine) { self.engine = engine }

    var mirror: Mirror { engine.mirror }
    var features: RemoteCapabilities.Features { engine.backend.capabilities.features }
    var isConditional: Bool { features.contains(.conditionalWrites) }
    /// The kinds of operations that are sent as such. Others are sent as results.
    var computes: RemoteCapabilities.Features {
        features.intersection([.increments, .arrayOperations, .idempotencyTokens])
    }

    /// How many entries are taken out of the outbox at once.
    private static let roundSize = 2000

    mutating func run() async throws(SyncError) {
        engine.news.update { status in
            status.phase = .pushing
            status.done = 0
            status.total = try? mirror.entryCount(failed: false)
        }
        var idleRounds = 0
        while true {
            let waiting = try local { () throws(StoreError) in try ready(limit: Self.roundSize) }
            if waiting.isEmpty { return }
            let open = mirror.online.open(among: Set(waiting.map(identity)).subtracting(settled))
            let held = Set(open)
            let entries = open.isEmpty ? waiting : waiting.filter { !held.contains(identity($0)) }
            if entries.isEmpty {
                for object in open { try await settle(object, waiting) }
                continue
            }
            let before = (steps: steps, reports: results.count, postponed: postponed.count)
            do throws(Interruption) {
                try await round(entries)
            } catch {
                switch error {
                case .stop(let error): throw error
                case .again(let error, let jobs):
                    failures += 1
                    if failures > engine.options.retries {
                        guard isolate(error, jobs) else { throw .remote(error) }
                        continue
                    }
                    try await engine.pause(failures, error)
                }
                continue
            }
            // The remaining entries wait for something that this push cannot provide.
            if steps == before.steps, postponed.count == before.postponed {
                postponed.formUnion(entries.map(\.seq))
                return
            }
            // Changes that were decided only, and met a conflict again, are not sent without end and without a pause.
            idleRounds = results.count == before.reports ? idleRounds + 1 : 0
            if idleRounds > 2 {
                try await engine.pause(min(idleRounds - 2, 3), RemoteError(.conflict, domain: "Strata", message: ""))
            }
        }
    }

    /// What contexts have sent of an object without the outbox comes before what waits of it.
    private mutating func settle(_ object: RowIdentity, _ waiting: [OutboxEntry]) async throws(SyncError) {
        do throws(SyncError) {
            let settling = engine.settling.withLock { $0 }
            try await settling?(object)
            settled.insert(object)
        } catch {
            guard case .remote(let error) = error else { throw error }
            if error.isTransient, failures < engine.options.retries {
                failures += 1
                return try await engine.pause(failures, error)
            }
            guard !error.concernsAll else { throw .remote(error) }
            postponed.formUnion(waiting.filter { identity($0) == object }.map(\.seq))
            postponement = postponement ?? error
        }
    }

    /// Whether there are entries that this push has not looked at.
    func isAnythingLeft() throws(StoreError) -> Bool { try !ready(limit: 1).isEmpty }

    /// The entries that this push has not postponed. Those that come after a postponed one of the same object wait with it: the
    /// change of a new object is not sent before the object.
    private func ready(limit: Int) throws(StoreError) -> [OutboxEntry] {
        // An object has two entries at most.
        let waiting = try mirror.pendingEntries(limit: limit + 2 * postponed.count)
        if postponed.isEmpty { return waiting }
        let held = Set(waiting.filter { postponed.contains($0.seq) }.map(identity))
        return waiting.filter { !held.contains(identity($0)) }
    }

    func identity(_ entry: OutboxEntry) -> RowIdentity {
        RowIdentity(entityIndex: mirror.root(entry.identity.entityIndex), key: entry.identity.key)
    }

    /// A server fails at the same request each time. The changes in it are sent one by one; a single one is left for the
    /// next push, so that the others go on.
    /// - Returns: false if the push has to end.
    private mutating func isolate(_ error: RemoteError, _ jobs: [Job]) -> Bool {
        guard error.status == 500, !jobs.isEmpty else { return false }
        failures = 0
        if jobs.count > 1 {
            groupLimit = 1
            return true
        }
        // Three in a row: it is the server.
        guard postponed.count < 3 || steps > 0 else { return false }
        postponed.insert(jobs[0].entry.seq)
        postponement = postponement ?? error
        return true
    }

    /// Why a round ended before its end.
    enum Interruption: Error {
        /// It makes no sense to go on.
        case stop(SyncError)
        /// It can be tried again after a while. The jobs are those that were sent.
        case again(RemoteError, [Job])

        init(_ error: RemoteError, _ jobs: [Job] = []) {
            self = error.isTransient ? .again(error, jobs) : .stop(.remote(error))
        }
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
        let before = steps
        var seen: Set<RowIdentity> = []
        let first = entries.filter {
            seen.insert(identity($0)).inserted
        }
        do throws(Interruption) {
            let jobs = try holdingBack(try await completed(try await jobs(first, isWhole: !isConditional)))
            if isConditional {
                try await sendInGroups(PushOrder.ordered(jobs))
            } else {
                var rest = PushOrder.byKind(jobs)[...]
                while let job = rest.popFirst() {
                    let count = refusals.count
                    try await compareAndWrite(job)
                    if refusals.count > count {
                        postponeDependents(of: refusals[count...], among: Array(rest))
                        rest.removeAll { postponed.contains($0.entry.seq) }
                    }
                }
            }
        } catch {
            try noteRefusals(settled: steps > before)
            throw error
        }
        try noteRefusals(settled: steps > before)
    }

    private mutating func sendInGroups(_ jobs: [Job]) async throws(Interruption) {
        var rest = jobs[...]
        var groups: [[Job]] = []
        while !rest.isEmpty {
            groups.append(
                PushOrder.group(
                    &rest, capabilities: engine.backend.capabilities, assigning: mirror.server.assigning,
                    limit: groupLimit))
        }
        var waiting = groups[...]
        var count = 0
        while !waiting.isEmpty {
            if refusals.count > count {
                postponeDependents(of: refusals[count...], among: waiting.flatMap { $0 })
                count = refusals.count
                waiting = waiting.map { $0.filter { !postponed.contains($0.entry.seq) } }.filter { !$0.isEmpty }[...]
                guard !waiting.isEmpty else { return }
            }
            let stretch = PushOrder.stretch(waiting)
            if stretch.count > 1 {
                waiting.removeFirst(stretch.count)
                try await sendTogether(stretch)
            } else {
                try await send(waiting.removeFirst())
            }
        }
    }

    /// An entry and what is to be sent for it.
    struct Job {
        var entry: OutboxEntry
        var write: MirrorWrite

        var identity: RemoteIdentity { RemoteIdentity(entity: write.entity.name, id: write.write.id) }
        var kind: ChangeKind { entry.kind }
        var isEmpty: Bool {
            entry.kind == .update && write.write.values.isEmpty && write.write.operations.isEmpty
                && write.relations.isEmpty
        }

        /// Whether the server makes all of the change of what it has, so that it does not matter what that is.
        var onlyOperates: Bool {
            entry.kind == .update && !write.write.operations.isEmpty && write.write.values.isEmpty
                && write.relations.isEmpty
        }

        /// Whether an outcome says all that there is to know about the object.
        func isDone(_ outcome: RemoteOutcome) -> Bool {
            guard case .done(let record) = outcome else { return false }
            return record.map { $0.id == write.write.id } ?? (entry.kind == .delete)
        }
    }

    mutating func jobs(_ entries: [OutboxEntry], isWhole: Bool) async throws(Interruption) -> [Job] {
        let listsMembers = !features.contains(.relating)
        let writes = try here { () throws(StoreError) in
            try mirror.writes(for: entries, isWhole: isWhole, listsMembers: listsMembers, computes: computes)
        }
        var jobs: [Job] = []
        for (entry, write) in zip(entries, writes) {
            if let write {
                let job = Job(entry: entry, write: write)
                if job.isEmpty {
                    // The members that were added have gone meanwhile.
                    try here { () throws(StoreError) in try mirror.completeUnsent(entry) }
                    steps += 1
                } else {
                    jobs.append(job)
                }
            } else {
                try await skip(entry)
            }
        }
        return jobs
    }

    mutating func report(_ job: Job, _ action: SyncResult.Action) {
        let result = SyncResult(identity: job.identity, kind: job.kind, action: action)
        results.append(result)
        steps += 1
        engine.news.post(result)
        engine.news.update { $0.done += 1 }
        failures = 0
    }

    /// Whether an object's change may be decided once more.
    mutating func mayDecide(_ job: Job) -> Bool {
        let key = identity(job.entry)
        conflicts[key, default: 0] += 1
        steps += 1
        return conflicts[key, default: 0] <= engine.options.conflictRounds
    }
}
