extension ManagedObjectContext {
    /// Finds an object by the value of its primary key, unsaved objects included.
    ///
    ///     let peru = try context.find(Country.self, "PE")
    ///
    /// One statement, unless an unsaved change of the entity matters. In asynchronous code, write `try await`.
    /// - Returns: nil if there is none.
    /// - Throws: ``PersistenceError/noPrimaryKey(entity:)`` if the entity has none, and as ``fetch(_:)``.
    public func find<T: ManagedObject>(
        _ type: T.Type, _ key: some AttributeValue
    ) throws(PersistenceError) -> T? {
        try fetchFirst(try core.planner.request(FetchRequest<T>(), primaryKey: key.attributeValue))
    }

    /// As ``find(_:_:)``, for an entity by name.
    /// - Throws: As ``find(_:_:)``, and ``PersistenceError/unknownEntity(name:model:nearest:)``.
    public func find(entity: String, _ key: some AttributeValue) throws(PersistenceError) -> ManagedObject? {
        let request = FetchRequest<ManagedObject>(entity: entity)
        return try fetchFirst(try core.planner.request(request, primaryKey: key.attributeValue))
    }

    /// Like the blocking form, without blocking the caller; see ``fetch(_:)``.
    /// - Throws: As ``find(_:_:)``.
    public nonisolated(nonsending) func find<T: ManagedObject>(
        _ type: T.Type, _ key: some AttributeValue
    ) async throws(PersistenceError) -> T? {
        try await fetchFirst(try core.planner.request(FetchRequest<T>(), primaryKey: key.attributeValue))
    }

    /// Like the blocking form, without blocking the caller; see ``fetch(_:)``.
    /// - Throws: As ``find(entity:_:)``.
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
