import Observation

/// What only some objects need: a row of their own, changes, to-many relationships that were touched, observers.
@usableFromInline
final class ObjectExtras {
    // The first two are part of every write; see ``ManagedObject/row`` for why they are unchecked.

    /// What keeps the object's row alive.
    @exclusivity(unchecked) @usableFromInline var slab: RowSlab
    @exclusivity(unchecked) var changes: ChangeRecord?
    /// The to-many relationships that were touched, by ``RelationshipDescription/toManyIndex``; empty if none was.
    var toManys: [ToManyState?] = []
    /// The group that the object joined after it had been made.
    var group: FetchGroup?
    /// The registrar of observers, once a property was read under observation.
    var registrar: ObservationRegistrar?
    /// How to tell observers of a property, by its slot or, behind the slots, its to-many index.
    var observers: [Int: PropertyObserver] = [:]
    private var fate: Fate?

    /// What a save may find out about an object.
    private final class Fate {
        var survivor: ObjectID?
        var firstVersion: Int64 = 1
    }

    init(slab: RowSlab) { self.slab = slab }

    /// The state of a to-many relationship, if it was touched.
    func toMany(_ index: Int) -> ToManyState? { index < toManys.count ? toManys[index] : nil }

    /// Deleted by a unique constraint in favour of this object.
    var survivor: ObjectID? {
        get { fate?.survivor }
        set {
            guard fate != nil || newValue != nil else { return }
            let known = fate ?? Fate()
            known.survivor = newValue
            fate = known
        }
    }

    /// The version that the next insert of the object has: 1, but for one that is made again after others deleted it.
    var firstVersion: Int64 {
        get { fate?.firstVersion ?? 1 }
        set {
            let known = fate ?? Fate()
            known.firstVersion = newValue
            fate = known
        }
    }
}

/// Tells the observers of one property, whose key path only the generated accessor knew.
struct PropertyObserver {
    let access: () -> Void
    let willChange: () -> Void
    let didChange: () -> Void
}

extension ManagedObject {
    final var someExtras: ObjectExtras {
        if let extras { return extras }
        let made = ObjectExtras(slab: origin.slab)
        extras = made
        return made
    }

    /// Reports a read to the registrar, and remembers how to report changes of the same property.
    final func recordAccess<Root: ManagedObject, Member>(_ property: Int, _ path: KeyPath<Root, Member>) {
        guard let root = self as? Root else { return }
        let extras = someExtras
        let registrar = extras.registrar ?? ObservationRegistrar()
        extras.registrar = registrar
        if let known = extras.observers[property] {
            // Whichever path was used first stands for the property, so that a change is reported once.
            known.access()
        } else {
            registrar.access(root, keyPath: path)
            extras.observers[property] = PropertyObserver(
                access: { [unowned root] in registrar.access(root, keyPath: path) },
                willChange: { [unowned root] in registrar.willSet(root, keyPath: path) },
                didChange: { [unowned root] in registrar.didSet(root, keyPath: path) })
        }
    }

    /// Runs a change of a property between the two reports to its observers, if it has any.
    @inline(__always)
    final func mutating<R>(_ property: Int, _ body: () -> R) -> R {
        guard flags.contains(.observed), let observer = extras?.observers[property] else { return body() }
        observer.willChange()
        defer { observer.didChange() }
        return body()
    }

    /// Tells the observers of all properties around a change of the whole object.
    final func mutatingAll(_ body: () -> Void) {
        guard flags.contains(.observed), let observers = extras?.observers, !observers.isEmpty else { return body() }
        for observer in observers.values { observer.willChange() }
        body()
        for observer in observers.values { observer.didChange() }
    }

    /// The number under which observers of a to-many relationship are kept.
    final func observerIndex(toMany index: Int) -> Int { binding.entity.slots.count + index }
}
