import StrataStore

/// The names of tables and columns that a file has for the properties of its entities, as its metadata describe them.
///
/// A file keeps the names that it was created with, whatever rule gives names to new files.
struct RecordedNames: Sendable {
    private struct Property {
        /// The table of an entity, the column of an attribute or a to-one relationship, or the table of pairs.
        var place: String?
        /// The column with the order of an ordered relationship.
        var order: String?
    }

    private var properties: [String: [String: Property]] = [:]

    /// No names: a new file.
    init() {}

    /// Reads descriptions such as `string in year_born` and `to-many Photo in album_photos ordered by _order_photos`; see
    /// ``StoreMetadata/entities``.
    init(_ metadata: StoreMetadata) {
        for (entity, descriptions) in metadata.entities {
            for (name, text) in descriptions where !name.hasPrefix("_") || name == "_table" {
                var property = Property()
                if name == "_table" {
                    property.place = text
                } else {
                    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
                    for (word, next) in zip(parts, parts.dropFirst()) {
                        if word == "in" { property.place = String(next) }
                        if word == "by" { property.order = Identifiers.unquoted(next) }
                    }
                }
                properties[entity, default: [:]][name] = property
            }
        }
    }

    /// The table of an entity.
    func table(_ entity: String) -> String? { properties[entity]?["_table"]?.place }

    /// The column of an attribute, of an element of a composite or of a to-one relationship, or the table of a to-many.
    func place(_ entity: String, _ property: String) -> String? { properties[entity]?[property]?.place }

    /// The column with the order of a to-many relationship.
    func order(_ entity: String, _ property: String) -> String? { properties[entity]?[property]?.order }
}
