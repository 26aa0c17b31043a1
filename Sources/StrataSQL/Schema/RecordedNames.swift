import StrataStore

/// The names of tables and columns that a file has for the properties of its entities, as its metadata describe them.
///
/// A file keeps the names that it was created with, whatever rule gives names to new files.
package struct RecordedNames: Sendable {
    private struct Property {
        /// The table of an entity, the column of an attribute or a to-one relationship, or the table of pairs.
        var place: String?
        /// The column with the order of an ordered relationship.
        var order: String?
    }

    private var properties: [String: [String: Property]] = [:]

    /// No names: a new file.
    package init() {}

    /// Reads descriptions such as `string in year_born` and `to-many Photo in album_photos ordered by _order_photos`; see
    /// ``StoreMetadata/entities``.
    package init(_ metadata: StoreMetadata) {
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

    /// The names that a file keeps when it gets another model: those of entities and properties that keep theirs.
    package func carried(by mapping: ModelMapping, from old: ManagedObjectModel, to model: ManagedObjectModel)
        -> RecordedNames
    {
        var result = RecordedNames()
        for entity in model.entities {
            guard let mapped = mapping.entities[entity.name], mapped.source == entity.name,
                let past = old.entity(named: entity.name)
            else { continue }
            if past.parentIndex == nil, entity.parentIndex == nil {
                result.properties[entity.name, default: [:]]["_table"] = properties[entity.name]?["_table"]
            }
            func keep(_ name: String) {
                result.properties[entity.name, default: [:]][name] = properties[entity.name]?[name]
            }
            for slot in mapped.slots where slot.source == slot.slot { keep(slot.slot) }
            for relationship in entity.relationships where mapped.properties[relationship.name] == relationship.name {
                // The table of pairs of a relationship has another kind of name than the column of one.
                if past.relationship(named: relationship.name)?.place == relationship.place {
                    keep(relationship.name)
                }
            }
        }
        return result
    }

    /// The table of an entity.
    package func table(_ entity: String) -> String? { properties[entity]?["_table"]?.place }

    /// The column of an attribute, of an element of a composite or of a to-one relationship, or the table of a to-many.
    package func place(_ entity: String, _ property: String) -> String? { properties[entity]?[property]?.place }

    /// The column with the order of a to-many relationship.
    package func order(_ entity: String, _ property: String) -> String? { properties[entity]?[property]?.order }
}

extension RelationshipDescription {
    /// What kind of name the place of a relationship has.
    fileprivate enum Place: Equatable { case column, otherColumn, table, otherTable }

    fileprivate var place: Place {
        switch storage {
        case .slot: .column
        case .inverseSlot: .otherColumn
        case .pairs(let isPrimary): isPrimary ? .table : .otherTable
        }
    }
}
