import Foundation

extension ManagedObjectContext {
    /// Changes all objects that match a request, in the store, without reading them: one transaction, a handful of
    /// statements.
    ///
    ///     try context.update(City.where { $0.note == "new" }) { $0.note = nil }
    ///     try context.update(City.where { $0.country.countryId == "PE" }) { $0.population += 1 }
    ///
    /// Values are constants or calculated from the object's own attributes as they were before. Attributes that a save derives,
    /// versions and indexes are kept right. Objects that have the values already are left alone. Objects in memory,
    /// live results and listeners of all contexts are updated as they are after a save by another context.
    ///
    /// No hooks run, there is nothing to undo, and validators in code are not asked.
    /// - Parameters:
    ///   - validating: Whether the minimum, maximum, length and pattern rules of the model are checked, too. Required values,
    ///     the ranges of whole numbers and the cases of enumerations always are.
    ///   - set: What to set.
    /// - Returns: How many objects changed.
    /// - Throws: ``PersistenceError/invalidFetch(entity:reason:)`` if the context has unsaved changes of these objects, a
    ///   property cannot be set like this, or a constant breaks a rule; ``PersistenceError/store(_:)`` with
    ///   ``StoreError/constraint(entity:reason:)`` if an expression gives a value that breaks one. Nothing has changed then. A
    ///   remote store has no bulk operations.
    @discardableResult
    public func update<T>(
        _ request: FetchRequest<T>, validating: Bool = false, set: (inout BulkChanges<T>) throws -> Void
    ) throws -> Int {
        var changes = BulkChanges<T>()
        try set(&changes)
        guard !changes.expressions.isEmpty else { return 0 }
        let update = try core.bulk.update(request, changes, validating: validating)
        return try core.bulk.run(.update(update), on: update.fetch)
    }

    /// Deletes all objects that match a request, in the store, without reading them, and applies the delete rules: one
    /// statement for each relationship, however many objects there are.
    ///
    ///     try context.deleteAll(City.where { $0.population < 1_000 })
    ///
    /// No hooks run, and there is nothing to undo. Contexts, live results and listeners are notified as they are of a
    /// save by another context.
    /// - Returns: How many objects were deleted, by themselves or by rules.
    /// - Throws: As ``update(_:validating:set:)``; also if a rule denies it, with examples. Nothing is deleted then.
    @discardableResult
    public func deleteAll<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> Int {
        let plan = try core.planner.plan(for: request)
        return try core.bulk.run(.delete(plan), on: plan)
    }

    /// Inserts objects into the store without creating them in memory, in one transaction.
    ///
    ///     try context.insertAll(Continent.self, from: ["AF": "Africa", "SA": "South America"]) { continent, line in
    ///         continent.continentId = .value(line.key)
    ///         continent.name = .value(line.value)
    ///     }
    ///
    /// Use it for large imports into an empty part of the store. If the objects may exist already, use ``upsert(_:into:by:)``;
    /// if your code goes on to work with them, insert objects and save.
    ///
    /// Attributes that you do not set have their defaults. No hooks run, and there is nothing to undo.
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - elements: One element for each object.
    ///   - validating: Whether the minimum, maximum, length and pattern rules of the model are checked, too. Required values
    ///     and the cases of enumerations always are.
    ///   - set: Sets the values of one object; they must be constants.
    /// - Returns: The IDs of the objects, in the order of the elements.
    /// - Throws: ``PersistenceError/validation(_:)`` with what is wrong; ``PersistenceError/conflicts(_:)`` if a unique value
    ///   is taken; ``PersistenceError/invalidFetch(entity:reason:)`` in a child context, for a value that is not a constant, and
    ///   for a property that cannot be set like this; the store's error; the error of the closure. Nothing is inserted then.
    @discardableResult
    public func insertAll<T, Elements: Sequence>(
        _ type: T.Type, from elements: Elements, validating: Bool = false,
        set: (inout BulkChanges<T>, Elements.Element) throws -> Void
    ) throws -> [ObjectID] {
        guard core.parent == nil else {
            throw PersistenceError.invalidFetch(
                entity: T.entityName,
                reason: "a bulk insert writes to the store; ask the outermost parent context for it")
        }
        let inserter = try BulkInserter(core: core, T.self, validating: validating)
        for element in elements {
            var changes = BulkChanges<T>()
            try set(&changes, element)
            try inserter.add(changes.expressions)
        }
        return try inserter.commit()
    }
}
