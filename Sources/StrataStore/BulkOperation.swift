/// A change of many objects that a store makes itself, without a context reading them.
///
///     let result = try store.perform(.delete(plan), by: ChangeOrigin(author: "cleanup"))
///     print(result.count)
///
/// `ManagedObjectContext.update(_:validating:set:)` and `deleteAll(_:)` make one and pass it to
/// ``PersistentStore/perform(_:by:)``. The operation is one transaction: either all of it is permanent, or nothing. A store
/// applies the delete rules of the model, checks required values and what ``BulkUpdate/checks`` asks for, raises the version of
/// each changed row, and records history.
///
/// It is a value and refers to no object. A store without bulk operations leaves out the method; its default throws
/// ``StoreError/unsupported(store:feature:)``.
public enum BulkOperation: Sendable {
    /// Sets properties of all objects that a plan selects.
    case update(BulkUpdate)
    /// Deletes all objects that a plan selects, and what the delete rules of the model say.
    case delete(FetchPlan)
}

/// The objects and assignments of a bulk update.
///
/// ``assignments`` says for each slot whether it gets a constant or the result of an expression; ``constants`` is a row with
/// the constants. All expressions see the values from before the update, so two attributes can be exchanged. An object whose
/// values stay the same is not written and not counted.
///
/// A value that one of the ``checks`` refuses undoes the whole operation. If ``tellsKeys`` is false, no context holds such objects, and the store may leave out which objects it changed: for a large table, that saves
/// reading them.
public struct BulkUpdate: Sendable {
    /// What a slot is set to.
    public enum Assignment: Sendable {
        /// The value in the slot of ``BulkUpdate/constants``.
        case constant
        /// What an expression gives for each object, from its values before the update.
        case expression(FetchExpression)
    }

    /// The objects.
    public var fetch: FetchPlan
    /// By slot, what it is set to.
    public var assignments: [Int: Assignment]
    /// A row that holds the constants.
    public var constants: RowReference
    /// By slot, a check of the values that its expression gives: it says what is wrong, or nil. Constants have been checked
    /// already. No check is for the missing value of a required property, which the store always refuses.
    public var checks: [Int: @Sendable (Value) -> String?]
    /// Whether the result must tell the change, or at least the keys. Otherwise a store may tell only how many objects it
    /// changed, which costs less.
    public var tellsKeys = true

    /// Describes an update.
    public init(
        fetch: FetchPlan, assignments: [Int: Assignment], constants: RowReference,
        checks: [Int: @Sendable (Value) -> String?] = [:]
    ) {
        self.fetch = fetch
        self.assignments = assignments
        self.constants = constants
        self.checks = checks
    }

    /// The slots that are set, in order.
    public var slots: [Int] { assignments.keys.sorted() }
}

/// How many objects a bulk operation changed, and which.
///
///     let result = try store.perform(.delete(plan), by: ChangeOrigin(author: "cleanup"))
///     print("\(result.count) objects deleted")
///
/// A store returns it from ``PersistentStore/perform(_:by:)``. Apps get only the number, from
/// `ManagedObjectContext.update(_:validating:set:)` and `deleteAll(_:)`; the context uses the rest to bring the objects that
/// contexts hold up to date.
///
/// Up to ``mostRows`` objects, ``change`` has the rows before and after, which contexts can merge without reading. Beyond that,
/// only the keys are known, and contexts read the objects that they hold again. So memory stays bounded for operations on
/// millions of objects.
public struct BulkResult: Sendable {
    /// The number of objects that were changed, or deleted by the operation itself and by delete rules. Objects that had the
    /// values already are not among them.
    public var count: Int
    /// The change in full; nil if it is about more than ``mostRows`` objects. Of deletes the keys are told however many there
    /// are, and the rows up to that number.
    public var change: StoreChange?
    /// The keys of all objects that are different now, by the position of the topmost entity of their hierarchy. They may be
    /// missing if the operation did not ask for them; see `BulkUpdate.tellsKeys`.
    public var keys: [Int: [Int64]]

    /// The number of rows beyond which only keys are told.
    public static let mostRows = 10_000

    /// Describes a result.
    public init(count: Int, change: StoreChange?, keys: [Int: [Int64]]) {
        self.count = count
        self.change = change
        self.keys = keys
    }
}
