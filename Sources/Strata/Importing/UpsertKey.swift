/// The property or properties by which an upsert identifies an existing object: a typed key, a key path, a name, or an
/// array of names.
///
///     try context.upsert(rows, into: City.self, by: City.keys.cityId)
///     try context.upsert(rows, into: City.self, by: \City.cityId)
///     try context.upsert(rows, into: City.self, by: "cityId")
///     try context.upsert(rows, into: City.self, by: ["name", "admin1"])
///
/// Name stored attributes of the entity itself, usually its primary key or another unique attribute. With several names, all of
/// their values together identify an object. Each element must have a value for each of them, and no two existing objects may
/// have the same values; the upsert throws ``PersistenceError/invalidUpsert(entity:reason:)`` otherwise. An index on the
/// attributes makes the lookup fast: it is one fetch for all elements.
public protocol UpsertKey {
    /// The names of the properties.
    /// - Parameter type: The class of the objects.
    /// - Returns: nil if the key does not belong to the class.
    func propertyNames(of type: ManagedObject.Type) -> [String]?
}

extension AttributeKey: UpsertKey {
    /// The name of the attribute.
    public func propertyNames(of type: ManagedObject.Type) -> [String]? { path.names.count == 1 ? path.names : nil }
}

extension String: UpsertKey {
    /// The name itself.
    public func propertyNames(of type: ManagedObject.Type) -> [String]? { [self] }
}

extension Array: UpsertKey where Element == String {
    /// The names themselves.
    public func propertyNames(of type: ManagedObject.Type) -> [String]? { isEmpty ? nil : self }
}

extension KeyPath: UpsertKey where Root: ManagedObject {
    /// The name of the property, by the table that is generated for the class.
    public func propertyNames(of type: ManagedObject.Type) -> [String]? {
        type.propertyKeyPaths.name(of: self).map { [$0] }
    }
}
