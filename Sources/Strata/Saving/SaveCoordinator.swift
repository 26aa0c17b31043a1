import Foundation

/// Runs saves: one at a time, each in the order hooks, validation, write, clean up.
final class SaveCoordinator: ContextPart {
    private enum Phase {
        case idle
        /// A save runs, and nobody else can run meanwhile.
        case saving
        /// A save waits for the store on another thread, and objects may be changed meanwhile.
        case waiting
    }

    private var phase = Phase.idle
    /// Whether a save waits for the store, so that what changes now is not part of it.
    var isWaiting: Bool { phase == .waiting }
    /// Saves that wait for that one.
    private var queue: [CheckedContinuation<Void, Never>] = []

    /// The number of attempts. Others may change the same rows again and again between two of them; then the save gives up.
    private static let attempts = 100

    // MARK: Saving

    /// Saves to the store in one transaction, or to the parent in memory.
    func save() throws(PersistenceError) {
        guard phase == .idle else { throw phase == .waiting ? .saveInProgress : .recursiveSave }
        phase = .saving
        defer {
            phase = .idle
            core.recorder?.close(.save)
        }
        let now = Date()
        guard try prepare(now) else { return }
        let saved = savedObjects
        let builder = ChangeSetBuilder(core: core, now: now)
        if let parent = core.parent {
            let changes = try builder.build(.unversioned)
            let rows = try parent.core.parentSave.apply(changes)
            core.applier.apply(
                CommitAnswer(changes: changes, effects: CommitEffects(rows: rows), isExact: true), announcing: false)
            parent.core.recorder?.close(.event)
        } else {
            try commit(builder)
        }
        // The save is over: hooks may change objects, and save again.
        phase = .idle
        for object in saved { object.didSave() }
    }

    /// Saves without blocking the caller. Objects may be changed meanwhile; such changes stay for the next save.
    /// - Parameter write: Hands changes to the store.
    nonisolated(nonsending) func save(
        writing write: nonisolated(nonsending) (ChangeSet) async throws(StoreError) -> CommitResult
    ) async throws(PersistenceError) {
        while phase != .idle {
            guard phase == .waiting else { throw .recursiveSave }
            await withCheckedContinuation { queue.append($0) }
        }
        phase = .saving
        defer {
            end()
            core.recorder?.close(.save)
        }
        let now = Date()
        guard try prepare(now) else { return }
        let saved = savedObjects
        let answer = try await commit(ChangeSetBuilder(core: core, now: now), write)
        end()
        for object in saved where !answer.refused.contains(object.identity) { object.didSave() }
        if let failure = answer.failure { throw .store(.remote(failure)) }
    }

    /// The objects that a save is about. Mostly these are all changed ones, whose list needs no copy then.
    private var savedObjects: [ManagedObject] {
        let objects = core.tracker.objects
        func isSaved(_ object: ManagedObject) -> Bool { object.hasChanges && !object.isStillborn }
        return objects.allSatisfy(isSaved) ? objects : objects.filter(isSaved)
    }

    private func end() {
        guard phase != .idle else { return }
        phase = .idle
        let waiting = queue
        queue = []
        for continuation in waiting { continuation.resume() }
    }

    // MARK: Before the write

    /// Runs the hooks and validates.
    /// - Returns: Whether there is anything to save.
    private func prepare(_ now: Date) throws(PersistenceError) -> Bool {
        core.processPendingChanges()
        guard core.hasChanges || !core.unresolved.isEmpty else {
            core.tracker.removeAll()
            return false
        }
        core.settings.notifications?.willSave()
        try resolve()
        // Neither a hook nor a rule may decide by what could not be read.
        try core.reading { () throws(PersistenceError) in
            try runWillSave()
            if core.coordinator.network != nil { assignPrimaryKeys() }
            try resolve()
            try validate(now)
        }
        return true
    }

    /// Reads what changes need that were made while the store could not be read.
    private func resolve() throws(PersistenceError) {
        var hasRead = !core.unresolved.isEmpty
        try core.unresolved.resolve()
        for object in core.tracker.objects
        where object.isFault && (object.flags.contains(.deleted) || !object.changedSlots.isEmpty) {
            try core.faults.load(object)
            hasRead = true
        }
        if hasRead { core.oneToOneRepair.repairAll() }
    }

    /// A back end knows objects by their primary keys. New ones that have none get one.
    private func assignPrimaryKeys() {
        for object in core.tracker.objects where object.isInserted && !object.isStillborn {
            guard let field = object.binding.entity.primaryKeyField,
                let slot = object.binding.entity.slot(named: field),
                !object.row.isPresent(slot.index)
                    || object.row.value(slot) == .string("")
            else { continue }
            let id = TimeOrderedUUID.next()
            object.write(slot.type == .uuid ? .uuid(id) : .string(id.uuidString), slot)
        }
    }

    private func runWillSave() throws(PersistenceError) {
        try untilSettled { (object, _) in object.willSave() }
    }

    private func validate(_ now: Date) throws(PersistenceError) {
        let failures = try untilSettled { (object, failures) throws(PersistenceError) in
            object.collectFailures(&failures)
        } before: { object in
            if !object.flags.contains(.deleted) { object.computeDerived(now: now) }
        }
        guard failures.isEmpty else { throw .validation(ValidationError(failures)) }
    }

    /// Calls a closure with each changed object, until none changes anything any more.
    /// - Returns: The failures of the last round.
    @discardableResult
    private func untilSettled(
        _ body: (ManagedObject, inout [ValidationFailure]) throws(PersistenceError) -> Void,
        before prepare: (ManagedObject) -> Void = { _ in }
    ) throws(PersistenceError) -> [ValidationFailure] {
        var changing: Set<String> = []
        let tracker = core.tracker
        for round in 0..<1000 {
            var failures: [ValidationFailure] = []
            for object in tracker.objects where object.hasChanges && !object.isStillborn { prepare(object) }
            let before = tracker.changeCount
            for object in tracker.objects where object.hasChanges && !object.isStillborn {
                let count = tracker.changeCount
                try body(object, &failures)
                if round > 990, tracker.changeCount != count { changing.insert(object.binding.entity.name) }
            }
            if tracker.changeCount == before { return failures }
        }
        throw .hooksNeverSettle(entities: changing.sorted())
    }

    // MARK: The write

    private func commit(_ builder: ChangeSetBuilder) throws(PersistenceError) {
        let core = core
        var savepoint: ContextSavepoint?
        var attempt = 0
        do throws(PersistenceError) {
            let existing = try ExistingRows(core: core).conflicts()
            if !existing.isEmpty {
                savepoint = ContextSavepoint(of: core)
                try ConflictResolver(core: core).resolve(existing)
            }
            var changes = try builder.build(.inPlace)
            while true {
                attempt += 1
                let result: CommitResult
                do throws(StoreError) {
                    result = try changes.isEmpty ? .committed(CommitEffects()) : core.coordinator.commit(changes)
                } catch {
                    guard case .constraint = error, core.settings.mergePolicy != .error, attempt < Self.attempts else {
                        throw .store(error)
                    }
                    builder.resetVersions()
                    savepoint = savepoint ?? ContextSavepoint(of: core)
                    guard try DanglingReferences(core: core).drop() else { throw .store(error) }
                    changes = try builder.build(.inPlace)
                    continue
                }
                switch result {
                case .committed(let effects):
                    return core.applier.apply(CommitAnswer(changes: changes, effects: effects, isExact: true))
                case .partly(let effects, let done, let failure):
                    core.applier.apply(
                        CommitAnswer(changes: done, effects: effects, objects: core.tracker.objects, failure: failure))
                    savepoint = nil
                    throw .store(.remote(failure))
                case .conflicts(let conflicts):
                    forgetRows(conflicts)
                    guard attempt < Self.attempts else { throw unresolvable(conflicts) }
                    builder.resetVersions()
                    savepoint = savepoint ?? ContextSavepoint(of: core)
                    try ConflictResolver(core: core).resolve(conflicts)
                    changes = try builder.build(.inPlace)
                }
            }
        } catch {
            builder.resetVersions()
            savepoint?.restore(core)
            throw error
        }
    }

    private nonisolated(nonsending) func commit(
        _ builder: ChangeSetBuilder,
        _ write: nonisolated(nonsending) (ChangeSet) async throws(StoreError) -> CommitResult
    ) async throws(PersistenceError) -> CommitAnswer {
        let existing = try ExistingRows(core: core).conflicts()
        if !existing.isEmpty { try resolveOrUndo(existing) }
        var attempt = 0
        while true {
            attempt += 1
            let changes = try builder.build(.copied)
            var answer = CommitAnswer(changes: changes, objects: savedObjects)
            let result: CommitResult
            if changes.isEmpty {
                result = .committed(CommitEffects())
            } else {
                phase = .waiting
                do throws(StoreError) {
                    result = try await write(changes)
                } catch {
                    guard case .constraint = error, core.settings.mergePolicy != .error, attempt < Self.attempts else {
                        throw PersistenceError(error)
                    }
                    phase = .saving
                    let hasDropped = try core.undoingOnFailure { () throws(PersistenceError) in
                        try DanglingReferences(core: core).drop()
                    }
                    guard hasDropped else { throw PersistenceError(error) }
                    continue
                }
                phase = .saving
            }
            switch result {
            case .committed(let effects):
                answer.effects = effects
                core.applier.apply(answer)
                return answer
            case .partly(let effects, let done, let failure):
                answer.effects = effects
                answer.changes = done
                answer.failure = failure
                core.applier.apply(answer)
                return answer
            case .conflicts(let conflicts):
                forgetRows(conflicts)
                guard attempt < Self.attempts else { throw unresolvable(conflicts) }
                if core.inbox.hasContent {
                    // Commits that arrived during the save go below the changes, as they do at its beginning.
                    core.processPendingChanges()
                    continue
                }
                try resolveOrUndo(conflicts)
            }
        }
    }

    /// Resolves conflicts, or leaves the context as it was.
    private func resolveOrUndo(_ conflicts: [StoreConflict]) throws(PersistenceError) {
        try core.undoingOnFailure { () throws(PersistenceError) in
            try ConflictResolver(core: core).resolve(conflicts)
        }
    }

    /// Others, perhaps of another process, wrote these rows: the cache's are old.
    private func forgetRows(_ conflicts: [StoreConflict]) {
        for (rootIndex, conflicts) in Dictionary(grouping: conflicts, by: { core.rootIndex(of: $0.entityIndex) }) {
            core.coordinator.rowCache.invalidate(conflicts.map(\.key), rootIndex: rootIndex)
        }
    }

    private func unresolvable(_ conflicts: [StoreConflict]) -> PersistenceError {
        .conflicts(conflicts.map(ConflictDescription(core: core).describe))
    }
}
