/// The fingerprint of how a model's objects are stored.
///
/// What enters: naming; entities with parent and abstractness; attributes with type (elements of composites and the
/// class of transformables and the type of an array's elements included; `Int` and `Int64` are one), optionality, transience and how they are derived; relationships with destination,
/// inverse, cardinality, order, optionality and counts. What does not: the order of declarations, defaults, enumerations, the
/// Swift types of JSON, other
/// validation, delete rules, indexes, fetched properties, former names, user info, documentation. A change of the encoding here
/// makes every existing store look foreign: do not change it.
enum VersionHash {
    /// Hashes the entities and their properties in the order of their names.
    static func hash(of entities: [Entity], naming: NamingConvention) -> String {
        var hash = StableHash()
        hash.combine(naming.properties.rawValue)
        hash.combine(naming.entities.rawValue)
        hash.combine(UInt64(entities.count))
        for entity in entities.sorted(by: { precedes($0.name, $1.name) }) { combine(entity, into: &hash) }
        return hash.hexadecimal
    }

    private static func combine(_ entity: Entity, into hash: inout StableHash) {
        hash.combine(entity.name)
        hash.combine(entity.parent ?? "")
        hash.combine(entity.isAbstract)
        hash.combine(UInt64(entity.attributes.count))
        for attribute in entity.attributes.sorted(by: { precedes($0.name, $1.name) }) {
            hash.combine(attribute.name)
            combine(attribute.type, into: &hash)
            hash.combine(attribute.isOptional)
            hash.combine(attribute.isTransient)
            hash.combine(spelling(of: attribute.derivation))
        }
        hash.combine(UInt64(entity.relationships.count))
        for relationship in entity.relationships.sorted(by: { precedes($0.name, $1.name) }) {
            hash.combine(relationship.name)
            hash.combine(relationship.destination)
            hash.combine(relationship.inverse ?? "")
            hash.combine(relationship.isToMany)
            hash.combine(relationship.isOrdered)
            hash.combine(relationship.isOptional)
            hash.combine(UInt64(bitPattern: Int64(relationship.minimumCount)))
            hash.combine(UInt64(bitPattern: Int64(relationship.maximumCount)))
        }
    }

    private static func combine(_ type: AttributeType, into hash: inout StableHash) {
        hash.combine(type.storedName)
        switch type {
        case .transformable(let className): hash.combine(className)
        case .array(let element): combine(element, into: &hash)
        case .composite(let elements):
            hash.combine(UInt64(elements.count))
            for element in elements.sorted(by: { precedes($0.name, $1.name) }) {
                hash.combine(element.name)
                combine(element.type, into: &hash)
                hash.combine(element.isOptional)
            }
        default: break
        }
    }

    /// Derivations that the store keeps count with their source; for those computed when a row is read it matters only
    /// that they have no column.
    private static func spelling(of derivation: Derivation?) -> String {
        switch derivation {
        case nil: ""
        case .lowercase(let source): "lowercase:\(source)"
        case .uppercase(let source): "uppercase:\(source)"
        case .canonical(let source): "canonical:\(source)"
        case .now: "now"
        case .count, .sum, .path: "computed"
        }
    }

    /// Compares bytes, so that the order does not depend on the locale or the Unicode version.
    private static func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }
}
