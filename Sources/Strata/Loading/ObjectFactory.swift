import StrataStore

/// Creates objects from rows and for keys, registers them, and runs their `awakeFromFetch`.
final class ObjectFactory: ContextPart {
    /// By position of the entity; see ``sharedSource(_:)``. Empty until there is one.
    private var sharedSources: [RowSource?] = []
    /// How many `awakeFromFetch` are running, one within the other.
    private var awakeDepth = 0
    /// Objects whose hook waits for those that are running.
    private var waiting: [ManagedObject] = []

    /// Each hook may read rows, whose hooks run before it goes on. Beyond this depth they wait, because a long chain of
    /// objects that read the next one would exhaust the stack.
    private static let deepestAwake = 100

    private let tracker: ChangeTracker
    /// The flags of an object with a row.
    private(set) var newFlags: ObjectFlags

    init(tracker: ChangeTracker, observesObjects: Bool) {
        self.tracker = tracker
        newFlags = observesObjects ? .observed : .none
    }

    // MARK: Rows

    /// The object of a row: the one that the context knows, which keeps what it has unless it is a fault, or a new one.
    /// - Parameter refreshing: Whether an unchanged object takes a newer row.
    @discardableResult
    func materialize(_ reference: RowReference, batch: FaultBatch?, refreshing: Bool = false) -> ManagedObject {
        let row = reference.row
        let known = core.object(row.entityIndex, row.key)
        if row.isHeaderOnly { return materialize(header: row, known: known, batch: batch) }
        if let known, takes(known, reference, batch, refreshing) { return known }
        let source = makeSource(core.binding(at: row.entityIndex), slab: reference.slab, batch: batch)
        return register(ObjectSeed(source: source, row: row, key: row.key, flags: newFlags))
    }

    /// The objects of rows that were read together; their faults fire together.
    func materialize(_ rows: RowBatch, refreshing: Bool = false) -> [ManagedObject] {
        // A lookup by key must not pay for what many rows need.
        if rows.count == 1 { return [materialize(rows[0], batch: nil, refreshing: refreshing)] }
        var objects: [ManagedObject] = []
        objects.reserveCapacity(rows.count)
        // A batch keeps the targets of its objects alive, and some of the rows to come may be headers of those.
        var left: [FaultBatch] = []
        defer { withExtendedLifetime(left) {} }
        let bindings = core.coordinator.bindings
        let flags = newFlags
        var index = 0
        for (slab, (end, batch)) in zip(rows.slabs, zip(rows.ends, FaultBatch.batches(of: rows))) {
            // Rows of one entity mostly come together; what depends on the entity only is looked up when it changes.
            var sources: [Int: RowSource] = [:]
            while index < end {
                let entityIndex = RowPointer(rows.pointers[index]).entityIndex
                let source = sources[entityIndex] ?? makeSource(bindings[entityIndex], slab: slab, batch: batch)
                sources[entityIndex] = source
                let table = source.table
                var seed = ObjectSeed(source: source, row: RowPointer(rows.pointers[index]), key: 0, flags: flags)
                while index < end {
                    let row = RowPointer(rows.pointers[index])
                    guard row.entityIndex == entityIndex else { break }
                    index += 1
                    let known = table.object(row.key)
                    if let old = known?.extras?.batch, old !== left.last { left.append(old) }
                    if row.isHeaderOnly {
                        objects.append(materialize(header: row, known: known, batch: batch))
                    } else if let known, takes(known, RowReference(slab: slab, row: row), batch, refreshing) {
                        objects.append(known)
                    } else {
                        seed.row = row
                        seed.key = row.key
                        objects.append(register(seed))
                    }
                }
            }
        }
        // A hook may have begun to listen to the context.
        if newFlags != flags { for object in objects { object.flags.formUnion(newFlags) } }
        return objects
    }

    /// Marks all objects, including later ones: a listener needs to know before they change. The mark stays when there
    /// is no listener left, because a pass over all objects would cost more than asking the tracker.
    func markRecorded() {
        guard !newFlags.contains(.recorded) else { return }
        newFlags.insert(.recorded)
        for object in core.identityMap.objects { object.flags.insert(.recorded) }
    }

    /// Marks all objects, including new ones, because a listener needs to know which relationships are read. The mark stays, as
    /// that of ``markRecorded()`` does.
    func markReadsRecorded() {
        guard !newFlags.contains(.readsRecorded) else { return }
        newFlags.insert(.readsRecorded)
        for object in core.identityMap.objects { object.flags.insert(.readsRecorded) }
    }

    /// The object of a header.
    ///
    /// Reading is synchronous, so the object that the store was told about still exists, unless an `awakeFromFetch`
    /// that ran for another row of the batch has released or refreshed it. Then it is a fault, and reads its row at the
    /// next access.
    private func materialize(header row: RowPointer, known: ManagedObject?, batch: FaultBatch?) -> ManagedObject {
        guard let known else {
            let binding = core.binding(at: row.entityIndex)
            let source = makeSource(binding, slab: binding.emptyRow.slab, batch: batch)
            return makeFault(key: row.key, binding: binding, source: source)
        }
        if let batch { known.join(batch) }
        return known
    }

    /// Gives a row to the object that the context knows by its key.
    /// - Returns: false if it was created for an ID of another entity of the hierarchy: there is no such object, and the
    ///   context has forgotten it.
    private func takes(
        _ object: ManagedObject, _ reference: RowReference, _ batch: FaultBatch?, _ refreshing: Bool
    ) -> Bool {
        guard object.binding.entity.index == reference.row.entityIndex else {
            object.markMissing()
            core.identityMap.detach(object)
            return false
        }
        if !object.flags.isDisjoint(with: .unread)
            || (refreshing && !object.hasChanges && reference.row.version > object.row.version)
        {
            object.mutatingAll { object.fill(reference) }
        }
        if let batch { object.join(batch) }
        return true
    }

    /// A new object, of whose key the context knows none.
    private func register(_ seed: borrowing ObjectSeed) -> ManagedObject {
        let source = seed.source
        let object = source.binding.objectClass.init(_seed: seed)
        source.table.insert(object, key: seed.key)
        awake(object)
        return object
    }

    // MARK: Faults

    /// A fault for a key of which the context knows no object.
    /// - Parameter source: That of faults that fire together; nil for a single one.
    func makeFault(key: Int64, binding: EntityBinding, source: RowSource? = nil) -> ManagedObject {
        let source = source ?? sharedSource(binding)
        let seed = ObjectSeed(
            source: source, row: binding.emptyRow.row, key: key,
            flags: newFlags.union(.fault))
        let object = binding.objectClass.init(_seed: seed)
        source.table.insert(object, key: key)
        return object
    }

    /// Faults for keys of an entity, which fire together.
    func makeFaults(keys: [Int64], binding: EntityBinding, batch: FaultBatch?) -> [ManagedObject] {
        let source = batch.map { makeSource(binding, slab: binding.emptyRow.slab, batch: $0) }
        return keys.map { makeFault(key: $0, binding: binding, source: source) }
    }

    // MARK: Sources

    func makeSource(_ binding: EntityBinding, slab: RowSlab, batch: FaultBatch?) -> RowSource {
        RowSource(
            binding: binding, core: core, table: core.identityMap.table(binding.entity.index), slab: slab, batch: batch)
    }

    /// What objects of an entity have in common that were not read in a batch.
    func sharedSource(_ binding: EntityBinding) -> RowSource {
        let index = binding.entity.index
        if index < sharedSources.count, let known = sharedSources[index] { return known }
        let made = makeSource(binding, slab: binding.emptyRow.slab, batch: nil)
        // A source keeps the core, which could never go if it kept the source in turn, unless its handle breaks the cycle.
        guard !core.isClosed else { return made }
        if sharedSources.isEmpty { sharedSources = Array(repeating: nil, count: core.model.entities.count) }
        sharedSources[index] = made
        return made
    }

    func forgetSharedSources() { sharedSources = [] }

    // MARK: Hooks

    /// Runs `awakeFromFetch` of an object that has taken a row.
    func awake(_ object: ManagedObject) {
        guard awakeDepth < Self.deepestAwake else { return waiting.append(object) }
        awakeDepth += 1
        tracker.withoutTracking { object.awakeFromFetch() }
        object.freezeRow()
        awakeDepth -= 1
        guard awakeDepth == 0, !waiting.isEmpty else { return }
        while let next = waiting.popLast() { awake(next) }
    }
}
