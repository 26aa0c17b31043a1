import Foundation
import StrataSQLite

extension PushRun {
    /// How many jobs share a transaction at most. Others may come in between two transactions.
    private static let settledAtOnce = 100

    /// Notes what became of jobs. One that cannot be settled does not keep the others from it.
    mutating func settle(_ jobs: [Job], _ outcomes: [RemoteOutcome], _ ticket: ReadTicket) async throws(Interruption) {
        var interruption: Interruption?
        var rest = Array(zip(jobs, outcomes))[...]
        // How many are settled one by one, because they could not be together.
        var alone = 0
        while let (job, outcome) = rest.first {
            await Task.yield()
            let taken = rest.prefix(Self.settledAtOnce).prefix { $0.0.isDone($0.1) }
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
                }, ticket: ticket)
        } catch {
            return false
        }
        for (job, _) in list { reportDone(job) }
        return true
    }

    private mutating func reportDone(_ job: Job) {
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
            let told = try await toldState(job, record)
            try here { () throws(StoreError) in try mirror.complete(job.entry, told, ticket: ticket) }
            reportDone(job)
        case .failed(let error): try await settle(job, error)
        }
    }

    /// What the server has after a write. One that says nothing is asked, since its version is needed for the next
    /// write.
    private func toldState(_ job: Job, _ record: RemoteRecord?) async throws(Interruption) -> RemoteRecord? {
        if let record { return record }
        if job.entry.kind == .delete { return nil }
        return try await serverState(job)
    }

    /// The server's state of the object of a job; nil if it has none.
    func serverState(_ job: Job) async throws(Interruption) -> RemoteRecord? {
        try await serverState(job.write.entity, job.write.write.id)
    }

    private func serverState(_ entity: EntityDescription, _ id: String) async throws(Interruption) -> RemoteRecord? {
        do throws(RemoteError) {
            try engine.checkCancellation()
            let answer = try await engine.backend.perform(
                .read(entity: entity, ids: [id]), options: engine.options.request)
            guard case .page(let page) = answer else {
                throw RemoteError(
                    .invalidAnswer, domain: "Strata", message: "\(engine.backend.name) answered a read without objects")
            }
            return page.records.first { $0.id == id }
        } catch {
            if error.kind == .notFound { return nil }
            throw Interruption(error)
        }
    }

    /// Takes out an entry whose object was deleted here since. If it was sent and the answer is not known, the server
    /// may have done it: then its version is another one than the delete is made to, and this is no conflict.
    func skip(_ entry: OutboxEntry) async throws(Interruption) {
        var told: RemoteRecord?
        if isConditional, entry.kind == .update, entry.state == .sent {
            let delete = try here { () throws(StoreError) in try mirror.deletion(behind: entry) }
            if let delete {
                let entity = mirror.model.entities[delete.identity.entityIndex]
                told = try await serverState(entity, delete.id)
                if let record = told,
                    try here({ () throws(StoreError) in try mirror.hasChanged(record, since: delete) })
                {
                    told = nil
                }
            }
        }
        try here { () throws(StoreError) in try mirror.skip(entry, told) }
    }

    private mutating func settle(_ job: Job, _ error: RemoteError) async throws(Interruption) {
        switch error.kind {
        case .unreachable, .timeout, .throttled, .unavailable:
            throw .again(error)
        case .cancelled: throw .stop(.remote(error))
        case .unauthorized:
            // Nobody's changes will be taken; this one was not.
            try here { () throws(StoreError) in try mirror.unmark(job.entry) }
            throw .stop(.remote(error))
        case .notFound where job.entry.kind == .delete:
            try here { () throws(StoreError) in try mirror.complete(job.entry, nil) }
            report(job, .deleted)
        case .notFound where job.entry.kind == .update || error.identity == job.identity:
            try decide(job, nil)
        case .conflict, .duplicate:
            // Another object has a value that must be unique.
            if error.kind == .duplicate, job.entry.kind != .insert { return try fail(job, error) }
            guard mayDecide(job) else { return try fail(job, error) }
            var record = error.serverRecord
            if record == nil { record = try await serverState(job) }
            if record == nil, job.entry.kind == .delete {
                try here { () throws(StoreError) in try mirror.complete(job.entry, nil) }
                return report(job, .deleted)
            }
            if record == nil, job.entry.kind == .insert { return try fail(job, error) }
            try decide(job, record)
        default: try fail(job, error)
        }
    }

    mutating func fail(_ job: Job, _ error: RemoteError) throws(Interruption) {
        try here { () throws(StoreError) in try mirror.fail(job.entry, error) }
        report(job, .failed(error))
    }

    // MARK: Conflicts

    func conflict(_ job: Job, _ record: RemoteRecord?) throws(Interruption) -> SyncConflict {
        let base = try here { () throws(StoreError) in try mirror.baseModified(job.entry) }
        return SyncConflict(
            kind: job.kind, identity: job.identity,
            client: RemoteRecord(
                entity: job.identity.entity, id: job.identity.id, values: job.write.write.values,
                modified: job.entry.changed),
            server: record, baseModified: base)
    }

    /// Lets the policy decide about a conflict.
    /// - Parameter record: What the server has; nil if it has nothing.
    private mutating func decide(_ job: Job, _ record: RemoteRecord?) throws(Interruption) {
        let policy = engine.options.policies.policy(job.kind, capabilities: engine.backend.capabilities)
        let choice = policy.choice(try conflict(job, record))
        guard let record else {
            let recreates = choice == .client
            try here { () throws(StoreError) in try mirror.settleGone(job.entry, recreates: recreates) }
            return recreates ? () : report(job, .deletedHere)
        }
        try settle(job, record, choice)
    }

    /// Puts a change and the server's state together.
    mutating func settle(
        _ job: Job, _ record: RemoteRecord, _ choice: ConflictPolicy.Choice
    ) throws(Interruption) {
        if job.entry.kind == .delete {
            try here { () throws(StoreError) in
                try mirror.settle(
                    job.entry, with: record, keeping: SlotSet(), keepsMembers: false, deletes: choice == .client)
            }
            return choice == .client ? () : report(job, .serverWon)
        }
        let state = try here { () throws(StoreError) in try mirror.compare(job.entry, with: record) }
        var kept = SlotSet()
        var overridden = SlotSet()
        for slot in state.all where !state.equal.contains(slot) {
            let isKept = choice == .client || (choice == .merge && !state.conflicting.contains(slot))
            if isKept { kept.insert(slot) } else { overridden.insert(slot) }
        }
        let keepsMembers = choice != .server
        try here { () throws(StoreError) in
            try mirror.settle(
                job.entry, with: record, keeping: kept, overriding: overridden, keepsMembers: keepsMembers)
        }
        let slots = mirror.model.entities[job.entry.identity.entityIndex].slots
        let isOver = kept.isEmpty && (!keepsMembers || job.entry.members.isEmpty)
        switch choice {
        case .server: report(job, .serverWon)
        case .merge where !state.conflicting.isEmpty:
            report(job, .merged(overridden: state.conflicting.map { slots[$0].name }))
        default: if isOver { report(job, job.entry.kind == .insert ? .created : .updated) }
        }
    }

    /// Sees to it that a change says which of the server's states it is made to. That is not known of a new object whose
    /// creation was answered late, when others had changed it already.
    /// - Returns: Whether the change can be sent; else it has been settled, or waits for the next round.
    mutating func findBase(_ job: Job) async throws(Interruption) -> Bool {
        guard job.entry.kind != .insert, job.write.write.baseVersion == nil else { return true }
        let found = try await serverState(job)
        // A server that has no version for it cannot compare any.
        if let found, found.version == nil { return true }
        guard mayDecide(job) else {
            try fail(
                job,
                RemoteError(
                    .conflict, domain: "Strata", message: "others change the object all the time",
                    identity: job.identity, serverRecord: found))
            return false
        }
        guard let record = found else {
            if job.entry.kind == .delete {
                try here { () throws(StoreError) in try mirror.complete(job.entry, nil) }
                report(job, .deleted)
            } else {
                try decide(job, nil)
            }
            return false
        }
        let hasChanged = try here { () throws(StoreError) in
            job.entry.kind == .delete
                ? try mirror.hasChanged(record, since: job.entry)
                : try !mirror.compare(job.entry, with: record).conflicting.isEmpty
        }
        if hasChanged { try decide(job, record) } else { try settle(job, record, .client) }
        return false
    }

    // MARK: Without versions

    /// Reads the object, compares, and writes: for back ends that cannot refuse a write because of its base.
    mutating func compareAndWrite(_ waiting: Job) async throws(Interruption) {
        guard let job = try await started([waiting], isWhole: true).first else { return }
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
            answer = page.records.first { $0.id == job.write.write.id }.map(SyncDecision.Answer.found) ?? .missing
        } catch {
            switch error.kind {
            case .notFound: answer = .missing
            case .unreachable, .timeout, .throttled, .unavailable, .cancelled, .unauthorized:
                throw Interruption(error)
            default: return try fail(job, error)
            }
        }
        // What was sent before, and whose answer was lost, is not a conflict with itself.
        if case .found(let record) = answer, job.entry.attempts > 1, job.entry.kind != .delete {
            let state = try here { () throws(StoreError) in try mirror.compare(job.entry, with: record) }
            if state.equal == state.all, job.entry.members.isEmpty {
                try here { () throws(StoreError) in try mirror.complete(job.entry, record, ticket: ticket) }
                return report(job, job.entry.kind == .insert ? .created : .updated)
            }
        }
        let policy = engine.options.policies.policy(job.kind, capabilities: engine.backend.capabilities)
        let (decision, _) = SyncDecision.decide(try conflict(job, nil), answer, policy: policy)
        try await act(job, decision, answer, ticket)
    }

    private mutating func act(
        _ job: Job, _ decision: SyncDecision, _ answer: SyncDecision.Answer, _ ticket: ReadTicket
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
            switch try await outcomes(operation, count: 1)[0] {
            case .done(let record): try await settle(job, .done(record), ticket)
            case .failed(let error) where error.isTransient: throw .again(error)
            case .failed(let error):
                // Somebody was faster between the reading and the writing: it is read again.
                if [.notFound, .duplicate, .conflict].contains(error.kind), mayDecide(job) { return }
                try fail(job, error)
            }
        case .takeServer:
            guard case .found(let record) = answer else { return }
            try settle(job, record, .server)
        case .deleteHere:
            try here { () throws(StoreError) in try mirror.settleGone(job.entry, recreates: false) }
            report(job, .deletedHere)
        case .drop:
            try here { () throws(StoreError) in try mirror.complete(job.entry, nil) }
            report(job, .deleted)
        case .fail: break
        }
    }
}
