import StrataCoreDataModel
import StrataSQL
import StrataSQLite

/// The tables and indexes that Core Data makes for a model.
struct NewStoreSchema {
    private let model: CoreDataModel
    private let entities: [CoreDataEntity]
    private let numbers: [String: Int]
    private(set) var statements: [String] = []
    /// Names of columns with keys in tables of pairs; they are counted over all of these.
    private var pairColumns: [String: Int] = [:]

    init(model: CoreDataModel) {
        self.model = model
        entities = model.entitiesInStoreOrder
        numbers = Dictionary(
            entities.enumerated().map { ($0.element.name, $0.offset + 1) }, uniquingKeysWith: { first, _ in first })
        for entity in entities where model.lineage(of: entity).count == 1 { addTable(of: entity) }
        for entity in entities {
            for relationship in entity.relationships { addPairs(of: relationship, in: entity) }
        }
        statements.append(
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)")
        statements.append("CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
        statements.append("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
        for entity in entities {
            let parent = entity.parent.flatMap { numbers[$0] } ?? 0
            statements.append(
                "INSERT INTO Z_PRIMARYKEY VALUES(\(numbers[entity.name] ?? 0), \(Identifiers.literal(entity.name)), \(parent), 0)"
            )
        }
    }

    private struct Column {
        var name: String
        var type: String
        /// The group that Core Data puts it in, which decides its place.
        var group: Int
        var depth: Int
        var property: String
    }

    private mutating func addTable(of root: CoreDataEntity) {
        let table = "Z" + root.name.uppercased()
        let family = entities.filter { model.lineage(of: $0).last?.name == root.name }
        var counts: [String: Int] = [:]
        var columns: [Column] = []
        var names: [String: [String: String]] = [:]
        for (depth, entity) in family.enumerated() {
            for property in Self.properties(of: entity) {
                let base = "Z" + property.name.uppercased()
                let number = counts[base, default: 0]
                counts[base] = number + 1
                let name = number == 0 ? base : "\(base)\(number)"
                names[entity.name, default: [:]][property.name] = name
                columns.append(
                    Column(
                        name: name, type: property.type, group: property.group, depth: depth, property: property.name))
                guard let relationship = property.relationship else { continue }
                columns += extraColumns(of: relationship, name: name, depth: depth)
            }
        }
        columns.sort { ($0.group, $0.depth, $0.property, $0.name) < ($1.group, $1.depth, $1.property, $1.name) }
        let list = columns.map { "\(Identifiers.quote($0.name)) \($0.type)" }
        let all = (["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"] + list).joined(separator: ", ")
        statements.append("CREATE TABLE \(Identifiers.quote(table)) ( \(all) )")
        if family.count > 1 { index("\(table)_Z_ENT_INDEX", on: table, "Z_ENT") }
        for entity in family { addIndexes(of: entity, on: table, names: names) }
    }

    /// The column with the number of the target's entity, and the one with the place in an ordered relationship.
    private func extraColumns(of relationship: CoreDataRelationship, name: String, depth: Int) -> [Column] {
        var columns: [Column] = []
        if entities.contains(where: { $0.parent == relationship.destination }) {
            let number = numbers[relationship.destination] ?? 0
            columns.append(
                Column(
                    name: "Z\(number)_\(name.dropFirst())", type: "INTEGER", group: 1, depth: depth,
                    property: relationship.name))
        }
        let back = model.entity(named: relationship.destination)?.relationships.first {
            $0.name == relationship.inverse
        }
        if back?.isOrdered == true {
            columns.append(
                Column(
                    name: "Z_FOK_\(name.dropFirst())", type: "INTEGER", group: 2, depth: depth,
                    property: relationship.name))
        }
        return columns
    }

    private struct Property {
        var name: String
        var type: String
        var group: Int
        var relationship: CoreDataRelationship?
    }

    /// The properties with columns that an entity declares, by name.
    private static func properties(of entity: CoreDataEntity) -> [Property] {
        var found = entity.attributes.filter { !$0.isTransient }.compactMap { attribute -> Property? in
            guard let (type, group) = column(of: attribute.type) else { return nil }
            return Property(name: attribute.name, type: type, group: group)
        }
        found += entity.relationships.filter { !$0.isTransient && !$0.isToMany }.map {
            Property(name: $0.name, type: "INTEGER", group: 1, relationship: $0)
        }
        return found.sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
    }

    private static func column(of type: CoreDataAttributeType) -> (String, Int)? {
        switch type {
        case .integer16, .integer32, .integer64, .boolean: ("INTEGER", 0)
        case .date: ("TIMESTAMP", 3)
        case .double, .float: ("FLOAT", 3)
        case .decimal: ("DECIMAL", 4)
        case .string: ("VARCHAR", 5)
        case .uri: ("VARCHAR", 6)
        case .uuid, .transformable: ("BLOB", 7)
        case .binary: ("BLOB", 8)
        case .undefined, .objectID, .composite: nil
        }
    }

    // MARK: Indexes

    private mutating func index(_ name: String, on table: String, _ columns: String, isUnique: Bool = false) {
        statements.append(
            "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(Identifiers.quote(name)) ON \(Identifiers.quote(table)) (\(columns))"
        )
    }

    private mutating func addIndexes(of entity: CoreDataEntity, on table: String, names: [String: [String: String]]) {
        let lineage = model.lineage(of: entity).map(\.name)
        func column(_ property: String) -> String? { lineage.lazy.compactMap { names[$0]?[property] }.first }
        for relationship in entity.relationships where !relationship.isToMany {
            guard let column = column(relationship.name) else { continue }
            index("\(table)_\(column)_INDEX", on: table, Identifiers.quote(column))
        }
        for found in entity.indexes {
            guard let name = found.name, found.predicate == nil else { continue }
            let terms = found.elements.compactMap { element in
                element.property.flatMap(column).map {
                    "\(Identifiers.quote($0)) COLLATE BINARY \(element.isDescending ? "DESC" : "ASC")"
                }
            }
            guard terms.count == found.elements.count else { continue }
            index("Z_\(entity.name)_\(name)", on: table, terms.joined(separator: ", "))
        }
        for constraint in entity.uniquenessConstraints {
            let terms = constraint.compactMap(column).map { "\(Identifiers.quote($0)) COLLATE BINARY ASC" }
            guard terms.count == constraint.count else { continue }
            let name = "Z_\(entity.name)_UNIQUE_\(constraint.joined(separator: "_"))"
            index(name, on: table, terms.joined(separator: ", "), isUnique: true)
        }
    }

    // MARK: Pairs

    private mutating func addPairs(of relationship: CoreDataRelationship, in entity: CoreDataEntity) {
        guard relationship.isToMany, !relationship.isTransient, let own = numbers[entity.name],
            let other = numbers[relationship.destination]
        else { return }
        let back = model.entity(named: relationship.destination)?.relationships.first {
            $0.name == relationship.inverse
        }
        if let back, !back.isToMany { return }
        // The side with the lower number names the table; of two in one entity it is the first by name.
        if let back, other < own || other == own && back.name < relationship.name { return }
        let table = "Z_\(own)\(relationship.name.uppercased())"
        let member = unique("Z_\(other)\(relationship.name.uppercased())")
        let isOwnInverse = back?.name == relationship.name && own == other
        let owner = isOwnInverse ? "REFLEXIVE" : unique("Z_\(own)\((back?.name ?? entity.name).uppercased())")
        var columns = ["\(owner) INTEGER", "\(member) INTEGER"]
        if relationship.isOrdered { columns.append("Z_FOK_\(member.dropFirst(2)) INTEGER") }
        if back?.isOrdered == true, !isOwnInverse { columns.append("Z_FOK_\(owner.dropFirst(2)) INTEGER") }
        columns.append("PRIMARY KEY (\(owner), \(member))")
        statements.append("CREATE TABLE \(table) ( \(columns.joined(separator: ", ")) )")
        index("\(table)_\(member)_INDEX", on: table, "\(member), \(owner)")
    }

    private mutating func unique(_ name: String) -> String {
        let number = pairColumns[name, default: 0]
        pairColumns[name] = number + 1
        return number == 0 ? name : "\(name)\(number)"
    }
}
