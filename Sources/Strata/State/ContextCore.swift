import Foundation
import StrataStore

/// The implementation of a ``ManagedObjectContext``: one part for each duty, and each part owns its state.
///
/// The public context is a handle to a core. Objects keep the core, not the handle, so that they can always read. When
/// the handle is released, the core is closed: pending changes are dropped, and writes are no longer possible.
final class ContextCore {
    let coordinator: StoreCoordinator
    /// The context that saves go to; nil for one that saves to the store.
    let parent: ManagedObjectContext?
    /// Where the commits of other contexts arrive.
    let inbox: CommitInbox
    let identityMap: IdentityMap
    let tracker: ChangeTracker
    /// References to deleted objects in rows that the context has not read.
    let nullifications: DeferredNullifications
    let factory: ObjectFactory
    /// Who has loaded members of which many-to-many relationship.
    let pairOwners: PairOwners
    /// Relationship changes that wait for rows which could not be read.
    let unresolved: UnresolvedOperations
    let saves: SaveCoordinator
    var settings: ContextSettings
    /// The public context; nil once it is gone, and the core is closed. The handle clears it in its `deinit`, so it
    /// never dangles. It is loaded and stored as a whole, in one isolation domain, so there is no overlapping access to
    /// check.
    @exclusivity(unchecked) private(set) unowned(unsafe) var handle: ManagedObjectContext?

    init(
        coordinator: StoreCoordinator, parent: ManagedObjectContext?, settings: ContextSettings,
        inbox: CommitInbox
    ) {
        self.coordinator = coordinator
        self.parent = parent
        self.settings = settings
        self.inbox = inbox
        identityMap = IdentityMap(coordinator: coordinator, parent: parent?.core.identityMap)
        tracker = ChangeTracker()
        nullifications = DeferredNullifications()
        factory = ObjectFactory(tracker: tracker, observesObjects: settings.observesObjects)
        pairOwners = PairOwners()
        unresolved = UnresolvedOperations()
        saves = SaveCoordinator()
        nullifications.attach(to: self)
        factory.attach(to: self)
        pairOwners.attach(to: self)
        unresolved.attach(to: self)
        saves.attach(to: self)
    }

    /// Opens the core for the public context.
    func open(_ handle: ManagedObjectContext) { self.handle = handle }

    var model: ManagedObjectModel { coordinator.model }

    /// What changed since the last boundary, for those who want to know; nil until there is a listener.
    var recorder: ChangeRecorder? { tracker.recorder }

    /// The same, created for the first listener.
    var someRecorder: ChangeRecorder { tracker.makeRecorder(for: self) }

    /// Whether the public context is gone.
    var isClosed: Bool { handle == nil }

    /// Whether any object is inserted, updated or deleted.
    var hasChanges: Bool { tracker.hasChanges || !nullifications.isEmpty }

    /// The object of a key, if the context knows it.
    @inline(__always)
    func object(_ entityIndex: Int, _ key: Int64) -> ManagedObject? { identityMap.table(entityIndex).object(key) }

    /// Whether a reference to a key may be older than the delete of its object. A child follows what its parent knows to be
    /// deleted, or has deleted itself.
    func mayBeDeleted(_ key: Int64, rootIndex: Int) -> Bool {
        if identityMap.mayBeDeleted(key, rootIndex: rootIndex) { return true }
        guard let below = parent?.core else { return false }
        return below.object(rootIndex, key)?.isDeleted == true || below.mayBeDeleted(key, rootIndex: rootIndex)
    }

    func binding(at entityIndex: Int) -> EntityBinding { coordinator.bindings[entityIndex] }

    /// The position of the topmost entity of a hierarchy.
    func rootIndex(of entityIndex: Int) -> Int { model.entities[entityIndex].rootIndex }

    /// The position of the entity of an ID in this context's model, if the ID is of this store.
    func ownEntityIndex(of id: ObjectID) -> Int? {
        let index = id.entity.index
        let entities = coordinator.model.entities
        // The ID of an object of this container names the very description. With one store, this is all that a lookup takes.
        if let only = coordinator.onlyStoreIdentifier, only == id.storeIdentifier, index < entities.count,
            entities[index] === id.entity
        {
            return index
        }
        return foundEntityIndex(of: id)
    }

    /// As ``ownEntityIndex(of:)``, also among several stores, and for an ID that was read from a URI by another model and
    /// names its entity by name.
    private func foundEntityIndex(of id: ObjectID) -> Int? {
        let entities = coordinator.model.entities
        var index = id.entity.index
        if index >= entities.count || entities[index] !== id.entity {
            guard let named = coordinator.model.entity(named: id.entity.name) else { return nil }
            index = named.index
        }
        return id.storeIdentifier == coordinator.bindings[index].storeIdentifier ? index : nil
    }

    /// The entity of an ID by this context's model, if the ID is of this store.
    func ownEntity(of id: ObjectID) -> EntityDescription? { ownEntityIndex(of: id).map { model.entities[$0] } }

    /// The ID of a row.
    func objectID(_ identity: RowIdentity) -> ObjectID {
        coordinator.objectID(identity.entityIndex, identity.key)
    }

    /// Asks the store, or the version of it that the context is pinned to, for rows, and wraps its errors.
    func readStore<R>(_ body: (any StoreReader) throws(StoreError) -> R) throws(PersistenceError) -> R {
        do throws(StoreError) {
            if let replica, pin == nil { return try replica.read(body) }
            guard let pin, !pin.isSuspended else { return try body(coordinator.store) }
            return try body(try pin.version.get())
        } catch {
            throw PersistenceError(error)
        }
    }

    /// Asks the store for what no version of it has, and wraps its errors.
    func store<R>(_ body: (any PersistentStore) throws(StoreError) -> R) throws(PersistenceError) -> R {
        do { return try body(coordinator.store) } catch { throw PersistenceError(error) }
    }

    /// Tells the application that the store failed where nothing can be thrown: in an accessor.
    func report(_ error: PersistenceError, _ object: ManagedObject) {
        settings.faultErrors.last = error
        settings.faultErrors.lastReadFailure = error
        settings.faultErrors.readFailureCount += 1
        settings.faultErrors.handler?(error, object)
    }

    /// Tells the application of a damaged value. Unlike a failure of the store, it does not stop a computation that reads it.
    func report(_ damage: DamagedValue, _ object: ManagedObject) {
        settings.faultErrors.last = .damagedValue(damage)
        settings.faultErrors.handler?(.damagedValue(damage), object)
    }

    /// Runs a computation that reads properties, and fails if one of them could not be read.
    func reading<R>(_ body: () throws(PersistenceError) -> R) throws(PersistenceError) -> R {
        let count = settings.faultErrors.readFailureCount
        let result = try body()
        if settings.faultErrors.readFailureCount != count, let error = settings.faultErrors.lastReadFailure {
            throw error
        }
        return result
    }

    /// Runs a closure that changes objects, and takes all changes back if it throws.
    func undoingOnFailure<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        let savepoint = ContextSavepoint(of: self)
        do throws(E) {
            return try body()
        } catch {
            savepoint.restore(self)
            throw error
        }
    }

    /// The bytes of an externally stored value; nil, and the error reported, if the file cannot be read.
    func externalData(named name: String, of object: ManagedObject) -> Data? {
        do throws(PersistenceError) {
            do throws(StoreError) {
                return try coordinator.store(of: object.binding.entity.index).externalData(named: name)
            } catch {
                throw PersistenceError(error)
            }
        } catch {
            report(error, object)
            return nil
        }
    }

    /// Drops all pending changes and everything that objects keep of each other. Objects that your code holds go on
    /// reading the store.
    func close() {
        inbox.isOpen = false
        let changed = tracker.objects
        tracker.close()
        nullifications.removeAll()
        unresolved.removeAll()
        saves.checks.removeAll()
        saves.source = nil
        pairOwners.removeAll()
        factory.forgetSharedSources()
        for object in changed { object.dropChanges() }
        // What objects keep of each other may form cycles, which nothing would break later.
        for object in identityMap.objects { object.releaseRelated() }
        identityMap.returnUnusedKeys()
        handle = nil
    }
}
