import Foundation
import Observation
import StrataStore

/// What a context creates an object from. Only contexts create seeds.
///
///     final class Sight: SightBase {
///         private let created: Date
///
///         required init(_seed seed: borrowing ObjectSeed) {
///             created = .now
///             super.init(_seed: seed)
///         }
///     }
///
/// A class needs to know it only if it has stored properties without a default: it must have an initializer with a seed then,
/// which passes it on. A context calls the initializer for new objects and for those that it reads. Give stored properties
/// a default instead, and the initializer is inherited. To insert an object, use the generated initializer, or
/// ``ManagedObject/init(inserting:)``.
public struct ObjectSeed: ~Copyable {
    let source: RowSource
    var row: RowPointer
    var key: Int64
    let flags: ObjectFlags
    /// For a row that is the object's own.
    var slab: RowSlab?
}

/// Every class of managed objects conforms to this protocol, so that extensions can use the class itself as `Self`.
///
///     extension ManagedObjectProtocol where Self: ManagedObject {
///         static func all(in context: ManagedObjectContext) throws -> [Self] { try context.fetch(FetchRequest<Self>()) }
///     }
///     let everything = try City.all(in: context)  // [City]
///
/// Typed keys, `City.where`, `frozen()` and `increment` are such extensions: in a method of ``ManagedObject``, `Self` could not
/// be the type of a key. Extend it to add functions to all of your classes. Members of an extension can be shadowed, so a class
/// may have attributes named `id`, `version` or `description`. Only ``ManagedObject`` conforms; you do not conform other types.
public protocol ManagedObjectProtocol: AnyObject, Identifiable where ID == ObjectID {}

/// An object of a ``ManagedObjectContext``: one row of an entity, with its relationships.
///
/// Objects are not `Sendable`: they live in the isolation domain of their context. Send their ``objectID``, or a
/// `frozen()` copy.
///
/// Generated subclasses add a typed property for each property of the entity. Without a subclass, you access properties by
/// name. An object whose row has not been read yet is a fault; the first access to a property reads the row, together
/// with those of all objects that were fetched with it.
///
///     guard let lima = try context.find(City.self, "3936456") else { return }
///     lima.population += 1
///     lima.country = peru
///     print(peru.cities.contains(lima))  // true: inverses update immediately
///
/// **An object can outlive its context.** It still reads its attributes, and fills faults and relationships from the
/// store:
///
///     func load() throws -> [City] { try container.newContext().fetch(FetchRequest<City>()) }
///
/// Only changes need the context: a write to an object whose context was released stops the program with a message.
/// Changes that were pending when the context was released are dropped.
open class ManagedObject: ManagedObjectProtocol, Observable, Encodable {
    // The row is read by generated accessors of other modules; everything that they need is `@usableFromInline`.

    // These are read at every access to a property. They are unchecked at run time for overlapping accesses because
    // there is none to find: each is loaded or stored as a whole, in one isolation domain, and no `inout` access to one
    // of them lasts over a call that could come back to the object.

    /// The current row: the store's, or a changed copy; the empty row of the binding for a fault.
    @exclusivity(unchecked) @usableFromInline final var row: RowPointer
    @exclusivity(unchecked) @usableFromInline final var flags: ObjectFlags
    /// The key. It changes only when an insert turns out to be the row of another key; see ``MergePolicy``.
    @exclusivity(unchecked) final var key: Int64
    /// What the object shares with those that were read with it.
    @exclusivity(unchecked) final var source: RowSource
    /// A row of its own, changes, to-many relationships, observers: what most objects do without.
    @exclusivity(unchecked) @usableFromInline final var extras: ObjectExtras?

    /// Creates an object from what its context knows. Applications do not call it.
    public required init(_seed seed: borrowing ObjectSeed) {
        row = seed.row
        flags = seed.flags
        key = seed.key
        source = seed.source
        if let slab = seed.slab { extras = ObjectExtras(slab: slab) }
    }

    /// Inserts a new object of the class's entity into a context. The object has its final ID and its defaults;
    /// ``awakeFromInsert()`` has run.
    ///
    ///     let note = Note(inserting: context)
    ///     note.text = "Buy bread"
    ///
    /// Use it for classes that you write by hand. Generated classes have an initializer that asks for all required values,
    /// which the compiler checks; here, a required value that you forget makes the save throw.
    ///
    /// The entity is the one that the container binds to this very class. A class that the container does not know is a
    /// programmer error.
    public convenience init(inserting context: ManagedObjectContext) {
        self.init(_seed: context.core.factory.seedForInsertion(of: Self.self))
        context.core.factory.didInsert(self)
    }

    deinit {
        if !flags.contains(.detached) { source.table.remove(self, key: key) }
    }

    /// The name of the entity that the class stands for; empty for `ManagedObject` itself. Generated classes override
    /// it.
    open class var entityName: String { "" }

    /// The fingerprint of the row layout that the class was generated for; 0 takes any. Generated classes override it.
    open class var layoutHash: UInt64 { 0 }
    /// The key paths of the properties with their names, so that predicates of Foundation's `#Predicate` can be read.
    /// Generated classes override it.
    open class var propertyKeyPaths: PropertyKeyPaths { PropertyKeyPaths("", []) }

    /// Storage for the members of a relationship to the class, which only the class itself knows at run time.
    /// - Parameter isClosed: Whether all members will be of the class.
    final class func makeMembers(ordered: Bool, isClosed: Bool) -> MemberStorage {
        ordered ? MemberList<Self>() : MemberSet<Self>(isClosed: isClosed)
    }

    /// Whether another class is this one or inherits from it.
    final class func includes(_ other: ManagedObject.Type) -> Bool { other is Self.Type }

    // MARK: Hooks

    /// Called once, after a new object has its defaults and before other code sees it. The values that you set here are
    /// defaults, too: an upsert does not write them over those of an existing object.
    open func awakeFromInsert() {}
    /// Called each time the row of the object has been read. Changes made here do not count as changes.
    ///
    ///     final class Sight: SightBase {
    ///         private(set) var initials = ""
    ///         override func awakeFromFetch() { initials = String(name.prefix(1)) }
    ///     }
    ///
    /// Use it to compute stored properties of your own. It runs for every row that is read, so keep it fast.
    ///
    /// If you read other rows from here, their objects run this hook before you see them. Beyond 100 nested calls, the
    /// remaining hooks run after these have returned.
    open func awakeFromFetch() {}
    /// Called before a save for every object that is inserted, updated or deleted. Changes made here are saved, too;
    /// the hooks run again until nothing changes any more.
    ///
    ///     final class Sight: SightBase {  // its model file says `base: true`
    ///         override func willSave() {
    ///             let plain = name.trimmingCharacters(in: .whitespaces)
    ///             if name != plain { name = plain }
    ///         }
    ///     }
    open func willSave() {}
    /// Called after a save for every object that was inserted, updated or deleted. Changes made here make the object
    /// changed again, so that the next save writes them.
    open func didSave() {}
    /// Called once when the object is about to be deleted, before delete rules run. Relationships still lead to other objects
    /// here.
    open func prepareForDeletion() {}
    /// Called before the object forgets its row.
    open func willTurnIntoFault() {}
    /// Called after the object has forgotten its row.
    open func didTurnIntoFault() {}
    /// Called at a save of a new object, after the rules of the model have been checked. Throw a ``ValidationError`` or
    /// any other error to refuse; failures of all objects are reported together.
    ///
    ///     final class Sight: SightBase {
    ///         override func validateForInsert() throws {
    ///             guard !name.hasPrefix("http") else {
    ///                 throw ValidationError([.init(objectID: objectID, property: "name", message: "an address is not a name")])
    ///             }
    ///         }
    ///     }
    open func validateForInsert() throws {}
    /// Called at a save of a changed object, after the rules of the model have been checked. Throw as in
    /// ``validateForInsert()``.
    open func validateForUpdate() throws {}
    /// Called at a save of a deleted object, after deny rules have been checked. Throw as in ``validateForInsert()`` to refuse
    /// the delete; the save throws then, and nothing is written.
    open func validateForDelete() throws {}

    // MARK: Encoding

    /// Encodes the object by its model: attributes under their names and in their own types, so that the encoder's
    /// strategies for dates, bytes and names apply. Attributes that are nil are left out. A to-one relationship is encoded as
    /// the value of the destination's primary key, or as the URI of its ID if it has none; to-many relationships are left
    /// out.
    ///
    ///     let json = try JSONEncoder().encode(city)
    ///
    /// Use ``encoding(including:excluding:includesNil:)`` to choose other properties. Override this method to encode a class
    /// in another way.
    /// - Throws: The encoder's errors, and ``PersistenceError`` if the store fails while a property is read.
    open func encode(to encoder: any Encoder) throws {
        try ObjectEncoder(included: [], excluded: [], includesNil: false).encode(self, to: encoder)
    }
}

extension ManagedObject {
    /// The entity of the object.
    public final var entity: EntityDescription { binding.entity }

    /// The context of the object; nil after the context was released or reset, or after a save deleted the object.
    ///
    ///     guard let context = city.context else { return }  // too late to change it
    ///     context.delete(city)
    ///
    /// An object does not keep its context alive. Without one, it can still be read, but not changed.
    public final var context: ManagedObjectContext? { core?.handle }

    /// What the object reads with: it exists while the object belongs to a context, or if the object belonged to one
    /// when that was released.
    @inline(__always)
    final var core: ContextCore? { flags.contains(.detached) ? nil : source.core }

    final var binding: EntityBinding { source.binding }

    /// The objects whose faults fire together with this one's.
    final var batch: FaultBatch? { extras?.batch ?? source.batch }

    /// What keeps ``row`` alive.
    final var slab: RowSlab {
        get { extras?.slab ?? source.slab }
        set {
            if extras != nil || newValue !== source.slab { someExtras.slab = newValue }
        }
    }

    /// What has changed, for an object that is updated.
    final var changes: ChangeRecord? {
        get { extras?.changes }
        set {
            if flags.contains(.operated) { operations = [:] }
            record(newValue)
        }
    }

    /// The slots of ``changes``.
    final var changedSlots: SlotSet { extras?.changedSlots ?? SlotSet() }

    /// The ID of the object: final from birth, the same in every context.
    ///
    ///     let id = city.objectID
    ///     try await background.perform { context in
    ///         print(try context.existingObject(City.self, with: id).name)
    ///     }
    ///
    /// Send it instead of the object, keep it in a dictionary, or store its ``ObjectID/uri``. It is valid before the first
    /// save, so there are no temporary IDs. Only a new object that a save merges with an existing row of the same unique key
    /// takes over the ID of that row; see ``MergePolicy``. Reading it reads nothing from the store.
    public final var objectID: ObjectID {
        if flags.contains(.inserted) { flags.insert(.idTaken) }
        return identity
    }

    /// The ID, without noting that it was read.
    final var identity: ObjectID {
        ObjectID(entity: binding.entity, key: key, storeIdentifier: binding.storeIdentifier)
    }

    /// Whether the object is new and has not been saved. A save makes it false.
    public final var isInserted: Bool { flags.contains(.inserted) }
    /// Whether the object was changed since it was read or saved.
    ///
    /// A property that was set to the value it had counts, too; ``changedValues()`` is empty then, and a save writes nothing.
    /// False for a new object, which is ``isInserted``.
    public final var isUpdated: Bool { flags.contains(.updated) }
    /// Whether the object has been deleted: true from the delete on, even after the save.
    ///
    ///     context.delete(city)
    ///     print(city.isDeleted, city.hasChanges)  // true true, and after the save true false
    ///
    /// Fetches and relationships of the context do not show a deleted object. It is also true if others have deleted the row;
    /// see ``isMissing``. A rollback before the save makes it false again.
    public final var isDeleted: Bool { !flags.isDisjoint(with: .hidden) }
    /// Whether the object was deleted elsewhere, or its ID is one that no row has.
    ///
    ///     let same = try context.object(with: city.objectID)
    ///     print(same["name"] ?? "-")  // looks for the row
    ///     if same.isMissing { print("it was deleted") }
    ///
    /// It is known once the row has been looked for, at the first access of a fault or when the context merges the delete.
    /// Properties keep the last values, or read as zero and empty if none were read. Nothing throws, so check it where an ID
    /// may be old, or use ``ManagedObjectContext/existingObject(_:with:)``.
    public final var isMissing: Bool { flags.contains(.missing) && core != nil }
    /// Whether the row has not been read yet. The first access to a property reads it, with those of the objects that were
    /// fetched with it.
    ///
    ///     print(city.country.isFault)  // true if the country was not prefetched; asking reads nothing
    ///
    /// IDs, ``entity`` and the state of the object can be read without firing the fault.
    public final var isFault: Bool { flags.contains(.fault) }
    /// Whether the object is inserted, updated or deleted: whether a save would look at it.
    public final var hasChanges: Bool { !flags.isDisjoint(with: .changed) }
}

// Members of an extension of the protocol, so that a class may have attributes of these names.
extension ManagedObjectProtocol where Self: ManagedObject {
    /// The number of times that the row had been written when it was read; 0 before the first save. An object that was
    /// inserted again after others had deleted it goes on at the next multiple of 2³². In a class with an attribute
    /// named `version`, this is that attribute.
    @_disfavoredOverload
    public var version: Int64 { storedVersion }

    /// Entity, key and state; does not fire a fault. In a class with an attribute named `description`, this is that
    /// attribute, and a string interpolation of the object still gives this text.
    @_disfavoredOverload
    public var description: String { stateDescription }
}

extension ManagedObjectProtocol where Self: ManagedObject {
    /// The ID of the object, by which lists tell objects apart. A class with an attribute named `id` has that one; use
    /// ``ManagedObject/objectID`` there.
    public var id: ObjectID { objectID }
}

extension ManagedObject: Hashable {
    /// Objects are equal if they are identical. A context has one object for each ID.
    @inlinable
    public static func == (a: ManagedObject, b: ManagedObject) -> Bool { a === b }
    /// Hashes the identity, which never changes.
    @inlinable
    public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The hash that `Set` and `Dictionary` use, for a seed of theirs.
    ///
    /// Swift's default feeds the address to SipHash, which protects against keys that an attacker chooses. Nobody chooses an
    /// address, so a multiplication is enough: the set of a to-many relationship is built with half the instructions.
    @inlinable
    public final func _rawHashValue(seed: Int) -> Int {
        let address = UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
        // 2^64 divided by the golden ratio; see Knuth, The Art of Computer Programming, volume 3, section 6.4. Both halves of
        // the product together depend on all bits.
        let product = (address ^ UInt(bitPattern: seed)).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return Int(bitPattern: product.high ^ product.low)
    }
}

extension ManagedObject: CustomStringConvertible {}

extension ManagedObject {
    /// See ``ManagedObjectProtocol/version``.
    final var storedVersion: Int64 { (changes?.snapshot?.row ?? row).version }

    /// See ``ManagedObjectProtocol/description``.
    final var stateDescription: String {
        var words = [identity.description]
        if isFault { words.append("fault") }
        if isInserted { words.append("inserted") }
        if isUpdated { words.append("updated") }
        if isDeleted { words.append("deleted") }
        return words.joined(separator: " ")
    }
}

/// What has changed in an object.
struct ChangeRecord {
    /// Slots that were assigned, including those that were given the value they already had.
    var slots = SlotSet()
    /// The row as it was last read or saved; nil for a new object, and for a fault that was written to before its row
    /// could be read.
    let snapshot: RowReference?
}
