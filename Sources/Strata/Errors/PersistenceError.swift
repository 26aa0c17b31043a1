import Foundation

/// Why a context could not do what it was asked.
public enum PersistenceError: Error, Sendable {
    /// The store failed.
    case store(StoreError)
    /// Objects do not satisfy the rules of the model or their own.
    case validation(ValidationError)
    /// Others were faster, or a unique constraint stands against an object, and the merge policy is
    /// ``MergePolicy/error``.
    case conflicts([MergeConflict])
    /// There is no object of the ID.
    case objectNotFound(ObjectID)
    /// The ID is of another store.
    case foreignObject(ObjectID)
    /// The model has no such entity.
    case unknownEntity(name: String, model: String)
    /// There are no objects of the entity itself.
    case abstractEntity(name: String)
    /// The entity has no such property.
    case unknownProperty(entity: String, property: String)
    /// The property takes values of another kind.
    case wrongType(entity: String, property: String, expected: String, value: String)
    /// The property cannot be set: it is derived, or fetched.
    case readOnlyProperty(entity: String, property: String)
    /// An operation cannot be done to the attribute, or the attribute cannot hold its result.
    case invalidOperation(entity: String, property: String, reason: String)
    /// The entity has no primary key by the convention.
    case noPrimaryKey(entity: String)
    /// Hooks went on changing objects during a save.
    case hooksNeverSettle(entities: [String])
    /// A hook or a validator saved the context while it was being saved.
    case recursiveSave
    /// A `save(options:)` of the context has not ended yet.
    case saveInProgress
    /// Generated classes do not fit the model.
    case classMismatch(entity: String, className: String, reason: String)
    /// A fetch asks for something that makes no sense.
    case invalidFetch(entity: String, reason: String)
    /// An upsert cannot recognize its objects, or refers to objects that do not exist.
    case invalidUpsert(entity: String, reason: String)
    /// A to-many relationship was emptied after a read of it failed: it is not known whether members were to be removed.
    /// Refresh the object without merging, or roll back, and change the relationship again.
    case relationshipNotRead(ObjectID, relationship: String)
    /// The store holds a value that is not a value of its attribute. Only ``ManagedObjectContext/onFaultError`` gets it.
    case damagedValue(DamagedValue)
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
        case .objectNotFound(let id): "there is no \(id) in the store"
        case .foreignObject(let id):
            "\(id) belongs to store \(id.storeIdentifier.uuidString.lowercased()); open that store"
        case .unknownEntity(let name, let model): "the model \(model) has no entity \(name)"
        case .abstractEntity(let name): "\(name) is abstract; insert one of the entities that inherit from it"
        case .unknownProperty(let entity, let property): "\(entity) has no property \(property)"
        case .wrongType(let entity, let property, let expected, let value):
            "\(entity).\(property) takes \(expected), not \(value)"
        case .readOnlyProperty(let entity, let property):
            "\(entity).\(property) is derived or fetched; change what it comes from"
        case .invalidOperation(let entity, let property, let reason): "\(entity).\(property): \(reason)"
        case .noPrimaryKey(let entity):
            "\(entity) has no primary key; declare one, or add a string attribute named by the convention"
        case .hooksNeverSettle(let entities):
            "hooks of a save went on changing \(entities.joined(separator: ", ")) for 1,000 rounds; change a value only if it differs"
        case .recursiveSave:
            "willSave or a validator called save() on the context that is being saved; what they change is saved anyway"
        case .saveInProgress: "a save(options:) of the context has not ended; wait for it, then save again"
        case .classMismatch(let entity, let className, let reason):
            "class \(className) does not fit entity \(entity): \(reason); generate the classes again"
        case .invalidFetch(let entity, let reason): "fetch of \(entity): \(reason)"
        case .invalidUpsert(let entity, let reason): "upsert of \(entity): \(reason)"
        case .relationshipNotRead(let id, let relationship):
            "\(id).\(relationship) was emptied after a read of it failed, so it is not known which members were to be "
                + "removed; refresh the object without merging its changes, or roll back, and change it again"
        case .damagedValue(let value): value.description
        case .cancelled: "the task was cancelled before the fetch was done"
        }
    }
}

extension PersistenceError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

/// All that is wrong with the objects of a save.
public struct ValidationError: Error, Sendable, CustomStringConvertible {
    /// The failures, in the order in which the objects were changed.
    public var failures: [ValidationFailure]

    /// Collects failures.
    public init(_ failures: [ValidationFailure]) { self.failures = failures }

    /// The failures, one a line.
    public var description: String { failures.map(\.description).joined(separator: "\n") }
}

/// One value that an object may not be saved with.
public struct ValidationFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was broken.
    public enum Rule: String, Sendable, Hashable {
        /// A value that must be there is missing.
        case required
        /// A number or date is too small.
        case minimum
        /// A number or date is too great.
        case maximum
        /// A text or binary value is too short.
        case minimumLength
        /// A text or binary value is too long.
        case maximumLength
        /// A text does not match its pattern.
        case pattern
        /// A raw value that no case of the attribute's enumeration has.
        case enumeration
        /// An element of an array that is not of the type of its elements.
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

    /// The failure on one line: entity, key, property, what is wrong.
    public var description: String {
        "\(objectID)\(property.map { ".\($0)" } ?? ""): \(message)"
    }
}

extension PersistenceError {
    /// What an error of the store means to those who asked the context.
    init(_ error: StoreError) {
        self = error == .cancelled ? .cancelled : .store(error)
    }
}
