import Foundation
import Synchronization

/// A working copy of a part of the object graph: objects that were fetched or inserted, and what was changed, until a
/// save hands it on.
///
/// A context and its objects live in the isolation domain that made them: the main actor for
/// ``PersistentContainer/viewContext``, a serial queue for ``BackgroundContext``, or an actor or task of yours that
/// called ``PersistentContainer/newContext()``. The compiler rejects code that would let one of them out.
///
/// A context holds its objects weakly, unless they are changed, and they do not hold it: keep the context as long as
/// you work with its objects. Without it their relationships read as empty. It has one object for each ID. Saves of
/// other contexts are taken in at a boundary: before a fetch, a save, a `perform`, or at ``processPendingChanges()``.
public final class ManagedObjectContext {
    /// The context that this one was made from; nil for one that saves to the store.
    public let parent: ManagedObjectContext?
    /// What a save does when others were faster.
    public var mergePolicy: MergePolicy
    /// A name for messages and logs.
    public var name: String?
    /// Who makes the changes, for history.
    public var author: String?
    /// Whether saves of other contexts of the container are taken in at boundaries. False leaves objects as they are
    /// until they are refreshed.
    ///
    /// A change that is pending here counts as made on top of what was taken in: where both sides changed one property,
    /// the later save wins, whatever the merge policy. Leave it false where that must be a conflict.
    public var automaticallyMergesChanges: Bool {
        didSet { mailbox.isOpen = automaticallyMergesChanges }
    }
    /// Called when a fault could not be filled, or the file of a binary value could not be read, because the store
    /// failed. The property reads as zero or empty then, and the next touch tries again.
    public var onFaultError: ((PersistenceError, ManagedObject) -> Void)?
    /// The last error that a fault ran into, if any.
    public internal(set) var lastFaultError: PersistenceError?

    let coordinator: StoreCoordinator
    let observesObjects: Bool
    let number: Int
    let mailbox: NoticeMailbox
    /// By position of the entity; those of one hierarchy are the same table.
    let tables: [ObjectTable]
    /// What objects of this context reach it by; another one after each ``reset()``.
    private(set) var home: ContextHome
    /// By position of the entity; see ``bareOrigin(_:)``.
    var bareOrigins: [ObjectOrigin?]
    /// Changed objects, in the order of their first change. Some may have become unchanged again.
    var changedObjects: [ManagedObject] = []
    /// References to deleted objects in objects that have not been read; the save clears them in the store.
    var clearings: [ChangeSet.Clearing] = []
    /// By position of the topmost entity, the keys of objects that saves have deleted as far as the context heard of it:
    /// a row that was read before may still lead to one.
    var deletedKeys: [Int: Set<Int64>] = [:]
    /// Objects that others deleted and that live on for their changes, until their relationships have been mended.
    var goneObjects: [ManagedObject] = []
    /// Grows with every change; tells whether hooks changed anything.
    @exclusivity(unchecked) var changeCount = 0
    /// From the beginning of a save until its objects are clean.
    var isSaving = false
    /// While a save waits for a back end, and its objects may be changed.
    var isSavingElsewhere = false
    /// Saves that wait for that one.
    var waitingSaves: [CheckedContinuation<Void, Never>] = []
    /// The keys of objects that may have loaded members of a relationship that is kept as pairs, by its qualified name:
    /// what a delete elsewhere has to look at. Some may have forgotten theirs again.
    var pairHolders: [String: Set<Int64>] = [:]
    /// While `awakeFromFetch` runs, changes do not count.
    @exclusivity(unchecked) var isAwakening = false
    // These are parts of every write or look-up and loaded and stored as a whole; there is no overlapping access to look for.
    var keys = KeySupply()
    /// IDs of inserted objects that became rows of another key.
    @exclusivity(unchecked) var aliases: [ObjectID: Int64] = [:]

    private static let counter = Atomic<Int>(0)

    init(coordinator: StoreCoordinator, parent: ManagedObjectContext?, observesObjects: Bool) {
        self.coordinator = coordinator
        self.parent = parent
        self.observesObjects = observesObjects
        mergePolicy = parent?.mergePolicy ?? .error
        automaticallyMergesChanges = false
        number = Self.counter.add(1, ordering: .relaxed).newValue
        mailbox = NoticeMailbox(contextNumber: number)
        var tablesByRoot: [Int: ObjectTable] = [:]
        tables = coordinator.model.entities.map { entity in
            if let table = tablesByRoot[entity.rootIndex] { return table }
            let table = ObjectTable()
            tablesByRoot[entity.rootIndex] = table
            return table
        }
        home = ContextHome(context: nil, tables: tables)
        bareOrigins = Array(repeating: nil, count: tables.count)
        home.context = self
        if parent == nil { coordinator.add(mailbox) }
    }

    deinit { forgetAll() }

    /// The model of the container.
    public var model: ManagedObjectModel { coordinator.model }

    /// Makes a context whose saves go to this one, in memory. It sees the unsaved changes of this one, and lives in the
    /// same isolation domain.
    public func makeChild() -> ManagedObjectContext {
        ManagedObjectContext(coordinator: coordinator, parent: self, observesObjects: observesObjects)
    }

    // MARK: What there is

    /// Whether any object is inserted, updated or deleted.
    public var hasChanges: Bool { changedObjects.contains(where: \.hasChanges) || !clearings.isEmpty }
    /// New objects.
    public var insertedObjects: Set<ManagedObject> {
        Set(changedObjects.filter { $0.isInserted && !$0.flags.contains(.deleted) })
    }
    /// Changed objects.
    public var updatedObjects: Set<ManagedObject> {
        Set(changedObjects.filter { $0.isUpdated && $0.flags.isDisjoint(with: [.deleted, .inserted]) })
    }
    /// Deleted objects.
    public var deletedObjects: Set<ManagedObject> { Set(changedObjects.filter { $0.flags.contains(.deleted) }) }
    /// All objects that the context knows at the moment.
    public var registeredObjects: Set<ManagedObject> { Set(allObjects) }

    /// The object of an ID if the context knows it. Reads nothing.
    public func registeredObject(for id: ObjectID) -> ManagedObject? {
        guard let index = ownEntityIndex(of: id) else { return nil }
        return tables[index].object(key(of: id))
    }

    /// The object of an ID: the one that the context knows, else a fault. Reads nothing, and does not know whether
    /// there is a row; ``ManagedObject/isMissing`` tells after the first touch. Only where other entities inherit from
    /// the ID's one, the row is read, because it alone tells the class.
    /// - Throws: ``PersistenceError/foreignObject(_:)`` if the ID is of another store.
    public func object(with id: ObjectID) throws(PersistenceError) -> ManagedObject {
        if let object = registeredObject(for: id) { return object }
        guard let entity = ownEntity(of: id) else { throw .foreignObject(id) }
        if entity.hasSubentities,
            let row = try sourceRows(entityIndex: entity.index, keys: [key(of: id)]).first
        {
            return materialize(row, group: nil)
        }
        return makeFault(key: key(of: id), binding: coordinator.bindings[entity.index])
    }

    /// The object of an ID, with its row: read now unless the context has it.
    /// - Throws: ``PersistenceError/objectNotFound(_:)`` if there is no row, or the object is deleted in this context;
    ///   the store's error if reading fails.
    public func existingObject(with id: ObjectID) throws(PersistenceError) -> ManagedObject {
        processPendingChanges()
        if let object = registeredObject(for: id), !object.isFault {
            guard !object.isDeleted else { throw .objectNotFound(id) }
            return object
        }
        guard let entity = ownEntity(of: id) else { throw .foreignObject(id) }
        let rows = try sourceRows(entityIndex: entity.index, keys: [key(of: id)])
        guard let row = rows.first, model.entities[row.row.entityIndex].descends(from: entity.index, in: model) else {
            throw .objectNotFound(id)
        }
        let object = materialize(row, group: nil)
        if row.row.isHeaderOnly { try load(object) }
        guard !object.isDeleted else { throw .objectNotFound(id) }
        return object
    }

    /// As ``existingObject(with:)``, of a class.
    /// - Throws: ``PersistenceError/objectNotFound(_:)`` also if the object is of another class.
    public func existingObject<T: ManagedObject>(_ type: T.Type, with id: ObjectID) throws(PersistenceError) -> T {
        guard let object = try existingObject(with: id) as? T else { throw .objectNotFound(id) }
        return object
    }

    // MARK: Forgetting

    /// Forgets all objects and changes. Objects that somebody holds have no context any more.
    public func reset() {
        forgetAll()
        home = ContextHome(context: self, tables: tables)
        aliases = [:]
        _ = mailbox.takeAll()
    }

    private func forgetAll() {
        home.context = nil
        bareOrigins = Array(repeating: nil, count: tables.count)
        pairHolders = [:]
        let changed = changedObjects
        clearings = []
        deletedKeys = [:]
        changedObjects = []
        for object in changed {
            object.flags.remove(.changed)
            object.flags.remove(.listed)
        }
        // Members keep each other alive; the others need not be told. The tables are empty before the first object goes.
        let holders = roots.flatMap { tables[$0].objects { $0.extras != nil } }
        for root in roots { tables[root].removeAll() }
        for object in holders { object.forgetMembers() }
    }

    /// Takes an object out of the context for good.
    func detach(_ object: ManagedObject) {
        tables[object.binding.entity.index].remove(object, key: object.key)
        object.flags.insert(.detached)
        object.extras?.group = nil
        object.forgetMembers()
    }

    /// The positions of the entities that inherit from none.
    private var roots: [Int] { model.entities.filter { $0.parentIndex == nil }.map(\.index) }

    var allObjects: [ManagedObject] {
        roots.flatMap { tables[$0].objects }
    }

    // MARK: Helpers

    func binding(at index: Int) -> EntityBinding { coordinator.bindings[index] }

    /// Puts an object among the changed ones.
    func list(_ object: ManagedObject) {
        guard !object.flags.contains(.listed) else { return }
        object.flags.insert(.listed)
        changeCount &+= 1
        changedObjects.append(object)
    }

    /// The key under which the context knows the object of an ID.
    @inline(__always)
    private func key(of id: ObjectID) -> Int64 { aliases.isEmpty ? id.key : aliases[id] ?? id.key }

    /// The entity of an ID by this context's model, if the ID is of this store.
    func ownEntity(of id: ObjectID) -> EntityDescription? { ownEntityIndex(of: id).map { model.entities[$0] } }

    private func ownEntityIndex(of id: ObjectID) -> Int? {
        guard id.storeIdentifier == coordinator.storeIdentifier else { return nil }
        let index = id.entity.index
        // The ID of an object of this container names the very description; one that was read from a URI by another
        // model names it by name.
        if index < model.entities.count, model.entities[index] === id.entity { return index }
        return model.entity(named: id.entity.name)?.index
    }

    func report(_ error: PersistenceError, _ object: ManagedObject) {
        lastFaultError = error
        onFaultError?(error, object)
    }

    /// The bytes of a value that stands in a file of its own; nil, and the error reported, if the file cannot be read.
    func externalData(named name: String, of object: ManagedObject) -> Data? {
        do throws(PersistenceError) {
            return try store { () throws(StoreError) in try coordinator.store.externalData(named: name) }
        } catch {
            report(error, object)
            return nil
        }
    }
}
