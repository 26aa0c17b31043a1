extension ManagedObjectContext {
    // MARK: Changes

    /// Whether any object is inserted, updated or deleted.
    ///
    ///     if context.hasChanges { try await context.save() }
    ///
    /// The check is optional: a save without changes writes nothing. An object whose property you set to the value that it had
    /// counts as changed until the next save.
    public var hasChanges: Bool { core.hasChanges }

    /// The objects that have been inserted into the context since the last save, without those deleted again.
    public var insertedObjects: Set<ManagedObject> {
        Set(core.tracker.objects.filter { $0.isInserted && !$0.flags.contains(.deleted) })
    }

    /// The objects that were changed since the last save; those whose properties were set to the same values count, too.
    public var updatedObjects: Set<ManagedObject> {
        Set(core.tracker.objects.filter { $0.isUpdated && $0.flags.isDisjoint(with: [.deleted, .inserted]) })
    }

    /// The objects whose rows the next save deletes, including those that delete rules have deleted.
    public var deletedObjects: Set<ManagedObject> {
        Set(core.tracker.objects.filter { $0.flags.contains(.deleted) })
    }

    // MARK: Looking up

    /// All objects that are in memory now. The context holds unchanged objects weakly, so the set depends on what your code
    /// keeps.
    public var registeredObjects: Set<ManagedObject> { Set(core.identityMap.objects) }

    /// The object with the given ID if it is in memory; nil otherwise. Reads nothing.
    ///
    ///     for await change in context.changes {
    ///         for id in change.refreshed.keys { print(context.registeredObject(for: id) ?? "not in memory") }
    ///     }
    ///
    /// Use it to react to a change of an object only if you use that object already. To read the object if it is not in memory,
    /// use ``existingObject(_:with:)``.
    public func registeredObject(for id: ObjectID) -> ManagedObject? {
        guard let index = core.ownEntityIndex(of: id) else { return nil }
        let map = core.identityMap
        return map.table(index).object(map.key(of: id))
    }

    /// The object with the given ID: the one in memory, or a new fault. Reads nothing, and does not check that there is a row.
    ///
    ///     let same = try context.object(with: city.objectID)
    ///     print(same.isFault, same.isMissing)  // `isMissing` is known after the first access to a property
    ///
    /// Use it to refer to an object that you know to exist, for instance to set a relationship, without reading its row. If the
    /// object may have been deleted, use ``existingObject(with:)``, which throws then. Only where other entities inherit from
    /// the ID's one, the row is read, because it decides the class.
    /// - Throws: ``PersistenceError/foreignObject(_:)`` if the ID is of another store.
    public func object(with id: ObjectID) throws(PersistenceError) -> ManagedObject {
        guard let entity = core.ownEntity(of: id) else { throw .foreignObject(id) }
        let key = core.identityMap.key(of: id)
        if let object = core.object(entity.index, key) { return object }
        if entity.hasSubentities, let row = try core.rows.rows(entityIndex: entity.index, keys: [key]).first {
            return core.factory.materialize(row, batch: nil)
        }
        return core.factory.makeFault(key: key, binding: core.binding(at: entity.index))
    }

    /// The object with the given ID, with its row: read now unless the context has it.
    ///
    ///     do {
    ///         print(try context.existingObject(with: city.objectID))
    ///     } catch {
    ///         guard case .objectNotFound = error else { throw error }
    ///         print("it was deleted")
    ///     }
    ///
    /// If the object is in memory and is not a fault, it is returned as it is, even if others have changed its row and the
    /// context has not merged that. Objects that the context knows to be deleted are not found.
    /// - Throws: ``PersistenceError/objectNotFound(_:)`` if there is no row, or the object is deleted in this context;
    ///   ``PersistenceError/foreignObject(_:)`` if the ID is of another store; the store's error if reading fails.
    public func existingObject(with id: ObjectID) throws(PersistenceError) -> ManagedObject {
        core.processPendingChanges()
        guard let entity = core.ownEntity(of: id) else { throw .foreignObject(id) }
        let key = core.identityMap.key(of: id)
        if let object = core.object(entity.index, key), !object.isFault {
            guard !object.isDeleted else { throw .objectNotFound(id) }
            return object
        }
        let rows = try core.rows.rows(entityIndex: entity.index, keys: [key])
        guard let row = rows.first, model.entities[row.row.entityIndex].descends(from: entity.index, in: model) else {
            throw .objectNotFound(id)
        }
        let object = core.factory.materialize(row, batch: nil)
        if row.row.isHeaderOnly { try core.faults.load(object) }
        guard !object.isDeleted else { throw .objectNotFound(id) }
        return object
    }

    /// The object of a class with the given ID, with its row: read now unless the context has it.
    ///
    ///     let id = city.objectID
    ///     try await background.perform { context in
    ///         try context.existingObject(City.self, with: id).population += 1  // no statement if the context has the object
    ///         try context.save()
    ///     }
    ///
    /// This is how an object gets from one context to another: objects cannot be sent, and IDs can. In a loop over many IDs,
    /// each object may take a statement; fetch them together with `isIn(ids:)` instead.
    /// - Throws: As ``existingObject(with:)``; ``PersistenceError/objectNotFound(_:)`` also if the object is of another class.
    public func existingObject<T: ManagedObject>(_ type: T.Type, with id: ObjectID) throws(PersistenceError) -> T {
        guard let object = try existingObject(with: id) as? T else { throw .objectNotFound(id) }
        return object
    }

    // MARK: Inserting and deleting

    /// Inserts a new object of the named entity. Its class is the one that the container binds to the entity.
    ///
    ///     let continent = try context.insert(entityNamed: "Continent")
    ///     continent["continentId"] = "SA"
    ///     continent["name"] = "South America"
    ///     try context.save()
    ///
    /// Use it for entities without a generated class, or if the name is known only at run time. The initializer of a generated
    /// class, such as `Continent(context:continentId:name:)`, asks for all required values.
    ///
    /// The object has the defaults of the model and its final ``ManagedObject/objectID``; required values that are missing make
    /// the save throw. To insert thousands of objects that nothing needs in memory, use ``insertAll(_:from:validating:set:)``.
    /// - Throws: ``PersistenceError/unknownEntity(name:model:nearest:)``, ``PersistenceError/abstractEntity(name:)``.
    public func insert(entityNamed name: String) throws(PersistenceError) -> ManagedObject {
        guard let entity = model.entity(named: name) else { throw .unknownEntity(name, in: model) }
        guard !entity.isAbstract else { throw .abstractEntity(name: name) }
        return core.factory.insert(core.binding(at: entity.index))
    }

    /// Deletes an object and, following the delete rules of its relationships, other objects. The next save deletes the rows.
    ///
    ///     context.delete(southAmerica)  // and its countries, as the model says
    ///     try context.save()            // one transaction; an error if a country has cities, and nothing is deleted
    ///
    /// Relationships and fetches of the context no longer show the object from now on. A new object is dropped without a
    /// trace. An object of another context, or one that is already deleted, is ignored. Deny rules are checked by the save.
    ///
    /// A fault is read first, and so are the members of a relationship with the rule cascade. If the rule of a to-many
    /// relationship is to nullify, members that this context does not have are not read: the save sets their references to nil
    /// in the store. They count as changed objects once something reads them. To delete many objects by a condition,
    /// ``deleteAll(_:)`` needs only a few statements.
    ///
    /// If the store cannot be read at the moment, the rules that need it run before the next save. The save fails if
    /// the store still cannot be read.
    public func delete(_ object: ManagedObject) {
        guard object.core === core else { return }
        core.deletion.delete(object)
    }
}
