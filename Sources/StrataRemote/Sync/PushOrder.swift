import StrataSQLite

/// The order in which changes are sent, and which of them go together.
enum PushOrder {
    /// The order of the changes, but what refers to a new object comes after it, and a new object comes after the deletion of an
    /// earlier one of the same primary key. Circles are cut where they begin.
    static func ordered(_ jobs: [PushRun.Job]) -> [PushRun.Job] {
        let makers = places(of: .insert, in: jobs)
        let deletions = places(of: .delete, in: jobs)
        if makers.isEmpty || jobs.allSatisfy({ $0.write.references.isEmpty }) { return jobs }
        var result: [PushRun.Job] = []
        result.reserveCapacity(jobs.count)
        // 0 untouched, 1 being looked at, 2 placed.
        var marks = [UInt8](repeating: 0, count: jobs.count)
        for start in jobs.indices where marks[start] == 0 {
            // Without recursion: a list of ten thousand links must not fill the stack.
            var stack = [start]
            while let index = stack.last {
                if marks[index] == 0 {
                    marks[index] = 1
                    for reference in jobs[index].write.references.sorted(by: { $0.id > $1.id }) {
                        if let maker = makers[reference], marks[maker] == 0 { stack.append(maker) }
                    }
                    if let deletion = deletion(before: jobs[index], jobs, deletions), marks[deletion] == 0 {
                        stack.append(deletion)
                    }
                    continue
                }
                stack.removeLast()
                if marks[index] == 1 {
                    marks[index] = 2
                    result.append(jobs[index])
                }
            }
        }
        return result
    }

    /// The places of the jobs of a kind, by their objects.
    private static func places(of kind: ChangeKind, in jobs: [PushRun.Job]) -> [RemoteIdentity: Int] {
        var result: [RemoteIdentity: Int] = [:]
        for (index, job) in jobs.enumerated() where job.entry.kind == kind { result[job.identity] = index }
        return result
    }

    /// The place of the deletion that a creation of the same primary key follows; nil if there is none.
    private static func deletion(
        before job: PushRun.Job, _ jobs: [PushRun.Job], _ deletions: [RemoteIdentity: Int]
    ) -> Int? {
        guard job.entry.kind == .insert, let deletion = deletions[job.identity],
            jobs[deletion].entry.seq < job.entry.seq
        else { return nil }
        return deletion
    }

    /// As ``ordered(_:)``, but new objects first, deleted ones last, as back ends without versions have always had it. Deletions
    /// of objects that are made again come before both.
    static func byKind(_ jobs: [PushRun.Job]) -> [PushRun.Job] {
        let deletions = places(of: .delete, in: jobs)
        let first = Set(jobs.compactMap { deletion(before: $0, jobs, deletions) }.map { jobs[$0].entry.seq })
        func rank(_ job: PushRun.Job) -> Int { first.contains(job.entry.seq) ? -1 : Int(job.entry.kind.number) }
        return ordered(jobs).enumerated()
            .sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
            .map(\.element)
    }

    /// Takes as many jobs from the front as one request can hold.
    /// - Parameter assigning: The entities whose new objects get their primary keys from the server.
    static func group(
        _ jobs: inout ArraySlice<PushRun.Job>, capabilities: RemoteCapabilities, assigning: Set<Int>,
        limit: Int = .max
    ) -> [PushRun.Job] {
        guard let first = jobs.popFirst() else { return [] }
        var group = [first]
        let limit = max(1, min(limit, capabilities.maximumBatch))
        let holdsAll = capabilities.features.contains(.batches)
        let holdsInserts = capabilities.features.contains(.creatingMany) && first.entry.kind == .insert
        guard first.write.relations.isEmpty else { return group }
        // What refers to an object that the server names is told by that name, in a later request.
        func isNamed(_ job: PushRun.Job) -> Bool {
            job.entry.kind == .insert && assigning.contains(job.write.entity.index)
        }
        var makers: Set<RemoteIdentity> = isNamed(first) ? [first.identity] : []
        while group.count < limit, let next = jobs.first, next.write.relations.isEmpty,
            makers.isDisjoint(with: next.write.references)
        {
            let isAlike = next.entry.kind == .insert && next.write.entity == first.write.entity
            guard holdsAll || (holdsInserts && isAlike) else { break }
            if isNamed(next) { makers.insert(next.identity) }
            group.append(next)
            jobs.removeFirst()
        }
        return group
    }

    /// Takes as many groups from the front as may be under way at once in any order: they only make objects, and
    /// none refers to an object that an earlier one makes. Empty if the first group does more than that.
    static func stretch(_ groups: ArraySlice<[PushRun.Job]>) -> ArraySlice<[PushRun.Job]> {
        var makers: Set<RemoteIdentity> = []
        return groups.prefix { group in
            guard group.allSatisfy({ $0.entry.kind == .insert && makers.isDisjoint(with: $0.write.references) }) else {
                return false
            }
            makers.formUnion(group.map(\.identity))
            return true
        }
    }
}
