import Observation

/// What only some objects need: to-many relationships that were touched, and observers.
final class ObjectExtras {
    /// The to-many relationships that were touched, by ``RelationshipDescription/toManyIndex``.
    var toManys: [ToManyState?]
    /// The registrar of observers, once a property was read under observation.
    var registrar: ObservationRegistrar?
    /// The properties that were read under observation: key paths for the registrar, by slot or, behind the slots, by
    /// to-many index.
    var observers: [Int: KeyPath<ManagedObject, Any?>] = [:]
    /// Deleted by a unique constraint in favour of this object.
    var survivor: ObjectID?
    /// The version that the next insert of the object has: 1, but for one that is made again after others deleted it.
    var firstVersion: Int64 = 1

    init(toManyCount: Int) {
        toManys = Array(repeating: nil, count: toManyCount)
    }
}

extension ManagedObject {
    final var someExtras: ObjectExtras {
        if let extras { return extras }
        let made = ObjectExtras(toManyCount: binding.entity.toManyIndexes.count)
        extras = made
        return made
    }

    /// Reports a read to the registrar.
    ///
    /// The key path that stands for a property is that of its name, however it was read: generated accessors know a
    /// number alone, which keeps them short, and a change is reported once.
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
        let slots = binding.entity.slots
        return property < slots.count ? slots[property].name : relationship(toMany: property - slots.count).name
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
