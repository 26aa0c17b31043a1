import Foundation

extension ManagedObjectContext {
    /// Inserts or updates objects by a key, from dictionaries.
    ///
    ///     let result = try context.upsert(
    ///         [["cityId": "3936456", "name": "Lima", "population": 9_943_800, "note": nil, "country": "PE"]],
    ///         into: City.self, by: City.keys.cityId)
    ///     print(result)    // 0 inserted, 1 updated, 0 unchanged
    ///
    /// Every value in a dictionary is assigned, including nil and values that equal the model's default; properties
    /// that it does not mention stay as they are. Names may be those of the model or their stored form in snake_case. A
    /// relationship is given by an object, by the value of the destination's primary key, or by a dictionary, which is
    /// upserted, too; a to-many relationship by a list of these.
    ///
    /// Existing objects are found by one fetch. Nothing is saved. If the upsert throws, the context is as it was.
    /// - Parameters:
    ///   - rows: The values of each object. If two have the same key, the second updates the object of the first.
    ///   - type: The class of the objects.
    ///   - key: The property or properties by which an object is recognized; see ``UpsertKey``.
    /// - Throws: ``PersistenceError/invalidUpsert(entity:reason:)`` for an element without a key, several existing objects
    ///   of one key, or a reference to an object that does not exist; ``PersistenceError/unknownProperty(entity:property:nearest:)``,
    ///   ``PersistenceError/readOnlyProperty(entity:property:)``,
    ///   ``PersistenceError/wrongType(entity:property:expected:value:)``; the store's error.
    @discardableResult
    public func upsert<T: ManagedObject>(
        _ rows: [[String: Any?]], into type: T.Type, by key: some UpsertKey
    ) throws(PersistenceError) -> UpsertResult<T> {
        try upsert(rows, try core.planner.entity(of: FetchRequest<T>()), try names(of: key, type))
    }

    /// Inserts or updates objects of the named entity by a key, from dictionaries.
    ///
    ///     try context.upsert([["continentId": "SA", "name": "South America"]], into: "Continent", by: "continentId")
    ///
    /// It is the same as the form for a class, for entities without one.
    /// - Throws: As the form for a class, and ``PersistenceError/unknownEntity(name:model:nearest:)``.
    @discardableResult
    public func upsert(
        _ rows: [[String: Any?]], into entity: String, by key: some UpsertKey
    ) throws(PersistenceError) -> UpsertResult<ManagedObject> {
        let request = FetchRequest<ManagedObject>(entity: entity)
        return try upsert(rows, try core.planner.entity(of: request), try names(of: key, ManagedObject.self))
    }

    private func upsert<T: ManagedObject>(
        _ rows: [[String: Any?]], _ entity: EntityDescription, _ names: [String]
    ) throws(PersistenceError) -> UpsertResult<T> {
        let reader = PropertyValueReader(model: model)
        var values: [PropertyValues] = []
        values.reserveCapacity(rows.count)
        for row in rows { values.append(try reader.read(row, entity)) }
        return try upsert(values, entity, names)
    }

    /// Inserts or updates objects by a key, from `Codable` values, whose coding keys are names of properties.
    ///
    ///     struct ContinentData: Codable { var continentId: String, name: String? }
    ///     let values = try JSONDecoder().decode([ContinentData].self, from: data)
    ///     try context.upsert(values, into: Continent.self, by: Continent.keys.continentId)
    ///
    /// Properties that a value encodes are assigned; properties that it does not encode, such as an optional that is
    /// nil, stay as they are. Coding keys that the entity does not have are ignored.
    /// - Throws: As the form for dictionaries; ``PersistenceError/invalidUpsert(entity:reason:)`` for
    ///   values that cannot be encoded, too.
    @discardableResult
    public func upsert<T: ManagedObject, Element: Encodable>(
        _ values: [Element], into type: T.Type, by key: some UpsertKey
    ) throws(PersistenceError) -> UpsertResult<T> {
        let entity = try core.planner.entity(of: FetchRequest<T>())
        let names = try names(of: key, type)
        let json: Data
        do {
            json = try JSONEncoder.exact.encode(values)
        } catch {
            throw .invalidUpsert(entity: entity.name, reason: "the values cannot be encoded: \(error)")
        }
        return try upsert(try PropertyValues.decode(json, entity, model, JSONDecoder.exact), entity, names)
    }

    /// Inserts or updates objects by a key, from JSON: an array of objects, or one object.
    ///
    ///     try context.upsert(json: data, into: City.self, by: City.keys.cityId)
    ///
    /// See ``upsert(_:into:by:)`` for the names and values. Members that the entity does not have are
    /// ignored; null assigns nil.
    /// - Parameter decoder: Says how dates and bytes are written; by default, dates are in ISO 8601 and bytes in Base64.
    /// - Throws: As ``upsert(_:into:by:)``, and ``PersistenceError/invalidUpsert(entity:reason:)`` for
    ///   text that is not JSON.
    @discardableResult
    public func upsert<T: ManagedObject>(
        json: Data, into type: T.Type, by key: some UpsertKey, decoder: JSONDecoder? = nil
    ) throws(PersistenceError) -> UpsertResult<T> {
        let entity = try core.planner.entity(of: FetchRequest<T>())
        let names = try names(of: key, type)
        return try upsert(try PropertyValues.decode(json, entity, model, decoder ?? .interchange), entity, names)
    }

    /// Inserts or updates objects by a key, from elements of any type: one lookup for all, and a closure that assigns.
    ///
    ///     let names = ["SA": "South America", "AF": "Africa"]
    ///     try context.upsert(Array(names), into: Continent.self, by: Continent.keys.continentId, key: \.key) { continent, item in
    ///         continent.name = item.value
    ///     }
    ///
    /// The closure is called for each element, with a new object that already has its key, or with the existing object.
    /// - Parameters:
    ///   - value: The key of an element.
    ///   - assign: Assigns the values of an element.
    /// - Throws: As ``upsert(_:into:by:)``, and what the closure throws.
    @discardableResult
    public func upsert<T: ManagedObject, Element, Value: AttributeValue>(
        _ elements: [Element], into type: T.Type, by key: some UpsertKey, key value: (Element) -> Value,
        assign: (T, Element) throws -> Void
    ) throws -> UpsertResult<T> {
        let entity = try core.planner.entity(of: FetchRequest<T>())
        let names = try names(of: key, type)
        let reader = PropertyValueReader(model: model)
        let rows = try elements.map { element in try reader.read([names[0]: value(element)], entity) }
        return try core.undoingOnFailure {
            let upserter = try Upserter(core: core, entity: entity, names: names)
            try upserter.upsert(rows) { object, position in
                guard let object = object as? T else { return }
                try assign(object, elements[position])
            }
            return UpsertResult(upserter.result)
        }
    }

    /// Replaces new objects by existing objects with the same keys.
    ///
    ///     let names = ["SA": "South America", "AF": "Africa"]
    ///     let continents = names.map { Continent(context: context, continentId: $0.key, name: $0.value) }
    ///     let result = try context.upsert(continents, by: Continent.keys.continentId)
    ///
    /// The values that were assigned to a new object are assigned to the existing one, including nil and values that equal the
    /// model's default; other values stay as they are. Relationships of the context that led to the new object lead to the
    /// existing one. The new object no longer belongs to the context then: its ``ManagedObject/isDeleted`` is true, and
    /// ``ManagedObject/survivor`` names the other one. New objects without a counterpart stay, and are saved with the context.
    /// - Parameters:
    ///   - objects: New objects of this context.
    ///   - key: The property or properties by which an object is recognized; see ``UpsertKey``.
    /// - Throws: As ``upsert(_:into:by:)``, and ``PersistenceError/invalidUpsert(entity:reason:)`` for an
    ///   object that is not new.
    @discardableResult
    public func upsert<T: ManagedObject>(
        _ objects: [T], by key: some UpsertKey
    ) throws(PersistenceError) -> UpsertResult<T> {
        guard let first = objects.first else { return UpsertResult() }
        let entity = core.coordinator.binding(for: T.self)?.entity ?? first.entity
        let names = try names(of: key, T.self)
        let upserter = try Upserter(core: core, entity: entity, names: names)
        try upserter.upsert(objects)
        return UpsertResult(upserter.result)
    }

    // MARK: Helpers

    private func upsert<T: ManagedObject>(
        _ values: [PropertyValues], _ entity: EntityDescription, _ names: [String]
    ) throws(PersistenceError) -> UpsertResult<T> {
        try core.undoingOnFailure { () throws(PersistenceError) in
            let upserter = try Upserter(core: core, entity: entity, names: names)
            try upserter.upsert(values)
            return UpsertResult(upserter.result)
        }
    }

    private func names(of key: some UpsertKey, _ type: ManagedObject.Type) throws(PersistenceError) -> [String] {
        guard let names = key.propertyNames(of: type) else {
            throw .invalidUpsert(
                entity: type.entityName,
                reason: "the key is not a property of \(type); name attributes of the entity itself")
        }
        return names
    }
}
