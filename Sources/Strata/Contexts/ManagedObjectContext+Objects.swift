extension ManagedObjectContext {
    // MARK: Changes

    /// Whether any object is inserted, updated or deleted.
    public var hasChanges: Bool { core.hasChanges }

    /// New objects.
    public var insertedObjects: Set<ManagedObject> {
        Set(core.tracker.objects.filter { $0.isInserted && !$0.flags.contains(.deleted) })
    }

    /// Changed objects.
    public var updatedObjects: Set<ManagedObject> {
        Set(core.tracker.objects.filter { $0.isUpdated && $0.flags.isDisjoint(with: [.deleted, .inserted]) })
    }

    /// Deleted objects.
    public var deletedObjects: Set<ManagedObject> {
        Set(core.tracker.objects.filter { $0.flags.contains(.deleted) })
    }

    // MARK: Looking up

    /// All objects that the context knows at the moment.
    public var registeredObjects: Set<ManagedObject> { Set(core.identityMap.objects) }

    /// The object of an ID if the context knows it. Reads nothing.
    public func registeredObject(for id: ObjectID) -> ManagedObject? {
        guard let index = core.ownEntityIndex(of: id) else { return nil }
        let map = core.identityMap
        return map.table(index).object(map.key(of: id))
    }

    /// The object of an ID: the one that the context knows, otherwise a fault. Reads nothing, and does not know whether
    /// there is a row; ``ManagedObject/isMissing`` tells after the first access. Only where other entities inherit from
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

    /// The object of an ID, with its row: read now unless the context has it.
    /// - Throws: ``PersistenceError/objectNotFound(_:)`` if there is no row, or the object is deleted in this context;
    ///   the store's error if reading fails.
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

    /// As ``existingObject(with:)``, of a class.
    ///
    ///     let id = city.objectID
    ///     try await background.perform { context in
    ///         try context.existingObject(City.self, with: id).population += 1  // no statement if the context has the object
    ///         try context.save()
    ///     }
    ///
    /// - Throws: ``PersistenceError/objectNotFound(_:)`` also if the object is of another class.
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
    /// - Throws: ``PersistenceError/unknownEntity(name:model:nearest:)``, ``PersistenceError/abstractEntity(name:)``.
    public func insert(entityNamed name: String) throws(PersistenceError) -> ManagedObject {
        guard let entity = model.entity(named: name) else { throw .unknownEntity(name, in: model) }
        guard !entity.isAbstract else { throw .abstractEntity(name: name) }
        return core.factory.insert(core.binding(at: entity.index))
    }

    /// Deletes an object and, following the delete rules of its relationships, other objects. The next save deletes the
    /// rows. A new object is just dropped. An object of another context, or one that is already deleted, is ignored.
    ///
    ///     context.delete(southAmerica)  // and its countries, as the model says
    ///     try context.save()            // one transaction; an error if a country has cities, and nothing is deleted
    ///
    /// If the rule of a to-many relationship is to nullify, members that this context does not have are not read: the
    /// save sets their references to nil in the store. They count as changed objects once something reads them.
    ///
    /// If the store cannot be read at the moment, the rules that need it run before the next save. The save fails if
    /// the store still cannot be read.
    public func delete(_ object: ManagedObject) {
        guard object.core === core else { return }
        core.deletion.delete(object)
    }
}
