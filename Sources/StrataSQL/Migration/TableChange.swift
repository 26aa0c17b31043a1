import StrataStore

/// What happens to the table of a hierarchy.
struct TableChange {
    enum Kind {
        /// The table is new.
        case create
        /// Rows stay where they are; columns come, go and get other names.
        case alter(renames: [(old: String, new: String)], adds: [String], drops: [String])
        /// A new table takes the rows of the old one.
        case rebuild
    }

    /// The position in the new layout.
    let target: Int
    /// The position in the old layout.
    let source: Int?
    let kind: Kind
    /// The new columns that have a constant in all rows as soon as they are added.
    var constants: Set<Int> = []
}

/// Decides what happens to each table.
struct TableChanges {
    private let context: MigrationContext
    private var layout: StoreLayout { context.layout }
    private var past: StoreLayout { context.old.layout }
    /// For each table of the new layout.
    private(set) var changes: [TableChange] = []
    /// The tables of the old layout that no new one continues.
    private(set) var removed: [Int] = []

    init(_ context: MigrationContext) {
        self.context = context
        changes = layout.tables.indices.map(change(of:))
        let continued = Set(changes.compactMap(\.source))
        removed = past.tables.indices.filter { !continued.contains($0) }
    }

    private func change(of target: Int) -> TableChange {
        let entities = context.model.entities.filter { layout.tableOfEntity[$0.index] == target }
        let sources = Set(entities.compactMap { context.source(of: $0).map { past.tableOfEntity[$0.index] } })
        guard let source = sources.first else { return TableChange(target: target, source: nil, kind: .create) }
        guard let alteration = alteration(target, source, entities) else {
            return TableChange(target: target, source: source, kind: .rebuild)
        }
        let constants = layout.tables[target].columns.indices.filter { constant(for: $0, entities) != nil }
        return TableChange(target: target, source: source, kind: alteration, constants: Set(constants))
    }

    /// What all rows of a table get in a new column, as SQL; nil if their values differ or come from an old column.
    ///
    /// SQLite adds a column with a default without writing a row. The default stays in the table, so that it must not reach rows
    /// that are inserted without the column: those of other entities of a hierarchy, and those of a mirror that are not filled yet.
    private func constant(for column: Int, _ entities: [EntityDescription]) -> String? {
        guard !context.isMirror, let first = entities.first, !layout.table(first.index).hasEntityColumn else {
            return nil
        }
        var found: String?
        for entity in entities where !entity.isAbstract {
            guard context.source(of: entity) != nil else { continue }
            guard
                let slot = entity.slots.first(where: { layout.columnOfSlot[entity.index][$0.index] == column }),
                slot.relationshipIndex == nil, let value = context.constant(entity, slot), found ?? value == value
            else { return nil }
            found = value
        }
        return found
    }

    /// How the table can stay where it is; nil if it cannot.
    private func alteration(_ target: Int, _ source: Int, _ entities: [EntityDescription]) -> TableChange.Kind? {
        let table = layout.tables[target]
        let before = past.tables[source]
        guard table.hasEntityColumn == before.hasEntityColumn else { return nil }
        var origin: [Int: Int] = [:]
        for entity in entities where !entity.isAbstract {
            guard let pastEntity = context.source(of: entity) else { continue }
            for slot in entity.slots {
                guard let column = layout.columnOfSlot[entity.index][slot.index] else { continue }
                guard let from = sourceColumn(entity, slot, pastEntity) else { return nil }
                guard case .column(let number) = from else { continue }
                if let known = origin[column], known != number { return nil }
                guard fits(table.columns[column], before.columns[number]),
                    context.engine.type(of: column, in: target, of: layout)
                        == context.engine.type(of: number, in: source, of: past)
                else { return nil }
                origin[column] = number
            }
        }
        guard Set(origin.values).count == origin.count else { return nil }
        // A row must not find a value of another property in a column that is new to its entity.
        for entity in entities where !entity.isAbstract {
            guard let pastEntity = context.source(of: entity) else { continue }
            for slot in entity.slots {
                guard let column = layout.columnOfSlot[entity.index][slot.index], let number = origin[column],
                    case .nothing? = sourceColumn(entity, slot, pastEntity),
                    past.columnOfSlot[pastEntity.index].contains(number)
                else { continue }
                return nil
            }
        }
        let kept = Set(origin.values)
        let drops = before.columns.indices.filter { !kept.contains($0) }
        // SQLite cannot drop one with a foreign key.
        guard context.engine.dropsKeyColumns || !drops.contains(where: { before.columns[$0].storage == .key }) else {
            return nil
        }
        var renames: [(old: String, new: String)] = []
        var adds: [String] = []
        for (column, number) in origin.sorted(by: { $0.key < $1.key }) {
            renames.append((before.columns[number].name, table.columns[column].name))
            let others = (past: companions(before.columns[number]), now: companions(table.columns[column]))
            // A value that was never kept apart may be from now on.
            guard others.past.count == others.now.count else { return nil }
            renames += zip(others.past, others.now).map { ($0, $1) }
        }
        for column in table.columns.indices where origin[column] == nil {
            let value = constant(for: column, entities).map { " DEFAULT \($0)" } ?? ""
            var lines = context.engine.definitions(of: column, in: target, of: layout)
            lines[0] += value
            adds += lines
        }
        return orders(
            target, source, renames: renames, adds: adds,
            drops: drops.flatMap { [before.columns[$0].name] + companions(before.columns[$0]) })
    }

    /// The names of the columns that belong to a column.
    private func companions(_ column: ColumnLayout) -> [String] {
        context.engine.companions(of: column).map { Identifiers.unquoted($0) }
    }

    private enum Origin {
        case column(Int)
        case nothing
    }

    /// Where the values of a slot are; nil if they have to be converted or looked up.
    private func sourceColumn(
        _ entity: EntityDescription, _ slot: SlotDescription, _ pastEntity: EntityDescription
    ) -> Origin? {
        if let index = slot.relationshipIndex {
            let relationship = entity.relationships[index]
            guard let (_, before) = context.source(of: relationship, entity) else {
                return context.links(to: relationship, entity) == nil ? .nothing : nil
            }
            guard !context.losesLinks(entity, relationship), let slot = before.slot,
                let column = past.columnOfSlot[pastEntity.index][slot]
            else { return nil }
            return .column(column)
        }
        guard let mapping = context.slotMapping(entity, slot) else { return .nothing }
        guard mapping.conversion == nil else { return nil }
        guard let before = mapping.source.flatMap(pastEntity.slot(named:)),
            let column = past.columnOfSlot[pastEntity.index][before.index]
        else { return .nothing }
        return .column(column)
    }

    private func fits(_ column: ColumnLayout, _ before: ColumnLayout) -> Bool {
        guard column.storage == before.storage, column.allowsExternal || !before.allowsExternal else { return false }
        guard let root = column.destinationRoot else { return before.destinationRoot == nil }
        guard let pastRoot = before.destinationRoot else { return false }
        // The references of a table that gets another name are changed along with it.
        let tables = context.model.entities[root].descendantIndexes.compactMap {
            context.source(of: context.model.entities[$0]).map { past.tableOfEntity[$0.index] }
        }
        return tables.contains(past.tableOfEntity[pastRoot])
    }

    /// The columns with the order of rows in relationships.
    private func orders(
        _ target: Int, _ source: Int, renames: [(old: String, new: String)], adds: [String], drops: [String]
    ) -> TableChange.Kind? {
        var renames = renames
        var adds = adds
        var drops = drops
        var used: Set<String> = []
        for order in OrderColumn.all(of: layout) where order.table == target {
            let relationship = order.relationship
            guard let (pastEntity, before) = context.source(of: relationship, order.entity) else {
                adds.append("\(order.column) \(layout.dialect.columnType(.integer))")
                continue
            }
            if case .inverseSlot = before.storage, let name = past.orderColumn(pastEntity.index, before.index) {
                renames.append((Identifiers.unquoted(name), Identifiers.unquoted(order.column)))
                used.insert(Identifiers.unquoted(name))
            } else if before.isOrdered {
                // The order is kept elsewhere.
                return nil
            } else {
                adds.append("\(order.column) \(layout.dialect.columnType(.integer))")
            }
        }
        drops += past.tables[source].orderColumns.filter { !used.contains($0) }
        return .alter(renames: renames.filter { $0.old != $0.new }, adds: adds, drops: drops)
    }
}

/// A column with the places of rows in an ordered relationship whose inverse leads to one.
struct OrderColumn {
    let entity: EntityDescription
    let relationship: RelationshipDescription
    let table: Int
    /// The name as it appears in SQL.
    let column: String

    static func all(of layout: StoreLayout) -> [OrderColumn] {
        layout.model.entities.flatMap { entity in
            entity.relationships.filter { $0.declaringEntity == entity.name }.compactMap { relationship in
                layout.orderColumn(entity.index, relationship.index).map {
                    OrderColumn(
                        entity: entity, relationship: relationship,
                        table: layout.tableOfEntity[relationship.destinationIndex], column: $0)
                }
            }
        }
    }
}
