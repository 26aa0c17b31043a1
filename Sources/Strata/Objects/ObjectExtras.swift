import Observation
import StrataStore

/// What only some objects need: a row of their own, changes, to-many relationships that were touched, observers.
@usableFromInline
final class ObjectExtras {
    // The first two are part of every write; see ``ManagedObject/row`` for why they are unchecked.

    /// What keeps the object's row alive.
    @exclusivity(unchecked) @usableFromInline var slab: RowSlab
    @exclusivity(unchecked) private var packed: PackedChanges?
    private var rest: Rest?

    /// ``changes`` without the slots after the first 64.
    private struct PackedChanges {
        var low: UInt64
        let snapshot: RowReference?
    }

    /// What fewer objects need: every changed one has extras, and a save may be about a million of them.
    private final class Rest {
        var toManys: [ToManyState?] = []
        /// Changed slots after the first 64.
        var high: [UInt64] = []
        var rare: Rare?
    }

    /// What very few objects need.
    private final class Rare {
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

    /// What has changed; nil for an object without writes since it was read or saved.
    var changes: ChangeRecord? {
        get { packed.map { ChangeRecord(slots: changedSlots, snapshot: $0.snapshot) } }
        set {
            packed = newValue.map { PackedChanges(low: $0.slots.low, snapshot: $0.snapshot) }
            let high = newValue?.slots.high ?? []
            if rest != nil || !high.isEmpty { someRest.high = high }
        }
    }

    /// Whether there are ``changes``.
    var hasChanges: Bool { packed != nil }

    /// The slots of ``changes``.
    var changedSlots: SlotSet { SlotSet(low: packed?.low ?? 0, high: rest?.high ?? []) }

    /// Adds a slot to ``changes``, which there must be.
    func noteChange(_ slot: Int) {
        if slot < 64 {
            packed?.low |= 1 &<< UInt64(slot)
        } else {
            changes?.slots.insert(slot)
        }
    }

    /// The to-many relationships that were touched, by ``RelationshipDescription/toManyIndex``; empty if none was.
    var toManys: [ToManyState?] {
        get { rest?.toManys ?? [] }
        _modify { yield &someRest.toManys }
    }

    /// The state of a to-many relationship, if it was touched.
    func toMany(_ index: Int) -> ToManyState? { index < toManys.count ? toManys[index] : nil }

    /// The batch that the object joined after it had been created.
    var batch: FaultBatch? {
        get { rare?.batch }
        set { if rare != nil || newValue != nil { someRare.batch = newValue } }
    }

    /// The registrar of observers, once a property was read under observation.
    var registrar: ObservationRegistrar? {
        get { rare?.registrar }
        set { if rare != nil || newValue != nil { someRare.registrar = newValue } }
    }

    /// The properties that were read under observation: key paths for the registrar, by slot or, after the slots, by
    /// to-many index.
    var observers: [Int: KeyPath<ManagedObject, Any?>] {
        get { rare?.observers ?? [:] }
        _modify { yield &someRare.observers }
    }

    /// The object that took the place of this one, which met a unique constraint.
    var survivor: ObjectID? {
        get { rare?.survivor }
        set { if rare != nil || newValue != nil { someRare.survivor = newValue } }
    }

    /// The version that the next insert of the object has: 1, except for one that is inserted again after others deleted
    /// it.
    var firstVersion: Int64 {
        get { rare?.firstVersion ?? 1 }
        set { someRare.firstVersion = newValue }
    }

    /// What fetched properties have found, by their position; nothing for those that were not looked at.
    var fetched: [Int: [ManagedObject]] {
        get { rare?.fetched ?? [:] }
        set { if rare != nil || !newValue.isEmpty { someRare.fetched = newValue } }
    }

    /// The slots that are known of a fault; see ``ManagedObject/takePart(_:_:)``.
    var told: SlotSet {
        get { rare?.told ?? SlotSet() }
        set { if rare != nil || !newValue.isEmpty { someRare.told = newValue } }
    }

    /// Notes that the damaged value of a slot has been reported.
    /// - Returns: false if it had been before.
    func noteDamage(_ slot: Int) -> Bool {
        if rare?.damaged.contains(slot) == true { return false }
        someRare.damaged.insert(slot)
        return true
    }

    /// The operations that have not been saved, by slot.
    var operations: [Int: FieldOperations] {
        get { rare?.operations ?? [:] }
        set { if rare != nil || !newValue.isEmpty { someRare.operations = newValue } }
    }

    private var rare: Rare? { rest?.rare }

    private var someRare: Rare {
        let rest = someRest
        let rare = rest.rare ?? Rare()
        rest.rare = rare
        return rare
    }

    private var someRest: Rest {
        if let rest { return rest }
        let made = Rest()
        rest = made
        return made
    }
}

extension ManagedObject {
    final var someExtras: ObjectExtras {
        if let extras { return extras }
        let made = ObjectExtras(slab: source.slab)
        extras = made
        return made
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
