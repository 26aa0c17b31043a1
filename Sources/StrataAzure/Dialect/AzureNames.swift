/// The names of entities and properties at the server, where they are not as in the model.
///
///     var names = AzureNames()
///     names.tables["City"] = "CityItem"
///     names.columns["City.country"] = "countryId"
///
/// Set them in ``AzureDialect/names`` before you open a store. By default, a table has the entity's name, in small letters with
/// ``AzureVersion/datasync``, and a column the property's name. A to-one relationship is a column with the id of the other row.
/// Two properties with one column are an error when the store is opened. Tables of JSON objects, ``AzureTable``, use the
/// server's names only.
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
