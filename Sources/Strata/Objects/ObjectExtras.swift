import Observation
import StrataStore

/// What only some objects need: a row of their own, changes, to-many relationships that were touched, observers.
///
/// A new object has an instance of this class, and a save may insert a million of them. One that the store has gets a
/// ``SnapshotExtras``.
@usableFromInline
class ObjectExtras {
    // The first two are part of every write; see ``ManagedObject/row`` for why they are unchecked.

    /// What keeps the object's row alive.
    @exclusivity(unchecked) @usableFromInline final var slab: RowSlab
    /// Whether there are ``changes``, as the highest bit, and their first 63 slots.
    @exclusivity(unchecked) private final var packed: UInt64 = 0
    private final var rest: Rest?

    private static let hasRecord: UInt64 = 1 << 63

    /// What fewer objects need.
    private final class Rest {
        var toManys: [ToManyState?] = []
        var rare: Rare?
    }

    /// What very few objects need.
    private final class Rare {
        /// Changed slots after the first 63.
        var high = SlotSet()
        var batch: FaultBatch?
        var registrar: ObservationRegistrar?
        var observers: [Int: KeyPath<ManagedObject, Any?>] = [:]
        var survivor: ObjectID?
        var firstVersion: Int64 = 1
        var fetched: [Int: [ManagedObject]] = [:]
        var damaged = SlotSet()
        var told = SlotSet()
        var operations: [Int: FieldOperations] = [:]

        deinit {
            if !fetched.isEmpty { DeepRelease.clear(&fetched, to: [:]) }
        }
    }

    init(slab: RowSlab) { self.slab = slab }

    /// Takes over everything from extras that are then thrown away.
    fileprivate init(_ others: ObjectExtras) {
        slab = others.slab
        packed = others.packed
        rest = others.rest
    }

    /// The snapshot of ``changes``. Only a ``SnapshotExtras`` can keep one.
    fileprivate(set) var snapshot: RowReference? {
        get { nil }
        set { assert(newValue == nil, "a snapshot needs SnapshotExtras; see ManagedObject.record(_:)") }
    }

    /// What has changed; nil for an object without writes since it was read or saved.
    final var changes: ChangeRecord? { hasChanges ? ChangeRecord(slots: changedSlots, snapshot: snapshot) : nil }

    /// Replaces ``changes``.
    fileprivate final func set(_ changes: ChangeRecord) {
        snapshot = changes.snapshot
        packed = changes.slots.low | Self.hasRecord
        let high = SlotSet(low: changes.slots.low & Self.hasRecord, high: changes.slots.high)
        if rare != nil || !high.isEmpty { someRare.high = high }
    }

    /// Forgets ``changes``.
    fileprivate final func forgetChanges() {
        guard packed != 0 else { return }
        packed = 0
        snapshot = nil
        rare?.high = SlotSet()
    }

    /// Whether there are ``changes``.
    final var hasChanges: Bool { packed != 0 }

    /// The slots of ``changes``.
    final var changedSlots: SlotSet {
        let low = SlotSet(low: packed & ~Self.hasRecord, high: [])
        guard var slots = rare?.high else { return low }
        slots.formUnion(low)
        return slots
    }

    /// Adds a slot to ``changes``. Those of a new object begin with it.
    final func noteChange(_ slot: Int) {
        if slot < 63 {
            packed |= 1 &<< UInt64(slot) | Self.hasRecord
        } else {
            packed |= Self.hasRecord
            someRare.high.insert(slot)
        }
    }

    /// The to-many relationships that were touched, by ``RelationshipDescription/toManyIndex``; empty if none was.
    final var toManys: [ToManyState?] {
        get { rest?.toManys ?? [] }
        _modify { yield &someRest.toManys }
    }

    /// The state of a to-many relationship, if it was touched.
    final func toMany(_ index: Int) -> ToManyState? { index < toManys.count ? toManys[index] : nil }

    /// The batch that the object joined after it had been created.
    final var batch: FaultBatch? {
        get { rare?.batch }
        set { if rare != nil || newValue != nil { someRare.batch = newValue } }
    }

    /// The registrar of observers, once a property was read under observation.
    final var registrar: ObservationRegistrar? {
        get { rare?.registrar }
        set { if rare != nil || newValue != nil { someRare.registrar = newValue } }
    }

    /// The properties that were read under observation: key paths for the registrar, by slot or, after the slots, by
    /// to-many index.
    final var observers: [Int: KeyPath<ManagedObject, Any?>] {
        get { rare?.observers ?? [:] }
        _modify { yield &someRare.observers }
    }

    /// The object that took the place of this one, which met a unique constraint.
    final var survivor: ObjectID? {
        get { rare?.survivor }
        set { if rare != nil || newValue != nil { someRare.survivor = newValue } }
    }

    /// The version that the next insert of the object has: 1, except for one that is inserted again after others deleted
    /// it.
    final var firstVersion: Int64 {
        get { rare?.firstVersion ?? 1 }
        set { someRare.firstVersion = newValue }
    }

    /// What fetched properties have found, by their position; nothing for those that were not looked at.
    final var fetched: [Int: [ManagedObject]] {
        get { rare?.fetched ?? [:] }
        set { if rare != nil || !newValue.isEmpty { someRare.fetched = newValue } }
    }

    /// The slots that are known of a fault; see ``ManagedObject/takePart(_:_:)``.
    final var told: SlotSet {
        get { rare?.told ?? SlotSet() }
        set { if rare != nil || !newValue.isEmpty { someRare.told = newValue } }
    }

    /// Notes that the damaged value of a slot has been reported.
    /// - Returns: false if it had been before.
    final func noteDamage(_ slot: Int) -> Bool {
        if rare?.damaged.contains(slot) == true { return false }
        someRare.damaged.insert(slot)
        return true
    }

    /// The operations that have not been saved, by slot.
    final var operations: [Int: FieldOperations] {
        get { rare?.operations ?? [:] }
        set { if rare != nil || !newValue.isEmpty { someRare.operations = newValue } }
    }

    private final var rare: Rare? { rest?.rare }

    private final var someRare: Rare {
        let rest = someRest
        let rare = rest.rare ?? Rare()
        rest.rare = rare
        return rare
    }

    private final var someRest: Rest {
        if let rest { return rest }
        let made = Rest()
        rest = made
        return made
    }
}

/// The extras of an object that the store has: its changes come with the row as it was read.
private final class SnapshotExtras: ObjectExtras {
    @exclusivity(unchecked) private var kept: RowReference?

    override var snapshot: RowReference? {
        get { kept }
        set { kept = newValue }
    }
}

extension ManagedObject {
    final var someExtras: ObjectExtras {
        if let extras { return extras }
        let made = SnapshotExtras(slab: source.slab)
        extras = made
        return made
    }

    /// Replaces what has changed.
    final func record(_ changes: ChangeRecord?) {
        if let changes { record(changes, in: someExtras) } else { extras?.forgetChanges() }
    }

    /// Replaces what has changed, in the extras of the object.
    /// - Returns: Its extras from now on: those, or others that can keep the snapshot.
    @discardableResult
    final func record(_ changes: ChangeRecord, in extras: ObjectExtras) -> ObjectExtras {
        guard changes.snapshot != nil, !(extras is SnapshotExtras) else {
            extras.set(changes)
            return extras
        }
        let larger = SnapshotExtras(extras)
        larger.set(changes)
        self.extras = larger
        return larger
    }

    /// Reports a read to the registrar.
    ///
    /// The key path that stands for a property is that of its name, however it was read: generated accessors know only
    /// a number, which keeps them short, and a change is reported once.
    final func recordAccess(_ property: Int) {
        let extras = someExtras
        let registrar = extras.registrar ?? ObservationRegistrar()
        extras.registrar = registrar
        let path = extras.observers[property] ?? \ManagedObject[propertyName(property)]
        extras.observers[property] = path
        registrar.access(self, keyPath: path)
    }

    /// The name of a property by the number under which its observers are kept.
    private func propertyName(_ property: Int) -> String {
        let entity = binding.entity
        if property < entity.slots.count { return entity.slots[property].name }
        let index = property - entity.slots.count
        return index < entity.toManyIndexes.count
            ? relationship(toMany: index).name : entity.fetchedProperties[index - entity.toManyIndexes.count].name
    }

    /// Tells the observers of a property, if it has any, that it is about to change.
    final func willChange(_ property: Int) {
        guard let extras, let path = extras.observers[property] else { return }
        extras.registrar?.willSet(self, keyPath: path)
    }

    /// Tells the observers of a property, if it has any, that it has changed.
    final func didChange(_ property: Int) {
        guard let extras, let path = extras.observers[property] else { return }
        extras.registrar?.didSet(self, keyPath: path)
    }

    /// Runs a change of a property between the two reports to its observers, if it has any.
    @inline(__always)
    final func mutating<R>(_ property: Int, _ body: () -> R) -> R {
        guard flags.contains(.observed) else { return body() }
        willChange(property)
        defer { didChange(property) }
        return body()
    }

    /// Tells the observers of all properties around a change of the whole object.
    final func mutatingAll(_ body: () -> Void) {
        if flags.isDisjoint(with: .watched) { return body() }
        if flags.contains(.recorded) { source.tracker?.willChange(self) }
        guard flags.contains(.observed), let properties = extras?.observers.keys, !properties.isEmpty else {
            return body()
        }
        for property in properties { willChange(property) }
        body()
        for property in properties { didChange(property) }
    }

    /// The number under which observers of a to-many relationship are kept.
    final func observerIndex(toMany index: Int) -> Int { binding.entity.slots.count + index }
}
