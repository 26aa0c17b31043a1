/// How entities and properties are called at the server, where that is not as in the model.
///
///     var names = AzureNames()
///     names.tables["Todo"] = "TodoItem"
///     names.columns["Todo.owner"] = "ownerId"
public struct AzureNames: Sendable, Hashable {
    /// Tables by entity. Others have the entity's name; for ``AzureVersion/datasync`` in small letters.
    public var tables: [String: String] = [:]
    /// Columns by entity and property, with a full stop between them. Others have the property's name.
    public var columns: [String: String] = [:]

    /// All as in the model.
    public init() {}

    /// The table of an entity.
    public func table(ofEntity name: String, in version: AzureVersion) -> String {
        tables[name] ?? (version == .datasync ? name.lowercased() : name)
    }
}
