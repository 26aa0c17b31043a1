import Foundation
import StrataStore

/// Runs saves: one at a time, each in the order hooks, validation, write, clean up.
final class SaveCoordinator: ContextPart {
    enum Phase {
        case idle
        /// A save runs, and nobody else can run meanwhile.
        case saving
        /// A save waits for the store on another thread, and objects may be changed meanwhile.
        case waiting
    }

    var phase = Phase.idle
    /// What the next save checks without writing it.
    var checks = VersionChecks()
    /// Whether a save waits for the store, so that what changes now is not part of it.
    var isWaiting: Bool { phase == .waiting }
    /// Objects whose changes were dropped while a save waits for the store. What they show then is not based on what it writes.
    private(set) var reverted: Set<ObjectIdentifier> = []
    /// Names the context to stores; nil once its changes are dropped for good.
    var source: ChangeSource? = ChangeSource()
    /// Saves that wait for that one.
    var queue: [CheckedContinuation<Void, Never>] = []

    /// The number of attempts. Others may change the same rows again and again between two of them; then the save gives up.
    static let attempts = 100

    // MARK: Saving

    /// Saves to the store in one transaction, to each of several stores in one, or to the parent in memory.
    func save() throws(PersistenceError) {
        guard phase == .idle else { throw phase == .waiting ? .saveInProgress : .recursiveSave }
        guard core.settings.parentLink == nil else { throw .needsAsynchronousSave }
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
            try save(to: parent.core, builder)
        } else {
            do throws(PersistenceError) {
                try commit(builder)
            } catch {
                phase = .idle
                notifySaved(saved, error)
                throw error
            }
        }
        // The save is over: hooks may change objects, and save again.
        phase = .idle
        for object in saved { object.didSave() }
    }

    /// Runs the hooks of the objects whose stores were written before the store of others failed.
    private func notifySaved(_ objects: [ManagedObject], _ error: PersistenceError) {
        guard case .partlySaved = error else { return }
        for object in objects where !object.hasChanges { object.didSave() }
    }

    /// Saves without blocking the caller. Objects may be changed meanwhile; such changes stay for the next save.
    /// - Parameter write: Hands changes to the store.
    nonisolated(nonsending) func save(
        writing write: nonisolated(nonsending) (ChangeSet) async throws(StoreError) -> CommitResult
    ) async throws(PersistenceError) {
        try await waitForTurn()
        phase = .saving
        defer {
            end()
            core.recorder?.close(.save)
        }
        let now = Date()
        guard try prepare(now) else { return }
        let saved = savedObjects
        let answer: CommitAnswer
        do throws(PersistenceError) {
            answer = try await commit(ChangeSetBuilder(core: core, now: now), write)
        } catch {
            core.forgetPresent()
            end()
            notifySaved(saved, error)
            throw error
        }
        end()
        let refused = answer.refused
        for object in saved where !refused.contains(object.identity) {
            // The stores after the one that refused something are not written.
            if answer.error != nil, core.coordinator.set != nil, object.hasChanges { continue }
            object.didSave()
        }
        if let error = answer.error { throw error }
    }

    /// Notes that an object is as it was before its changes.
    func noteReverted(_ object: ManagedObject) {
        if isWaiting { reverted.insert(ObjectIdentifier(object)) }
    }

    /// Waits until no other save of the context runs.
    nonisolated(nonsending) func waitForTurn() async throws(PersistenceError) {
        while phase != .idle {
            guard phase == .waiting else { throw .recursiveSave }
            await withCheckedContinuation { queue.append($0) }
        }
    }

    /// The objects that a save is about. Mostly these are all changed ones, whose list needs no copy then.
    var savedObjects: [ManagedObject] {
        let objects = core.tracker.objects
        func isSaved(_ object: ManagedObject) -> Bool { object.hasChanges && !object.isStillborn }
        return objects.allSatisfy(isSaved) ? objects : objects.filter(isSaved)
    }

    func end() {
        guard phase != .idle else { return }
        phase = .idle
        reverted.removeAll()
        let waiting = queue
        queue = []
        for continuation in waiting { continuation.resume() }
    }

    // MARK: Before the write

    /// Runs the hooks and validates.
    /// - Returns: Whether there is anything to save.
    func prepare(_ now: Date) throws(PersistenceError) -> Bool {
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
            if core.coordinator.hasNetwork { assignPrimaryKeys() }
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
            guard core.coordinator.network(of: object.binding.entity.index) != nil,
                let field = object.binding.entity.primaryKeyField,
                let slot = object.binding.entity.slot(named: field),
                !object.row.isPresent(slot.index) || NewPrimaryKey.isNone(object.row.value(slot), slot)
            else { continue }
            object.write(NewPrimaryKey.value(for: slot), slot)
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
        var progress = SaveProgress(core.coordinator.set)
        var attempt = 0
        do throws(PersistenceError) {
            let existing = try findExisting()
            if !existing.isEmpty {
                savepoint = ContextSavepoint(of: core)
                try resolve(existing)
            }
            var changes = try builder.build(.inPlace)
            while true {
                attempt += 1
                let step = try progress.next(changes, isBlocking: true)
                let result: CommitResult
                do throws(StoreError) {
                    result =
                        try changes.isEmpty
                        ? .committed(CommitEffects()) : core.coordinator.commit(step?.changes ?? changes)
                } catch {
                    guard case .constraint = error, core.settings.merging.mayResolve, attempt < Self.attempts else {
                        throw .store(error)
                    }
                    builder.resetVersions()
                    savepoint = savepoint ?? ContextSavepoint(of: core)
                    guard try dropDangling() else { throw .store(error) }
                    changes = try builder.build(.inPlace)
                    continue
                }
                switch result {
                case .committed(let effects):
                    guard let step, !progress.isAll(step) else {
                        core.applier.apply(CommitAnswer(changes: changes, effects: effects, isExact: true))
                        return core.movePin()
                    }
                    core.applier.apply(
                        CommitAnswer(changes: step.done, effects: effects, objects: core.tracker.objects))
                    if step.isLast { return core.movePin() }
                    progress.finish(step)
                    // A failure of the next store leaves this one as it is now.
                    savepoint = nil
                    attempt = 0
                    builder.resetVersions()
                    changes = try builder.build(.inPlace)
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
                    try resolve(conflicts)
                    changes = try builder.build(.inPlace)
                }
            }
        } catch {
            builder.resetVersions()
            savepoint?.restore(core)
            core.forgetPresent()
            throw progress.error(error)
        }
    }

    private nonisolated(nonsending) func commit(
        _ builder: ChangeSetBuilder,
        _ write: nonisolated(nonsending) (ChangeSet) async throws(StoreError) -> CommitResult
    ) async throws(PersistenceError) -> CommitAnswer {
        var progress = SaveProgress(core.coordinator.set)
        do throws(PersistenceError) {
            return try await commit(builder, &progress, write)
        } catch {
            throw progress.error(error)
        }
    }

    private nonisolated(nonsending) func commit(
        _ builder: ChangeSetBuilder, _ progress: inout SaveProgress,
        _ write: nonisolated(nonsending) (ChangeSet) async throws(StoreError) -> CommitResult
    ) async throws(PersistenceError) -> CommitAnswer {
        let existing = try findExisting()
        if !existing.isEmpty { try resolveOrUndo(existing) }
        var attempt = 0
        // The changes for stores that are still to be written. Changes that are made meanwhile are not part of them.
        var rest: ChangeSet?
        while true {
            attempt += 1
            let changes = if let planned = rest { planned } else { try builder.build(.copied) }
            rest = nil
            let step = try progress.next(changes)
            var answer = CommitAnswer(changes: step?.done ?? changes, objects: savedObjects)
            let result: CommitResult
            if changes.isEmpty {
                result = .committed(CommitEffects())
            } else {
                phase = .waiting
                do throws(StoreError) {
                    result = try await write(step?.changes ?? changes)
                } catch {
                    guard case .constraint = error, core.settings.merging.mayResolve, attempt < Self.attempts else {
                        throw PersistenceError(error)
                    }
                    phase = .saving
                    let hasDropped = try core.undoingOnFailure { () throws(PersistenceError) in
                        try dropDangling()
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
                guard let step, !step.isLast else {
                    core.movePin()
                    return answer
                }
                progress.finish(step)
                rest = changes
                attempt = 0
            case .partly(let effects, let done, let failure):
                answer.effects = effects
                answer.changes = done
                answer.failure = failure
                answer.error = progress.error(.store(.remote(failure)))
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
    func resolveOrUndo(_ conflicts: [StoreConflict]) throws(PersistenceError) {
        try core.undoingOnFailure { () throws(PersistenceError) in try resolve(conflicts) }
    }

    // Conflicts are with what the store has now, even if the context is pinned to a version.

    private func findExisting() throws(PersistenceError) -> [StoreConflict] {
        try core.readingPresent { () throws(PersistenceError) in try ExistingRows(core: core).conflicts() }
    }

    func resolve(_ conflicts: [StoreConflict]) throws(PersistenceError) {
        try core.readingPresent { () throws(PersistenceError) in try ConflictResolver(core: core).resolve(conflicts) }
    }

    private func dropDangling() throws(PersistenceError) -> Bool {
        try core.readingPresent { () throws(PersistenceError) in try DanglingReferences(core: core).drop() }
    }

    /// Others, perhaps of another process, wrote these rows: the cache's are old.
    private func forgetRows(_ conflicts: [StoreConflict]) {
        for (rootIndex, conflicts) in Dictionary(grouping: conflicts, by: { core.rootIndex(of: $0.entityIndex) }) {
            core.coordinator.rowCache.invalidate(conflicts.map(\.key), rootIndex: rootIndex)
        }
    }

    func unresolvable(_ conflicts: [StoreConflict]) -> PersistenceError {
        .conflicts(conflicts.map(ConflictDescription(core: core).describe))
    }
}
