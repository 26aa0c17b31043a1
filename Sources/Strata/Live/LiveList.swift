/// Keeps the result of a request up to date: at each boundary it looks again at the objects that may have come, gone or
/// changed, and at no others. Where that cannot be told, or would be most of them, it fetches again and compares.
final class LiveList: BoundaryListener {
    /// An object that is kept, with its entry. Objects are held, so that each change of one is noted.
    struct Member {
        var object: ManagedObject
        var entry: LiveEntry
    }

    /// Beyond this many affected objects, and a quarter of the list, a fetch is cheaper.
    static let mostAffected = 256

    private(set) var query: LiveQuery
    private(set) var snapshot: ResultsSnapshot
    /// Counts the steps.
    private(set) var number = 0
    /// Why the list is no longer kept up, if it is not.
    private(set) var failure: PersistenceError?
    private(set) var hasEnded = false
    private(set) var members: [Int64: Member] = [:]
    private var cursors = LiveCursors()
    /// The last step, until the next one.
    private(set) var lastUpdate: ResultsUpdate?
    private var hasNews = false
    /// Told about each step, after all lists of the context have taken it, and of a failure.
    var onStep: ((ResultsUpdate?) -> Void)?
    private var window: LiveWindow

    init(_ query: LiveQuery, core: ContextCore) throws(PersistenceError) {
        self.query = query
        window = LiveWindow(query.plan)
        snapshot = ResultsSnapshot(
            entries: OrderedEntries(order: query.order), window: 0..<0, runs: SectionRuns(),
            bindings: core.coordinator.bindings)
        snapshot = try load(core)
    }

    var needsSettledReferences: Bool { true }

    /// Asks another thing of the same context.
    func replace(_ query: LiveQuery, core: ContextCore) throws(PersistenceError) {
        let old = (query: self.query, window: window)
        self.query = query
        window = LiveWindow(query.plan)
        do throws(PersistenceError) {
            try refetch(core, names: [:], isSameRequest: false)
        } catch {
            self.query = old.query
            window = old.window
            throw error
        }
        failure = nil
        boundaryPassed()
    }

    // MARK: Boundaries

    func boundaryReached(_ changes: BoundaryChanges, _ core: ContextCore) {
        guard failure == nil, isRelevant(changes, core) else { return }
        do throws(PersistenceError) {
            var affected = AffectedObjects(changes, core: core, query: query) { self.members[$0] != nil }
            if !changes.isEverything { try affected.gather() }
            if changes.isEverything || query.region.needsStore || affected.isUnknown
                || affected.names.count > max(Self.mostAffected, members.count / 4)
            {
                try refetch(core, names: [:], changes)
            } else if !affected.names.isEmpty {
                try update(affected, core)
            }
        } catch {
            failure = error
            hasNews = true
        }
    }

    func boundaryPassed() {
        guard hasNews else { return }
        hasNews = false
        cursors.raise()
        onStep?(failure == nil ? lastUpdate : nil)
    }

    func contextEnded() {
        hasEnded = true
        cursors.raise()
    }

    private func isRelevant(_ changes: BoundaryChanges, _ core: ContextCore) -> Bool {
        if changes.isEverything { return true }
        let hierarchies = query.region.hierarchies
        return changes.objects.contains { hierarchies.contains($0.object.binding.entity.rootIndex) }
            || changes.rows.contains { hierarchies.contains(core.rootIndex(of: $0.identity.entityIndex)) }
    }

    private func namesOfTouched(_ changes: BoundaryChanges) -> [Int64: Set<String>] {
        var result: [Int64: Set<String>] = [:]
        for touch in changes.objects where members[touch.key]?.object === touch.object {
            if touch.object.isFault || (touch.row == nil && touch.wasFault) { continue }
            let names = changes.changedNames(touch)
            if !names.isEmpty { result[touch.key, default: []].formUnion(names) }
        }
        return result
    }

    // MARK: Single objects

    private func update(_ affected: AffectedObjects, _ core: ContextCore) throws(PersistenceError) {
        let objects = try load(affected, core)
        var changed: [Int64: Set<String>] = [:]
        var touched: [Int64: (old: LiveEntry?, new: LiveEntry?)] = [:]
        var matching: Set<Int64> = []
        for (key, names) in affected.names {
            let before = members[key]?.entry
            var after: LiveEntry?
            if let object = objects[key], object.key == key, try query.includes(object) {
                let entry = try query.entry(of: object)
                after = before.flatMap { entry.hasSamePlace(as: $0, query.order) ? $0 : nil } ?? entry
                matching.insert(key)
            }
            if before == nil, after == nil { continue }
            touched[key] = (before, after)
            if before != nil, after != nil, !names.isEmpty || before !== after { changed[key] = names }
        }
        guard !touched.isEmpty else { return }
        var entries = snapshot.entries
        var runs = snapshot.runs
        // Put back if a fetch fails: the list stays as it was then.
        var replaced: [(key: Int64, member: Member?)] = []
        func set(_ key: Int64, _ member: Member?) {
            replaced.append((key, members[key]))
            members[key] = member
        }
        for (key, entry) in touched where entry.old !== entry.new {
            guard let old = entry.old else { continue }
            entries.remove(old)
            if !window.isLimited { runs.remove(old, query.order) }
            set(key, nil)
        }
        let last = window.isComplete ? nil : entries.last
        for (key, entry) in touched where entry.old !== entry.new {
            guard let new = entry.new, let object = objects[key] else { continue }
            // Objects beyond the last one that is kept may be nearer.
            if !window.isComplete, last.map({ query.order.isInOrder($0, new) }) ?? true { continue }
            entries.insert(new)
            if !window.isLimited { runs.insert(new, query.order) }
            set(key, Member(object: object, entry: new))
        }
        for entry in window.trim(&entries) { set(entry.key, nil) }
        if window.needsMore(entries.count) {
            do throws(PersistenceError) {
                return try refetch(core, names: changed)
            } catch {
                for item in replaced.reversed() { members[item.key] = item.member }
                throw error
            }
        }
        let next = makeSnapshot(entries, window.isLimited ? nil : runs)
        let gone = objects
        let maker = DifferenceMaker(old: snapshot, new: next, changed: changed) { key in
            if affected.names[key] == nil || matching.contains(key) { return .pushedOut }
            return gone[key]?.isShown == true ? .noLongerMatches : .deleted
        }
        take(next, window.isLimited ? maker.difference() : maker.difference(touched: touched), changed)
    }

    /// The objects of the affected keys, with their rows: those that the context has, those that others wrote, and in one
    /// statement all others.
    private func load(
        _ affected: AffectedObjects, _ core: ContextCore
    ) throws(PersistenceError) -> [Int64: ManagedObject] {
        let root = query.region.rootIndex
        var objects: [Int64: ManagedObject] = [:]
        var faults: [ManagedObject] = []
        var unknown: [Int64] = []
        for key in affected.names.keys {
            if let known = members[key]?.object ?? core.object(root, key) {
                objects[key] = known
                if known.isFault { faults.append(known) }
            } else if let row = affected.rows[key] {
                objects[key] = row.map { core.factory.materialize($0, batch: nil) }
            } else {
                unknown.append(key)
            }
        }
        try core.faults.fill(faults)
        guard !unknown.isEmpty else { return objects }
        for row in try core.rows.rows(entityIndex: root, keys: unknown.sorted()) where !row.isHeaderOnly {
            objects[row.key] = core.factory.materialize(row, batch: nil)
        }
        return objects
    }

    // MARK: Everything

    /// Fetches again and compares.
    /// - Parameters:
    ///   - names: What is known to have changed, by key.
    ///   - changes: What else has changed. Objects that have become faults are compared once they have their rows again.
    ///   - isSameRequest: Whether entries of before can be compared with those of now.
    private func refetch(
        _ core: ContextCore, names: [Int64: Set<String>], _ changes: BoundaryChanges? = nil, isSameRequest: Bool = true
    ) throws(PersistenceError) {
        let before = snapshot
        let old = members
        let next = try load(core, keepsEntries: isSameRequest)
        var changed = names
        if let changes { changed.merge(namesOfTouched(changes)) { $0.union($1) } }
        for (key, member) in members {
            guard let previous = old[key], previous.object !== member.object else { continue }
            // The context was reset, and the object is another one.
            let slots = member.object.binding.entity.slots
            for slot in slots
            where !previous.object.row.hasSameValue(as: member.object.row, slot: slot.index, storage: slot.storage) {
                changed[key, default: []].insert(slot.name)
            }
        }
        let query = query
        var maker = DifferenceMaker(old: before, new: next, changed: changed) { key in
            guard let object = old[key]?.object, object.isShown else { return .deleted }
            return (try? query.includes(object)) == true ? .pushedOut : .noLongerMatches
        }
        maker.comparesEntries = isSameRequest
        take(next, maker.difference(), changed)
    }

    /// Fetches the kept part of the result.
    private func load(_ core: ContextCore, keepsEntries: Bool = true) throws(PersistenceError) -> ResultsSnapshot {
        if query.region.needsStore { query = query.renewed(core.model) }
        var plan = query.plan
        plan.offset = 0
        plan.limit = window.fetchLimit
        try core.nullifications.settle()
        let objects = try core.overlay.objects(plan)
        try core.faults.fill(objects.filter(\.isFault))
        for way in query.prefetch { try core.prefetcher.prefetch(way, of: objects, areAll: false) }
        window.isComplete = plan.limit.map { objects.count < $0 } ?? true
        var entries: [LiveEntry] = []
        entries.reserveCapacity(objects.count)
        var found: [Int64: Member] = [:]
        found.reserveCapacity(objects.count)
        for object in objects where object.isShown {
            let made = try query.entry(of: object)
            let known = keepsEntries ? members[object.key]?.entry : nil
            let entry = known.flatMap { made.hasSamePlace(as: $0, query.order) ? $0 : nil } ?? made
            entries.append(entry)
            found[object.key] = Member(object: object, entry: entry)
        }
        let order = query.order
        if !zip(entries, entries.dropFirst()).allSatisfy(order.isInOrder) { entries.sort(by: order.isInOrder) }
        members = found
        let list = OrderedEntries(order: order, sorted: entries)
        return makeSnapshot(list, window.isLimited ? nil : SectionRuns(entries))
    }

    // MARK: Steps

    private func makeSnapshot(_ entries: OrderedEntries, _ runs: SectionRuns?) -> ResultsSnapshot {
        let range = window.range(of: entries.count)
        return ResultsSnapshot(
            entries: entries, window: range, runs: runs ?? SectionRuns(entries.slice(range)),
            bindings: snapshot.bindings)
    }

    private func take(_ next: ResultsSnapshot, _ difference: ResultsDifference, _ changed: [Int64: Set<String>]) {
        let previous = snapshot
        snapshot = next
        guard !difference.isEmpty else { return }
        number += 1
        lastUpdate = ResultsUpdate(
            number: number, isInitial: false, previous: previous, snapshot: next, difference: difference)
        cursors.note(difference, changed)
        hasNews = true
    }

    /// A reader that begins with the state as it is.
    func makeCursor() -> LiveCursor {
        let cursor = LiveCursor(snapshot)
        cursors.add(cursor)
        return cursor
    }
}
