/// Names that generated code cannot give to properties and classes. Models may have them; the code generator refuses them, and
/// converters avoid them.
package enum ReservedNames {
    /// Members of `ManagedObject` and of typed keys.
    package static let members: Set<String> = [
        "allKeys", "assignObjectID", "awakeFromFetch", "awakeFromInsert", "changedPropertyNames", "changedValues",
        "committedValues", "container", "context",
        "delete", "didSave", "didTurnIntoFault", "entity", "entityName", "fetchedValue", "frozen",
        "hasChanges",
        "hasPersistentChangedValues", "hash", "hashValue", "isDeleted",
        "isFault", "isInserted", "isMissing", "isUpdated", "keys", "layoutHash", "managedObjectContext", "object",
        "objectID", "path",
        "predicateArgument", "prepareForDeletion", "propertyKeyPaths", "refresh", "survivor", "validateForDelete",
        "validateForInsert",
        "validateForUpdate",
        "willSave",
        "willTurnIntoFault",
    ]

    /// Words that Swift does not take as names of members, not even in back-ticks.
    package static let words: Set<String> = [
        "self", "Self", "init", "Type", "Protocol", "deinit", "subscript",
    ]

    /// Types that generated code names, and which a class of that name would hide.
    package static let types: Set<String> = [
        "Any", "AnyObject", "Array", "AttributeKey", "Bool", "Codable", "Data", "Date", "Decimal",
        "Dictionary", "Double",
        "Entity", "EntityKeys", "Attribute", "Relationship", "Index", "Float", "GeneratedModel", "GeoPoint", "Hashable",
        "Int", "Int16", "Int32",
        "Int64", "ManagedObject", "ManagedObjectContext", "ManagedObjectModel", "ManagedObjectProtocol",
        "ObjectKeys", "Optional", "Sendable",
        "Sequence", "Set", "String", "ToManyKey", "ToOneKey", "UInt64", "URL", "UUID", "Value", "Void",
        "CompositeElement", "NamingConvention", "EnumValue", "EnumerationType", "JSONKey", "JSONKeys", "JSONListKey",
        "JSONMember", "JSONType", "PredicateMembers", "TransformableValue", "Decoder",
        "FetchRequest", "FetchTemplate", "FetchedProperty", "PredicateArgument", "PredicateConvertible",
        "PropertyKeyPaths", "TypedPath",
        "ValidationRules", "Equatable", "Foundation", "Strata", "Swift",
    ]

    /// Names that elements of composites cannot have, besides ``words``: their struct has them.
    package static let elements: Set<String> = ["path", "hash", "hashValue", "Keys"]
}
