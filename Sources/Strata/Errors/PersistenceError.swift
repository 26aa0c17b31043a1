import Foundation

// Indirect, so that it is one word: a typed `throws` returns it in a register, and each `try` is shorter.

/// An error of a context or container: what failed, why, and what to do.
///
///     do {
///         try context.save()
///     } catch {
///         switch error {
///         case .validation(let error): for failure in error.failures { print(failure.property ?? "-", failure.message) }
///         case .conflicts(let conflicts): print(conflicts)  // others were first: fetch again, or set a merge policy
///         default: throw error
///         }
///     }
///
/// Most methods throw only this type, so `catch` gets it without a cast if all calls in the `do` block do. Your app handles
/// ``validation(_:)``, which the user can correct, ``conflicts(_:)``, and ``store(_:)`` with the reason why the store failed,
/// such as a full disk; ``objectNotFound(_:)`` and ``cancelled`` are also part of normal operation. Most others are mistakes in
/// code or in the model. Log their ``description``, which names entity, property and value and says what to do.
/// A minor version may add cases, so end a `switch` over it with `default`.
///
/// A save, an upsert or a bulk operation that throws leaves the context as it was before, so you can correct the problem and
/// try again; only ``partlySaved(committed:pending:reason:)`` is different. Methods that take a closure, such as
/// ``PersistentContainer/write(_:)``, also throw the errors of the closure.
public indirect enum PersistenceError: Error, Sendable {
    /// The store failed.
    case store(StoreError)
    /// Objects violate rules of the model, or their own validators.
    case validation(ValidationError)
    /// Objects have been changed by others since they were read, or violate a unique constraint, and the merge policy
    /// is ``MergePolicy/error``.
    case conflicts([MergeConflict])
    /// There is no object of the ID.
    case objectNotFound(ObjectID)
    /// The ID is of another store.
    case foreignObject(ObjectID)
    /// The model has no such entity; `nearest` is the entity with the most similar name, if one is similar enough.
    case unknownEntity(name: String, model: String, nearest: String?)
    /// The entity is abstract and cannot have objects of its own.
    case abstractEntity(name: String)
    /// The entity has no such property; `nearest` is the property with the most similar name, if one is similar enough.
    case unknownProperty(entity: String, property: String, nearest: String?)
    /// The property takes values of another kind.
    case wrongType(entity: String, property: String, expected: String, value: String)
    /// The property cannot be set: it is derived, or fetched.
    case readOnlyProperty(entity: String, property: String)
    /// An operation cannot be done to the attribute, or the attribute cannot hold its result.
    case invalidOperation(entity: String, property: String, reason: String)
    /// The entity has no primary key by the convention.
    case noPrimaryKey(entity: String)
    /// Hooks kept changing objects during a save.
    case hooksNeverSettle(entities: [String])
    /// A hook or a validator saved the context while it was being saved.
    case recursiveSave
    /// An asynchronous save of the context is still running.
    case saveInProgress
    /// The blocking form of a save was called in a child of a context in another isolation domain.
    case needsAsynchronousSave
    /// The parent of a child in another isolation domain is gone, with its unsaved changes.
    case parentReleased
    /// A save over several stores has committed to some, each in one transaction, and then failed. The objects of the
    /// `committed` configurations are saved. Those of the `pending` ones keep their changes; the first of these is the one
    /// that failed. Save again once the reason is gone.
    case partlySaved(committed: [String], pending: [String], reason: PersistenceError)
    /// The stores that were described do not fit the model.
    case invalidStores(model: String, reasons: [String])
    /// Generated classes do not fit the model.
    case classMismatch(entity: String, className: String, reason: String)
    /// A fetch request is invalid; the reason says why.
    case invalidFetch(entity: String, reason: String)
    /// An upsert cannot identify its objects, or refers to objects that do not exist.
    case invalidUpsert(entity: String, reason: String)
    /// A to-many relationship was emptied after a read of it failed: it is not known whether members were to be removed.
    /// Refresh the object without merging, or roll back, and change the relationship again.
    case relationshipNotRead(ObjectID, relationship: String)
    /// The store holds a value that is not a value of its attribute. Only ``ManagedObjectContext/onFaultError`` gets it.
    case damagedValue(DamagedValue)
    /// Properties read the store in ``ManagedObjectContext/withStrictLoading(callers:_:)``.
    case unplannedLoads([UnplannedLoad])
    /// The task that waited for a fetch was cancelled.
    case cancelled
}

extension PersistenceError: CustomStringConvertible {
    /// What happened and what to do.
    public var description: String {
        switch self {
        case .store(let error): error.description
        case .validation(let error): error.description
        case .conflicts(let conflicts):
            "others changed the same objects: \(conflicts.map(\.description).joined(separator: "; ")); "
                + "choose a merge policy, or refresh the objects and save again"
        case .objectNotFound(let id):
            "there is no \(id) in the store: it was deleted, or never saved; fetch the object again"
        case .foreignObject(let id):
            "\(id) belongs to store \(id.storeIdentifier.uuidString.lowercased()); open that store"
        case .unknownEntity(let name, let model, let nearest):
            "the model \(model) has no entity \(name); "
                + (nearest.map { "did you mean '\($0)'?" } ?? "check the spelling, or add the entity to the model")
        case .abstractEntity(let name): "\(name) is abstract; insert one of the entities that inherit from it"
        case .unknownProperty(let entity, let property, let nearest):
            "\(entity) has no property \(property); "
                + (nearest.map { "did you mean '\($0)'?" } ?? "check the spelling, or add the property to the model")
        case .wrongType(let entity, let property, let expected, let value):
            "\(entity).\(property) takes \(expected), not \(value); convert the value first"
        case .readOnlyProperty(let entity, let property):
            "\(entity).\(property) is derived or fetched; change what it comes from"
        case .invalidOperation(let entity, let property, let reason): "\(entity).\(property): \(reason)"
        case .noPrimaryKey(let entity):
            "\(entity) has no primary key; declare one, or add a string attribute named by the convention"
        case .hooksNeverSettle(let entities):
            "the hooks of a save kept changing \(entities.joined(separator: ", ")) for 1,000 rounds; change a value only if it differs"
        case .recursiveSave:
            "willSave or a validator called save() on the context that is being saved; what they change is saved anyway"
        case .saveInProgress: "an asynchronous save of the context has not ended; wait for it, then save again"
        case .needsAsynchronousSave:
            "the parent of this context is in another isolation domain, and a blocking save could wait forever; "
                + "use try await context.save()"
        case .parentReleased:
            "the parent of this context has been released, so there is nothing to save to; keep the parent for as long as "
                + "its children are used, or save to the store with a context of the container"
        case .partlySaved(let committed, let pending, let reason):
            "\(committed.joined(separator: ", ")) is saved, but not \(pending.joined(separator: ", ")): \(reason); "
                + "save again when the reason is gone, and the rest is written"
        case .invalidStores(let model, let reasons):
            "the stores do not fit the model \(model): \(reasons.joined(separator: "; "))"
        case .classMismatch(let entity, let className, let reason):
            "class \(className) does not fit entity \(entity): \(reason); generate the classes again"
        case .invalidFetch(let entity, let reason): "fetch of \(entity): \(reason)"
        case .invalidUpsert(let entity, let reason): "upsert of \(entity): \(reason)"
        case .relationshipNotRead(let id, let relationship):
            "\(id).\(relationship) was emptied after a read of it failed, so it is not known which members were to be "
                + "removed; refresh the object without merging its changes, or roll back, and change it again"
        case .damagedValue(let value): value.description
        case .unplannedLoads(let loads):
            "\(loads.count) unplanned load\(loads.count == 1 ? "" : "s") under strict loading; prefetch what they read: "
                + loads.prefix(10).map(\.description).joined(separator: "; ") + (loads.count > 10 ? "; …" : "")
        case .cancelled: "the task was cancelled before the fetch had finished"
        }
    }
}

extension PersistenceError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

/// All validation failures of a save, of all objects together.
///
///     do {
///         try context.save()
///     } catch {
///         guard case .validation(let error) = error else { throw error }
///         for failure in error.failures where failure.objectID == city.objectID {
///             print(failure.property ?? "city", failure.message)  // next to the field of the property, for instance
///         }
///     }
///
/// A save checks every changed object before it writes anything, and throws ``PersistenceError/validation(_:)`` with this error
/// if any check fails; objects and store stay as they were. Show the failures, let the user correct the values, and save again.
///
/// To add checks of your own, override ``ManagedObject/validateForInsert()`` and ``ManagedObject/validateForUpdate()`` and
/// throw this error, or one ``ValidationFailure``. The save collects what all objects throw.
public struct ValidationError: Error, Sendable, CustomStringConvertible {
    /// The failures, in the order in which the objects were changed.
    public var failures: [ValidationFailure]

    /// Creates an error with failures, for a validator of yours to throw.
    public init(_ failures: [ValidationFailure]) { self.failures = failures }

    /// The failures, one per line.
    public var description: String { failures.map(\.description).joined(separator: "\n") }
}

/// One failure of the validation: which object and property violate which rule.
///
///     do {
///         try context.save()
///     } catch {
///         guard case .validation(let error) = error else { throw error }
///         for failure in error.failures {
///             switch failure.rule {
///             case .required: print("\(failure.property ?? "A value") is missing")
///             case .maximumLength: print("\(failure.property ?? "The text") is too long: \(failure.value)")
///             default: print(failure.message)
///             }
///         }
///     }
///
/// The rule is one of the model, such as a length, a range or a pattern, a delete rule that denies, or a validator of
/// yours (``Rule/custom``). Use ``rule`` and ``property`` to show a text in the user's language; ``message`` is English and for
/// developers. In a validator of yours, create failures and throw them in a ``ValidationError``.
public struct ValidationFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was broken.
    public enum Rule: String, Sendable, Hashable {
        /// A required value is missing.
        case required
        /// A number or date is too small.
        case minimum
        /// A number or date is too large.
        case maximum
        /// A text or binary value is too short.
        case minimumLength
        /// A text or binary value is too long.
        case maximumLength
        /// A text does not match its pattern.
        case pattern
        /// The raw value does not belong to any case of the attribute's enumeration.
        case enumeration
        /// An element of an array has the wrong type.
        case element
        /// A to-many relationship has too few members.
        case minimumCount
        /// A to-many relationship has too many members.
        case maximumCount
        /// A relationship leads to a deleted object.
        case deletedTarget
        /// A delete rule forbids the delete.
        case deny
        /// A rule of the object's class.
        case custom
    }

    /// The object that was not valid.
    public var objectID: ObjectID
    /// The property; nil if the failure concerns the object as a whole.
    public var property: String?
    /// The value that was refused; null if the rule is not about one value.
    public var value: Value
    /// The rule that was violated.
    public var rule: Rule
    /// What is wrong and what to do.
    public var message: String

    /// Describes a failure that a validator of yours has found.
    /// - Parameters:
    ///   - objectID: The object.
    ///   - property: The property; nil if the failure concerns the object as a whole.
    ///   - value: The value that is not valid.
    ///   - rule: The rule that was violated; ``Rule/custom`` for a rule of your own.
    ///   - message: What is wrong and what to do.
    public init(objectID: ObjectID, property: String?, value: Value = .null, rule: Rule = .custom, message: String) {
        self.objectID = objectID
        self.property = property
        self.value = value
        self.rule = rule
        self.message = message
    }

    /// The failure on one line: entity, key, property and reason.
    public var description: String {
        "\(objectID)\(property.map { ".\($0)" } ?? ""): \(message)"
    }
}

extension PersistenceError {
    /// The error for a name that is not an entity of a model.
    static func unknownEntity(_ name: String, in model: ManagedObjectModel) -> PersistenceError {
        .unknownEntity(
            name: name, model: model.name, nearest: Spelling.nearest(to: name, in: model.entities.map(\.name)))
    }

    /// The error for a name that is not a property of an entity.
    /// - Parameter names: The names that would be right; all of the entity's by default.
    static func unknownProperty(
        _ name: String, of entity: EntityDescription, among names: [String]? = nil
    ) -> PersistenceError {
        let names = names ?? entity.propertyNames
        return .unknownProperty(entity: entity.name, property: name, nearest: Spelling.nearest(to: name, in: names))
    }

    /// Translates an error of the store for callers of the context.
    init(_ error: StoreError) {
        self = error == .cancelled ? .cancelled : .store(error)
    }
}
