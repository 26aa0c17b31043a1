extension ManagedObjectContext {
    /// Finds an object by the value of its primary key, unsaved objects included.
    ///
    ///     guard let peru = try context.find(Country.self, "PE") else { return }
    ///     print(peru.name)
    ///
    /// The primary key is the attribute that the model or the convention names: `countryId` of `Country`. It is a value of
    /// yours, unlike the ``ObjectID``; with an ID, use ``existingObject(_:with:)``. For several keys at once, fetch with `isIn`
    /// instead of calling this in a loop.
    ///
    /// One statement, unless an unsaved change of the entity matters. In asynchronous code, write `try await`.
    /// - Returns: nil if there is none.
    /// - Throws: ``PersistenceError/noPrimaryKey(entity:)`` if the entity has none, and as ``fetch(_:)``.
    public func find<T: ManagedObject>(
        _ type: T.Type, _ key: some AttributeValue
    ) throws(PersistenceError) -> T? {
        try fetchFirst(try core.planner.request(FetchRequest<T>(), primaryKey: key.attributeValue))
    }

    /// Finds an object of the named entity by the value of its primary key; see ``find(_:_:)``.
    ///
    ///     let peru = try context.find(entity: "Country", "PE")
    ///
    /// - Throws: As ``find(_:_:)``, and ``PersistenceError/unknownEntity(name:model:nearest:)``.
    public func find(entity: String, _ key: some AttributeValue) throws(PersistenceError) -> ManagedObject? {
        let request = FetchRequest<ManagedObject>(entity: entity)
        return try fetchFirst(try core.planner.request(request, primaryKey: key.attributeValue))
    }

    /// Finds an object by the value of its primary key without blocking the caller. Otherwise the same as the blocking form.
    /// - Throws: As the blocking form, and ``PersistenceError/cancelled``.
    public nonisolated(nonsending) func find<T: ManagedObject>(
        _ type: T.Type, _ key: some AttributeValue
    ) async throws(PersistenceError) -> T? {
        try await fetchFirst(try core.planner.request(FetchRequest<T>(), primaryKey: key.attributeValue))
    }

    /// Finds an object of the named entity by the value of its primary key without blocking the caller. Otherwise the same as
    /// the blocking form.
    /// - Throws: As the blocking form, and ``PersistenceError/cancelled``.
    public nonisolated(nonsending) func find(
        entity: String, _ key: some AttributeValue
    ) async throws(PersistenceError) -> ManagedObject? {
        let request = FetchRequest<ManagedObject>(entity: entity)
        return try await fetchFirst(try core.planner.request(request, primaryKey: key.attributeValue))
    }
}

extension FetchPlanner {
    /// A request for the object of a primary key.
    func request<T>(_ request: FetchRequest<T>, primaryKey value: Value) throws(PersistenceError) -> FetchRequest<T> {
        let entity = try entity(of: request)
        guard let field = entity.primaryKeyField else { throw .noPrimaryKey(entity: entity.name) }
        var result = request
        result.predicate = .comparison(.keyPath([field]), .equal, .constant(value), [])
        return result
    }
}
