import StrataStore

/// Which tables and columns keep the objects of a model.
package struct StoreLayout: Sendable {
    package let model: ManagedObjectModel
    /// How the engine of the store writes SQL.
    package let dialect: any SQLDialect
    package private(set) var tables: [TableLayout] = []
    /// The table of each entity.
    package private(set) var tableOfEntity: [Int] = []
    /// For each entity and slot the position of the column in its table; nil where the slot is not stored.
    package private(set) var columnOfSlot: [[Int?]] = []
    package private(set) var pairTables: [PairTable] = []
    private var pairsByKey: [RelationshipKey: Int] = [:]
    private var orderColumns: [RelationshipKey: String] = [:]
    private let recorded: RecordedNames

    /// - Parameters:
    ///   - model: The model.
    ///   - dialect: How the engine writes names.
    ///   - recorded: The names that a file has already. New ones are only given to what the file does not know.
    package init(
        model: ManagedObjectModel, dialect: any SQLDialect, recorded: RecordedNames = RecordedNames()
    ) throws(StoreError) {
        self.model = model
        self.dialect = dialect
        self.recorded = recorded
        var names = NamePool(limit: dialect.nameLimit)
        for own in dialect.ownTables { _ = names.take(own) }
        makeTables(&names)
        for table in tables where table.name.lowercased().hasPrefix(dialect.reservedPrefix) {
            throw dialect.unsupported(
                "the table name \(table.name); rename entity \(model.entities[table.rootIndex].name)")
        }
        try makeColumns()
        makeOrderColumns()
        makePairTables(&names)
    }

    /// Whether there are columns that may hold names of files.
    package var hasExternalColumns: Bool { tables.contains { $0.columns.contains(where: \.allowsExternal) } }

    package func table(_ entityIndex: Int) -> TableLayout { tables[tableOfEntity[entityIndex]] }

    /// The column of a slot; nil where the slot is not stored.
    package func column(_ entityIndex: Int, _ slot: Int) -> ColumnLayout? {
        columnOfSlot[entityIndex][slot].map { tables[tableOfEntity[entityIndex]].columns[$0] }
    }

    /// The entity that declares a relationship, with the position, which is the same there.
    package func key(_ entityIndex: Int, _ relationshipIndex: Int) -> RelationshipKey {
        let relationship = model.entities[entityIndex].relationships[relationshipIndex]
        let declaring = model.entity(named: relationship.declaringEntity)?.index ?? entityIndex
        return RelationshipKey(entityIndex: declaring, relationshipIndex: relationshipIndex)
    }

    /// The column with the order of an ordered relationship in the table at its other end.
    package func orderColumn(_ entityIndex: Int, _ relationshipIndex: Int) -> String? {
        orderColumns[key(entityIndex, relationshipIndex)]
    }

    /// The pairs of a relationship; nil if it is not kept as pairs.
    package func pairs(_ entityIndex: Int, _ relationshipIndex: Int) -> PairSide? {
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
    package func entityCondition(_ entityIndex: Int, subentities: Bool, alias: String?) -> String? {
        let entity = model.entities[entityIndex]
        let table = table(entityIndex)
        let wanted = (subentities ? entity.descendantIndexes : [entityIndex]).filter { !model.entities[$0].isAbstract }
        guard table.hasEntityColumn else {
            return wanted.contains(table.onlyEntityIndex) ? nil : dialect.constant(false)
        }
        if subentities, entityIndex == table.rootIndex { return nil }
        let column = alias.map { $0 + "._entity" } ?? "_entity"
        if wanted.isEmpty { return dialect.constant(false) }
        if wanted.count == 1 { return "\(column) = \(Identifiers.literal(model.entities[wanted[0]].name))" }
        return "\(column) IN (\(wanted.map { Identifiers.literal(model.entities[$0].name) }.joined(separator: ", ")))"
    }

    // MARK: Creating

    /// The entities by name, for names that are given one after the other: they do not depend on the order of the
    /// declarations.
    private var byName: [EntityDescription] {
        model.entities.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The relationships that an entity declares, by name.
    private func ownRelationships(_ entity: EntityDescription) -> [RelationshipDescription] {
        entity.relationships.filter { $0.declaringEntity == entity.name }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private mutating func makeTables(_ names: inout NamePool) {
        tableOfEntity = Array(repeating: 0, count: model.entities.count)
        for entity in model.entities where entity.parentIndex == nil {
            let concrete = entity.descendantIndexes.filter { !model.entities[$0].isAbstract }
            let name = names.take(recorded.table(entity.name) ?? model.naming.storedName(ofEntity: entity.name))
            for index in entity.descendantIndexes { tableOfEntity[index] = tables.count }
            tables.append(
                TableLayout(
                    rootIndex: entity.index, name: name, quoted: dialect.quote(name),
                    hasEntityColumn: concrete.count > 1, onlyEntityIndex: concrete.first ?? entity.index))
        }
    }

    /// Makes the columns of all slots; siblings with a property of the same name and kind share a column.
    private mutating func makeColumns() throws(StoreError) {
        columnOfSlot = model.entities.map { Array(repeating: nil, count: $0.slots.count) }
        for table in tables.indices {
            var known: [String: Int] = [:]
            for entity in byName where entity.rootIndex == tables[table].rootIndex {
                try makeColumns(of: entity, table: table, known: &known)
            }
        }
    }

    private mutating func makeColumns(
        of entity: EntityDescription, table: Int, known: inout [String: Int]
    ) throws(StoreError) {
        // An inherited slot has its column from the parent, which may come later in the model.
        let inherited = entity.parentIndex.map { model.entities[$0] }
        if let inherited, columnOfSlot[inherited.index].allSatisfy({ $0 == nil }),
            inherited.slots.contains(where: \.isStored)
        {
            try makeColumns(of: inherited, table: table, known: &known)
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
            name = recorded.place(entity.name, slot.name) ?? NamePool.shortened(name, to: dialect.nameLimit)
            if let column = known[name.lowercased()] {
                let other = tables[table].columns[column]
                if own.contains(column) {
                    throw dialect.unsupported(
                        "two properties of \(entity.name) in one column \(name); rename \(entity.name).\(slot.name)")
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
                    name: name, quoted: dialect.quote(name), storage: slot.storage, destinationRoot: destination,
                    allowsExternal: external))
        }
    }

    /// Creates the columns with the places in ordered relationships, in the table at the other end. They have the name of
    /// the owner's entity, since several may have a relationship of one name.
    private mutating func makeOrderColumns() {
        var names = tables.map { _ in NamePool(limit: dialect.nameLimit) }
        var fresh: [(RelationshipKey, table: Int, wanted: String)] = []
        for entity in byName {
            for relationship in ownRelationships(entity) where relationship.isOrdered {
                guard case .inverseSlot = relationship.storage else { continue }
                let key = RelationshipKey(entityIndex: entity.index, relationshipIndex: relationship.index)
                let table = tableOfEntity[relationship.destinationIndex]
                if let name = recorded.order(entity.name, relationship.name) {
                    addOrderColumn(names[table].take(name), key, table)
                } else {
                    let owner = model.naming.storedName(ofEntity: entity.name)
                    let property = model.naming.storedName(ofProperty: relationship.name)
                    fresh.append((key, table, "_order_\(owner)_\(property)"))
                }
            }
        }
        for (key, table, wanted) in fresh { addOrderColumn(names[table].take(wanted), key, table) }
    }

    private mutating func addOrderColumn(_ name: String, _ key: RelationshipKey, _ table: Int) {
        tables[table].orderColumns.append(name)
        orderColumns[key] = dialect.quote(name)
    }

    private mutating func makePairTables(_ names: inout NamePool) {
        var fresh: [(EntityDescription, RelationshipDescription)] = []
        for entity in byName {
            for relationship in ownRelationships(entity) {
                guard case .pairs(isPrimary: true) = relationship.storage else { continue }
                if let name = recorded.place(entity.name, relationship.name) {
                    addPairTable(names.take(name), entity, relationship)
                } else {
                    fresh.append((entity, relationship))
                }
            }
        }
        for (entity, relationship) in fresh {
            let owner = model.naming.storedName(ofEntity: entity.name)
            let property = model.naming.storedName(ofProperty: relationship.name)
            addPairTable(names.take(owner + "_" + property), entity, relationship)
        }
    }

    private mutating func addPairTable(
        _ name: String, _ entity: EntityDescription, _ relationship: RelationshipDescription
    ) {
        let destination = model.entities[relationship.destinationIndex]
        let owner = model.naming.storedName(ofEntity: entity.name)
        let property = model.naming.storedName(ofProperty: relationship.name)
        var columns = NamePool(limit: dialect.nameLimit)
        let ownerColumn = columns.take(owner)
        let wanted = model.naming.storedName(ofEntity: destination.name)
        let memberColumn = columns.take(wanted.lowercased() == owner.lowercased() ? property : wanted)
        let isSymmetric = destination.index == entity.index && relationship.inverseIndex == relationship.index
        func order(_ relationship: RelationshipDescription, of owner: EntityDescription) -> String? {
            guard relationship.isOrdered else { return nil }
            let name = "_order_" + model.naming.storedName(ofProperty: relationship.name)
            return columns.take(recorded.order(owner.name, relationship.name) ?? name)
        }
        let ownerOrder = order(relationship, of: entity)
        let inverseOrder =
            isSymmetric ? nil : model.inverse(of: relationship).flatMap { order($0, of: destination) }
        let key = RelationshipKey(entityIndex: entity.index, relationshipIndex: relationship.index)
        pairsByKey[key] = pairTables.count
        pairTables.append(
            PairTable(
                name: name, quoted: dialect.quote(name), ownerColumn: dialect.quote(ownerColumn),
                ownerTable: tableOfEntity[entity.index], memberColumn: dialect.quote(memberColumn),
                memberTable: tableOfEntity[destination.index], ownerOrder: ownerOrder.map(dialect.quote),
                memberOrder: inverseOrder.map(dialect.quote), isSymmetric: isSymmetric))
    }
}
