import Observation

/// What only some objects need: to-many relationships that were touched, and observers.
final class ObjectExtras {
    /// The to-many relationships that were touched, by ``RelationshipDescription/toManyIndex``.
    var toManys: [ToManyState?]
    /// The registrar of observers, once a property was read under observation.
    var registrar: ObservationRegistrar?
    /// How to tell observers of a property, by its slot or, behind the slots, its to-many index.
    var observers: [Int: PropertyObserver] = [:]
    /// Deleted by a unique constraint in favour of this object.
    var survivor: ObjectID?
    /// The version that the next insert of the object has: 1, but for one that is made again after others deleted it.
    var firstVersion: Int64 = 1

    init(toManyCount: Int) {
        toManys = Array(repeating: nil, count: toManyCount)
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
        let made = ObjectExtras(toManyCount: binding.entity.toManyIndexes.count)
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
        guard let observer = extras?.observers[property] else { return body() }
        observer.willChange()
        defer { observer.didChange() }
        return body()
    }

    /// Tells the observers of all properties around a change of the whole object.
    final func mutatingAll(_ body: () -> Void) {
        guard let observers = extras?.observers, !observers.isEmpty else { return body() }
        for observer in observers.values { observer.willChange() }
        body()
        for observer in observers.values { observer.didChange() }
    }

    /// The number under which observers of a to-many relationship are kept.
    final func observerIndex(toMany index: Int) -> Int { binding.entity.slots.count + index }
}
