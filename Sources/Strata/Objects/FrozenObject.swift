import Foundation
import StrataStore

/// A `Sendable` copy of an object at one moment: its values and the IDs that its relationships led to.
///
///     let cities: [FrozenObject<City>] = try await container.read { context in
///         try context.fetch(FetchRequest<City>(limit: 20)).map { $0.frozen() }
///     }
///     for city in cities { print(city[City.keys.name], city.target("country") ?? "no country") }
///
/// Use it to take values out of a context: from a background queue to the main actor, or into the answer of a server. It never
/// changes, and it needs no context. To change the object, look it up by ``objectID`` in a context of your own.
///
/// Making a copy reads the object's row if that is a fault, and shares it otherwise, so a copy is cheap. To-many
/// relationships are included if they were loaded or prefetched. Binary values that are in files of their own are read when you
/// ask for them. If you need a few columns only, ``ManagedObjectContext/fetchValues(_:)`` creates no objects at all.
public struct FrozenObject<Object: ManagedObject>: Sendable, Identifiable {
    /// The ID of the object.
    public let objectID: ObjectID
    /// The ID of the object, which identifies it in lists.
    public var id: ObjectID { objectID }
    /// How often the row had been written; 0 for a new object.
    public let version: Int64
    private let reference: RowReference
    /// The IDs of to-many relationships that were loaded when the copy was made, by name.
    private let members: [String: [ObjectID]]
    private let targets: [String: ObjectID]
    private let store: (any PersistentStore)?

    init(_ object: Object) {
        if object.isFault { object.fireFault() }
        objectID = object.objectID
        store = object.core?.coordinator.store(of: object.binding.entity.index)
        version = object.storedVersion
        reference = object.sharedRow
        var members: [String: [ObjectID]] = [:]
        for (index, state) in (object.extras?.toManys ?? []).enumerated() {
            guard let loaded = state?.members else { continue }
            members[object.relationship(toMany: index).name] = loaded.objects.map(\.objectID)
        }
        self.members = members
        var targets: [String: ObjectID] = [:]
        for (slot, relationship) in object.binding.toOnes {
            targets[relationship.name] = object.target(slot)?.objectID
        }
        self.targets = targets
    }

    /// The value of an attribute by name, or of an element of a composite as `address.street`; ``Value/null`` for nil
    /// and for unknown names. To-one relationships give ``Value/object(_:)``. Binary data that is in a file of its own
    /// is read now, and is ``Value/null`` if the object has been deleted or given other data since.
    public subscript(name: String) -> Value {
        guard let slot = objectID.entity.slot(named: name) else { return .null }
        guard reference.isExternal(slot), case .binary(let name) = reference.value(slot) else {
            return reference.value(slot)
        }
        return (try? store?.externalData(named: String(decoding: name, as: UTF8.self))).map(Value.binary) ?? .null
    }

    /// The value of an attribute by its typed key.
    public subscript<T: AttributeValue>(key: AttributeKey<T>) -> T {
        T(self[key.path.names.joined(separator: ".")]) ?? T.zeroValue
    }

    /// The value of an optional attribute by its typed key.
    public subscript<T: AttributeValue>(key: AttributeKey<T?>) -> T? {
        T(self[key.path.names.joined(separator: ".")])
    }

    /// The ID at the other end of a to-one relationship; nil if there is none, and for an unknown name.
    public func target(_ name: String) -> ObjectID? { targets[name] }

    /// The IDs at the other end of a to-many relationship, in its order if it has one; nil if it was not loaded when
    /// the copy was made.
    public func members(_ name: String) -> [ObjectID]? { members[name] }
}

extension ManagedObjectProtocol where Self: ManagedObject {
    /// A `Sendable` copy of the object as it is now, unsaved changes included. Fires a fault, but loads no to-many
    /// relationship.
    ///
    ///     let copy = city.frozen()
    ///     Task.detached { print(copy[City.keys.name]) }
    ///
    /// To have a to-many relationship in the copy, prefetch it, or read it before.
    public func frozen() -> FrozenObject<Self> { FrozenObject(self) }
}
