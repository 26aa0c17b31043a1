import StrataStore

/// Knows each object with pending changes, once, in the order of their first change, and keeps it alive.
final class ChangeTracker {
    private enum Mode {
        /// Writes count as changes.
        case tracking
        /// The same, while there is a listener for objects that change.
        case recording
        /// Writes are the application's own preparation of what was read: `awakeFromFetch`.
        case suspended
        /// The context is gone; nothing may be written.
        case closed
    }

    /// Looked at by every fetch, and by nothing that is called while it changes.
    @exclusivity(unchecked) private var list: [ManagedObject] = []
    /// Whether ``list`` has objects that are no longer listed, or one of them twice.
    private var needsCompaction = false
    /// Grows with every change. A save asks whether hooks changed anything.
    @exclusivity(unchecked) private(set) var changeCount = 0
    @exclusivity(unchecked) private var mode = Mode.tracking
    /// The changes since the last boundary, for listeners; nil until there is one. ``mode`` says whether there are any
    /// now.
    @exclusivity(unchecked) private(set) var recorder: ChangeRecorder?
    /// Objects with pending changes whose rows others have deleted, until their relationships are repaired.
    private var deletedElsewhere: [ManagedObject] = []
    /// The same, until they are saved or reverted; some may have been.
    private var lost: [ManagedObject] = []

    /// The objects with pending changes. Some may have become unchanged again.
    var objects: [ManagedObject] {
        compact()
        return list
    }

    var isEmpty: Bool { objects.isEmpty }

    /// The keys that pending changes and new objects refer to, by hierarchy.
    var pendingTargets: [Int: Set<Int64>] {
        var keys: [Int: Set<Int64>] = [:]
        for object in objects where object.flags.isDisjoint(with: [.fault, .detached]) {
            for (slot, relationship) in object.binding.toOnes {
                guard let key = object.targetKey(slot), let core = object.core else { continue }
                keys[core.rootIndex(of: relationship.destinationIndex), default: []].insert(key)
            }
        }
        return keys
    }

    var hasChanges: Bool { list.contains { $0.flags.contains(.listed) && $0.hasChanges } }

    /// Adds an object.
    func add(_ object: ManagedObject) {
        guard !object.flags.contains(.listed) else { return }
        object.flags.insert(.listed)
        changeCount &+= 1
        list.append(object)
    }

    /// Removes an object. Costs no time by itself: the list is compacted when it is looked at next.
    func remove(_ object: ManagedObject) {
        guard object.flags.contains(.listed) else { return }
        object.flags.remove(.listed)
        needsCompaction = true
    }

    /// Removes all objects.
    /// - Returns: What was there.
    @discardableResult
    func removeAll() -> [ManagedObject] {
        let objects = objects
        for object in objects { object.flags.remove(.listed) }
        list = []
        return objects
    }

    /// Puts back what was there before a save that failed.
    func restore(_ objects: [ManagedObject]) {
        removeAll()
        for object in objects { object.flags.insert(.listed) }
        list = objects
    }

    private func compact() {
        guard needsCompaction else { return }
        needsCompaction = false
        // An object that was removed and added again is there twice.
        var seen: Set<ObjectIdentifier> = []
        list.removeAll { !$0.flags.contains(.listed) || !seen.insert(ObjectIdentifier($0)).inserted }
    }

    // MARK: Writes

    /// Whether writes count as changes.
    var isTracking: Bool { mode == .tracking || mode == .recording }

    private var trackingMode: Mode { recorder?.isOn == true ? .recording : .tracking }

    /// The recorder, made now if there is none.
    func makeRecorder(for core: ContextCore) -> ChangeRecorder {
        if let recorder { return recorder }
        let recorder = ChangeRecorder()
        recorder.attach(to: core)
        self.recorder = recorder
        return recorder
    }

    /// Begins or ends to note objects before they change, after the recorder was turned on or off.
    func updateRecording() {
        if mode == .tracking || mode == .recording { mode = trackingMode }
    }

    /// Counts a change that is not of a slot.
    func countChange() { changeCount &+= 1 }

    /// Notes a write to a slot of a registered object.
    @inline(__always)
    func noteWrite(_ object: ManagedObject, _ slot: Int, _ extras: ObjectExtras) {
        if mode != .tracking, !recordsOrRefuses(object) { return }
        changeCount &+= 1
        extras.noteChange(slot)
        if object.flags.contains(.operated) { object.forgetOperations(slot) }
        if object.flags.isDisjoint(with: .notUpdatable) {
            object.flags.insert(.updated)
            add(object)
        }
    }

    /// Notes that a relationship of a registered object changed in a way that is not in its row.
    func noteToManyChange(_ object: ManagedObject) {
        if mode != .tracking, !recordsOrRefuses(object) { return }
        changeCount &+= 1
        guard object.flags.isDisjoint(with: .notUpdatable) else { return }
        object.flags.insert(.updated)
        add(object)
    }

    /// Whether changes of whole objects are noted: also while writes to their properties do not count.
    private var notesObjects: Bool { mode == .recording || (mode == .suspended && recorder?.isOn == true) }

    /// Before a whole object changes: its row, or whether it is there.
    func willChange(_ object: ManagedObject) {
        if notesObjects { recorder?.willChange(object) }
    }

    /// Before a new object is registered.
    func willInsert(_ object: ManagedObject) {
        if notesObjects { recorder?.willInsert(object) }
    }

    /// Before members of a relationship come, go or change places.
    func willChangeMembers(_ object: ManagedObject, _ index: Int) {
        if mode == .recording { recorder?.willChangeMembers(object, index) }
    }

    /// Before the relationships of an object may get any other members.
    func willChangeAllMembers(_ object: ManagedObject) {
        if mode == .recording { recorder?.willChangeAllMembers(object) }
    }

    /// Before a many-to-many pair comes or goes.
    func willChangePair(_ owner: ManagedObject, _ member: ManagedObject, _ index: Int, added: Bool) {
        if mode == .recording { recorder?.willChangePair(owner, member, index, added: added) }
    }

    /// Before a write that is not just counted.
    /// - Returns: Whether it counts.
    private func recordsOrRefuses(_ object: ManagedObject) -> Bool {
        guard mode == .recording else {
            noteUncounted(object)
            return false
        }
        recorder?.willChange(object)
        return true
    }

    /// Stops the program if the context is gone and the object can only be read.
    func requireOpen(_ object: ManagedObject) {
        if mode == .closed { noteUncounted(object) }
    }

    private func noteUncounted(_ object: ManagedObject) {
        guard mode == .closed else {
            changeCount &+= 1
            return
        }
        fatalError(
            """
            \(object.objectID) was changed after its context was gone. An object can be read without its context, but a \
            change needs it: keep the context in a variable or property until you have saved.
            """)
    }

    /// Runs a closure whose writes do not count as changes.
    func withoutTracking<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        let outer = mode
        mode = .suspended
        defer { mode = outer }
        return try body()
    }

    /// Runs a closure whose writes count, even where it is called by something whose writes do not.
    func withTracking<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        let outer = mode
        if mode == .suspended { mode = trackingMode }
        defer { mode = outer }
        return try body()
    }

    /// Forgets everything and refuses all further changes.
    func close() {
        removeAll()
        deletedElsewhere = []
        lost = []
        mode = .closed
    }

    // MARK: Deleted elsewhere

    /// Notes an object with pending changes whose row others have deleted.
    func addDeletedElsewhere(_ object: ManagedObject) {
        deletedElsewhere.append(object)
        lost.append(object)
    }

    /// The objects with pending changes whose rows others have deleted: no query of the store finds them.
    var objectsDeletedElsewhere: [ManagedObject] {
        if !lost.isEmpty { forgetFound() }
        return lost
    }

    private func forgetFound() { lost.removeAll { !$0.flags.isSuperset(of: [.listed, .deletedElsewhere]) } }

    /// The objects noted since the last call.
    func takeDeletedElsewhere() -> [ManagedObject] {
        defer { deletedElsewhere = [] }
        if !lost.isEmpty { forgetFound() }
        return deletedElsewhere
    }
}
