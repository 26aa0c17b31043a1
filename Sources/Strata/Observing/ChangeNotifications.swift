import Foundation
import StrataStore

extension Notification.Name {
    /// Posted at a boundary at which objects of a context have changed; the notification's object is the context.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static let ManagedObjectContextObjectsDidChange = Notification.Name("ManagedObjectContextObjectsDidChange")
    /// Posted before a context saves.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static let ManagedObjectContextWillSave = Notification.Name("ManagedObjectContextWillSave")
    /// Posted after a context has saved.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static let ManagedObjectContextDidSave = Notification.Name("ManagedObjectContextDidSave")
    /// Posted, on any thread, after another process or container has written to the store; the notification's object is
    /// the store.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static let PersistentStoreRemoteChange = Notification.Name("PersistentStoreRemoteChange")
}

extension ManagedObjectContext {
    /// What is in the user info of a context's notifications.
    public enum NotificationKey {
        /// The IDs of the inserted objects, a `Set<ObjectID>`.
        public static let insertedObjectIDs = "inserted_objectIDs"
        /// The IDs of the updated objects, a `Set<ObjectID>`.
        public static let updatedObjectIDs = "updated_objectIDs"
        /// The IDs of the deleted objects, a `Set<ObjectID>`.
        public static let deletedObjectIDs = "deleted_objectIDs"
        /// The IDs of the refreshed objects, a `Set<ObjectID>`.
        public static let refreshedObjectIDs = "refreshed_objectIDs"
        /// Present, and true, if anything may have changed.
        public static let invalidatedAllObjects = "invalidatedAll"
    }
}

/// Posts what happens in a context to a notification center, in the isolation of the context.
final class ChangeNotifications: BoundaryListener {
    private let center: NotificationCenter
    private weak var context: ManagedObjectContext?
    private var waiting: [ContextChange] = []

    init(_ context: ManagedObjectContext, _ center: NotificationCenter) {
        self.center = center
        self.context = context
    }

    func boundaryReached(_ changes: BoundaryChanges, _ core: ContextCore) {
        guard !changes.isEmpty else { return }
        let change = ContextChange(changes, core)
        if !change.isEmpty { waiting.append(change) }
    }

    func boundaryPassed() {
        let changes = waiting
        waiting = []
        for change in changes {
            post(
                .ManagedObjectContextObjectsDidChange, inserted: change.inserted, updated: Set(change.updated.keys),
                deleted: change.deleted, refreshed: Set(change.refreshed.keys), isEverything: change.isEverything)
        }
    }

    func willSave() { center.post(name: .ManagedObjectContextWillSave, object: context) }

    func didSave(_ changes: ChangeSet, _ core: ContextCore) {
        func ids(_ rows: [RowReference]) -> Set<ObjectID> {
            Set(rows.map { core.objectID(RowIdentity(entityIndex: $0.entityIndex, key: $0.key)) })
        }
        post(
            .ManagedObjectContextDidSave, inserted: ids(changes.inserts.map(\.row)),
            updated: ids(changes.updates.map(\.row)),
            deleted: Set(
                changes.deletes.map { core.objectID(RowIdentity(entityIndex: $0.entityIndex, key: $0.key)) }))
    }

    private func post(
        _ name: Notification.Name, inserted: Set<ObjectID>, updated: Set<ObjectID>, deleted: Set<ObjectID>,
        refreshed: Set<ObjectID> = [], isEverything: Bool = false
    ) {
        var info: [AnyHashable: Any] = [:]
        let lists = [
            (ManagedObjectContext.NotificationKey.insertedObjectIDs, inserted),
            (ManagedObjectContext.NotificationKey.updatedObjectIDs, updated),
            (ManagedObjectContext.NotificationKey.deletedObjectIDs, deleted),
            (ManagedObjectContext.NotificationKey.refreshedObjectIDs, refreshed),
        ]
        for (key, list) in lists where !list.isEmpty { info[key] = list }
        if isEverything { info[ManagedObjectContext.NotificationKey.invalidatedAllObjects] = true }
        center.post(name: name, object: context, userInfo: info)
    }
}

extension PersistentContainer {
    /// Where the contexts that are made from now on post what happens in them; nil, the default, for nowhere, which costs
    /// nothing. Set it before you make contexts:
    ///
    ///     container.notificationCenter = .default
    ///
    /// A context posts in its own isolation, and the notification's object is the context. In new code, prefer
    /// ``changes`` and ``ManagedObjectContext/changes``, which the compiler checks.
    public var notificationCenter: NotificationCenter? {
        get { coordinator.notificationCenter.withLock(\.self) }
        set { coordinator.notificationCenter.withLock { $0 = newValue } }
    }
}
