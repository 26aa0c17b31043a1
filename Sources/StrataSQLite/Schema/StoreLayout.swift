import StrataStore

/// A relationship by the entity that declares it and its position there.
struct RelationshipKey: Hashable, Sendable {
    let entityIndex: Int
    let relationshipIndex: Int
}

/// A column that keeps a slot.
struct ColumnLayout: Sendable {
    /// The name as the file has it.
    let name: String
    /// The name as it stands in SQL.
    let quoted: String
    let storage: SlotStorage
    /// The topmost entity of the hierarchy that a key leads to.
    let destinationRoot: Int?
    /// Whether the column may hold the name of a file instead of bytes.
    let allowsExternal: Bool
}

/// The table of a hierarchy of entities.
struct TableLayout: Sendable {
    let rootIndex: Int
    let name: String
    let quoted: String
    /// Whether `_entity` says which entity a row belongs to; else all belong to ``onlyEntityIndex``.
    let hasEntityColumn: Bool
    let onlyEntityIndex: Int
    var columns: [ColumnLayout] = []
    /// The columns that keep the places of the rows in ordered relationships.
    var orderColumns: [String] = []
}

/// The table of a relationship that is kept as pairs.
struct PairTable: Sendable {
    let name: String
    let quoted: String
    /// The column and the table of the primary side, and of the other.
    let ownerColumn: String
    let ownerTable: Int
    let memberColumn: String
    let memberTable: Int
    /// The column for the order of the members of an owner, and of the owners of a member.
    let ownerOrder: String?
    let memberOrder: String?
    /// Whether the relationship is its own inverse, so that each pair stands in the table both ways round.
    let isSymmetric: Bool
}

/// One side of a ``PairTable``.
struct PairSide {
    let table: PairTable
    let isPrimary: Bool
    var near: String { isPrimary ? table.ownerColumn : table.memberColumn }
    var far: String { isPrimary ? table.memberColumn : table.ownerColumn }
    var farTable: Int { isPrimary ? table.memberTable : table.ownerTable }
    var order: String? { isPrimary ? table.ownerOrder : table.memberOrder }
}

/// Which tables and columns keep the objects of a model.
struct StoreLayout: Sendable {
    let model: ManagedObjectModel
    private(set) var tables: [TableLayout] = []
    /// The table of each entity.
    private(set) var tableOfEntity: [Int] = []
    /// For each entity and slot the position of the column in its table; nil where the slot is not stored.
    private(set) var columnOfSlot: [[Int?]] = []
    private(set) var pairTables: [PairTable] = []
    private var pairsByKey: [RelationshipKey: Int] = [:]
    private var orderColumns: [RelationshipKey: String] = [:]

    init(model: ManagedObjectModel, store: String) throws(StoreError) {
        self.model = model
        var names = NamePool()
        for own in ["_metadata", "_keys", DroppedFiles.table] { _ = names.take(own) }
        makeTables(&names)
        for table in tables where table.name.lowercased().hasPrefix("sqlite_") {
            throw .unsupported(
                store: store,
                feature: "the table name \(table.name); rename entity \(model.entities[table.rootIndex].name)")
        }
        try makeColumns(store: store)
        makeOrderColumns()
        makePairTables(&names)
    }

    /// Whether there are columns that may hold names of files.
    var hasExternalColumns: Bool { tables.contains { $0.columns.contains(where: \.allowsExternal) } }

    func table(_ entityIndex: Int) -> TableLayout { tables[tableOfEntity[entityIndex]] }

    /// The column of a slot; nil where the slot is not stored.
    func column(_ entityIndex: Int, _ slot: Int) -> ColumnLayout? {
        columnOfSlot[entityIndex][slot].map { tables[tableOfEntity[entityIndex]].columns[$0] }
    }

    /// The entity that declares a relationship, with the position, which is the same there.
    func key(_ entityIndex: Int, _ relationshipIndex: Int) -> RelationshipKey {
        let relationship = model.entities[entityIndex].relationships[relationshipIndex]
        let declaring = model.entity(named: relationship.declaringEntity)?.index ?? entityIndex
        return RelationshipKey(entityIndex: declaring, relationshipIndex: relationshipIndex)
    }

    /// The column with the order of an ordered relationship in the table at its other end.
    func orderColumn(_ entityIndex: Int, _ relationshipIndex: Int) -> String? {
        orderColumns[key(entityIndex, relationshipIndex)]
    }

    /// The pairs of a relationship; nil if it is not kept as pairs.
    func pairs(_ entityIndex: Int, _ relationshipIndex: Int) -> PairSide? {
        let relationship = model.entities[entityIndex].relationships[relationshipIndex]
        guard case .pairs(let isPrimary) = relationship.storage else { return nil }
        let primary =
            isPrimary
            ? key(entityIndex, relationshipIndex)
            : relationship.inverseIndex.map { key(relationship.destinationIndex, $0) }
        return primary.flatMap { pairsByKey[$0] }.map { PairSide(table: pairTables[$0], isPrimary: isPrimary) }
    }

    /// The condition on `_entity` that keeps the rows of an entity apart from others in its table; nil if all rows
    /// belong to it.
    func entityCondition(_ entityIndex: Int, subentities: Bool, alias: String?) -> String? {
        let entity = model.entities[entityIndex]
        let table = table(entityIndex)
        let wanted = (subentities ? entity.descendantIndexes : [entityIndex]).filter { !model.entities[$0].isAbstract }
        guard table.hasEntityColumn else { return wanted.contains(table.onlyEntityIndex) ? nil : "0" }
        if subentities, entityIndex == table.rootIndex { return nil }
        let column = alias.map { $0 + "._entity" } ?? "_entity"
        if wanted.isEmpty { return "0" }
        if wanted.count == 1 { return "\(column) = \(Identifiers.literal(model.entities[wanted[0]].name))" }
        return "\(column) IN (\(wanted.map { Identifiers.literal(model.entities[$0].name) }.joined(separator: ", ")))"
    }

    // MARK: Making

    private mutating func makeTables(_ names: inout NamePool) {
        tableOfEntity = Array(repeating: 0, count: model.entities.count)
        for entity in model.entities where entity.parentIndex == nil {
            let concrete = entity.descendantIndexes.filter { !model.entities[$0].isAbstract }
            let name = names.take(model.naming.storedName(ofEntity: entity.name))
            for index in entity.descendantIndexes { tableOfEntity[index] = tables.count }
            tables.append(
                TableLayout(
                    rootIndex: entity.index, name: name, quoted: Identifiers.quote(name),
                    hasEntityColumn: concrete.count > 1, onlyEntityIndex: concrete.first ?? entity.index))
        }
    }

    /// Makes the columns of all slots; siblings with a property of the same name and kind share a column.
    private mutating func makeColumns(store: String) throws(StoreError) {
        columnOfSlot = model.entities.map { Array(repeating: nil, count: $0.slots.count) }
        for table in tables.indices {
            var known: [String: Int] = [:]
            for index in model.entities[tables[table].rootIndex].descendantIndexes.sorted() {
                try makeColumns(of: model.entities[index], table: table, known: &known, store: store)
            }
        }
    }

    private mutating func makeColumns(
        of entity: EntityDescription, table: Int, known: inout [String: Int], store: String
    ) throws(StoreError) {
        // An inherited slot has its column from the parent, which may come later in the model.
        let inherited = entity.parentIndex.map { model.entities[$0] }
        if let inherited, columnOfSlot[inherited.index].allSatisfy({ $0 == nil }),
            inherited.slots.contains(where: \.isStored)
        {
            try makeColumns(of: inherited, table: table, known: &known, store: store)
        }
        guard columnOfSlot[entity.index].allSatisfy({ $0 == nil }) else { return }
        var own: Set<Int> = []
        for slot in entity.slots where slot.isStored {
            if let inherited, slot.index < inherited.slots.count {
                columnOfSlot[entity.index][slot.index] = columnOfSlot[inherited.index][slot.index]
                if let column = columnOfSlot[inherited.index][slot.index] { own.insert(column) }
                continue
            }
            var name = slot.name.split(separator: ".").map { model.naming.storedName(ofProperty: String($0)) }.joined(
                separator: "_")
            let destination = slot.relationshipIndex.map {
                model.entities[entity.relationships[$0].destinationIndex].rootIndex
            }
            let external =
                slot.storage == .bytes
                && slot.attributeIndex.map { entity.attributes[$0].declaration.allowsExternalStorage } == true
            // Strata's own columns keep their names.
            let lower = name.lowercased()
            let isOwn = ["_id", "_version", "_entity"].contains(lower) || lower.hasPrefix("_order_")
            if isOwn { name = model.naming.storedName(ofEntity: entity.name) + name }
            if let column = known[name.lowercased()] {
                let other = tables[table].columns[column]
                if own.contains(column) {
                    throw .unsupported(
                        store: store,
                        feature:
                            "two properties of \(entity.name) in one column \(name); rename \(entity.name).\(slot.name)"
                    )
                }
                if other.storage == slot.storage, other.destinationRoot == destination, other.allowsExternal == external
                {
                    columnOfSlot[entity.index][slot.index] = column
                    own.insert(column)
                    continue
                }
                name = model.naming.storedName(ofEntity: entity.name) + "_" + name
                while known[name.lowercased()] != nil { name += "_" }
            }
            known[name.lowercased()] = tables[table].columns.count
            own.insert(tables[table].columns.count)
            columnOfSlot[entity.index][slot.index] = tables[table].columns.count
            tables[table].columns.append(
                ColumnLayout(
                    name: name, quoted: Identifiers.quote(name), storage: slot.storage, destinationRoot: destination,
                    allowsExternal: external))
        }
    }

    private mutating func makeOrderColumns() {
        var names = tables.map { _ in NamePool() }
        for entity in model.entities {
            for relationship in entity.relationships
            where relationship.declaringEntity == entity.name && relationship.isOrdered {
                guard case .inverseSlot = relationship.storage else { continue }
                let table = tableOfEntity[relationship.destinationIndex]
                let name = names[table].take("_order_" + model.naming.storedName(ofProperty: relationship.name))
                tables[table].orderColumns.append(name)
                orderColumns[RelationshipKey(entityIndex: entity.index, relationshipIndex: relationship.index)] =
                    Identifiers.quote(name)
            }
        }
    }

    private mutating func makePairTables(_ names: inout NamePool) {
        for entity in model.entities {
            for relationship in entity.relationships where relationship.declaringEntity == entity.name {
                guard case .pairs(isPrimary: true) = relationship.storage else { continue }
                let destination = model.entities[relationship.destinationIndex]
                let inverse = model.inverse(of: relationship)
                let owner = model.naming.storedName(ofEntity: entity.name)
                let property = model.naming.storedName(ofProperty: relationship.name)
                var columns = NamePool()
                let ownerColumn = columns.take(owner)
                let wanted = model.naming.storedName(ofEntity: destination.name)
                let memberColumn = columns.take(wanted.lowercased() == owner.lowercased() ? property : wanted)
                let isSymmetric = destination.index == entity.index && relationship.inverseIndex == relationship.index
                let ownerOrder = relationship.isOrdered ? columns.take("_order_" + property) : nil
                let inverseOrder =
                    isSymmetric
                    ? nil
                    : inverse.flatMap {
                        $0.isOrdered ? columns.take("_order_" + model.naming.storedName(ofProperty: $0.name)) : nil
                    }
                let name = names.take(owner + "_" + property)
                pairsByKey[RelationshipKey(entityIndex: entity.index, relationshipIndex: relationship.index)] =
                    pairTables.count
                pairTables.append(
                    PairTable(
                        name: name, quoted: Identifiers.quote(name), ownerColumn: Identifiers.quote(ownerColumn),
                        ownerTable: tableOfEntity[entity.index], memberColumn: Identifiers.quote(memberColumn),
                        memberTable: tableOfEntity[destination.index], ownerOrder: ownerOrder.map(Identifiers.quote),
                        memberOrder: inverseOrder.map(Identifiers.quote), isSymmetric: isSymmetric))
            }
        }
    }
}
