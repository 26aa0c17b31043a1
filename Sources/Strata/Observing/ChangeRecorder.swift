import StrataStore

/// Gathers what changes in a context from one boundary to the next, while it has listeners, and passes it on at the
/// boundary.
///
/// It notes objects before their first change, with a copy of the row, so that listeners compare states and never add up
/// events: an object that was changed and changed back has not changed. Without listeners, the tracker does not call
/// it.
final class ChangeRecorder: ContextPart {
    private struct Listener {
        weak var listener: (any BoundaryListener)?
    }

    private var listeners: [Listener] = []
    private var pending = BoundaryChanges()
    /// Where an object is in the list of `pending`.
    private var positions: [ObjectIdentifier: Int] = [:]
    private var isDelivering = false
    /// Boundaries that were reached while another one was handed out.
    private var waiting: BoundaryChanges.Kind?
    /// Follows the parent's boundaries, for a child.
    private var below: ParentBoundaries?

    /// Whether a child merges the changes of its parent even if it has no listeners.
    var followsParent = false {
        didSet { updateBelow() }
    }

    /// Whether there are listeners.
    private(set) var isOn = false
    /// Whether anything has been noted since the last boundary.
    var hasChanges: Bool { !pending.isEmpty }
    /// Whether all that changes must change as objects, to be undone.
    var recordsSteps: Bool { isOn && listeners.contains { $0.listener?.recordsSteps == true } }

    // MARK: Listeners

    /// Passes the changes from now on to a listener until it is released.
    func add(_ listener: any BoundaryListener) {
        listeners.removeAll { $0.listener == nil }
        listeners.append(Listener(listener: listener))
        turnOn()
    }

    func remove(_ listener: any BoundaryListener) {
        listeners.removeAll { $0.listener == nil || $0.listener === listener }
        if listeners.isEmpty { turnOff() }
    }

    /// Takes over the listeners of the core that this one replaces: everything may be different now.
    func takeOver(_ other: ChangeRecorder) {
        listeners = other.listeners.filter { $0.listener != nil }
        other.listeners = []
        followsParent = other.followsParent
        other.followsParent = false
        other.turnOff()
        guard !listeners.isEmpty else { return }
        turnOn()
        pending.isEverything = true
        close(.reset)
    }

    /// Tells all listeners that the context is gone.
    func end() {
        followsParent = false
        guard isOn else { return }
        let receivers = listeners.compactMap(\.listener)
        listeners = []
        turnOff()
        for receiver in receivers { receiver.contextEnded() }
    }

    private func turnOn() {
        guard !isOn else { return }
        isOn = true
        core.tracker.updateRecording()
        core.factory.markRecorded()
        if core.parent == nil { core.coordinator.watchForeignCommits() } else { updateBelow() }
    }

    /// Starts or stops listening to the parent's boundaries.
    private func updateBelow() {
        guard let parent = core.parent?.core else { return }
        if isOn || followsParent {
            guard below == nil else { return }
            let boundaries = ParentBoundaries(of: core)
            below = boundaries
            parent.someRecorder.add(boundaries)
        } else if let below {
            parent.recorder?.remove(below)
            self.below = nil
        }
    }

    private func turnOff() {
        isOn = false
        core.tracker.updateRecording()
        pending = BoundaryChanges()
        positions = [:]
        updateBelow()
    }

    // MARK: Changes

    /// Notes an object whose row or state is about to change.
    func willChange(_ object: ManagedObject) { _ = position(of: object, existed: true) }

    /// Notes what the store, or others, have made of an object: the context has not edited that.
    /// - Parameters:
    ///   - old: The object as it was before.
    ///   - own: The slots that have the values of the context.
    func noteStored(_ object: ManagedObject, since old: RowReference, besides own: SlotSet) {
        guard recordsSteps else { return }
        var stored = SlotSet()
        for slot in object.binding.entity.slots where !own.contains(slot.index) {
            let isSame = object.row.hasSameValue(as: old.row, slot: slot.index, storage: slot.storage)
            if !isSame { stored.insert(slot.index) }
        }
        guard !stored.isEmpty else { return }
        pending.stored[ObjectIdentifier(object), default: SlotSet()].formUnion(stored)
    }

    /// The objects are again as they were before the store's values came.
    func forgetStored() { pending.stored = [:] }

    /// Notes an object that is about to be inserted.
    func willInsert(_ object: ManagedObject) { _ = position(of: object, existed: false) }

    /// Notes an object whose members of a relationship are about to change.
    func willChangeMembers(_ object: ManagedObject, _ index: Int) {
        let position = position(of: object, existed: true)
        guard !pending.objects[position].toManys.keys.contains(index) else { return }
        let relationship = object.relationship(toMany: index)
        let state = object.extras?.toMany(index)
        pending.objects[position].toManys[index] = .some(relationship.isOrdered ? state?.members?.objects : nil)
        guard let state else { return }
        let side = MembersOfObject(object: object, index: index)
        if relationship.isOrdered { pending.members[side, default: MembersBefore()].noteAll(state) }
        if !state.added.isEmpty || !state.removed.isEmpty {
            pending.members[side, default: MembersBefore()].notePending(state)
        }
    }

    /// Notes an object whose relationships may get any other members.
    func willChangeAllMembers(_ object: ManagedObject) {
        for index in object.binding.entity.toManyIndexes.indices {
            if let state = object.extras?.toMany(index) {
                pending.members[MembersOfObject(object: object, index: index), default: MembersBefore()].noteAll(state)
            }
            willChangeMembers(object, index)
        }
    }

    /// Notes an object that is about to be deleted, with the orders that are deleted with it.
    func willDelete(_ object: ManagedObject) {
        guard recordsSteps else { return }
        for index in object.binding.entity.toManyIndexes.indices where object.relationship(toMany: index).isOrdered {
            // An order that cannot be read now cannot be undone.
            _ = try? object.loadedMembers(toMany: index)
            willChangeMembers(object, index)
        }
    }

    /// Notes a pair that comes or goes.
    func willChangePair(_ owner: ManagedObject, _ member: ManagedObject, _ index: Int, added: Bool) {
        pending.pairs.append(PairTouch(owner: owner, member: member, toManyIndex: index, isAdded: added))
        let inverse = core.model.inverse(of: owner.relationship(toMany: index))?.toManyIndex
        noteBefore(owner, index, member.key, member, inverse)
    }

    /// Notes whether a pair is shown, as either end tells.
    private func noteBefore(
        _ owner: ManagedObject, _ index: Int, _ key: Int64, _ member: ManagedObject?, _ inverse: Int?
    ) {
        var pair = owner.pair(toMany: index, key, member)
        if pair == .unknown, let member, let inverse {
            // The other end may have been changed already.
            pair =
                pending.members[MembersOfObject(object: member, index: inverse)]?.pairs[owner.key]
                ?? member.pair(toMany: inverse, owner.key, owner)
        }
        pending.members[MembersOfObject(object: owner, index: index), default: MembersBefore()].note(key, pair)
    }

    /// Notes rows that others wrote.
    func note(_ commit: CommitNotification) {
        guard !pending.isEverything else { return }
        noteFirst()
        pending.note(commit, core.model)
        for change in commit.changes.pairs { noteBefore(change) }
        for change in commit.changes.orders {
            let relationship = core.model.entities[change.entityIndex].relationships[change.relationshipIndex]
            guard let owner = core.object(change.entityIndex, change.owner), let index = relationship.toManyIndex,
                let state = owner.extras?.toMany(index)
            else { continue }
            pending.members[MembersOfObject(object: owner, index: index), default: MembersBefore()].noteAll(state)
        }
    }

    /// Notes whether the objects of the context show pairs that others have added or removed.
    private func noteBefore(_ change: ChangeSet.PairChange) {
        let relationship = core.model.entities[change.entityIndex].relationships[change.relationshipIndex]
        let inverse = core.model.inverse(of: relationship)?.toManyIndex
        guard let index = relationship.toManyIndex else { return }
        let owner = core.object(change.entityIndex, change.owner)
        for key in change.added + change.removed {
            let member = core.object(relationship.destinationIndex, key)
            if let owner { noteBefore(owner, index, key, member, inverse) }
            if let member, let inverse { noteBefore(member, inverse, change.owner, owner, index) }
        }
    }

    /// Notes keys that others wrote, of which no more is known.
    func note(_ keys: [Int: Set<Int64>]) {
        noteFirst()
        pending.note(keys)
    }

    /// Notes rows of this context's hierarchy that look different below.
    /// - Parameter areKnown: Whether more than the keys is known of all of them.
    func note(_ rows: [RowTouch], areKnown: Bool) {
        noteFirst()
        pending.rows += rows
        if !areKnown { pending.hasUnknownRows = true }
    }

    /// Notes the rows that a save of this context changed beyond its objects.
    func note(_ changes: ChangeSet, _ effects: CommitEffects) {
        guard !changes.clearings.isEmpty || !effects.referrers.isEmpty else { return }
        var rest = ChangeSet()
        rest.clearings = changes.clearings
        note(
            CommitNotification(
                contextNumber: nil, changes: rest, effects: CommitEffects(referrers: effects.referrers),
                previousRows: [], deletedRows: []))
    }

    /// Notes that anything may have changed.
    func noteEverything() {
        noteFirst()
        pending.isEverything = true
        pending.rows = []
    }

    /// Notes the objects whose unsaved references lead to what others have deleted or brought back. Others cannot have written
    /// these, and no rule has run for them.
    private func noteLostTargets(_ kind: BoundaryChanges.Kind) {
        var moved: [Int: Set<Int64>] = [:]
        for touch in pending.rows where touch.kind == .deleted || touch.kind == .inserted {
            let below = core.parent?.core.object(touch.identity.entityIndex, touch.identity.key)
            if let object = core.object(touch.identity.entityIndex, touch.identity.key) ?? below {
                // It is kept if it was changed, here or in the parent.
                let isKept = object.isShown && (!object.isFault || below?.isShown == true)
                if touch.kind == .deleted ? isKept : !object.isShown || wasKept(object) { continue }
            }
            moved[core.rootIndex(of: touch.identity.entityIndex), default: []].insert(touch.identity.key)
        }
        // An object that others have deleted is kept only for its changes, so a rollback may lose it. Unchanged objects may refer to it.
        var mayConcernUnchanged = kind == .rollback
        for touch in pending.objects where touch.wasShown != touch.object.isShown {
            guard touch.object.flags.isDisjoint(with: [.deleted, .inserted]) else { continue }
            if !touch.wasShown { mayConcernUnchanged = true }
            moved[touch.object.binding.entity.rootIndex, default: []].insert(touch.key)
        }
        guard !moved.isEmpty else { return }
        // What a child shows may be an unsaved reference of its parent. After a rollback, the references are those of before.
        let inherited = core.parent == nil ? [] : pending.rows.filter { $0.kind == .updated }
        // A delete that a rollback has taken back may have hidden an object from others that no rule had been run for.
        let all = mayConcernUnchanged ? core.identityMap.objects : core.tracker.objects
        let objects =
            inherited.compactMap { core.object($0.identity.entityIndex, $0.identity.key) }
            + pending.objects.map(\.object)
        for object in all + objects where object.isShown && !object.isFault {
            for (slot, relationship) in object.binding.toOnes {
                guard let key = object.targetKey(slot),
                    moved[core.rootIndex(of: relationship.destinationIndex)]?.contains(key) == true
                else { continue }
                pending.objects[position(of: object, existed: true)].lostSlots.insert(slot)
            }
        }
    }

    /// Whether an object of this context was shown with its row at the last boundary, too: it was kept when others deleted the
    /// row that is back now.
    private func wasKept(_ object: ManagedObject) -> Bool {
        guard object.core === core else { return false }
        guard let position = positions[ObjectIdentifier(object)] else { return !object.isFault }
        let touch = pending.objects[position]
        return touch.wasShown && (!object.isFault || touch.row != nil)
    }

    private func noteFirst() {
        if pending.isEmpty { core.settings.onFirstChange?() }
    }

    private func position(of object: ManagedObject, existed: Bool) -> Int {
        let id = ObjectIdentifier(object)
        if let known = positions[id] {
            pending.objects[known].isTouchedAgain = true
            // A fault was noted, and has been filled since. This is its first change.
            if pending.objects[known].lacksRow, !object.isFault { pending.objects[known].takeRow() }
            return known
        }
        noteFirst()
        positions[id] = pending.objects.count
        pending.objects.append(ObjectTouch(object, existed: existed))
        return pending.objects.count - 1
    }

    // MARK: Boundaries

    /// Hands out what has been gathered, if there is anything.
    func close(_ kind: BoundaryChanges.Kind) {
        guard isOn else { return }
        guard !isDelivering else {
            // A listener made changes, or fetched. These come in a boundary of their own, after this one.
            waiting = waiting ?? kind
            return
        }
        isDelivering = true
        defer { isDelivering = false }
        var kind = kind
        // Listeners that change something at each notification would never end.
        for _ in 0..<100 {
            waiting = nil
            deliver(kind)
            guard let next = waiting else { return }
            kind = next
        }
    }

    private func deliver(_ kind: BoundaryChanges.Kind) {
        guard !pending.isEmpty || kind.isSeal else { return }
        if !core.nullifications.isEmpty, listeners.contains(where: { $0.listener?.needsSettledReferences == true }) {
            // If they cannot be read now, the listener's own fetch says so.
            try? core.nullifications.settle()
        }
        noteLostTargets(kind)
        var changes = pending
        changes.kind = kind
        pending = BoundaryChanges()
        for index in changes.objects.indices { changes.objects[index].findChangedSlots() }
        changes.compareMembers(core)
        for index in changes.rows.indices {
            let identity = changes.rows[index].identity
            guard let object = core.object(identity.entityIndex, identity.key), !object.isFault else { continue }
            changes.rows[index].isInMemory = true
            changes.rows[index].isAmongObjects =
                positions[ObjectIdentifier(object)].map { changes.objects[$0].tells(of: changes.rows[index].kind) }
                ?? false
        }
        positions.removeAll(keepingCapacity: positions.count < 1_024)
        let receivers = listeners.compactMap(\.listener)
        if receivers.count < listeners.count {
            listeners.removeAll { $0.listener == nil }
            if listeners.isEmpty { return turnOff() }
        }
        for receiver in receivers { receiver.boundaryReached(changes, core) }
        // All have the new state before anybody's code runs that may look at several of them.
        for receiver in receivers { receiver.boundaryPassed() }
    }
}

/// A listener for the changes in a context.
protocol BoundaryListener: AnyObject {
    /// Applies what changed. Application code must not run here.
    func boundaryReached(_ changes: BoundaryChanges, _ core: ContextCore)
    /// All listeners have the changes; now application code may run.
    func boundaryPassed()
    /// The context is gone.
    func contextEnded()
    /// Whether references to deleted objects in rows that the context has not read must be changes of objects first.
    var needsSettledReferences: Bool { get }
    /// Whether all that changes must change as objects, to be undone.
    var recordsSteps: Bool { get }
}

extension BoundaryListener {
    func boundaryPassed() {}
    func contextEnded() {}
    var needsSettledReferences: Bool { false }
    var recordsSteps: Bool { false }
}
