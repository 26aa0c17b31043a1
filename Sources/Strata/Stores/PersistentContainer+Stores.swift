import StrataSQLite

extension PersistentContainer {
    /// Opens several stores, each of which keeps the entities of a configuration of the model.
    ///
    ///     var readOnly = SQLiteStore.Options()
    ///     readOnly.isReadOnly = true
    ///     let container = try PersistentContainer(TravelModel.self, stores: [
    ///         PersistentStoreDescription(configuration: "Places", at: .file(path: "places.sqlite"), options: readOnly),
    ///         PersistentStoreDescription(at: .file(path: "visits.sqlite")),
    ///     ])
    ///
    /// Each store checks and migrates only its own entities. Contexts fetch from all of them. Relationships do not cross
    /// stores; an ``ObjectReference`` does. A save commits to one store after the other, in this order, in one transaction
    /// each; see ``ManagedObjectContext/save()``.
    /// - Parameters:
    ///   - model: What generated code defines.
    ///   - stores: The stores. One without a configuration keeps the entities that no other one keeps.
    /// - Throws: ``PersistenceError/invalidStores(model:reasons:)`` if an entity has no store or several, or a relationship
    ///   crosses stores; ``PersistenceError/store(_:)`` if a store cannot be opened;
    ///   ``PersistenceError/classMismatch(entity:className:reason:)`` if classes do not fit.
    public convenience init<M: GeneratedModel>(
        _ model: M.Type, stores: [PersistentStoreDescription]
    ) throws(PersistenceError) {
        try self.init(model: model.model, classes: model.classes, stores: stores)
    }

    /// Opens several stores for a model that app code declares.
    /// - Parameters:
    ///   - model: The model.
    ///   - classes: Classes of entities, by their `entityName`. Entities without one have ``ManagedObject`` itself.
    ///   - stores: The stores. One without a configuration keeps the entities that no other one keeps.
    /// - Throws: As the other initializers.
    public convenience init(
        model: ManagedObjectModel, classes: [ManagedObject.Type] = [], stores: [PersistentStoreDescription]
    ) throws(PersistenceError) {
        try self.init(store: try StoreAssignment(model, stores).open(), classes: classes)
    }

    /// The store of a configuration, in a container with several stores, to ask what only one store knows: its history, for
    /// instance. Its model has only its own entities, in other positions than the container's model.
    /// - Parameter name: The name of the configuration; nil for the store of the entities that no other one keeps.
    /// - Returns: nil if no store keeps the configuration.
    public func store(forConfiguration name: String?) -> (any PersistentStore)? {
        coordinator.set?.parts.first { $0.configuration == name ?? ModelConfiguration.defaultName }?.store
    }

    func existingStore(_ configuration: String) throws(PersistenceError) -> any PersistentStore {
        if let store = store(forConfiguration: configuration) { return store }
        let names = coordinator.set?.parts.map(\.configuration) ?? []
        throw .invalidStores(
            model: model.name,
            reasons: [
                "no store keeps the configuration \(configuration)"
                    + Spelling.suggestion(for: configuration, in: names)
            ])
    }
}
