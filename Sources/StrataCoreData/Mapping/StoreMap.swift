import Foundation
import StrataCoreDataModel
import StrataSQLite

/// Where the tables of a store keep the entities and properties of a Core Data model.
///
/// Core Data puts a hierarchy of entities into one table and names columns after properties in capital letters; where two
/// entities of a hierarchy have a property of one name, the second column gets a number at its end. Tables that Core Data has
/// migrated in place may have older names, so that nothing is taken for granted that the file does not have.
struct StoreMap: Sendable {
    /// An entity in the store.
    struct Place: Sendable {
        /// The number in the column `Z_ENT`.
        var number: Int64
        /// The table.
        var table: String
    }

    /// A table with the pairs of a many-to-many relationship.
    struct Pairs: Sendable {
        var table: String
        /// The column with the keys of those that have the relationship, and of those that it leads to.
        var ownerColumn: String
        var memberColumn: String
        /// The column with the order of the members of an owner.
        var orderColumn: String?
        /// The column with the order of the owners of a member.
        var inverseOrderColumn: String?
    }

    let model: CoreDataModel
    let tables: CoreDataTables
    /// The entities that the store has, by name.
    private(set) var places: [String: Place] = [:]
    /// The columns by entity that declares the property, and by property.
    private(set) var columns: [String: [String: String]] = [:]
    /// What does not fit.
    private(set) var differences: [String] = []
    private(set) var warnings: [String] = []

    init(model: CoreDataModel, tables: CoreDataTables) {
        self.model = model
        self.tables = tables
        let entities = model.entitiesInStoreOrder
        for entity in entities { findPlace(of: entity) }
        for root in entities where model.lineage(of: root).count == 1 && places[root.name] != nil {
            findColumns(under: root, among: entities)
        }
        let known = Set(places.values.map(\.number))
        for entry in tables.entries where !known.contains(entry.number) {
            warnings.append("the store has the entity \(entry.name), which the model lacks; its objects are left out")
        }
    }

    private mutating func findPlace(of entity: CoreDataEntity) {
        // An entity that was renamed may keep its old name here.
        let former = entity.elementID.flatMap { name in
            model.entity(named: name) == nil ? tables.entry(named: name) : nil
        }
        guard let entry = tables.entry(named: entity.name) ?? former else {
            warnings.append("the store has no entity \(entity.name); it has no objects")
            return
        }
        let root = model.lineage(of: entity).last ?? entity
        let names = [root.name, root.elementID, root.name == entity.name ? entry.name : nil].compactMap(\.self)
        guard let table = names.compactMap({ tables.table("Z" + $0) }).first else {
            differences.append("entity \(entity.name): its table Z\(root.name.uppercased()) is missing")
            return
        }
        for column in ["Z_PK", "Z_ENT", "Z_OPT"] where table.column(column) == nil {
            differences.append("entity \(entity.name): its table \(table.name) has no column \(column)")
        }
        places[entity.name] = Place(number: entry.number, table: table.name)
    }

    // MARK: Columns

    private mutating func findColumns(under root: CoreDataEntity, among entities: [CoreDataEntity]) {
        guard let place = places[root.name], let table = tables.table(place.table) else { return }
        var counts: [String: Int] = [:]
        var taken: Set<String> = []
        for entity in entities where model.lineage(of: entity).last?.name == root.name && places[entity.name] != nil {
            for (name, isComposite) in storedProperties(of: entity) {
                let wanted = "Z" + name.uppercased()
                let number = counts[wanted, default: 0]
                counts[wanted] = number + 1
                if isComposite { continue }
                let column = column(wanted, number: number, in: table, taken: taken)
                guard let column else {
                    differences.append("\(entity.name).\(name): the table \(table.name) has no column \(wanted)")
                    continue
                }
                taken.insert(column)
                columns[entity.name, default: [:]][name] = column
            }
        }
    }

    /// The properties with a column that an entity declares, by name.
    private func storedProperties(of entity: CoreDataEntity) -> [(name: String, isComposite: Bool)] {
        // Attributes without a type, and those of object IDs, have no counterpart that would ask for a column.
        let attributes = entity.attributes.filter { !$0.isTransient && ![.undefined, .objectID].contains($0.type) }
            .map { ($0.name, $0.type == .composite) }
        let relationships = entity.relationships.filter { !$0.isTransient && !$0.isToMany }.map { ($0.name, false) }
        return (attributes + relationships).sorted { Array($0.0.utf8).lexicographicallyPrecedes(Array($1.0.utf8)) }
    }

    private func column(
        _ wanted: String, number: Int, in table: CoreDataTables.Table, taken: Set<String>
    ) -> String? {
        if let column = table.column(number == 0 ? wanted : "\(wanted)\(number)"), !taken.contains(column) {
            return column
        }
        // After a migration in place the numbers may be others.
        let rest = table.columns.map(\.name).filter { name in
            let upper = name.uppercased()
            return !taken.contains(name) && upper.hasPrefix(wanted)
                && upper.dropFirst(wanted.count).allSatisfy(\.isNumber)
        }
        return rest.count == 1 ? rest[0] : nil
    }

    /// The column of an element of a composite attribute. How Core Data names these is not documented; nil if the table has
    /// none of the names that are likely.
    func column(ofElement element: String, of attribute: String, in entity: String) -> String? {
        guard let place = places[entity], let table = tables.table(place.table) else { return nil }
        let names = ["\(attribute)_\(element)", "\(attribute)\(element)", element]
        return names.lazy.compactMap { table.column("Z" + $0) }.first
    }

    /// The column with the order of the rows that a to-one relationship of theirs ties to one owner.
    func orderColumn(of relationship: String, in entity: String) -> String? {
        guard let place = places[entity], let column = columns[entity]?[relationship] else { return nil }
        return tables.table(place.table)?.column("Z_FOK_" + column.dropFirst())
    }

    // MARK: Pairs

    /// The table of a relationship that leads from many to many, or to many without an inverse.
    func pairs(of relationship: CoreDataRelationship, in entity: String) -> Pairs? {
        guard let owner = places[entity]?.number, let member = places[relationship.destination]?.number else {
            return nil
        }
        let word = relationship.name.uppercased()
        let inverse = relationship.inverse?.uppercased()
        var names = ["Z_\(owner)\(word)"]
        if let inverse { names.append("Z_\(member)\(inverse)") }
        if inverse != nil, member < owner { names.reverse() }
        for name in names {
            if let table = tables.table(name),
                let found = pairs(in: table, owner: owner, member: member, word, inverse)
            {
                return found
            }
        }
        return nil
    }

    private func pairs(
        in table: CoreDataTables.Table, owner: Int64, member: Int64, _ word: String, _ inverse: String?
    ) -> Pairs? {
        let keys = table.columns.map(\.name).filter { !$0.uppercased().hasPrefix("Z_FOK_") }
        guard keys.count == 2 else { return nil }
        // A name that another table of pairs has, too, gets a number at its end.
        func matches(_ column: String, _ name: String) -> Bool {
            let upper = column.uppercased()
            return upper == name || upper.hasPrefix(name) && upper.dropFirst(name.count).allSatisfy(\.isNumber)
        }
        let memberName = "Z_\(member)\(word)"
        let ownerName = inverse.map { "Z_\(owner)\($0)" }
        let members = keys.filter { matches($0, memberName) }
        var memberColumn = members.count == 1 ? members[0] : nil
        if memberColumn == nil, let ownerName {
            let owners = keys.filter { matches($0, ownerName) }
            if owners.count == 1 { memberColumn = keys.first { $0 != owners[0] } }
        }
        guard let memberColumn = memberColumn ?? keys.first(where: { $0.uppercased() == memberName }),
            let ownerColumn = keys.first(where: { $0 != memberColumn })
        else { return nil }
        return Pairs(
            table: table.name, ownerColumn: ownerColumn, memberColumn: memberColumn,
            orderColumn: table.column("Z_FOK_" + memberColumn.dropFirst(2)),
            inverseOrderColumn: table.column("Z_FOK_" + ownerColumn.dropFirst(2)))
    }
}
