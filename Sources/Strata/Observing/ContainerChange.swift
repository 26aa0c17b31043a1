import Foundation
import StrataStore

/// The changes that were committed to the store of a container: one commit, or several if a reader is slow.
///
///     for await change in container.changes where !change.authors.contains("import") {
///         if change.isEverything { print("anything may have changed"); continue }
///         for (id, names) in change.updated { print(id, names.sorted()) }
///     }
///
/// ``PersistentContainer/changes`` gives them. It says which objects changed and in which properties, but not the values; fetch
/// them by their IDs. If you are slow, commits are combined: an object that was inserted and deleted is not mentioned.
///
/// Always look at ``isEverything``: what another process has committed to a file is not known object by object, and more than
/// ``mostObjects`` are not listed. To go through all transactions without a gap, even those of a time at which the app did
/// not run, use the history of the store: ``PersistentContainer/history(after:where:limit:)``.
public struct ContainerChange: Sendable {
    /// Objects that were inserted.
    public internal(set) var inserted: Set<ObjectID> = []
    /// Objects that were updated, with the names of the properties that were written. No names: something about the object
    /// changed, and it is not known what.
    public internal(set) var updated: [ObjectID: Set<String>] = [:]
    /// Objects that were deleted.
    public internal(set) var deleted: Set<ObjectID> = []
    /// The authors of the commits, as far as their contexts name them; see ``ManagedObjectContext/author``.
    public internal(set) var authors: Set<String> = []
    /// Whether another process, another container on the same file, or a server committed.
    public internal(set) var isFromElsewhere = false
    /// Whether anything may have changed: another process wrote, or too much happened to be listed. The lists may be
    /// incomplete then.
    public internal(set) var isEverything = false

    /// The number of objects in one change beyond which it says ``isEverything``.
    public static let mostObjects = 10_000

    init() {}

    /// Adds what was committed afterwards.
    mutating func append(_ next: ContainerChange) {
        authors.formUnion(next.authors)
        isFromElsewhere = isFromElsewhere || next.isFromElsewhere
        isEverything = isEverything || next.isEverything
        for id in next.deleted {
            updated[id] = nil
            if inserted.remove(id) == nil { deleted.insert(id) }
        }
        for id in next.inserted {
            if deleted.remove(id) != nil { updated[id] = [] } else { inserted.insert(id) }
        }
        for (id, names) in next.updated where !inserted.contains(id) { updated[id, default: []].formUnion(names) }
        guard inserted.count + updated.count + deleted.count > Self.mostObjects else { return }
        isEverything = true
        inserted = []
        updated = [:]
        deleted = []
    }
}

extension ContainerChange {
    /// What a commit comes to.
    init(_ notification: CommitNotification, _ coordinator: StoreCoordinator) {
        let model = coordinator.model
        isFromElsewhere = notification.contextNumber == nil
        if let author = notification.changes.author { authors = [author] }
        var touches = BoundaryChanges()
        touches.note(notification, model)
        func id(_ identity: RowIdentity) -> ObjectID { coordinator.objectID(identity.entityIndex, identity.key) }
        for touch in touches.rows {
            switch touch.kind {
            case .inserted: inserted.insert(id(touch.identity))
            case .deleted: deleted.insert(id(touch.identity))
            case .updated, .unknown:
                let entity = model.entities[touch.identity.entityIndex]
                var names: Set<String> = []
                for slot in touch.slots ?? SlotSet() where slot < entity.slots.count {
                    names.insert(entity.slots[slot].name)
                }
                if let index = touch.toManyIndex {
                    names.insert(entity.relationships[entity.toManyIndexes[index]].name)
                }
                updated[id(touch.identity), default: []].formUnion(names)
            }
        }
        for id in inserted { updated[id] = nil }
        for id in deleted { updated[id] = nil }
    }
}
