public import StrataModel

/// The picture of a model: entities as boxes, relationships with crow's feet, inheritance with arrows.
///
///     let svg = EntityDiagram(model: model).svg()
public struct EntityDiagram: Sendable {
    /// A line in a box.
    struct Row: Sendable, Hashable {
        var name: String
        var type: String
        /// Whether the line is in bold: the primary key.
        var isKey = false
    }

    /// An entity.
    struct Box: Sendable {
        var name: String
        var isAbstract: Bool
        var attributes: [Row]
        var relationships: [Row]
        var parent: Int?
    }

    /// How many objects are at an end of a line.
    enum Cardinality: Sendable, Hashable {
        case zeroOrOne, one, zeroOrMany, oneOrMany
        /// No relationship leads to this end.
        case unknown

        var isMany: Bool { self == .zeroOrMany || self == .oneOrMany }
    }

    /// A relationship with its inverse.
    struct Link: Sendable {
        var from: Int
        var to: Int
        /// How many objects of `from` belong to one of `to`.
        var fromCardinality: Cardinality
        var toCardinality: Cardinality
        /// The relationship that leads from `from` to `to`, and the one back.
        var name: String
        var inverseName: String?
    }

    let title: String
    let boxes: [Box]
    let links: [Link]

    /// Takes what there is to draw from a model.
    public init(model: ManagedObjectModel) {
        title = model.name
        boxes = model.entities.map { entity in
            Box(
                name: entity.name, isAbstract: entity.isAbstract,
                attributes: entity.attributes.filter { $0.declaringEntity == entity.name }.map { attribute in
                    Row(
                        name: attribute.name, type: Self.type(of: attribute),
                        isKey: attribute.name == entity.primaryKeyField)
                },
                relationships: entity.relationships.filter { $0.declaringEntity == entity.name }.map { relationship in
                    Row(name: relationship.name, type: Self.type(of: relationship))
                } + entity.declaration.fetchedProperties.map { Row(name: $0.name, type: "fetch \($0.destination)") },
                parent: entity.parentIndex)
        }
        var links: [Link] = []
        var seen: Set<[String]> = []
        for entity in model.entities {
            for relationship in entity.relationships where relationship.declaringEntity == entity.name {
                let inverse = model.inverse(of: relationship)
                let ends = [[entity.name, relationship.name], [relationship.destination, inverse?.name ?? ""]]
                if inverse != nil, seen.contains(ends.flatMap(\.self)) { continue }
                seen.insert(ends.reversed().flatMap(\.self))
                links.append(
                    Link(
                        from: entity.index, to: relationship.destinationIndex,
                        fromCardinality: inverse.map(Self.cardinality) ?? .unknown,
                        toCardinality: Self.cardinality(of: relationship),
                        name: relationship.name, inverseName: inverse?.name))
            }
        }
        self.links = links
    }

    private static func cardinality(of relationship: RelationshipDescription) -> Cardinality {
        if relationship.isToMany { return relationship.declaration.minimumCount > 0 ? .oneOrMany : .zeroOrMany }
        return relationship.isOptional ? .zeroOrOne : .one
    }

    private static func type(of attribute: AttributeDescription) -> String {
        let mark = attribute.isOptional ? "?" : ""
        switch attribute.type {
        case .transformable(let name): return name + mark
        case .array(let element): return "[\(element.name)]" + mark
        case .composite(let elements): return "{\(elements.map(\.name).joined(separator: ", "))}" + mark
        default: return attribute.type.name + mark
        }
    }

    private static func type(of relationship: RelationshipDescription) -> String {
        if !relationship.isToMany { return relationship.destination + (relationship.isOptional ? "?" : "") }
        return relationship.isOrdered ? "[\(relationship.destination)]" : "{\(relationship.destination)}"
    }
}
