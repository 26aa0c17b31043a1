import StrataStore

/// Finds out which objects of a live list's hierarchy may have come, gone or changed by what a boundary says: the changed ones
/// themselves, and those that are reached backwards from changed related objects.
struct AffectedObjects {
    let core: ContextCore
    let query: LiveQuery
    /// Whether the list has an object of this key.
    let isMember: (Int64) -> Bool
    private let changes: BoundaryChanges
    /// What changed, by key: properties of the object, and paths to related ones.
    private(set) var names: [Int64: Set<String>] = [:]
    /// The rows that others wrote, by key; nil for one that was deleted.
    private(set) var rows: [Int64: RowReference?] = [:]
    /// Whether it cannot be told from here, and the list is to be fetched again.
    private(set) var isUnknown = false

    private var model: ManagedObjectModel { core.model }
    private var region: LiveRegion { query.region }

    init(_ changes: BoundaryChanges, core: ContextCore, query: LiveQuery, isMember: @escaping (Int64) -> Bool) {
        self.changes = changes
        self.core = core
        self.query = query
        self.isMember = isMember
    }

    /// Gathers all, or says that it is not known.
    mutating func gather() throws(PersistenceError) {
        // With their rows of now, objects that have become faults can be compared with what they were.
        let faults = changes.objects.compactMap { touch in
            let entity = touch.object.binding.entity
            guard touch.row != nil, touch.object.isFault, touch.object.isShown else { return nil as ManagedObject? }
            return isOwn(entity) || region.watches[entity.rootIndex] != nil ? touch.object : nil
        }
        for (_, objects) in Dictionary(grouping: faults, by: \.binding.entity.rootIndex) {
            try core.faults.fill(objects)
        }
        for touch in changes.objects where !isUnknown { try gather(touch) }
        for touch in changes.rows where !isUnknown { try gather(touch) }
    }

    // MARK: Objects

    private func isOwn(_ entity: EntityDescription) -> Bool {
        entity.rootIndex == region.rootIndex && query.isCandidate(entity.index)
    }

    private mutating func gather(_ touch: ObjectTouch) throws(PersistenceError) {
        let object = touch.object
        let entity = object.binding.entity
        let isOwn = isOwn(entity)
        let watches = region.watches[entity.rootIndex]
        guard !touch.isOnlyFilled, isOwn || watches != nil else { return }
        let cameOrWent = touch.wasShown != object.isShown || touch.key != object.key
        guard cameOrWent || object.isShown else { return }
        let slots = touch.changedSlots
        // An object outside of the list comes in only by something that the list looks at.
        if isOwn, cameOrWent || isMember(touch.key) || region.looksAt(slots, toManys: touch.toManys.keys) {
            let changed = cameOrWent ? [] : changes.changedNames(touch)
            // The condition is looked at again even if nothing shows another value.
            if cameOrWent || !slots.isEmpty || !touch.toManys.isEmpty {
                names[touch.key, default: []].formUnion(changed)
                if object.key != touch.key { names[object.key, default: []].formUnion(changed) }
            }
        }
        for watch in watches ?? [] where model.entities[watch.entityIndex].descendantIndexes.contains(entity.index) {
            let inverse = watch.way.last.flatMap(model.inverse(of:))
            // Pairs of an object that others have deleted are gone without a change at the other ends.
            let hasLostPairs = inverse?.toManyIndex != nil && object.flags.contains(.deletedElsewhere)
            // If the way back is a to-many relationship, those that came to it or left it have changed themselves.
            let isMoved =
                inverse?.slot.map(slots.contains) == true
                || (hasLostPairs && inverse?.toManyIndex.map { touch.toManys.keys.contains($0) } == true)
            let isChanged =
                !watch.slots.intersection(slots).isEmpty
                || watch.toManyIndex.map { touch.toManys.keys.contains($0) } == true
            guard cameOrWent || isMoved || isChanged else { continue }
            let wasUnread = touch.row == nil && touch.wasShown && inverse?.slot != nil
            // Whom it was paired with is no longer known.
            guard !wasUnread, !hasLostPairs else {
                isUnknown = true
                return
            }
            try climb(watch, from: object, before: touch.wasShown ? touch.row : nil)
        }
    }

    // MARK: Rows of others

    private mutating func gather(_ touch: RowTouch) throws(PersistenceError) {
        let entity = model.entities[touch.identity.entityIndex]
        let watches = region.watches[entity.rootIndex]
        guard entity.rootIndex == region.rootIndex || watches != nil else { return }
        let known = core.object(entity.index, touch.identity.key)
        let isAboutRow = touch.toManyIndex == nil
        // What changed in an object stands among the objects, unless it is about its members.
        if touch.isAmongObjects, isAboutRow { return }
        if touch.isInMemory, isAboutRow {
            // Something else has read it since it changed. It is not a change of what the list shows, but may be new to
            // it.
            if entity.rootIndex == region.rootIndex { names[touch.identity.key, default: []].formUnion([]) }
        } else if entity.rootIndex == region.rootIndex, mayMatter(touch) {
            var changed: Set<String> = []
            for slot in touch.slots ?? SlotSet() where slot < entity.slots.count && touch.hasChanged(entity.slots[slot])
            {
                changed.insert(entity.slots[slot].name)
            }
            if let index = touch.toManyIndex, known.map({ changes.hasChanged($0, toMany: index) }) ?? true {
                changed.insert(entity.relationships[entity.toManyIndexes[index]].name)
            }
            names[touch.identity.key, default: []].formUnion(changed)
            if let after = touch.after {
                rows[touch.identity.key] = .some(after)
            } else if touch.kind == .deleted {
                rows[touch.identity.key] = .some(nil)
            } else {
                rows[touch.identity.key] = nil
            }
        }
        for watch in watches ?? [] {
            guard model.entities[watch.entityIndex].rootIndex == entity.rootIndex else { continue }
            try gather(touch, watch, known)
        }
    }

    /// Whether what others wrote to a row of the list's own hierarchy can change the list.
    private func mayMatter(_ touch: RowTouch) -> Bool {
        guard touch.kind == .updated, let slots = touch.slots, !isMember(touch.identity.key) else { return true }
        return region.looksAt(slots, toManys: CollectionOfOne(touch.toManyIndex).compactMap(\.self))
    }

    private mutating func gather(
        _ touch: RowTouch, _ watch: LiveRegion.Watch, _ known: ManagedObject?
    ) throws(PersistenceError) {
        guard let inverse = watch.way.last.flatMap(model.inverse(of:)) else {
            isUnknown = true
            return
        }
        if touch.kind == .updated || touch.kind == .unknown, let slots = touch.slots {
            let isMoved = inverse.slot.map(slots.contains) == true
            let isChanged =
                !watch.slots.intersection(slots).isEmpty
                || (watch.toManyIndex != nil && watch.toManyIndex == touch.toManyIndex)
            guard isMoved || isChanged else { return }
        }
        if inverse.slot != nil {
            // Whom it led to before must be known, unless there was nothing before.
            let isKnown = touch.kind == .inserted || touch.before != nil || (known != nil && touch.kind == .unknown)
            guard isKnown else {
                isUnknown = true
                return
            }
        }
        if touch.kind == .deleted {
            guard inverse.slot != nil else { return goneAtOneEnd(nil, inverse) }
            return try climb(watch, from: nil, before: touch.before)
        }
        var object = known
        if object == nil, let after = touch.after { object = core.factory.materialize(after, batch: nil) }
        if object == nil {
            let rows = try core.rows.rows(entityIndex: touch.identity.entityIndex, keys: [touch.identity.key])
            object = rows.first.map { core.factory.materialize($0, batch: nil) }
        }
        guard let object else {
            isUnknown = true
            return
        }
        try climb(watch, from: object, before: touch.before)
    }

    /// An object is gone to which others led. These have been changed, or are gone, too, if the rule of the relationship says
    /// so. In a child no rule has run for what its parent has lost.
    private mutating func goneAtOneEnd(_ object: ManagedObject?, _ inverse: RelationshipDescription) {
        let isHandled = core.parent == nil || object?.flags.contains(.deleted) == true
        if !isHandled || (inverse.deleteRule != .nullify && inverse.deleteRule != .cascade) { isUnknown = true }
    }

    // MARK: Backwards

    /// Whether an object at the end of the way back is said to have changed in what is watched. Where that is only who is at
    /// the other end, the object says it itself, except for members that others have moved.
    private func isNamed(_ watch: LiveRegion.Watch, _ key: Int64) -> Bool {
        guard watch.isOwnRelationship, let relationship = watch.way.first else { return true }
        return relationship.isToMany && changes.hasMoved(to: key, relationship)
    }

    /// Goes back from an object on a way to the list's own objects.
    /// - Parameter before: The object's row before, where it led elsewhere then.
    private mutating func climb(
        _ watch: LiveRegion.Watch, from object: ManagedObject?, before: RowReference?
    ) throws(PersistenceError) {
        guard let last = watch.way.last, let inverse = model.inverse(of: last) else {
            isUnknown = true
            return
        }
        var keys: Set<Int64> = []
        if let slot = inverse.slot {
            if let before, before.row.isPresent(slot) { keys.insert(Int64(bitPattern: before.row.word(slot))) }
            if let object, object.isShown {
                if object.isFault { try core.faults.load(object) }
                if let key = object.targetKey(slot) { keys.insert(key) }
            }
        } else if let index = inverse.toManyIndex, let object {
            guard object.isShown else { return goneAtOneEnd(object, inverse) }
            let members = try object.loadedMembers(toMany: index)
            guard members.count <= LiveList.mostAffected else {
                isUnknown = true
                return
            }
            keys.formUnion(members.objects.map(\.key))
        }
        guard !keys.isEmpty else { return }
        guard watch.way.count > 1 else {
            for key in keys {
                names[key, default: []].formUnion(isNamed(watch, key) ? [watch.name] : [])
            }
            return
        }
        // One step further from where the way leads now; what led elsewhere before has changed itself.
        let step = LiveRegion.Watch(
            way: Array(watch.way.dropLast()), entityIndex: inverse.destinationIndex, slots: SlotSet(), toManyIndex: nil,
            name: watch.name)
        for key in keys where !isUnknown {
            let owner: ManagedObject?
            if let known = core.object(step.entityIndex, key) {
                owner = known
            } else {
                owner = try core.rows.rows(entityIndex: step.entityIndex, keys: [key]).first.map {
                    core.factory.materialize($0, batch: nil)
                }
            }
            if let owner, owner.isShown { try climb(step, from: owner, before: nil) }
        }
    }
}
