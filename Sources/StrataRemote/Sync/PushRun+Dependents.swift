import StrataSQLite

/// Changes that refer to new objects are sent after these.
extension PushRun {
    /// Adds the creation of objects to which jobs refer, wherever it is in the outbox. A creation that follows the deletion of the
    /// same object waits for the round after that, and so does what refers to it.
    mutating func completed(_ jobs: [Job]) async throws(Interruption) -> [Job] {
        var jobs = jobs
        var made = Set(jobs.filter { $0.entry.kind == .insert }.map(\.identity))
        var later: Set<RemoteIdentity> = []
        var open = Set(jobs.flatMap(\.write.references)).subtracting(made)
        while !open.isEmpty {
            let wanted = open
            let (entries, held) = try here { () throws(StoreError) in
                let entries = try mirror.insertions(of: wanted)
                return (entries, try mirror.insertionsBehindDeletions(among: entries))
            }
            later.formUnion(held.values)
            let more = try await self.jobs(
                entries.filter { $0.state != .failed && !postponed.contains($0.seq) && held[$0.seq] == nil },
                isWhole: !isConditional)
            jobs += more
            made.formUnion(more.map(\.identity))
            made.formUnion(wanted)
            open = Set(more.flatMap(\.write.references)).subtracting(made)
        }
        if later.isEmpty { return jobs }
        let waiting = Set(dependents(of: later, among: jobs).map(\.entry.seq))
        return jobs.filter { !waiting.contains($0.entry.seq) }
    }

    /// Leaves out what refers to new objects that the server has refused: it would be refused for that, too.
    mutating func holdingBack(_ jobs: [Job]) throws(Interruption) -> [Job] {
        let wanted = Set(jobs.flatMap(\.write.references))
        if wanted.isEmpty { return jobs }
        let refused = try here { () throws(StoreError) in Set(try mirror.refusedInsertions(among: wanted)) }
        if refused.isEmpty { return jobs }
        postponeDependents(of: refused, among: jobs)
        return jobs.filter { !postponed.contains($0.entry.seq) }
    }

    /// Postpones what refers to new objects that the server has just refused. Refusals that may be those of all writes are left to
    /// the end of the round.
    mutating func postponeDependents(of refusals: ArraySlice<(job: Job, error: RemoteError)>, among jobs: [Job]) {
        let refused = refusals.filter { job, error in
            job.entry.kind == .insert && error.kind != .forbidden && error.kind != .notFound
        }
        if !refused.isEmpty { postponeDependents(of: Set(refused.map(\.job.identity)), among: jobs) }
    }

    private mutating func postponeDependents(of names: Set<RemoteIdentity>, among jobs: [Job]) {
        postponed.formUnion(dependents(of: names, among: jobs).map(\.entry.seq))
    }

    /// The jobs that refer to some new objects, or to new objects that do.
    private func dependents(of names: Set<RemoteIdentity>, among jobs: [Job]) -> [Job] {
        var names = names
        var rest = jobs
        var result: [Job] = []
        while true {
            let found = rest.filter { job in
                !names.isDisjoint(with: job.write.references)
                    && !mirror.online.undecided.withLock { $0.contains(identity(job.entry)) }
            }
            if found.isEmpty { return result }
            result += found
            names.formUnion(found.filter { $0.entry.kind == .insert }.map(\.identity))
            let seqs = Set(found.map(\.entry.seq))
            rest.removeAll { seqs.contains($0.entry.seq) }
        }
    }
}
