/// How a context resolves conflicts: one policy for all, others for some entities, and a closure that decides for single
/// properties.
struct MergeRules {
    /// The policies, without the closure.
    private(set) var policies: MergePolicies
    /// Asked for each property that both sides changed.
    var decide: ((PropertyConflict) -> PropertyConflict.Resolution)?

    init(_ policy: MergePolicy) { policies = MergePolicies(policy: policy) }
    init(_ policies: MergePolicies) { self.policies = policies }

    /// The policy of entities that have none of their own.
    var policy: MergePolicy {
        get { policies.policy }
        set { policies.policy = newValue }
    }

    /// Whether there are conflicts that do not end the save.
    var mayResolve: Bool { policy != .error || decide != nil || policies.ofEntities.values.contains { $0 != .error } }

    /// The policy that applies to objects of an entity: its own, or that of the nearest entity above it.
    func policy(for entity: EntityDescription, in model: ManagedObjectModel) -> MergePolicy {
        guard !policies.ofEntities.isEmpty else { return policy }
        var current = entity
        while true {
            if let own = policies.ofEntities[current.index] { return own }
            guard let parent = current.parentIndex else { return policy }
            current = model.entities[parent]
        }
    }

    mutating func set(_ policy: MergePolicy?, for entity: EntityDescription) {
        policies.ofEntities[entity.index] = policy
    }
}

/// The merge policies of a context.
struct MergePolicies: Sendable {
    /// The policy of entities that have none of their own.
    var policy: MergePolicy
    /// Policies by position of the entity; those that inherit from it follow it unless they have their own.
    var ofEntities: [Int: MergePolicy] = [:]
}

/// A property that this context and others have changed to different values since it was read.
///
///     context.onPropertyConflict = { conflict in
///         guard conflict.propertyName == "note", case .string(let mine) = conflict.memory,
///             case .string(let theirs) = conflict.store
///         else { return .policy }
///         return .value(.string("\(theirs)\n\(mine)"))
///     }
///
/// ``ManagedObjectContext/onPropertyConflict`` gets it for each such property during a save, and returns a ``Resolution``. You
/// see three values: ``snapshot`` is what this context read, ``memory`` is what it changed it to, and ``store`` is what others
/// have saved meanwhile.
///
/// Values are in the form that the store keeps: an enumeration is its raw value, a to-one relationship the key of its target.
/// To count, use ``ManagedObject/increment(_:by:)-(String,_)``, which never conflicts.
public struct PropertyConflict: Sendable {
    /// What a save does with the property.
    public enum Resolution: Sendable, Hashable {
        /// It writes the value of this context.
        case memory
        /// It keeps the value of the store.
        case store
        /// It writes another value, for instance the sum of both changes. Only for attributes; the value must be one of
        /// the attribute's type.
        case value(Value)
        /// It does what the merge policy says. Under ``MergePolicy/error`` the save throws.
        case policy
    }

    /// The object.
    public let objectID: ObjectID
    /// The name of the attribute or to-one relationship.
    public let propertyName: String
    /// The value that was read. To-one relationships have ``Value/object(_:)`` with the key of the target.
    public let snapshot: Value
    /// The value in this context.
    public let memory: Value
    /// The value that others have saved.
    public let store: Value

    /// The entity of the object.
    public var entityName: String { objectID.entity.name }
}

extension ManagedObjectContext {
    /// Sets the merge policy of an entity and of those that inherit from it, in place of ``mergePolicy``.
    ///
    ///     context.mergePolicy = .error
    ///     try context.setMergePolicy(.objectWinsByProperty, for: City.self)
    ///
    /// A policy of an entity comes before one of an entity that it inherits from.
    /// - Parameter policy: The policy; nil for that of the context again.
    /// - Throws: ``PersistenceError/unknownEntity(name:model:nearest:)``.
    public func setMergePolicy(_ policy: MergePolicy?, for type: ManagedObject.Type) throws(PersistenceError) {
        let name = type.entityName
        guard let entity = model.entity(named: name) else { throw .unknownEntity(name, in: model) }
        core.settings.merging.set(policy, for: entity)
    }

    /// Decides for each property that this context and others have changed to different values; nil, as it is unless you set
    /// it, leaves all of them to the merge policy.
    ///
    ///     context.onPropertyConflict = { conflict in
    ///         guard conflict.propertyName == "population", case .integer(let read) = conflict.snapshot,
    ///             case .integer(let mine) = conflict.memory, case .integer(let theirs) = conflict.store
    ///         else { return .policy }
    ///         return .value(.integer(theirs + mine - read))
    ///     }
    ///
    /// The closure runs during a save, under any policy but ``MergePolicy/overwrite`` and ``MergePolicy/rollback``, which do not
    /// look at single properties. Properties that only one side changed are merged without it, even under
    /// ``MergePolicy/error``, and so are those that this context changed by operations such as
    /// ``ManagedObject/increment(_:by:)-(String,_)``. Deletes and unique constraints remain a matter of the policy. It must not
    /// use the context.
    ///
    /// The save validates an object that is given a value by ``PropertyConflict/Resolution/value(_:)``.
    public var onPropertyConflict: ((PropertyConflict) -> PropertyConflict.Resolution)? {
        get { core.settings.merging.decide }
        set { core.settings.merging.decide = newValue }
    }

    /// Has the next save check that others have not changed or deleted an object, although this context does not change it:
    /// because what it changes was decided by looking at the object.
    ///
    ///     try context.detectConflicts(for: peru)  // the note is wrong if others change its population
    ///     lima.note = "\(100 * lima.population / peru.population) % of all Peruvians"
    ///     try context.save()
    ///
    /// If the object was changed, that is a conflict. Under ``MergePolicy/error`` the save throws; under the others the object
    /// takes the store's values, and the save goes on. A save that has nothing to write checks nothing. The mark goes away with
    /// the save, and with ``rollback()`` and ``reset()``. A child context hands it to its parent.
    /// - Throws: The store's error if the object is a fault and cannot be read; ``PersistenceError/objectNotFound(_:)`` if it is
    ///   not in the store, or belongs to another context.
    public func detectConflicts(for object: ManagedObject) throws(PersistenceError) {
        guard object.context === self else { throw .objectNotFound(object.objectID) }
        if object.isFault { try core.faults.load(object) }
        if object.isInserted { return }
        guard !object.flags.contains(.missing) else { throw .objectNotFound(object.objectID) }
        core.saves.checks.add(object)
    }
}
