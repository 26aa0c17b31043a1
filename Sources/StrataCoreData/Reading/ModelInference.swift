import Foundation
import StrataCoreDataModel
import StrataSQL
import StrataSQLite

/// Makes a model of what the tables of a store show, for stores that have no copy of theirs.
///
/// The columns of a hierarchy all stand with its topmost entity. A whole number whose column has Core Data's index for
/// references is a to-one relationship if the keys in it, and its name, tell which entity it leads to.
struct ModelInference {
    let path: String
    let tables: CoreDataTables

    mutating func infer(on connection: Connection) throws(StoreError) -> CoreDataModelFile {
        var model = CoreDataModel(name: URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent)
        let names = Dictionary(tables.entries.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
        for entry in tables.entries {
            var entity = CoreDataEntity(name: entry.name)
            if entry.parent != 0 {
                guard let parent = names[entry.parent], entry.parent != entry.number else {
                    throw .corrupt(
                        path: path,
                        reason: "Z_PRIMARYKEY says that \(entry.name) inherits from an entity that is not there")
                }
                entity.parent = parent
            } else if let table = tables.table("Z" + entry.name) {
                try addColumns(of: table, to: &entity, on: connection)
            }
            model.entities.append(entity)
        }
        for entity in model.entities where model.lineage(of: entity).last?.parent != nil {
            throw .corrupt(path: path, reason: "Z_PRIMARYKEY says that \(entity.name) inherits from itself")
        }
        addPairs(to: &model, names: names)
        return CoreDataModelFile(model: model, path: path)
    }

    private func addColumns(
        of table: CoreDataTables.Table, to entity: inout CoreDataEntity, on connection: Connection
    ) throws(StoreError) {
        for column in table.columns where !column.name.uppercased().hasPrefix("Z_") && column.name.count > 1 {
            let name = column.name.dropFirst().lowercased()
            if column.type.uppercased() == "INTEGER",
                tables.indexes.contains("\(table.name)_\(column.name)_INDEX".uppercased()),
                let destination = try destination(of: column.name, in: table, on: connection)
            {
                var relationship = CoreDataRelationship(name: name, destination: destination, isToMany: false)
                relationship.options = .optional
                entity.relationships.append(relationship)
                continue
            }
            var attribute = CoreDataAttribute(name: name, type: Self.type(column.type))
            attribute.options = .optional
            entity.attributes.append(attribute)
        }
    }

    private static func type(_ declared: String) -> CoreDataAttributeType {
        switch declared.uppercased() {
        case "INTEGER": .integer64
        case "FLOAT": .double
        case "TIMESTAMP": .date
        case "DECIMAL": .decimal
        case "BLOB": .binary
        default: .string
        }
    }

    /// The entity that a column with keys leads to: the one of its name, otherwise the only one that has all of its keys.
    private func destination(
        of column: String, in table: CoreDataTables.Table, on connection: Connection
    ) throws(StoreError) -> String? {
        let roots = tables.entries.filter { $0.parent == 0 && tables.table("Z" + $0.name) != nil }
        let word = column.dropFirst().uppercased()
        if let named = roots.first(where: { $0.name.uppercased() == word }) { return named.name }
        let quoted = Identifiers.quote(column)
        let keys = "SELECT \(quoted) FROM \(Identifiers.quote(table.name)) WHERE \(quoted) IS NOT NULL"
        guard try connection.integer("SELECT EXISTS (\(keys))") == 1 else { return nil }
        var found: [String] = []
        for root in roots {
            let target = Identifiers.quote(tables.table("Z" + root.name)?.name ?? "")
            let isComplete = try connection.integer("SELECT NOT EXISTS (\(keys) EXCEPT SELECT Z_PK FROM \(target))")
            if isComplete == 1 { found.append(root.name) }
        }
        return found.count == 1 ? found[0] : nil
    }

    /// Many-to-many relationships, which have tables such as `Z_1BOOKS (Z_1AUTHORS, Z_2BOOKS)`.
    private func addPairs(to model: inout CoreDataModel, names: [Int64: String]) {
        let pattern = /Z_([0-9]+)([^0-9].*)/
        for table in tables.tables.values.sorted(by: { $0.name < $1.name }) {
            guard let match = table.name.uppercased().wholeMatch(of: pattern), let number = Int64(match.1),
                let owner = names[number]
            else { continue }
            let columns = table.columns.map { $0.name.uppercased() }.filter { !$0.hasPrefix("Z_FOK_") }
            guard columns.count == 2,
                let member = columns.first(where: { Self.isColumn($0, leadingTo: String(match.2)) }),
                let back = columns.first(where: { $0 != member })
            else { continue }
            guard let target = member.wholeMatch(of: pattern).flatMap({ Int64($0.1) }).flatMap({ names[$0] }) else {
                continue
            }
            let inverse = back.wholeMatch(of: pattern).map { String($0.2).lowercased() }
            add(match.2.lowercased(), of: owner, to: target, inverse: inverse, &model)
            if let inverse { add(inverse, of: target, to: owner, inverse: match.2.lowercased(), &model) }
        }
    }

    private static func isColumn(_ column: String, leadingTo relationship: String) -> Bool {
        guard let match = column.wholeMatch(of: /Z_[0-9]+([^0-9].*)/) else { return false }
        return match.1 == relationship
            || match.1.hasPrefix(relationship) && match.1.dropFirst(relationship.count).allSatisfy(\.isNumber)
    }

    private func add(
        _ name: String, of owner: String, to target: String, inverse: String?, _ model: inout CoreDataModel
    ) {
        guard let index = model.entities.firstIndex(where: { $0.name == owner }),
            !model.entities[index].relationships.contains(where: { $0.name == name })
        else { return }
        var relationship = CoreDataRelationship(name: name, destination: target, isToMany: true)
        relationship.options = .optional
        relationship.inverse = inverse
        relationship.inverseEntity = inverse == nil ? nil : target
        model.entities[index].relationships.append(relationship)
    }
}
