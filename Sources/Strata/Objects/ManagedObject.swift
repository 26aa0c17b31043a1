import Foundation
import Observation

/// What an object is made of. Only contexts make seeds, and an initializer can do nothing with one but hand it on.
public struct ObjectSeed: ~Copyable {
    let origin: ObjectOrigin
    var row: RowPointer
    var key: Int64
    let flags: ObjectFlags
    /// For a row that is the object's own.
    var slab: RowSlab?
}

/// What every class of managed objects is: the anchor of typed keys in extensions of generated classes.
public protocol ManagedObjectProtocol: AnyObject {}

/// An object of a ``ManagedObjectContext``: one row of an entity, with its relationships.
///
/// Objects are not `Sendable`: they live where their context lives. Send their ``objectID``, or a ``frozen()`` copy.
///
/// Generated subclasses add a typed property for each property of the entity; without a subclass, properties are
/// reached by name. An object whose row has not been read yet is a fault; the first touch of a property reads it,
/// together with those of all objects that came in the same batch.
open class ManagedObject: ManagedObjectProtocol, Observable {
    // The row is read by generated accessors of other modules; everything that they need is `@usableFromInline`.

    // These are read at every access to a property. They are unchecked at run time for overlapping accesses because
    // there is none to find: each is loaded or stored as a whole, in one isolation domain, and no `inout` access to one
    // of them lasts over a call that could come back to the object.

    /// The current row: the store's, or a changed copy; the empty row of the binding for a fault.
    @exclusivity(unchecked) @usableFromInline final var row: RowPointer
    @exclusivity(unchecked) @usableFromInline final var flags: ObjectFlags
    /// The key. It changes only when an insert turns out to be the row of another key; see ``MergePolicy``.
    @exclusivity(unchecked) final var key: Int64
    /// What the object shares with those that came with it.
    @exclusivity(unchecked) final var origin: ObjectOrigin
    /// A row of its own, changes, to-many relationships, observers: what most objects do without.
    @exclusivity(unchecked) @usableFromInline final var extras: ObjectExtras?

    /// Makes an object from what its context knows. Not to be called by applications.
    public required init(_seed seed: borrowing ObjectSeed) {
        row = seed.row
        flags = seed.flags
        key = seed.key
        origin = seed.origin
        if let slab = seed.slab { extras = ObjectExtras(slab: slab) }
    }

    /// Inserts a new object of the class's entity into a context. The object has its final ID and its defaults;
    /// ``awakeFromInsert()`` has run.
    ///
    /// The entity is the one that the container binds to this very class; a class that it does not know is a
    /// programmer's error.
    public convenience init(inserting context: ManagedObjectContext) {
        self.init(_seed: context.seedForInsertion(of: Self.self))
        context.didInsert(self)
    }

    deinit {
        if !flags.contains(.detached) { origin.table.remove(self, key: key) }
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

    /// Called once, after a new object has its defaults and before anybody else sees it.
    open func awakeFromInsert() {}
    /// Called each time the row of the object has been read. Changes made here do not count as changes.
    open func awakeFromFetch() {}
    /// Called before a save for every object that is inserted, updated or deleted. Changes made here are saved, too;
    /// the hooks run again until nothing changes any more.
    open func willSave() {}
    /// Called after a save for every object that was inserted, updated or deleted. Changes made here make the object
    /// changed again.
    open func didSave() {}
    /// Called once when the object is about to be deleted, before delete rules run.
    open func prepareForDeletion() {}
    /// Called before the object forgets its row.
    open func willTurnIntoFault() {}
    /// Called after the object has forgotten its row.
    open func didTurnIntoFault() {}
    /// Called at a save of a new object, after the rules of the model have been checked. Throw a ``ValidationError`` or
    /// any other error to refuse; failures of all objects are reported together.
    open func validateForInsert() throws {}
    /// Called at a save of a changed object, after the rules of the model have been checked.
    open func validateForUpdate() throws {}
    /// Called at a save of a deleted object, after deny rules have been checked.
    open func validateForDelete() throws {}
}

extension ManagedObject {
    /// The entity of the object.
    public final var entity: EntityDescription { binding.entity }

    /// The context of the object; nil after the context went away or was reset, or after a save deleted the object.
    public final var context: ManagedObjectContext? { flags.contains(.detached) ? nil : origin.home.context }

    final var binding: EntityBinding { origin.binding }

    /// The objects whose faults fire together with this one's.
    final var group: FetchGroup? { extras?.group ?? origin.group }

    /// What keeps ``row`` alive.
    final var slab: RowSlab {
        get { extras?.slab ?? origin.slab }
        set {
            if extras != nil || newValue !== origin.slab { someExtras.slab = newValue }
        }
    }

    /// What has changed, for an object that is updated.
    final var changes: ChangeRecord? {
        get { extras?.changes }
        set {
            if extras != nil || newValue != nil { someExtras.changes = newValue }
        }
    }

    /// The ID: final from birth, the same in every context.
    public final var objectID: ObjectID {
        ObjectID(entity: binding.entity, key: key, storeIdentifier: binding.storeIdentifier)
    }

    /// Whether the object is new and has not been saved.
    public final var isInserted: Bool { flags.contains(.inserted) }
    /// Whether the object was changed since it was read or saved. A property that was set to the value it had counts,
    /// too; ``changedValues()`` is empty then, and a save writes nothing.
    public final var isUpdated: Bool { flags.contains(.updated) }
    /// Whether the object has been deleted: true from the delete until the save, and after it.
    public final var isDeleted: Bool { !flags.isDisjoint(with: .hidden) }
    /// Whether somebody else deleted the object, or there never was one with its ID. Known once the row has been looked
    /// for. Properties keep the last values, or read as zero and empty if none were read.
    public final var isMissing: Bool { flags.contains(.missing) && context != nil }
    /// Whether the row has not been read yet.
    public final var isFault: Bool { flags.contains(.fault) }
    /// Whether the object is inserted, updated or deleted.
    public final var hasChanges: Bool { !flags.isDisjoint(with: .changed) }
    /// How often the row had been written when it was read; 0 before the first save. An object that was made again
    /// after others had deleted it goes on at the next multiple of 2³².
    public final var version: Int64 { (changes?.snapshot?.row ?? row).version }
}

extension ManagedObject: Hashable {
    /// Objects are equal if they are the same one. A context has one object for each ID.
    @inlinable
    public static func == (a: ManagedObject, b: ManagedObject) -> Bool { a === b }
    /// Hashes the identity, which never changes.
    @inlinable
    public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ManagedObject: CustomStringConvertible {
    /// Entity, key and state; does not fire a fault.
    public var description: String {
        var words = [objectID.description]
        if isFault { words.append("fault") }
        if isInserted { words.append("inserted") }
        if isUpdated { words.append("updated") }
        if isDeleted { words.append("deleted") }
        return words.joined(separator: " ")
    }
}

/// What has changed in an updated object.
struct ChangeRecord {
    /// Slots that were set.
    var slots = SlotSet()
    /// The row as it was read or saved last.
    let snapshot: RowReference?
}
