/// A working copy of part of the object graph: objects that were fetched or inserted, and their changes, until you save
/// them.
///
///     let context = container.newContext()
///     let continent = Continent(context: context, continentId: "SA", name: "South America")
///     continent.name = "South America and the Caribbean"
///     try await context.save()  // one transaction
///
/// A context and its objects live in the isolation domain that created them: the main actor for
/// ``PersistentContainer/viewContext``, a serial queue for ``BackgroundContext``, or an actor or task of yours that
/// called ``PersistentContainer/newContext(automaticallyMergesChanges:reading:)``. The compiler rejects code that would let
/// them escape.
///
/// A context has one object for each ID. It holds its objects weakly, unless they are changed, and they do not hold it.
/// You can read an object as long as you keep it, even without its context. To change objects, keep the context in a
/// variable or property until you have saved. Changes that are pending when the context is released are dropped.
///
/// Commits of other contexts are merged at a boundary: before a fetch, a save, a `perform`, or at
/// ``processPendingChanges()``.
public final class ManagedObjectContext {
    /// The context that created this one with ``makeChild()``; nil for a context that saves to the store, and for one whose
    /// parent lives in another isolation domain.
    public var parent: ManagedObjectContext? { core.settings.parentLink == nil ? below : nil }
    /// The parent in this isolation domain, or what shows the state of one in another.
    private let below: ManagedObjectContext?
    /// Everything that the context knows; replaced by each ``reset()``.
    private(set) var core: ContextCore

    /// - Parameter isVisible: Whether the application can have the context, and so is notified of its changes.
    init(
        coordinator: StoreCoordinator, parent: ManagedObjectContext?, settings: ContextSettings, isVisible: Bool = true
    ) {
        below = parent
        core = ContextCore(
            coordinator: coordinator, parent: parent, settings: settings, inbox: CommitInbox(coordinator))
        core.open(self)
        guard isVisible, let center = coordinator.notificationCenter.withLock(\.self) else { return }
        let notifications = ChangeNotifications(self, center)
        core.settings.notifications = notifications
        core.someRecorder.add(notifications)
    }

    deinit {
        core.recorder?.end()
        core.close()
    }

    /// The model of the container.
    public var model: ManagedObjectModel { core.model }

    /// How a save resolves conflicts with changes that are already in the store; the container's
    /// ``PersistentContainer/defaultMergePolicy`` for a new context.
    ///
    ///     context.mergePolicy = .objectWinsByProperty
    ///
    /// You can change it between two saves, for instance to repeat one that has thrown ``PersistenceError/conflicts(_:)``. See
    /// ``setMergePolicy(_:for:)`` for single entities and ``onPropertyConflict`` for single properties.
    public var mergePolicy: MergePolicy {
        get { core.settings.merging.policy }
        set { core.settings.merging.policy = newValue }
    }

    /// A name for messages and logs; nil unless you set it. The history of the store records it with each save.
    ///
    ///     context.name = "import of \(Date.now.formatted())"
    public var name: String? {
        get { core.settings.name }
        set { core.settings.name = newValue }
    }

    /// The author of the context's changes, which each save passes to the store.
    ///
    ///     context.author = "import"
    ///     try context.save()
    ///     let others = try container.history(after: token, where: HistoryFilter.all.excluding(authors: "import"))
    public var author: String? {
        get { core.settings.author }
        set { core.settings.author = newValue }
    }

    /// Stops the fetches and counts that the context waits for, from any thread: they throw ``StoreError/cancelled``.
    package var readCancellation: ReadCancellation? {
        get { core.settings.readCancellation }
        set { core.settings.readCancellation = newValue }
    }

    /// Whether commits of other contexts of the container are merged at boundaries. If false, objects stay as they are
    /// until you refresh them.
    ///
    /// A child context merges what changes in its parent: the parent's edits, the saves of other children, and what the parent
    /// itself merges, at each boundary of the parent. Without it, which is the default, a child shows the parent's state at the
    /// time of each read.
    ///
    /// Pending changes are rebased onto the merged state: if both sides changed one property, the later save wins,
    /// whatever the merge policy. Leave it false if that must be a conflict.
    ///
    /// A context that merges rarely costs little memory. After many commits it refreshes its objects instead of merging
    /// commit by commit: unchanged objects become faults.
    public var automaticallyMergesChanges: Bool {
        get {
            guard below == nil else { return core.recorder?.followsParent == true }
            return core.settings.pin?.mergesAfterwards ?? core.inbox.isOpen
        }
        set {
            if below == nil, let pin = core.settings.pin {
                pin.mergesAfterwards = newValue
            } else if below == nil {
                core.inbox.isOpen = newValue
            } else if newValue || core.recorder != nil {
                core.someRecorder.followsParent = newValue
            }
        }
    }

    /// Called when the store fails to read a fault or the file of a binary value. The property reads as zero or empty
    /// then, and the next access tries again.
    ///
    ///     context.onFaultError = { error, object in print("cannot read \(object.objectID): \(error)") }
    ///
    /// Reading a property cannot throw, so set a closure if your app must know, for instance because the store is on a volume
    /// that can disappear. Without one, look at ``lastFaultError``.
    ///
    /// Also called, once for each object and property, when the store holds a value that is not a value of the attribute:
    /// ``PersistenceError/damagedValue(_:)``. The property reads as nil, or as zero if the model requires a value, and the
    /// store keeps what it has until you set the property.
    public var onFaultError: ((PersistenceError, ManagedObject) -> Void)? {
        get { core.settings.faultErrors.handler }
        set { core.settings.faultErrors.handler = newValue }
    }

    /// The last error that ``onFaultError`` was called with, or would have been; nil if there was none.
    public var lastFaultError: PersistenceError? { core.settings.faultErrors.last }

    /// Creates a child context whose saves go to this context, in memory.
    ///
    ///     let draft = context.makeChild()
    ///     try draft.existingObject(City.self, with: city.objectID).name = "Ciudad de los Reyes"
    ///     try draft.save()  // now `context` has the change, unsaved
    ///
    /// Use a child for changes that the user may cancel, in an editor for instance: save it to keep the changes, or drop it.
    /// Save the parent afterwards to write them to the store. The child has objects of its own, so look them up by ID.
    ///
    /// The child sees the unsaved changes of this context, lives in the same isolation domain, and keeps this context alive. A
    /// save overwrites pending changes of the parent to the same properties. If others have saved an object since the child read it,
    /// the child's save meets a conflict, which the ``mergePolicy`` of the child resolves; under a parent that merges changes
    /// automatically, the child's save wins. See ``makeBackgroundChild(isolation:)`` for a child in another isolation domain.
    public func makeChild() -> ManagedObjectContext {
        ManagedObjectContext(
            coordinator: core.coordinator, parent: self,
            settings: ContextSettings(
                merging: core.settings.merging, observesObjects: core.settings.observesObjects,
                onUnplannedLoad: onUnplannedLoad))
    }

    /// Merges the commits of other contexts, if ``automaticallyMergesChanges`` is set. Fetches, saves and `perform` do
    /// it by themselves.
    ///
    ///     context.automaticallyMergesChanges = true
    ///     context.processPendingChanges()  // objects and live results show what others have saved until now
    ///
    /// Call it in a context of your own that only reads properties for a while. ``PersistentContainer/viewContext`` needs no
    /// call: it does so as soon as the main actor is free. It also applies relationship changes that waited for rows which
    /// could not be read.
    ///
    /// Unchanged objects take the new values. Changed ones keep their changes on top of them, and objects that are deleted
    /// here stay deleted. Objects that others deleted are ``ManagedObject/isMissing``, unless values of them are changed
    /// here: the save meets a conflict then.
    ///
    /// Listeners are notified here of what has changed since the last boundary.
    public func processPendingChanges() {
        core.processPendingChanges()
        core.recorder?.close(.event)
    }

    /// Forgets all objects and pending changes, as if the context was new.
    ///
    ///     context.reset()
    ///     let city = try context.find(City.self, "3936456")  // another object than before
    ///
    /// You can still read objects that you keep; they no longer belong to the context, so a change of them stops the program.
    /// Settings of the context stay. Use ``rollback()`` to drop only the changes, and ``refreshAllObjects()`` to see newer
    /// values in the same objects. A reset is rarely needed to free memory, because unchanged objects are held weakly.
    public func reset() {
        let old = core
        let isOpen = old.inbox.isOpen
        old.close()
        core = ContextCore(coordinator: old.coordinator, parent: below, settings: old.settings, inbox: old.inbox)
        core.open(self)
        old.inbox.isOpen = isOpen
        if let recorder = old.recorder { core.someRecorder.takeOver(recorder) }
    }
}
