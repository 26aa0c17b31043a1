import Strata

/// The model that random tests work with, as plain data: the store's model and the reference model are both made of it.
///
/// It has every kind of relationship: one-to-many, many-to-many, ordered ones of both kinds, one-to-one, to itself of
/// every kind, and the delete rules nullify, cascade (with cycles and diamonds) and deny.
enum WorldSchema {
    enum Cardinality { case one, many, ordered }

    struct Relation {
        let entity: String
        let name: String
        let destination: String
        let inverse: String
        let cardinality: Cardinality
        let rule: DeleteRule

        /// The name under which pairs and orders of the relationship are kept.
        var id: String { "\(entity).\(name)" }
    }

    struct Kind {
        let name: String
        let parent: String?
        let attributes: [String]
        let relations: [Relation]
    }

    private static func kind(
        _ name: String, parent: String? = nil, _ attributes: [String],
        _ relations: [(String, Cardinality, String, String, DeleteRule)]
    ) -> Kind {
        Kind(
            name: name, parent: parent, attributes: attributes,
            relations: relations.map {
                Relation(entity: name, name: $0.0, destination: $0.2, inverse: $0.3, cardinality: $0.1, rule: $0.4)
            })
    }

    static let kinds: [Kind] = [
        kind(
            "Author", ["name", "code", "score", "ratio"],
            [
                ("books", .many, "Book", "author", .cascade), ("passport", .one, "Passport", "owner", .cascade),
                ("mentor", .one, "Author", "students", .nullify), ("students", .many, "Author", "mentor", .nullify),
                ("favourites", .ordered, "Book", "fan", .nullify), ("shop", .one, "Shop", "clerks", .nullify),
            ]),
        kind(
            "Book", ["name", "score", "price", "cover"],
            [
                ("author", .one, "Author", "books", .nullify), ("fan", .one, "Author", "favourites", .nullify),
                ("tags", .many, "Tag", "books", .nullify), ("shelves", .many, "Shelf", "items", .nullify),
            ]),
        kind("Novel", parent: "Book", ["genre"], []),
        kind(
            "Tag", ["name"],
            [("books", .many, "Book", "tags", .nullify), ("friends", .many, "Tag", "friends", .nullify)]),
        kind("Passport", ["name"], [("owner", .one, "Author", "passport", .nullify)]),
        kind("Shelf", ["name"], [("items", .ordered, "Book", "shelves", .nullify)]),
        kind("Shop", ["name"], [("clerks", .many, "Author", "shop", .deny)]),
        kind(
            "Node", ["name", "score"],
            [
                ("parent", .one, "Node", "children", .nullify), ("children", .many, "Node", "parent", .cascade),
                ("backup", .one, "Node", "backedUp", .cascade), ("backedUp", .many, "Node", "backup", .nullify),
                ("peer", .one, "Node", "peer", .nullify),
            ]),
    ]

    private static let kindsByName = Dictionary(uniqueKeysWithValues: kinds.map { ($0.name, $0) })

    static func kind(_ name: String) -> Kind { kindsByName[name]! }

    static func root(_ name: String) -> String { kind(name).parent.map(root) ?? name }

    static func isKind(_ name: String, of ancestor: String) -> Bool {
        name == ancestor || kind(name).parent.map { isKind($0, of: ancestor) } ?? false
    }

    /// Attributes with inherited ones.
    static func attributes(_ name: String) -> [String] {
        (kind(name).parent.map(attributes) ?? []) + kind(name).attributes
    }

    /// Attributes that conditions and orders can ask for.
    static func comparableAttributes(_ name: String) -> [String] { attributes(name).filter { $0 != "cover" } }

    /// Covers larger than this many bytes are files.
    static let largestInlineCover = 100

    /// Relationships with inherited ones.
    static func relations(_ name: String) -> [Relation] {
        (kind(name).parent.map(relations) ?? []) + kind(name).relations
    }

    static func relation(_ entity: String, _ name: String) -> Relation { relations(entity).first { $0.name == name }! }

    /// The one-to-one relationship with the given name; nil if the name is that of something else.
    static func oneToOne(_ entity: String, _ name: String) -> Relation? {
        relations(entity).first { $0.name == name && $0.cardinality == .one && inverse($0).cardinality == .one }
    }

    static func inverse(_ relation: Relation) -> Relation { self.relation(relation.destination, relation.inverse) }

    /// The side of a relationship of pairs under whose name they are kept.
    static func canonical(_ relation: Relation) -> Relation {
        let other = inverse(relation)
        return relation.id <= other.id ? relation : other
    }

    /// Longer names are refused at a save.
    static let longestName = 8

    static let model: ManagedObjectModel = {
        let entities = kinds.map { kind in
            var entity = Entity(name: kind.name, location: nil)
            entity.parent = kind.parent
            entity.attributes = kind.attributes.map { name in
                switch name {
                case "name":
                    var attribute = Attribute(name, .string)
                    attribute.rules = ValidationRules(maximumLength: longestName)
                    return attribute
                case "score": return Attribute(name, .integer64, default: .value(.integer(0)))
                case "ratio": return Attribute(name, .double, optional: true)
                case "price": return Attribute(name, .decimal, optional: true)
                case "code":
                    var attribute = Attribute(name, .string, optional: true)
                    attribute.isUnique = true
                    return attribute
                case "cover": return Attribute(name, .binary, optional: true).externalStorage()
                default: return Attribute(name, .string, optional: true)
                }
            }
            entity.relationships = kind.relations.map { relation in
                Relationship(
                    relation.name, to: relation.destination,
                    relation.cardinality == .one
                        ? .optionalToOne : relation.cardinality == .many ? .toMany : .orderedToMany,
                    inverse: relation.inverse, deleteRule: relation.rule)
            }
            return entity
        }
        do {
            return try ManagedObjectModel(name: "World", entities: entities)
        } catch {
            fatalError("\(error)")
        }
    }()
}
