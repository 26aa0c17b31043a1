#if Server
    import Foundation
    import Strata
    import StrataStore

    /// The context that all writes are gathered in. It is used again, because a context reserves its keys in blocks, and
    /// each block is a transaction of its own.
    ///
    /// `@unchecked Sendable`: it is only touched on the writer's serial queue.
    private final class WriterContext: @unchecked Sendable {
        private var container: PersistentContainer?
        private var context: ManagedObjectContext?
        /// The number of the last change before the present transaction, in a shared database.
        var counted: Int64 = 0

        /// The context on a container, with nothing in it.
        func context(on container: PersistentContainer) -> ManagedObjectContext {
            if let context, self.container === container {
                context.reset()
                return context
            }
            let context = container.newContext()
            self.container = container
            self.context = context
            return context
        }

        func close() { (container, context) = (nil, nil) }
    }

    /// A database of a server: any number of reads at once, one writer that gathers what waits into one transaction.
    final class Database: Sendable {
        struct State {
            var catalogue: SchemaCatalogue
            /// The version of the catalogue of a shared database.
            var version: Int64
            var container: PersistentContainer
            /// The number of the last change that is on the disk.
            var committed: Int64
            let history: ChangeHistory
            var isClosed = false
            /// How many objects were deleted since their marks were counted.
            var deletions = Database.countedDeletions
        }

        /// One write that waits: runs in a scope, and is told what became of it.
        struct Write: Sendable {
            var run: @Sendable (DataScope) throws(ServerError) -> Void
            var finish: @Sendable (ServerError?) -> Void
        }

        /// The maximum number of writes that share a transaction; with more, the first would only wait longer.
        private static let groupSize = 64
        /// Marks of deleted objects are counted after as many deletions, or as many as may stay, because counting reads
        /// them all.
        private static let countedDeletions = 1_000
        /// How often the schemas are extended for one write.
        private static let maximumGrowths = 100
        /// How many writes may wait.
        private static let longestLine = 10_000

        let clock: ServerClock
        let hints: [String: Entity]
        private let uniques: UniqueValues
        private let files: FileVault
        let storage: any DatabaseStorage
        let state: Guarded<State>
        let sequences: SequenceCounter
        private let waiting = Guarded<(writes: [Write], isDraining: Bool)>(([], false))
        private let writer = DispatchQueue(label: "strata.server.writer")
        private let writerContext = WriterContext()
        /// Held while the database is opened again because another server has grown it.
        let reopening = NSLock()
        /// Reads of a few objects do not wait for those of many. What works on a queue of one class waits for
        /// others of that class when all processors are taken; the writer and the hashes of passwords have theirs.
        /// What follows changes has a narrow line of its own: after a write, all who follow would read at the same moment.
        private let (readers, longReaders, followers) = (
            ReaderLine(.userInitiated), ReaderLine(.utility), ReaderLine(.utility, width: Database.followerCount)
        )
        private static let followerCount = 2
        /// As many connections as may read at the same time: those in the lines, one on each event loop and each cooperative
        /// thread, and the writer. An event loop never waits until a long read gives a connection back.
        static let readerCount = min(
            1_000, 2 * ReaderLine.usualWidth + followerCount + 2 * ProcessInfo.processInfo.activeProcessorCount + 1)
        let signal = ChangeSignal()

        /// Opens the database, or makes it, and brings it up to the catalogue.
        init(
            _ storage: any DatabaseStorage, declared: SchemaCatalogue, hints: [String: Entity], files: FileVault,
            clock: ServerClock
        ) throws {
            self.storage = storage
            self.hints = hints
            self.files = files
            uniques = UniqueValues(hints)
            self.clock = clock
            let (first, time) = try storage.alone { try Self.begin(storage, declared, hints: hints, files: files) }
            state = Guarded(first)
            sequences = SequenceCounter(first.committed, time: time)
        }

        /// Prepares the database for a server that starts.
        /// - Returns: What it holds, and the time of the last change.
        private static func begin(
            _ storage: any DatabaseStorage, _ declared: SchemaCatalogue, hints: [String: Entity], files: FileVault
        ) throws -> (State, time: Int64) {
            let known = try storage.stored()
            var stored = known ?? StoredCatalogue(SchemaCatalogue())
            try stored.catalogue.checkKeys(of: declared)
            stored.catalogue.merge(declared)
            if storage.isShared, known?.catalogue != stored.catalogue { stored.version += 1 }
            let container = try storage.grow(to: try model(stored, hints, storage), stored)
            var last = try lastSequence(container, stored.catalogue)
            var time = try lastTime(container, stored.catalogue)
            if storage.isShared {
                let context = container.newContext()
                let counter = try SharedCounter(in: context)
                // The last change that another server has numbered may have left no row.
                (last, time) = (max(last, counter?.sequence ?? 0), max(time, counter?.time ?? 0))
                try SharedCounter(sequence: last, time: time, version: stored.version).write(in: context)
                try context.save()
            }
            if storage.isShared { try FolderClaim(files).take(container.store.identifier) }
            try files.sweep(container.newContext())
            let history = try ChangeHistory(on: container, last: last, lineage: try storage.lineage())
            let state = State(
                catalogue: stored.catalogue, version: stored.version, container: container, committed: last,
                history: history)
            return (state, time)
        }

        private static func model(
            _ stored: StoredCatalogue, _ hints: [String: Entity], _ storage: any DatabaseStorage
        ) throws(ModelError) -> ManagedObjectModel {
            try StorageModel.make(stored.catalogue, hints: hints, isShared: storage.isShared)
        }

        func close() {
            // Nothing is being written once the queue has come round.
            writer.sync { writerContext.close() }
            state.withLock {
                $0.isClosed = true
                $0.container.close()
            }
            storage.close()
        }

        var catalogue: SchemaCatalogue { state.withLock(\.catalogue) }
        var history: ChangeHistory { state.withLock(\.history) }

        // MARK: Reading

        /// How much is read at once.
        enum Extent {
            /// One object, and what its key leads to.
            case one
            case few
            /// Any number of objects.
            case many
        }

        /// Runs a read on a thread of its own, so that no event loop waits for the disk. One object is read in place, if the
        /// database is a file: that takes less time than to wake another thread.
        func read<T: Sendable>(
            _ extent: Extent = .few, _ body: @escaping @Sendable (DataScope) throws(ServerError) -> T
        ) async throws(ServerError) -> T {
            if extent == .one, !storage.isShared { return try body(try readScope(nil)) }
            return try await (extent == .many ? longReaders : readers).run { (cancellation) throws(ServerError) in
                try body(try self.readScope(cancellation))
            }
        }

        /// Runs a read of somebody who follows changes.
        func follow<T: Sendable>(
            _ body: @escaping @Sendable (DataScope) throws(ServerError) -> T
        ) async throws(ServerError) -> T {
            try await followers.run { (cancellation) throws(ServerError) in
                try body(try self.readScope(cancellation))
            }
        }

        private func readScope(_ cancellation: ReadCancellation?) throws(ServerError) -> DataScope {
            if storage.isShared { _ = try catchUp() }
            let (catalogue, container, committed) = state.withLock { ($0.catalogue, $0.container, $0.committed) }
            return DataScope(
                catalogue: catalogue, uniques: uniques, context: container.newContext(), now: clock.milliseconds,
                visibleSequence: committed, cancellation: cancellation)
        }

        // MARK: Writing

        /// Runs a write, and returns when it is durable.
        ///
        /// Writes that wait at the same moment share a transaction, each in a child context of its own: one that fails
        /// leaves nothing behind, and the others pay for one flush of the disk together.
        func write<T: Sendable>(
            _ body: @escaping @Sendable (DataScope) throws(ServerError) -> T
        ) async throws(ServerError) -> T {
            let box = Guarded<T?>(nil)
            let failure: ServerError? = await withCheckedContinuation { continuation in
                enqueue(
                    Write(
                        run: { (scope) throws(ServerError) in
                            let value = try body(scope)
                            box.withLock { $0 = value }
                        }, finish: { continuation.resume(returning: $0) }))
            }
            if let failure { throw failure }
            guard let value = box.withLock({ $0 }) else { throw ServerError(500, "The write gave no answer.") }
            return value
        }

        private func enqueue(_ write: Write) {
            let starts: Bool? = waiting.withLock { waiting in
                guard waiting.writes.count < Self.longestLine else { return nil }
                waiting.writes.append(write)
                defer { waiting.isDraining = true }
                return !waiting.isDraining
            }
            guard let starts else { return write.finish(ServerError(503, "Too many are writing.", retryAfter: 1)) }
            if starts { writer.async { self.drain() } }
        }

        private func drain() {
            while true {
                let group: [Write] = waiting.withLock { waiting in
                    let group = Array(waiting.writes.prefix(Self.groupSize))
                    waiting.writes.removeFirst(group.count)
                    if group.isEmpty { waiting.isDraining = false }
                    return group
                }
                if group.isEmpty { return }
                do throws(ServerError) {
                    try storage.exclusively { runUpToDate(group) }
                } catch {
                    for write in group { write.finish(error) }
                }
            }
        }

        /// Runs writes when the turn is this server's.
        private func runUpToDate(_ group: [Write]) {
            if storage.isShared {
                do throws(ServerError) {
                    writerContext.counted = try catchUp()
                } catch {
                    for write in group { write.finish(error) }
                    return
                }
            }
            run(group)
        }

        /// Runs writes in one transaction.
        /// - Parameter growths: How often the schemas were extended only for the first of them.
        private func run(_ group: [Write], growths: Int = 0) {
            let (catalogue, container) = state.withLock { ($0.catalogue, $0.container) }
            let parent = writerContext.context(on: container)
            let pending = PendingKeys()
            var done: [Write] = []
            var failed: [(write: Write, error: ServerError)] = []
            // What is kept, and the files of what is not.
            var (effects, files) = (WriteEffects(), Set<String>())
            var last: Int64 = 0
            var remaining = group[...]
            var grown: SchemaCatalogue?
            while let write = remaining.first, grown == nil {
                let scope = DataScope(
                    catalogue: catalogue, uniques: uniques, context: parent.makeChild(), now: clock.milliseconds,
                    visibleSequence: .max, sequences: sequences, pending: PendingKeys(below: pending))
                do throws(ServerError) {
                    try write.run(scope)
                    do throws(PersistenceError) { try scope.context.save() } catch { throw ServerError(error) }
                    scope.pending?.settle()
                    done.append(write)
                    effects.add(scope.effects)
                    last = max(last, scope.lastSequence)
                } catch {
                    grown = scope.neededCatalogue
                    if grown == nil { failed.append((write, error)) }
                }
                files.formUnion(scope.effects.touchedFiles)
                if grown == nil { remaining = remaining.dropFirst() }
            }
            effects.touchedFiles = files
            commit(parent, done, effects, last)
            // A client that gets a failure finds nothing of it, not even files.
            for (write, error) in failed { write.finish(error) }
            guard let grown else { return }
            var next = remaining.count < group.count ? 1 : growths + 1
            do {
                guard next <= Self.maximumGrowths else {
                    throw ServerError(500, "the write asks for more after each of \(growths) times")
                }
                try grow(to: grown)
            } catch {
                remaining.first?.finish(ServerError(500, "The schemas cannot be extended: \(error)"))
                remaining = remaining.dropFirst()
                next = 0
            }
            if !remaining.isEmpty { run(Array(remaining), growths: next) }
        }

        private func commit(
            _ parent: ManagedObjectContext, _ done: [Write], _ effects: WriteEffects, _ last: Int64
        ) {
            do throws(PersistenceError) {
                var room = effects.room
                if !countsTombstones(room) { room.maximumTombstones = nil }
                try room.make(in: parent)
                try count(last, in: parent)
                try parent.save()
                if last > 0 { writerContext.counted = last }
                // Numbers of writes that failed are used up and on no disk: after a restart they are given again, and a reader
                // that had been told about them would miss what gets them.
                state.withLock { $0.committed = max($0.committed, last) }
                removeUnnamed(effects.touchedFiles)
                for work in effects.followUps { work() }
                for write in done { write.finish(nil) }
                signal.post(effects.changed)
            } catch {
                // A violation by one must not fail the others: each has a transaction of its own now.
                if done.count > 1 {
                    for write in done { run([write]) }
                    removeUnnamed(effects.touchedFiles)
                } else {
                    removeUnnamed(effects.touchedFiles)
                    done.first?.finish(ServerError(error))
                }
            }
        }

        /// Writes the number of the last change of a transaction where other servers read it.
        private func count(_ last: Int64, in parent: ManagedObjectContext) throws(PersistenceError) {
            guard storage.isShared, last > 0 else { return }
            // The turn was over, and another server has given the same numbers.
            guard try SharedCounter(in: parent)?.sequence == writerContext.counted else {
                throw .store(.locked(path: "the counter of changes"))
            }
            let version = state.withLock(\.version)
            try SharedCounter(sequence: last, time: sequences.time, version: version).write(in: parent)
        }

        /// Whether a transaction that deletes should count the marks of deleted objects.
        private func countsTombstones(_ room: Room) -> Bool {
            state.withLock {
                $0.deletions += room.tombstones.count / Tombstones.forgottenPerDeletion
                guard $0.deletions >= min(Self.countedDeletions, room.maximumTombstones ?? .max) else { return false }
                $0.deletions = 0
                return true
            }
        }

        /// Removes those of some files that nothing names any more. Only the writer makes files and names, so that none
        /// can come back meanwhile.
        private func removeUnnamed(_ digests: Set<String>) {
            guard !digests.isEmpty else { return }
            files.removeUnnamed(digests, state.withLock { $0.container }.newContext())
        }

        // MARK: Growing

        /// Adds the schemas and fields of another catalogue; what is there stays.
        func adopt(_ other: SchemaCatalogue) async throws(ServerError) {
            try await write { (scope) throws(ServerError) in
                var catalogue = scope.catalogue
                catalogue.merge(other)
                if catalogue != scope.catalogue { try scope.grow(to: catalogue) }
            }
        }

        private func grow(to catalogue: SchemaCatalogue) throws {
            var next = StoredCatalogue(catalogue)
            if storage.isShared, let stored = try storage.stored() {
                // What the write needs goes first: it may make references of a list that was empty so far.
                next.catalogue.merge(stored.catalogue)
                next.version = stored.version + 1
            }
            let container = try storage.grow(to: try Self.model(next, hints, storage), next)
            if storage.isShared {
                let context = container.newContext()
                try SharedCounter(sequence: 0, time: 0, version: next.version).write(in: context)
                try context.save()
            }
            // Reads that are under way go on with the old container, which closes with the last of them.
            state.withLock {
                $0.catalogue = next.catalogue
                $0.version = next.version
                $0.container = container
            }
        }

        /// The time of the last change, which the clock may not have reached again after it was set back.
        private static func lastTime(_ container: PersistentContainer, _ catalogue: SchemaCatalogue) throws -> Int64 {
            let context = container.newContext()
            var last: Int64 = 0
            let places = catalogue.schemas.map { ($0.entityName, "lastmoddate") } + [("ServerTombstone", "deleted")]
            for (entity, name) in places {
                let request = FetchRequest<ManagedObject>(
                    entity: entity, sortedBy: [FetchSort(name, ascending: false)], limit: 1)
                last = max(last, try context.fetch(request).first?.whole(name) ?? 0)
            }
            return last
        }

        private static func lastSequence(_ container: PersistentContainer, _ catalogue: SchemaCatalogue) throws -> Int64
        {
            let context = container.newContext()
            // The last change may have been a deletion whose mark is gone.
            var last: Int64 = 0
            let places =
                catalogue.schemas.map { ($0.entityName, "sm_sequence") } + [
                    ("ServerTombstone", "sequence"), ("ServerHorizon", "sequence"), ("ServerPeriod", "start"),
                ]
            for (entity, name) in places {
                let request = FetchRequest<ManagedObject>(
                    entity: entity, sortedBy: [FetchSort(name, ascending: false)], limit: 1)
                last = max(last, try context.fetch(request).first?.whole(name) ?? 0)
            }
            return last
        }
    }
#endif
