import StrataStore
import Synchronization

/// What a context shows beyond the store: its unsaved changes, as values.
struct ParentState: Sendable {
    /// Later states have higher numbers.
    let number: Int
    /// The unsaved changes of the outermost parent first.
    let changes: [ChangeSet]
    /// The version of the store that it is pinned to, if it is.
    let version: Result<any StoreReader, StoreError>?
    /// What reads copies of the store for it, if anything does.
    let replica: (any ReplicaReader)?
}

/// What a child in another isolation domain saves.
struct ChildSave: Sendable {
    let changes: ChangeSet
    /// The rows that the changes of ``changes`` are based on.
    let bases: [RowIdentity: RowReference]
}

/// The way from a child to a parent in another isolation domain. Only values cross it: change sets and rows.
///
/// The child keeps the actor alive, but not the parent: a context must be released where it lives.
final class ParentLink: Sendable {
    /// What the parent says to a save.
    enum Answer: Sendable {
        /// It has the changes. The rows are those of objects that have become others there than the child has: see
        /// ``ParentSave/apply(_:runsRules:)``. The state is nil if it cannot be read.
        case applied([RowReference], ParentState?)
        /// Nothing has changed: the parent shows other rows than the changes are based on.
        case conflicts([StoreConflict], ParentState)
        case failed(PersistenceError)
    }

    private let isolation: any Actor
    /// Touched only in the isolation above.
    private nonisolated(unsafe) weak var parent: ManagedObjectContext?
    private let count = Atomic<Int>(0)
    /// The number of the state that the child shows. Written only where the child lives.
    private let shown = Atomic<Int>(0)

    init(to parent: ManagedObjectContext, in isolation: isolated any Actor) {
        self.parent = parent
        self.isolation = isolation
    }

    /// What the parent shows now; nil if it is gone, or cannot read what its changes are about.
    func state() async -> ParentState? { await Self.state(self, in: isolation) }

    private static func state(_ link: ParentLink, in isolation: isolated any Actor) -> ParentState? {
        guard let core = link.parent?.core else { return nil }
        return try? link.makeState(core)
    }

    /// What a parent shows now. Runs where the parent lives.
    func makeState(_ core: ContextCore) throws(PersistenceError) -> ParentState {
        var changes: [ChangeSet] = []
        var next: ContextCore? = core
        while let core = next {
            if core.hasChanges || !core.unresolved.isEmpty { changes.append(try core.shownChanges()) }
            next = core.parent?.core
        }
        return ParentState(
            number: count.add(1, ordering: .relaxed).newValue, changes: changes.reversed(),
            version: core.pin?.version, replica: core.replica?.reader)
    }

    /// Notes that the child is about to show a state.
    /// - Returns: Whether it is newer than the one that the child shows: two answers may arrive in either order.
    func noteShown(_ state: ParentState) -> Bool {
        guard state.number > shown.load(ordering: .relaxed) else { return false }
        shown.store(state.number, ordering: .relaxed)
        return true
    }

    /// Hands a save to the parent.
    func submit(_ save: ChildSave) async -> Answer { await Self.submit(save, through: self, in: isolation) }

    private static func submit(
        _ save: ChildSave, through link: ParentLink, in isolation: isolated any Actor
    ) -> Answer {
        guard let core = link.parent?.core else { return .failed(.parentReleased) }
        do throws(PersistenceError) {
            return try link.apply(save, to: core)
        } catch {
            return .failed(error)
        }
    }

    private func apply(_ save: ChildSave, to core: ContextCore) throws(PersistenceError) -> Answer {
        core.processPendingChanges()
        let held = try core.parentSave.load(save.changes)
        defer { withExtendedLifetime(held) {} }
        let conflicts = save.conflicts(in: core)
        guard conflicts.isEmpty else { return .conflicts(conflicts, try makeState(core)) }
        let changes = save.bringingBack(in: core)
        let rows = try core.parentSave.apply(changes)
        for insert in changes.inserts where insert.row.row.version > 1 {
            core.object(insert.row.row.entityIndex, insert.row.row.key)?.someExtras.firstVersion =
                insert.row.row.version
        }
        core.saves.checks.take(changes.checks)
        core.recorder?.close(.event)
        return .applied(rows, try? makeState(core))
    }
}

extension ChildSave {
    /// The objects that the parent shows otherwise than the child has read them. The parent has loaded them.
    fileprivate func conflicts(in core: ContextCore) -> [StoreConflict] {
        changes.conflicts { entityIndex, key in
            guard let base = bases[RowIdentity(entityIndex: entityIndex, key: key)] else { return .same }
            guard let object = core.object(entityIndex, key), !object.isDeleted else { return .gone }
            // A mirror knows no more than the key.
            if object.isFault { return .same }
            return core.model.entities[entityIndex].hasSameValues(base.row, object.row)
                ? .same : .other(object.sharedRow)
        }
    }

    /// The changes for a parent: an object that the child makes again, and that the parent has deleted but not saved, is an
    /// update of that object.
    fileprivate func bringingBack(in core: ContextCore) -> ChangeSet {
        var result = changes
        result.inserts = []
        result.assigned = []
        for (insert, assigned) in zip(changes.inserts, changes.assigned) {
            let row = insert.row.row
            guard let known = core.object(row.entityIndex, row.key), known.isDeleted,
                known.flags.isDisjoint(with: [.missing, .deletedElsewhere, .inserted])
            else {
                result.inserts.append(insert)
                result.assigned.append(assigned)
                continue
            }
            var slots = SlotSet()
            for slot in known.binding.entity.slots where slot.isStored { slots.insert(slot.index) }
            result.updates.append(.init(row: insert.row, slots: slots, baseVersion: known.version))
        }
        return result
    }
}

extension ContextCore {
    /// The unsaved changes of this context, as values, without any effect on it.
    fileprivate func shownChanges() throws(PersistenceError) -> ChangeSet {
        try? unresolved.resolve()
        for object in tracker.objects
        where object.isFault && (object.flags.contains(.deleted) || !object.changedSlots.isEmpty) {
            try faults.load(object)
        }
        return try ChangeSetBuilder(core: self, now: .distantPast).build(.shown)
    }

    /// In a child: shows what the parent in another isolation domain shows. If that cannot be read, the child shows the store,
    /// until the next time.
    func showParent(_ state: ParentState) {
        guard let base = parent?.core, settings.parentLink?.noteShown(state) == true else { return }
        base.settings.pin = state.version.map { VersionPin($0, for: nil, mergesAfterwards: true) }
        base.settings.replica = state.replica.map { ReplicaSource($0, base.coordinator.rowCache) }
        base.dropPendingChanges()
        base.merger.takeIn()
        do throws(PersistenceError) {
            for changes in state.changes { try base.show(changes) }
        } catch {
            base.dropPendingChanges()
            settings.faultErrors.last = error
        }
        base.recorder?.close(.event)
    }

    /// Applies the unsaved changes of a parent. What others have deleted and the parent has changed is kept here, as it is there.
    private func show(_ changes: ChangeSet) throws(PersistenceError) {
        var changes = changes
        var held = try parentSave.load(changes)
        func known(_ update: ChangeSet.Update) -> ManagedObject? {
            object(update.row.row.entityIndex, update.row.row.key)
        }
        // A mirror may know no more than the key.
        changes.updates.removeAll { known($0)?.isFault == true }
        for update in changes.updates where known(update)?.flags.contains(.missing) != false {
            held.append(keep(update))
        }
        _ = try withExtendedLifetime(held) { () throws(PersistenceError) in
            try parentSave.apply(changes, runsRules: false)
        }
        nullifications.restore(nullifications.all + changes.clearings)
    }

    /// An object that has no row any more, as the parent has it, without the parent's changes.
    private func keep(_ update: ChangeSet.Update) -> ManagedObject {
        let slab = RowSlab.copy(of: update.row.row)
        for slot in update.slots { RowEditing.setNil(slot, in: slab) }
        RowEditing.setVersion(update.baseVersion, in: slab)
        let row = RowReference(slab: slab, row: slab.row)
        let kept: ManagedObject
        if let known = object(row.row.entityIndex, row.row.key) {
            known.mutatingAll { known.fill(row) }
            kept = known
        } else {
            kept = factory.materialize(row, batch: nil)
        }
        merger.keepDeletedElsewhere(kept)
        // It counts as changed, even if all its values are those that were read.
        kept.flags.insert(.updated)
        tracker.add(kept)
        return kept
    }
}

extension ManagedObjectContext {
    /// Creates a child of this context on a queue of its own, which saves to this context without blocking either.
    ///
    ///     let child = container.viewContext.makeBackgroundChild()
    ///     try await child.perform { context in
    ///         for city in try await context.fetch(FetchRequest<City>()) { city.name = city.name.capitalized }
    ///         try await context.save()  // now the view context has the changes, unsaved
    ///     }
    ///
    /// The child shows the store with the unsaved changes of this context on top, as they were when the `perform` began. At the
    /// beginning of each `perform`, it merges what has changed in this context, and keeps its own unsaved changes on top; set
    /// ``automaticallyMergesChanges`` to false in the child, and its objects keep what they have read.
    ///
    /// `try await context.save()` hands the changes to this context as one change set, which is applied where this context lives.
    /// If this context has changed or deleted the same objects since then, that is a conflict, which
    /// the merge policy of the child resolves. The blocking form throws ``PersistenceError/needsAsynchronousSave``. Changes of a
    /// save can be undone here as a step of their own.
    ///
    /// The child starts with the merge policies of this context, without ``onPropertyConflict``. It keeps the actor that this
    /// context lives in alive, but not this context: when that is gone, a save throws ``PersistenceError/parentReleased``. A `perform` takes time in proportion to the
    /// unsaved changes of this context, since they are sent as values.
    /// - Parameter isolation: The actor that this context lives in; leave it out. In code without an actor, make the context with
    ///   ``PersistentContainer/newBackgroundContext()``, and its child with ``BackgroundContext/makeBackgroundChild()``.
    public func makeBackgroundChild(isolation: isolated any Actor = #isolation) -> BackgroundContext {
        let link = ParentLink(to: self, in: isolation)
        let child = Self.child(
            of: link, showing: try? link.makeState(core), core.coordinator, core.settings.merging.policies)
        return BackgroundContext(child, parentLink: link)
    }

    private nonisolated static func child(
        of link: ParentLink, showing state: ParentState?, _ coordinator: StoreCoordinator, _ policies: MergePolicies
    ) -> sending ManagedObjectContext {
        let merging = MergeRules(policies)
        let base = ManagedObjectContext(
            coordinator: coordinator, parent: nil,
            settings: ContextSettings(merging: merging, observesObjects: false, name: "parent elsewhere"),
            isVisible: false)
        base.automaticallyMergesChanges = true
        var settings = ContextSettings(merging: merging, observesObjects: false, name: "background child")
        settings.parentLink = link
        let child = ManagedObjectContext(coordinator: coordinator, parent: base, settings: settings)
        child.automaticallyMergesChanges = true
        if let state { child.core.showParent(state) }
        return child
    }
}
