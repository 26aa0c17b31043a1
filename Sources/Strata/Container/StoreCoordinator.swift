import Foundation
import StrataStore

/// What all contexts of a container share: the store, the bindings of classes to entities, the row cache, the supply of
/// keys, and the inboxes of those that want to hear about commits.
///
/// All stored properties are constants that contexts share without locks, or guard themselves; that is why there are more
/// than a dozen.
final class StoreCoordinator: Sendable {
    let store: any PersistentStore
    /// Whether a part of any store is elsewhere.
    let hasNetwork: Bool
    /// By position of the entity, its store if a part of that is elsewhere; empty if there is no such store.
    private let networks: [StoreNetwork?]
    /// Whether contexts can read copies of the store. Most stores have none, and every read asks.
    let hasReplicas: Bool
    /// The stores, if there are several.
    let set: StoreSet?
    /// The store of all objects; nil if there are several.
    let onlyStoreIdentifier: UUID?
    let model: ManagedObjectModel
    /// By position of the entity in the model.
    let bindings: [EntityBinding]
    let rowCache = RowCache()
    let keys: KeyAllocator
    /// The lane of asynchronous commits.
    let commits: CommitQueue
    /// The bindings of objects for missing targets.
    let placeholders = PlaceholderBindings()
    private let bindingsByClass: [ObjectIdentifier: EntityBinding]
    /// Those who want to hear about each commit.
    let listeners = CommitListeners()
    /// Where new contexts post notifications.
    let notificationCenter = Guarded<NotificationCenter?>(nil)
    /// Keeps this one listening to commits of others on the same file, once there is a listener.
    let foreignCommits = Guarded<StoreObservation?>(nil)
    /// How many commits of others are known here.
    let foreignCount: Guarded<ForeignCommitCount>
    /// Up to where the history of the store has been read for the commits of others; nil if they are not in its history.
    let foreignToken = Guarded<HistoryToken?>(nil)
    private let inboxes = Guarded(InboxList())
    /// Keeps this one listening to the store.
    private let observation = Guarded<StoreObservation?>(nil)

    private struct WeakInbox: Sendable {
        weak var inbox: CommitInbox?
    }

    /// The inboxes of contexts that have merged commits. Those of released contexts are swept out each time the list has
    /// doubled: sweeping at every new one would take quadratic time.
    private struct InboxList: Sendable {
        var entries: [WeakInbox] = []
        var sweepSize = 16
    }

    init(store: any PersistentStore, classes: [ManagedObject.Type]) throws(PersistenceError) {
        self.store = store
        keys = KeyAllocator(store: store)
        foreignCount = Guarded(store.foreignCommitCount())
        commits = CommitQueue(store: store)
        let set = store as? StoreSet
        self.set = set
        networks = Self.networks(store, set)
        hasNetwork = !networks.isEmpty
        hasReplicas = store.replicaReader(isFresh: true) != nil
        onlyStoreIdentifier = set == nil ? store.identifier : nil
        self.model = store.model
        var classOf: [String: ManagedObject.Type] = [:]
        for objectClass in classes {
            guard let entity = store.model.entity(named: objectClass.entityName) else {
                throw .classMismatch(
                    entity: objectClass.entityName, className: "\(objectClass)",
                    reason: "the model \(store.model.name) has no such entity")
            }
            guard objectClass.layoutHash == 0 || objectClass.layoutHash == entity.layoutHash else {
                throw .classMismatch(
                    entity: entity.name, className: "\(objectClass)",
                    reason: "it was generated for other properties than the model \(store.model.name) declares")
            }
            classOf[entity.name] = objectClass
        }
        let entities = store.model.entities
        bindings = entities.map { entity in
            let objectClass = classOf[entity.name] ?? ManagedObject.self
            let isClosed = entity.descendantIndexes.allSatisfy {
                objectClass.includes(classOf[entities[$0].name] ?? ManagedObject.self)
            }
            return EntityBinding(
                model: store.model, entity: entity, objectClass: objectClass, isClosed: isClosed,
                storeIdentifier: set?.part(of: entity.index).store.identifier ?? store.identifier)
        }
        bindingsByClass = Dictionary(
            bindings.filter { $0.objectClass != ManagedObject.self }.map { (ObjectIdentifier($0.objectClass), $0) },
            uniquingKeysWith: { first, _ in first })
        observation.withLock { $0 = store.changes?.observe { [weak self] change in self?.take(change) } }
    }

    func binding(for objectClass: ManagedObject.Type) -> EntityBinding? {
        bindingsByClass[ObjectIdentifier(objectClass)]
    }

    private static func networks(_ store: any PersistentStore, _ set: StoreSet?) -> [StoreNetwork?] {
        if let store = store as? any NetworkStore {
            return Array(repeating: StoreNetwork(store), count: store.model.entities.count)
        }
        guard let set, set.parts.contains(where: { $0.store is any NetworkStore }) else { return [] }
        return store.model.entities.map { StoreNetwork(set.part(of: $0.index)) }
    }

    /// The store of an entity, if a part of it is elsewhere.
    func network(of entityIndex: Int) -> StoreNetwork? { hasNetwork ? networks[entityIndex] : nil }

    /// The store that keeps an entity.
    func store(of entityIndex: Int) -> any PersistentStore { set?.part(of: entityIndex).store ?? store }

    /// The ID of an object.
    func objectID(_ entityIndex: Int, _ key: Int64) -> ObjectID {
        let binding = bindings[entityIndex]
        return ObjectID(entity: binding.entity, key: key, storeIdentifier: binding.storeIdentifier)
    }

    /// Registers the inbox of a context that merges commits, for as long as the context lives.
    func add(_ inbox: CommitInbox) {
        inboxes.withLock { list in
            if list.entries.count >= list.sweepSize {
                list.entries.removeAll { $0.inbox == nil }
                list.sweepSize = max(16, list.entries.count * 2)
            }
            list.entries.append(WeakInbox(inbox: inbox))
        }
    }

    /// Forgets cached rows that may refer to deleted objects: the store has set such references to nil.
    func forgetRows(referringTo deletes: [ChangeSet.Delete]) {
        let roots = Set(deletes.map { model.entities[$0.entityIndex].rootIndex })
        guard !roots.isEmpty else { return }
        for entity in model.entities {
            let refers = bindings[entity.index].toOnes.contains {
                roots.contains(model.entities[$0.relationship.destinationIndex].rootIndex)
            }
            if refers { rowCache.forget(rootIndex: entity.rootIndex) }
        }
    }

    /// Tells every other context of a commit.
    func broadcast(_ notification: CommitNotification) {
        let receivers = inboxes.withLock { list in list.entries.compactMap(\.inbox) }
        for inbox in receivers where inbox.contextNumber != notification.contextNumber { inbox.post(notification) }
        listeners.post { ContainerChange(notification, self) }
    }

    /// Tells every other context of keys, because there are too many rows to describe each.
    func announce(_ keys: [Int: Set<Int64>], from contextNumber: Int) {
        self.keys.storeWasWritten()
        // Rows that referred to deleted ones may be anywhere.
        rowCache.forgetAll()
        let receivers = inboxes.withLock { list in list.entries.compactMap(\.inbox) }
        for inbox in receivers where inbox.contextNumber != contextNumber { inbox.post(keys) }
        listeners.post {
            var change = ContainerChange()
            change.isEverything = true
            return change
        }
    }

    /// Whether there are contexts that merge changes, besides one of them, or listeners for commits.
    func hasReceivers(besides contextNumber: Int) -> Bool {
        let receivers = inboxes.withLock { list in list.entries.compactMap(\.inbox) }
        return listeners.hasListeners || receivers.contains { $0.contextNumber != contextNumber && $0.isOpen }
    }

    /// Forgets all rows after a change of which nothing is known, because nobody had to be told. Contexts that began to merge
    /// changes in the meantime refresh everything.
    func announceUnlisted(from contextNumber: Int) {
        keys.storeWasWritten()
        rowCache.forgetAll()
        let receivers = inboxes.withLock { list in list.entries.compactMap(\.inbox) }
        for inbox in receivers where inbox.contextNumber != contextNumber { inbox.postEverything() }
        listeners.post {
            var change = ContainerChange()
            change.isEverything = true
            return change
        }
    }

    /// Tells every context of keys that others have written.
    func broadcast(_ keys: [Int: Set<Int64>]) {
        let receivers = inboxes.withLock { list in list.entries.compactMap(\.inbox) }
        for inbox in receivers { inbox.post(keys) }
    }

    /// Tells every context that anything may have changed.
    func broadcastEverything() {
        let receivers = inboxes.withLock { list in list.entries.compactMap(\.inbox) }
        for inbox in receivers { inbox.postEverything() }
    }
}
