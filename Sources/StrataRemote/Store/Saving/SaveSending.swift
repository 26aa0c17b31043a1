import Foundation
import StrataSQLite
import StrataStore

/// A save on its way to a back end: new objects first, then changed, then deleted ones. A kind of which some failed
/// stops the kinds after it.
struct SaveSending {
    let store: RemoteStore
    let options: RemoteStore.Options
    /// What is sent.
    var writes: [MirrorWrite]
    /// What the server has now of what was written, as far as it told.
    private(set) var records: [RemoteRecord] = []
    /// References of new objects that follow the objects in changes of their own.
    var following = FollowingReferences()
    /// The objects whose writes are not done, by topmost entity and key.
    var undone: Set<RowIdentity> = []
    /// Objects of which the server has a version that it did not tell.
    private var untold: [RowIdentity: MirrorWrite] = [:]
    /// What happened to those that were tried.
    private(set) var failures: [(write: MirrorWrite, error: RemoteError)] = []
    /// Earlier writes of the same objects that the server has carried out.
    var repeated: RepeatedWrites
    /// New objects to which the server gave other primary keys than they were sent with.
    private(set) var renamed: [RowIdentity: String] = [:]
    /// Objects of which the server has refused a change before, or has not been told, that this save takes along.
    let refused: Set<RowIdentity>
    /// The number of objects of the save.
    private let count: Int

    /// - Parameter source: The context that saves.
    init(
        store: RemoteStore, options: RemoteStore.Options, writes: [MirrorWrite], refused: Set<RowIdentity> = [],
        source: ChangeSource?
    ) {
        self.store = store
        self.options = options
        self.writes = writes
        self.refused = refused
        repeated = RepeatedWrites(unknown: OwnUnknownWrites(all: store.mirror.online.unknown, source: source))
        count = writes.count
    }

    /// Whether everything is done.
    var isComplete: Bool { undone.isEmpty && following.withheld.isEmpty }

    /// The error that all writes met before any of them was looked at.
    var commonError: RemoteError? {
        guard let first = failures.first?.error, first.concernsAll, failures.allSatisfy({ $0.error == first }) else {
            return nil
        }
        return first
    }

    /// All failures as one.
    var failure: RemoteFailure {
        func objects(_ kind: ChangeKind) -> [RemoteFailure.Object] {
            failures.filter { $0.write.kind == kind }.map { write, error in
                let id = ObjectID(
                    entity: write.entity, key: write.identity.key, storeIdentifier: store.identifier)
                return RemoteFailure.Object(objectID: id, failure: RemoteFailure(error))
            }
        }
        let code = store.backend.code(of: .incompleteSave)
        var result = RemoteFailure(
            kind: RemoteFailure.saveKind, domain: code?.domain ?? "Strata", code: code?.code ?? RemoteFailure.saveCode,
            message: "\(store.backend.name) did not save \(failures.count) of \(count) objects")
        result.inserted = objects(.insert)
        result.updated = objects(.update)
        result.deleted = objects(.delete)
        return result
    }

    func rooted(_ write: MirrorWrite) -> RowIdentity { write.rootedIdentity }

    mutating func run() async {
        listMembers()
        await settleUnknown()
        for kind in [ChangeKind.insert, .update, .delete] {
            let list = writes.filter { $0.kind == kind }
            if failures.isEmpty {
                let list = await withBases(list)
                if kind == .insert, list.contains(where: isNamed) {
                    await sendNaming(Self.referencedFirst(list))
                } else {
                    await send(kind == .insert ? Self.referencedFirst(list) : list)
                }
            } else {
                for write in list { leave(write) }
            }
        }
        await readUntold()
    }

    /// Notes that a write is not done.
    /// - Returns: Whether that is news.
    @discardableResult
    private mutating func leave(_ write: MirrorWrite) -> Bool {
        if write.kind == .update, let names = following.names[rooted(write)] {
            return following.withheld.updateValue(names, forKey: rooted(write)) == nil
        }
        return undone.insert(rooted(write)).inserted
    }

    /// Reads what the next write must name the version of, and what came of operations. The writes are done, whatever becomes
    /// of this: without the version the next one is refused, and the conflict brings it; the results of operations come
    /// with the next pull.
    private mutating func readUntold() async {
        for (index, list) in Dictionary(grouping: untold.values, by: \.entity.index) {
            let entity = store.model.entities[index]
            let hasVersions = store.backend.capabilities.features(of: entity).contains(.conditionalWrites)
            let wanted = list.filter { hasVersions || !$0.write.operations.isEmpty }
            if wanted.isEmpty { continue }
            let read = RemoteOperation.read(entity: entity, ids: wanted.map(\.write.id).sorted())
            if case .page(let page)? = try? await store.backend.perform(read, options: options.request) {
                records += page.records
                continue
            }
            for write in wanted where !write.write.operations.isEmpty {
                try? await store.surroundings.elsewhere { [store] () throws(StoreError) in
                    try store.mirror.noteStale(RemoteIdentity(entity: write.entity.name, id: write.write.id))
                }
            }
        }
    }

    /// New objects in an order in which those that others refer to come first, as far as there is one.
    private static func referencedFirst(_ list: [MirrorWrite]) -> [MirrorWrite] {
        var left = Dictionary(
            list.map { (RemoteIdentity(entity: $0.entity.name, id: $0.write.id), $0) }, uniquingKeysWith: { $1 })
        var result: [MirrorWrite] = []
        for write in list {
            var stack = [(write: write, isOpen: true)]
            while let top = stack.popLast() {
                let name = RemoteIdentity(entity: top.write.entity.name, id: top.write.write.id)
                guard top.isOpen else {
                    result.append(top.write)
                    continue
                }
                guard left.removeValue(forKey: name) != nil else { continue }
                stack.append((top.write, false))
                for reference in top.write.references {
                    if let other = left[reference] { stack.append((other, true)) }
                }
            }
        }
        return result
    }

    // MARK: Requests

    /// How many requests are under way at the same time if none depends on another.
    private static let width = 6

    /// Sends writes of one kind: as many in a request as the back end takes. A failure that the next request would meet,
    /// too, is that of all the rest.
    mutating func send(_ all: [MirrorWrite]) async {
        let list = await withFiles(all)
        let jobs = jobs(for: list)
        let names = Set(list.map { RemoteIdentity(entity: $0.entity.name, id: $0.write.id) })
        let isOrdered = list.contains { $0.kind == .insert && !$0.references.isDisjoint(with: names) }
        let results = await Self.run(
            jobs, atOnce: isOrdered ? 1 : Self.width, backend: store.backend, options: options.request)
        var common: RemoteError?
        var begun: Set<UUID> = []
        for (write, outcome) in results.joined() {
            let (write, outcome) = await recomputed(write, await confirmed(outcome, of: write))
            if case .failed(let error) = outcome, error.concernsAll { common = error }
            take(outcome, of: write)
            switch outcome {
            case .done: begun.insert(write.write.token)
            case .failed(let error) where begun.contains(write.write.token) && !error.leavesOutcomeUnknown:
                // Its values were carried out before a change of members was refused.
                var done = UnknownWrite(write: write).withoutMembers
                if let earlier = repeated.earlier[rooted(write)] { done = done.joined(with: earlier) }
                repeated.unknown.put(done.carriedOut, rooted(write))
            default: break
            }
        }
        guard let common else { return }
        for job in jobs.dropFirst(results.count) { for write in job.writes { fail(write, common) } }
    }

    /// Uploads the files that writes refer to. A write whose file is not uploaded is not sent.
    private mutating func withFiles(_ list: [MirrorWrite]) async -> [MirrorWrite] {
        guard list.contains(where: { $0.write.values.values.contains { StagedFile($0) != nil } }) else { return list }
        let upload = FileUpload(
            mirror: store.mirror, backend: store.backend, options: options.request,
            progress: options.extras.fileProgress)
        var result: [MirrorWrite] = []
        var common: RemoteError?
        for write in list {
            if let common {
                refuse(write, common)
                continue
            }
            do throws(RemoteError) {
                result.append(try await upload.ready(write))
            } catch {
                if error.concernsAll { common = error }
                refuse(write, error)
            }
        }
        return result
    }

    /// Notes that a write was not sent.
    mutating func refuse(_ write: MirrorWrite, _ error: RemoteError) {
        if leave(write) { failures.append((write, error)) }
    }

    /// - Returns: The outcomes of the jobs that were begun, which are the first ones.
    private static func run(
        _ jobs: [SaveJob], atOnce width: Int, backend: any RemoteBackend, options: RequestOptions
    ) async -> [[(write: MirrorWrite, outcome: RemoteOutcome)]] {
        await withTaskGroup(of: (Int, [(write: MirrorWrite, outcome: RemoteOutcome)]).self) { group in
            var results: [Int: [(write: MirrorWrite, outcome: RemoteOutcome)]] = [:]
            var next = 0
            var isStopped = false
            while true {
                while next - results.count < width, next < jobs.count, !isStopped {
                    let number = next
                    group.addTask { (number, await jobs[number].run(backend, options)) }
                    next += 1
                }
                guard let (number, outcomes) = await group.next() else { break }
                results[number] = outcomes
                isStopped =
                    isStopped
                    || outcomes.contains {
                        if case .failed(let error) = $0.outcome { error.concernsAll } else { false }
                    }
            }
            return (0..<next).map { results[$0] ?? [] }
        }
    }

    private func jobs(for list: [MirrorWrite]) -> [SaveJob] {
        let features = store.backend.capabilities.features
        let size = max(1, store.backend.capabilities.maximumBatch)
        var jobs: [SaveJob] = []
        var rest = list[...]
        while let first = rest.first {
            var count = 1
            if features.contains(.batches) {
                count = min(size, rest.count)
            } else if first.kind == .insert, features.contains(.creatingMany) {
                count = min(size, rest.prefix { $0.entity === first.entity }.count)
            }
            let group = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            jobs.append(job(for: group, isBatch: features.contains(.batches)))
        }
        return jobs
    }

    private func job(for group: [MirrorWrite], isBatch: Bool) -> SaveJob {
        if group.count > 1, !isBatch {
            return SaveJob(
                writes: group,
                requests: [(.create(entity: group[0].entity, group.map(\.write)), group.indices.map { $0 })])
        }
        var requests: [(operation: RemoteOperation, writes: [Int])] = []
        for (position, write) in group.enumerated() {
            for operation in operations(of: write) { requests.append((operation, [position])) }
        }
        if group.count > 1 { requests = [(.batch(requests.map(\.operation)), requests.flatMap(\.writes))] }
        return SaveJob(writes: group, requests: requests)
    }

    mutating func fail(_ write: MirrorWrite, _ error: RemoteError) {
        let earlier = repeated.earlier[rooted(write)]
        if let earlier {
            if error.kind == .gone, earlier.isOfNewObject {
                noteDeleted(write)
            } else if error.kind == .conflict, renamed[rooted(write)] == nil {
                // The merge policy of the context compares with what the server says now. The answer to the repetition may have
                // been the remembered first one, which is older.
                noteOvertaken(earlier, rooted(write))
            } else {
                // One that the server has renamed is found by its creation only.
                let done = renamed[rooted(write)] == nil ? earlier.carriedOut : earlier
                let next = error.leavesOutcomeUnknown ? earlier.followed(by: write) : done
                repeated.unknown.put(next, rooted(write))
            }
        } else if error.leavesOutcomeUnknown {
            repeated.unknown.add(write, rooted(write))
        }
        let creation = write.kind == .insert ? write : earlier?.creation
        if let creation, let record = error.serverRecord, let draft = repeated.unknown.source?.draft {
            // The context finds the object in the mirror by that.
            let id = store.mirror.canonical(record.id, write.entity)
            if id != creation.write.id { store.mirror.online.births.note(id, of: creation.rootedName, draft) }
        }
        guard leave(write) else { return }
        failures.append((write, error))
    }

    /// Notes that others have changed objects here while the server deleted them. As after any other conflict, the merge policy of
    /// the context decides when it saves again.
    mutating func failDeletions(of objects: Set<RowIdentity>) {
        for write in writes where write.kind == .delete && objects.contains(rooted(write)) {
            fail(
                write,
                RemoteError(
                    .conflict, domain: "Strata",
                    message: "the object was changed here while it was deleted; save again", identity: write.rootedName)
            )
        }
    }

    /// Notes what became of a write.
    mutating func take(_ outcome: RemoteOutcome, of write: MirrorWrite) {
        switch outcome {
        case .done(let record):
            repeated.unknown.remove(rooted(write))
            guard write.kind != .delete else { return }
            if let record { note(record, of: write) }
            // Of several requests about an object the last one tells what it is now, with what came of operations.
            let isTold =
                record.map { record in write.write.operations.keys.allSatisfy { record.values[$0] != nil } } ?? false
            untold[rooted(write)] = !isTold && write.kind == .update ? write : nil
        case .failed(let error):
            if let record = error.serverRecord { records.append(record) }
            fail(write, error)
        }
    }

    /// The final outcome of a write. A delete of an object that does not exist has succeeded, and others have deleted a new
    /// object that an earlier save made if there is nothing to change. Since "not found" may come from a proxy, the server
    /// itself is asked for the object.
    func confirmed(_ outcome: RemoteOutcome, of write: MirrorWrite) async -> RemoteOutcome {
        guard case .failed(let error) = outcome else { return outcome }
        if error.kind == .notFound, write.kind == .update, repeated.earlier[rooted(write)]?.isOfNewObject == true {
            return await absence(of: write, error)
        }
        // Of an object that the server has renamed only the creation is remembered. Changes after it are sent under new names.
        if error.kind == .conflict, write.kind == .update, renamed[rooted(write)] != nil,
            let record = error.serverRecord, isWork(of: write, record)
        {
            return .done(record)
        }
        guard write.kind == .delete else { return outcome }
        if error.kind == .gone { return .done(nil) }
        guard error.kind == .notFound else { return outcome }
        do throws(RemoteError) {
            return try await isGone(write.write.id, write.entity) ? .done(nil) : outcome
        } catch {
            return .failed(error)
        }
    }

    /// Whether the server answers for the collection of an object, and does not have the object.
    func isGone(_ id: String, _ entity: EntityDescription) async throws(RemoteError) -> Bool {
        let lookup = RemoteLookup(mirror: store.mirror, backend: store.backend, options: options.request)
        if case .gone = try await lookup.presence(entity, id) { return true }
        return false
    }

    /// Takes the record of an object that was written.
    mutating func note(_ told: RemoteRecord, of write: MirrorWrite) {
        let record = write.told(told)
        noteName(record, of: write)
        records.append(record)
    }

    /// A new object may have another primary key at the server.
    mutating func noteName(_ record: RemoteRecord, of write: MirrorWrite) {
        let id = store.mirror.canonical(record.id, write.entity)
        if write.kind == .insert, id != write.write.id { renamed[rooted(write)] = id }
    }

    /// What an object's writes are at the back end.
    func operations(of write: MirrorWrite) -> [RemoteOperation] {
        switch write.kind {
        case .insert: return [.create(entity: write.entity, [write.write])]
        case .delete: return [.delete(entity: write.entity, write.write)]
        case .update:
            let isEmpty =
                write.write.values.isEmpty && write.write.operations.isEmpty && write.write.secrets.isEmpty
                && !write.relations.isEmpty
            return (isEmpty ? [] : [.update(entity: write.entity, write.write)])
                + write.relations.map { .relate(entity: write.entity, $0) }
        }
    }

    /// Sends changes of members as whole lists to a back end that accepts only those: each attempt sends the same
    /// lists.
    private mutating func listMembers() {
        guard !store.backend.capabilities.features.contains(.relating) else { return }
        for index in writes.indices where writes[index].kind == .update {
            let write = writes[index]
            do throws(StoreError) {
                for relation in write.relations {
                    writes[index].write.values[relation.relationship] = .references(try members(relation, of: write))
                }
                writes[index].relations = []
            } catch {
                fail(write, RemoteError(.invalidRequest, domain: "Strata", message: error.description))
            }
        }
        writes = writes.filter { !undone.contains(rooted($0)) }
    }

    /// All members of a relationship after a change, for a back end that accepts them only as a whole.
    private func members(_ relation: RemoteRelation, of write: MirrorWrite) throws(StoreError) -> [String] {
        guard let relationship = write.entity.relationship(named: relation.relationship) else { return relation.added }
        let keys = try store.mirror.store.memberKeys(
            entityIndex: write.entity.index, relationshipIndex: relationship.index, owners: [write.identity.key]
        ).map(\.member)
        let names = try store.mirror.ids(entityIndex: relationship.destinationIndex, keys: keys.sorted())
        let removed = Set(relation.removed + relation.added)
        return keys.compactMap { names[$0]?.id }.filter { !removed.contains($0) } + relation.added
    }
}

extension RemoteError {
    /// Whether the server may have carried out the write that ended so.
    fileprivate var leavesOutcomeUnknown: Bool {
        switch kind {
        case .unreachable, .timeout, .unavailable, .cancelled, .invalidAnswer: true
        default: false
        }
    }
}
