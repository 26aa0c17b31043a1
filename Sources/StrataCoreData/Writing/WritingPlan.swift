import Foundation
import StrataCoreDataModel
import StrataSQL
import StrataSQLite

/// Where the objects of a model are written in a Core Data store.
struct WritingPlan: Sendable {
    /// The other end of a to-one relationship.
    struct Reference: Sendable {
        /// The table of the objects that it leads to, as SQL.
        var table: String
        /// The position of the topmost entity there.
        var root: Int
        /// The column with the number of the target's entity, as SQL; nil if the destination has no sub-entities.
        var entityColumn: String?
        /// The column with the place in an ordered relationship, as SQL.
        var orderColumn: String?
    }

    /// A stored slot.
    struct Field: Sendable {
        var slot: SlotDescription
        /// The column as SQL.
        var column: String
        /// Whether bytes have a mark before them, and may be in a file of their own.
        var isMarked: Bool
        /// Whether the values are archives, which are not written.
        var isArchive: Bool
        var reference: Reference?
    }

    /// The rows of an entity.
    struct Entity: Sendable {
        var name: String
        var number: Int64
        /// The table as SQL.
        var table: String
        /// The number of the topmost entity, which keeps the highest key.
        var rootNumber: Int64
        var fields: [Field] = []
        /// The slots of each unique constraint.
        var uniques: [[Int]] = []

        func field(_ slot: Int) -> Field? { fields.first { $0.slot.index == slot } }
    }

    /// A relationship of an entity.
    struct Key: Hashable, Sendable {
        var entity: Int
        var relationship: Int
    }

    /// A table of pairs, from the side that Strata calls primary.
    struct Pairs: Sendable {
        var table: String
        var owner: String
        var member: String
        var memberOrder: String?
        var ownerOrder: String?
        /// The positions of the topmost entities of owners and members.
        var ownerRoot: Int
        var memberRoot: Int
        /// Whether the relationship is its own inverse. How Core Data keeps such pairs is not known.
        var isOwnInverse: Bool
    }

    let model: ManagedObjectModel
    /// The path of the store.
    let path: String
    let folder: SupportFolder
    /// SQLite's number for the tables of the file. Another number means that another program has migrated the file.
    let schemaNumber: Int64
    private(set) var entities: [Entity?] = []
    private(set) var pairs: [Key: Pairs] = [:]
    /// Why the store cannot be written without doing harm.
    private(set) var refusals: [String] = []

    init(file: CoreDataFile, model: ManagedObjectModel, layout: ViewLayout) {
        self.model = model
        path = file.path
        folder = file.folder
        schemaNumber = file.tables.schemaNumber
        let properties = PropertyMap(model: model, source: file.source.file.model, mapping: file.conversion.mapping)
        refusals = WritingRules(file: file, properties: properties).refusals
        for entity in model.entities { entities.append(plan(of: entity, properties, file.map)) }
        for one in layout.pairs { addPairs(one, properties, file.map) }
    }

    /// The columns that lead to objects of a hierarchy, each with the table and its topmost entity.
    func references(to root: Int) -> [(table: String, root: Int, field: Field)] {
        var seen: Set<String> = []
        var result: [(String, Int, Field)] = []
        for (index, entity) in entities.enumerated() {
            guard let entity else { continue }
            for field in entity.fields where field.reference?.root == root {
                guard seen.insert("\(entity.table) \(field.column)").inserted else { continue }
                result.append((entity.table, model.entities[index].rootIndex, field))
            }
        }
        return result
    }

    // MARK: Entities

    private mutating func plan(of entity: EntityDescription, _ properties: PropertyMap, _ map: StoreMap) -> Entity? {
        guard let name = properties.entity(entity.index), let place = map.places[name],
            let root = properties.entity(entity.rootIndex).flatMap({ map.places[$0] })
        else { return nil }
        var plan = Entity(
            name: entity.name, number: place.number, table: Identifiers.quote(place.table), rootNumber: root.number)
        for slot in entity.slots where slot.isStored && slot.derivation == nil {
            guard let field = field(of: slot, in: entity, properties, map) else { continue }
            plan.fields.append(field)
        }
        plan.uniques = entity.uniqueConstraints.filter { !$0.isEmpty }
        return plan
    }

    private mutating func field(
        of slot: SlotDescription, in entity: EntityDescription, _ properties: PropertyMap, _ map: StoreMap
    ) -> Field? {
        switch properties.property(slot.name, of: entity.index) {
        case .attribute(let attribute, let declaring):
            guard attribute.derivation == nil, let column = map.columns[declaring]?[attribute.name] else { return nil }
            return Field(
                slot: slot, column: Identifiers.quote(column), isMarked: attribute.options.contains(.externalStorage),
                isArchive: attribute.type == .transformable && slot.type != .binary)
        case .relationship(let relationship, let declaring):
            guard let index = slot.relationshipIndex, let column = map.columns[declaring]?[relationship.name],
                let place = map.places[declaring], let target = map.places[relationship.destination]
            else { return nil }
            let destination = model.entities[entity.relationships[index].destinationIndex]
            var reference = Reference(table: Identifiers.quote(target.table), root: destination.rootIndex)
            switch map.entityColumn(of: column, in: place.table) {
            case .some(let found): reference.entityColumn = Identifiers.quote(found)
            case nil:
                if map.model.entities.contains(where: { $0.parent == relationship.destination }) {
                    refuse("\(entity.name).\(slot.name) has no column for the entity that it leads to")
                }
            }
            reference.orderColumn = map.orderColumn(of: relationship.name, in: declaring).map(Identifiers.quote)
            let back = map.model.entity(named: relationship.destination)
                .flatMap { destination in
                    map.model.lineage(of: destination).lazy.flatMap(\.relationships)
                        .first { $0.name == relationship.inverse }
                }
            if back?.isOrdered == true, reference.orderColumn == nil {
                refuse("\(destination.name).\(back?.name ?? "") is ordered, and the store has no column for the order")
            }
            return Field(
                slot: slot, column: Identifiers.quote(column), isMarked: false, isArchive: false, reference: reference)
        case nil: return nil
        }
    }

    private mutating func refuse(_ reason: String) {
        if !refusals.contains(reason) { refusals.append(reason) }
    }

    // MARK: Pairs

    private mutating func addPairs(_ pairs: ViewLayout.Pairs, _ properties: PropertyMap, _ map: StoreMap) {
        let declared = model.entities[pairs.entity].relationships[pairs.relationship]
        guard case .relationship(let relationship, let entity)? = properties.property(declared.name, of: pairs.entity),
            let place = map.pairs(of: relationship, in: entity)
        else {
            return refuse("\(model.entities[pairs.entity].name).\(declared.name) is not kept as pairs in the store")
        }
        let isOwnInverse = relationship.inverse == relationship.name && relationship.destination == entity
        self.pairs[Key(entity: pairs.entity, relationship: pairs.relationship)] = Pairs(
            table: Identifiers.quote(place.table), owner: Identifiers.quote(place.ownerColumn),
            member: Identifiers.quote(place.memberColumn), memberOrder: place.orderColumn.map(Identifiers.quote),
            ownerOrder: place.inverseOrderColumn.map(Identifiers.quote), ownerRoot: pairs.ownerRoot,
            memberRoot: pairs.memberRoot, isOwnInverse: isOwnInverse)
    }

    /// The table of pairs of a relationship, and whether it is seen from the primary side.
    func pairs(_ entityIndex: Int, _ relationshipIndex: Int) -> (pairs: Pairs, isPrimary: Bool)? {
        let relationship = model.entities[entityIndex].relationships[relationshipIndex]
        guard case .pairs(let isPrimary) = relationship.storage else { return nil }
        func declaring(_ entity: Int, _ index: Int) -> Key {
            let name = model.entities[entity].relationships[index].declaringEntity
            return Key(entity: model.entity(named: name)?.index ?? entity, relationship: index)
        }
        let key =
            isPrimary
            ? declaring(entityIndex, relationshipIndex)
            : relationship.inverseIndex.map { declaring(relationship.destinationIndex, $0) }
        return key.flatMap { pairs[$0] }.map { ($0, isPrimary) }
    }
}

extension StoreMap {
    /// The column next to that of a to-one relationship with the number of the target's entity: `Z5_OWNER` for `ZOWNER`.
    /// The number changes when entities are added, so that any is taken.
    func entityColumn(of column: String, in table: String) -> String? {
        guard let table = tables.table(table) else { return nil }
        let ending = "_" + column.dropFirst().uppercased()
        let found = table.columns.map(\.name).filter { name in
            let upper = name.uppercased()
            guard upper.hasPrefix("Z"), upper.hasSuffix(ending), upper.count > ending.count + 1 else { return false }
            return upper.dropFirst().dropLast(ending.count).allSatisfy(\.isNumber)
        }
        return found.count == 1 ? found[0] : nil
    }
}
