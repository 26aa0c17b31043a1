import Foundation

/// An error of a context.
public enum PersistenceError: Error, Sendable {
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
    /// The model has no such entity.
    case unknownEntity(name: String, model: String)
    /// The entity is abstract and cannot have objects of its own.
    case abstractEntity(name: String)
    /// The entity has no such property.
    case unknownProperty(entity: String, property: String)
    /// The property takes values of another kind.
    case wrongType(entity: String, property: String, expected: String, value: String)
    /// The property cannot be set: it is derived, or fetched.
    case readOnlyProperty(entity: String, property: String)
    /// The entity has no primary key by the convention.
    case noPrimaryKey(entity: String)
    /// Hooks kept changing objects during a save.
    case hooksNeverSettle(entities: [String])
    /// A hook or a validator saved the context while it was being saved.
    case recursiveSave
    /// An asynchronous save of the context is still running.
    case saveInProgress
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
        case .unknownEntity(let name, let model):
            "the model \(model) has no entity \(name); check the spelling, or add the entity to the model"
        case .abstractEntity(let name): "\(name) is abstract; insert one of the entities that inherit from it"
        case .unknownProperty(let entity, let property):
            "\(entity) has no property \(property); check the spelling, or add the property to the model"
        case .wrongType(let entity, let property, let expected, let value):
            "\(entity).\(property) takes \(expected), not \(value); convert the value first"
        case .readOnlyProperty(let entity, let property):
            "\(entity).\(property) is derived or fetched; change what it comes from"
        case .noPrimaryKey(let entity):
            "\(entity) has no primary key; declare one, or add a string attribute named by the convention"
        case .hooksNeverSettle(let entities):
            "the hooks of a save kept changing \(entities.joined(separator: ", ")) for 1,000 rounds; change a value only if it differs"
        case .recursiveSave:
            "willSave or a validator called save() on the context that is being saved; what they change is saved anyway"
        case .saveInProgress: "an asynchronous save of the context has not ended; wait for it, then save again"
        case .classMismatch(let entity, let className, let reason):
            "class \(className) does not fit entity \(entity): \(reason); generate the classes again"
        case .invalidFetch(let entity, let reason): "fetch of \(entity): \(reason)"
        case .invalidUpsert(let entity, let reason): "upsert of \(entity): \(reason)"
        case .relationshipNotRead(let id, let relationship):
            "\(id).\(relationship) was emptied after a read of it failed, so it is not known which members were to be "
                + "removed; refresh the object without merging its changes, or roll back, and change it again"
        case .damagedValue(let value): value.description
        case .unplannedLoads(let loads):
            "\(loads.count) unplanned load\(loads.count == 1 ? "" : "s") under strict loading: "
                + loads.prefix(10).map(\.description).joined(separator: "; ") + (loads.count > 10 ? "; …" : "")
        case .cancelled: "the task was cancelled before the fetch had finished"
        }
    }
}

extension PersistenceError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

/// All validation failures of a save.
public struct ValidationError: Error, Sendable, CustomStringConvertible {
    /// The failures, in the order in which the objects were changed.
    public var failures: [ValidationFailure]

    /// Collects failures.
    public init(_ failures: [ValidationFailure]) { self.failures = failures }

    /// The failures, one per line.
    public var description: String { failures.map(\.description).joined(separator: "\n") }
}

/// One validation failure of an object.
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

    /// The object.
    public var objectID: ObjectID
    /// The property; nil if the failure concerns the object as a whole.
    public var property: String?
    /// The value.
    public var value: Value
    /// What was broken.
    public var rule: Rule
    /// What is wrong and what to do.
    public var message: String

    /// Describes a failure.
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
    /// Translates an error of the store for callers of the context.
    init(_ error: StoreError) {
        self = error == .cancelled ? .cancelled : .store(error)
    }
}
