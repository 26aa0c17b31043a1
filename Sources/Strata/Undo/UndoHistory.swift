/// Undo and redo for a context: assign a history to the context, and it remembers the edits.
///
///     context.undoManager = UndoHistory()
///     city.name = "Lima"
///     try context.undoManager?.undo()
///
/// A step is what you edited between two boundaries: a save, the end of a `perform`, `processPendingChanges()`, or the group
/// that you open yourself. A step includes attributes, both ends of relationships, orders, new objects, and deletes
/// with all effects of their rules. A save is not a step, and you can undo saved edits: the context has unsaved changes
/// then, as if you had made them.
///
/// Only your own edits are steps. Changes that others saved in the meantime stay: a property that no longer has the
/// value of the step is skipped and named in the ``UndoReport``. A rollback or reset forgets all steps; bulk operations
/// and what a merge makes of a row are not remembered. A context without a history does no work for it.
public final class UndoHistory {
    /// The maximum number of steps; the oldest are forgotten beyond it. 0 for no limit.
    public var levelsOfUndo = 100 { didSet { forgetOldest() } }
    /// The maximum of memory for the rows of all steps, in bytes.
    public var maximumBytes = 16 << 20 { didSet { forgetOldest() } }
    /// Whether a property is set back though others have changed it meanwhile.
    public var overwritesNewerChanges = false

    /// Whether ``undo()`` is running.
    public private(set) var isUndoing = false
    /// Whether ``redo()`` is running.
    public private(set) var isRedoing = false

    private weak var context: ManagedObjectContext?
    private var open = UndoStep()
    private var undoSteps: [UndoStep] = []
    private var redoSteps: [UndoStep] = []
    private var groupDepth = 0
    private var pauses = 0

    /// A history without steps.
    public init() {}

    // MARK: Steps

    /// Whether there is a step to undo, the edits since the last boundary included.
    public var canUndo: Bool { !undoSteps.isEmpty || hasOpenEdits }

    /// Whether there is a step to redo.
    public var canRedo: Bool { !redoSteps.isEmpty && !hasOpenEdits }

    /// Whether there have been edits since the last boundary.
    private var hasOpenEdits: Bool { !open.isEmpty || context?.core.recorder?.hasChanges == true }

    /// The number of steps to undo.
    public var undoCount: Int { undoSteps.count }
    /// The number of steps to redo.
    public var redoCount: Int { redoSteps.count }

    /// The name of the step that ``undo()`` would undo.
    public var undoActionName: String? { undoSteps.last?.name }
    /// The name of the step that ``redo()`` would redo.
    public var redoActionName: String? { redoSteps.last?.name }

    /// Undoes the last step: the edits since the last boundary, if there are any. Groups that are open are closed.
    ///
    ///     let report = try history.undo()
    ///     for skipped in report.skipped { print(skipped) }  // what others have changed meanwhile
    ///
    /// - Returns: What could not be undone.
    /// - Throws: The store's error if an object cannot be read; nothing has changed then.
    @discardableResult
    public func undo() throws(PersistenceError) -> UndoReport {
        isUndoing = true
        defer { isUndoing = false }
        groupDepth = 0
        closeBoundary()
        guard let core = context?.core, let step = undoSteps.last else { return UndoReport() }
        let report = try UndoApplier(core: core, forces: overwritesNewerChanges).apply(step, undoing: true)
        undoSteps.removeLast()
        redoSteps.append(step)
        core.recorder?.close(.undo)
        return report
    }

    /// Redoes the last undone step. After a new edit, there is nothing to redo.
    /// - Returns: What could not be redone.
    /// - Throws: As ``undo()``.
    @discardableResult
    public func redo() throws(PersistenceError) -> UndoReport {
        isRedoing = true
        defer { isRedoing = false }
        groupDepth = 0
        closeBoundary()
        guard let core = context?.core, let step = redoSteps.last else { return UndoReport() }
        let report = try UndoApplier(core: core, forces: overwritesNewerChanges).apply(step, undoing: false)
        redoSteps.removeLast()
        undoSteps.append(step)
        core.recorder?.close(.undo)
        return report
    }

    /// Forgets all steps.
    public func removeAllActions() {
        closeBoundary()
        forgetAll()
    }

    // MARK: Groups

    /// Combines everything until ``endUndoGrouping()`` into one step, even across boundaries. Groups may be nested; the
    /// outermost becomes the step.
    public func beginUndoGrouping() {
        if groupDepth == 0 { closeBoundary() }
        groupDepth += 1
    }

    /// Ends a group. Without a group it does nothing.
    public func endUndoGrouping() {
        guard groupDepth > 0 else { return }
        groupDepth -= 1
        if groupDepth == 0 { closeBoundary() }
    }

    /// Combines the edits of a closure into one step.
    ///
    ///     history.group(named: "Rename") { for city in cities { city.name = city.name.uppercased() } }
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure. Its edits until then are a step.
    public func group<R, E: Error>(named name: String? = nil, _ body: () throws(E) -> R) throws(E) -> R {
        beginUndoGrouping()
        defer { endUndoGrouping() }
        if let name { open.name = name }
        return try body()
    }

    /// Names the step of the edits since the last boundary; the last step if there are none.
    public func setActionName(_ name: String) {
        if groupDepth == 0, let core = context?.core, core.recorder?.hasChanges != true, open.isEmpty,
            !undoSteps.isEmpty
        {
            undoSteps[undoSteps.count - 1].name = name
        } else {
            open.name = name
        }
    }

    /// Runs a closure without remembering its edits. They cannot be undone, and earlier steps do not touch the
    /// properties that it changed.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    public func withoutRegistration<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        context?.core.recorder?.close(.beforeMerge)
        pauses += 1
        defer {
            context?.core.recorder?.close(.beforeMerge)
            pauses -= 1
        }
        return try body()
    }

    // MARK: Context

    func attach(to context: ManagedObjectContext) {
        self.context = context
        context.core.someRecorder.add(self)
    }

    func detach() {
        context?.core.recorder?.remove(self)
        context = nil
        forgetAll()
    }

    private func closeBoundary() { context?.core.recorder?.close(.event) }

    private func seal() {
        guard groupDepth == 0 else { return }
        var step = open
        open = UndoStep()
        step.settle()
        guard !step.isEmpty else { return }
        undoSteps.append(step)
        redoSteps = []
        forgetOldest()
    }

    private func forgetAll() {
        open = UndoStep()
        undoSteps = []
        redoSteps = []
    }

    private func forgetOldest() {
        if levelsOfUndo > 0, undoSteps.count > levelsOfUndo {
            undoSteps.removeFirst(undoSteps.count - levelsOfUndo)
        }
        var bytes = undoSteps.reduce(0) { $0 + $1.byteCount }
        // The last step can always be undone, however large it is.
        while bytes > maximumBytes, undoSteps.count > 1 { bytes -= undoSteps.removeFirst().byteCount }
    }
}

extension UndoHistory: BoundaryListener {
    var recordsSteps: Bool { true }

    func boundaryReached(_ changes: BoundaryChanges, _ core: ContextCore) {
        switch changes.kind {
        case .undo: return
        case .merge: return
        case .rollback, .reset: return forgetAll()
        case .beforeMerge, .event, .save:
            if pauses == 0, !changes.isEverything { open.append(changes) }
        }
        guard changes.kind.isSeal else { return }
        seal()
        // What a child has saved is a step of its parent.
        if changes.kind == .save, core.parent != nil, !core.hasChanges { forgetAll() }
    }
}

/// What an undo or redo could not set back.
///
///     let report = try history.undo()
///     for skipped in report.skipped {
///         switch skipped.reason {
///         case .changedSince: print(skipped.property ?? "", "was changed by others and stays")
///         case .deletedElsewhere, .targetGone: print(skipped.id, "or its partner no longer exists")
///         }
///     }
///
/// The report is empty if everything was undone, which is so unless something else has changed the same objects. A property
/// that others have changed since the step keeps their value; set ``UndoHistory/overwritesNewerChanges`` to restore it all the
/// same. Everything else of the step has been set back, and the step counts as undone. You may ignore the report, or tell the
/// user.
public struct UndoReport: Sendable {
    /// Something that could not be set back.
    public struct Skipped: Sendable, Hashable {
        /// Why.
        public enum Reason: Sendable, Hashable {
            /// The property is no longer what the step left.
            case changedSince
            /// The object was deleted elsewhere.
            case deletedElsewhere
            /// The object at the other end of a relationship is gone.
            case targetGone
        }

        /// The object.
        public let id: ObjectID
        /// The property; nil for the object as a whole.
        public let property: String?
        /// Why.
        public let reason: Reason
    }

    /// What was left alone.
    public internal(set) var skipped: [Skipped] = []
}

extension ManagedObjectContext {
    /// Remembers the edits of the context, so that you can undo them. Nil by default, which costs nothing.
    ///
    /// A history belongs to one context. Assigning it to another context removes it from the first and forgets its
    /// steps.
    public var undoManager: UndoHistory? {
        get { core.settings.undoManager }
        set {
            guard newValue !== core.settings.undoManager else { return }
            core.settings.undoManager?.detach()
            newValue?.detach()
            core.settings.undoManager = newValue
            newValue?.attach(to: self)
        }
    }
}
