import Foundation
import StrataStore

/// Renders a plan as SQL and carries it out in the open transaction.
///
/// No foreign key is checked meanwhile, and to drop a table leaves what refers to it. The steps are in an order in which every
/// table still exists when a later step reads from it. Indexes come afterwards.
package final class SchemaMigrator {
    private(set) var context: MigrationContext
    private let engine: any MigrationEngine
    private let reporter: MigrationReporter
    private let changes: TableChanges
    /// The new tables under the names that they have until the old ones are gone.
    private var fresh: [(temporary: String, final: String)] = []
    /// The tables of pairs that stay.
    private var keptPairs: Set<String> = []
    /// Objects that are deleted, by old table, in a temporary table each.
    private var gone: [Int: String] = [:]

    package init(_ context: MigrationContext, _ reporter: MigrationReporter) {
        self.context = context
        engine = context.engine
        self.reporter = reporter
        changes = TableChanges(context)
    }

    private var layout: StoreLayout { context.layout }
    private var past: StoreLayout { context.old.layout }

    package func run() throws(StoreError) {
        try noteGone()
        try renameTables()
        for change in changes.changes { try fill(change) }
        for pairs in layout.pairTables.indices { try fillPairs(pairs) }
        try engine.dropIndexes(
            of: context.tableNames + past.pairTables.map(context.pairName), keeping: untouchedTables)
        try engine.withoutReferences { () throws(StoreError) in
            try dropTables()
            for table in fresh { try execute("ALTER TABLE \(table.temporary) RENAME TO \(table.final)") }
        }
        for change in changes.changes { try alter(change) }
        try forgetGone()
        for step in context.plan.steps where step.kind == .addUniqueness {
            try DuplicateMerger(context).run(step)
        }
        try renameKeys()
        try reporter.begin("creates indexes")
    }

    /// The type of keys.
    private var integer: String { layout.dialect.columnType(.integer) }

    /// A condition that all rows meet: without one, what follows a query would be taken for a part of it.
    private var allRows: String { " WHERE \(layout.dialect.constant(true))" }

    /// Inserts the rows that do not exist yet.
    private func insertNew(into table: String, _ query: String) throws(StoreError) {
        let words = engine.insertOfNewRows
        try execute("\(words.head) INTO \(table) \(query)\(words.end)")
    }

    private func execute(_ sql: String) throws(StoreError) { try engine.execute(sql) }

    // MARK: Objects that go

    /// The old entities whose own objects are deleted while others of their table stay.
    private var goneEntities: [EntityDescription] {
        context.old.model.entities.filter { entity in
            !entity.isAbstract && context.successor(of: entity).map(\.isAbstract) ?? true
                && !changes.removed.contains(past.tableOfEntity[entity.index])
        }
    }

    private func noteGone() throws(StoreError) {
        for entity in goneEntities {
            let table = past.tableOfEntity[entity.index]
            if gone[table] == nil {
                let name = engine.temporary("_gone_\(table)")
                try execute("DROP TABLE IF EXISTS \(name)")
                try execute("CREATE TABLE \(name) (_id \(integer) PRIMARY KEY)")
                gone[table] = name
            }
            try insertNew(
                into: gone[table] ?? "", "SELECT _id FROM \(context.rows(entity, subentities: false))")
        }
    }

    /// Deletes rows and references of objects that go.
    private func forgetGone() throws(StoreError) {
        for change in changes.changes {
            guard let source = change.source, let ids = gone[source] else { continue }
            let isGone = "IN (SELECT _id FROM \(ids))"
            try execute("DELETE FROM \(layout.tables[change.target].quoted) WHERE _id \(isGone)")
            for table in layout.tables {
                for column in table.columns
                where column.destinationRoot.map({ layout.tableOfEntity[$0] }) == change.target {
                    try execute("UPDATE \(table.quoted) SET \(column.quoted) = NULL WHERE \(column.quoted) \(isGone)")
                }
            }
            for pairs in layout.pairTables {
                if pairs.ownerTable == change.target {
                    try execute("DELETE FROM \(pairs.quoted) WHERE \(pairs.ownerColumn) \(isGone)")
                }
                if pairs.memberTable == change.target {
                    try execute("DELETE FROM \(pairs.quoted) WHERE \(pairs.memberColumn) \(isGone)")
                }
            }
        }
        for name in gone.values { try execute("DROP TABLE \(name)") }
    }

    // MARK: Names of tables

    /// Gives tables that stay their final names, and moves others out of their way. SQLite changes the references to them.
    private func renameTables() throws(StoreError) {
        var wanted: [Int: String] = [:]
        for change in changes.changes {
            if let source = change.source { wanted[source] = layout.tables[change.target].quoted }
        }
        let finals = Set(wanted.values.map { $0.lowercased() })
        let moving = past.tables.indices.filter { table in
            let name = context.tableNames[table]
            return wanted[table].map { $0 != name } ?? finals.contains(name.lowercased())
        }
        for table in moving { try rename(table, to: quote("_moving_\(table)")) }
        for (number, pairs) in past.pairTables.enumerated() where finals.contains(pairs.quoted.lowercased()) {
            try execute("ALTER TABLE \(pairs.quoted) RENAME TO \(quote("_moving_pairs_\(number)"))")
            context.pairNames[pairs.name] = quote("_moving_pairs_\(number)")
        }
        for table in moving { if let final = wanted[table] { try rename(table, to: final) } }
    }

    private func rename(_ table: Int, to name: String) throws(StoreError) {
        try execute("ALTER TABLE \(context.tableNames[table]) RENAME TO \(name)")
        context.tableNames[table] = name
    }

    // MARK: New tables

    private func fill(_ change: TableChange) throws(StoreError) {
        let table = layout.tables[change.target]
        if case .alter = change.kind { return }
        let temporary = layout.dialect.quote("_new_\(change.target)")
        fresh.append((temporary, table.quoted))
        try engine.createTable(change.target, of: layout, named: temporary)
        guard change.source != nil else { return }
        let entities = context.model.entities.filter {
            layout.tableOfEntity[$0.index] == change.target && !$0.isAbstract
        }
        for entity in entities {
            guard let past = context.source(of: entity), !past.isAbstract else { continue }
            try reporter.begin("writes \(entity.name)")
            try copy(past, to: entity, table, temporary)
        }
    }

    private func copy(
        _ past: EntityDescription, to entity: EntityDescription, _ table: TableLayout, _ temporary: String
    ) throws(StoreError) {
        var names = ["_id", "_version"]
        var values = ["_id", "_version"]
        if table.hasEntityColumn {
            names.append("_entity")
            values.append(Identifiers.literal(entity.name))
        }
        let own = context.tableNames[self.past.tableOfEntity[past.index]]
        for slot in entity.slots {
            guard let column = layout.column(entity.index, slot.index) else { continue }
            names.append(column.quoted)
            if let index = slot.relationshipIndex {
                values.append(key(entity, entity.relationships[index], own))
            } else {
                values.append(try context.value(entity, slot))
            }
            let (added, others) = companions(of: column, entity, slot, past)
            names += added
            values += others
        }
        for order in OrderColumn.all(of: layout) where order.table == layout.tableOfEntity[entity.index] {
            guard entity.isKind(of: context.model.destination(of: order.relationship)) else { continue }
            names.append(order.column)
            values.append(place(order, entity, own))
        }
        try execute(
            "INSERT INTO \(temporary)(\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) FROM "
                + context.rows(past, subentities: false))
    }

    /// The columns that belong to a column, with their values for rows of an old table.
    private func companions(
        of column: ColumnLayout, _ entity: EntityDescription, _ slot: SlotDescription, _ past: EntityDescription
    ) -> (names: [String], values: [String]) {
        let names = engine.companions(of: column)
        guard !names.isEmpty, let mapping = context.slotMapping(entity, slot), mapping.derivation == nil,
            let before = mapping.source.flatMap(past.slot(named:)),
            let own = self.past.column(past.index, before.index), own.allowsExternal
        else { return ([], []) }
        let table = context.tableNames[self.past.tableOfEntity[past.index]]
        return (names, engine.companions(of: own).map { "\(table).\($0)" })
    }

    /// The target of a to-one relationship for rows of an old table.
    private func key(
        _ entity: EntityDescription, _ relationship: RelationshipDescription, _ table: String
    ) -> String {
        if context.losesLinks(entity, relationship) { return "NULL" }
        if let column = context.keyColumn(entity, relationship) { return column }
        guard let links = context.links(to: relationship, entity) else { return "NULL" }
        return
            "(SELECT member FROM \(links) WHERE owner = \(table)._id ORDER BY place IS NULL, place, member LIMIT 1)"
    }

    /// The place of a row in an ordered relationship that leads to it.
    private func place(_ order: OrderColumn, _ entity: EntityDescription, _ table: String) -> String {
        if let column = context.orderColumn(order.entity, order.relationship) { return column }
        guard let (past, before) = context.source(of: order.relationship, order.entity), before.isOrdered,
            let links = context.links(past, before), let inverse = context.model.inverse(of: order.relationship)
        else { return "NULL" }
        // A row may have had a place with several owners; the one that it keeps counts.
        return
            "(SELECT place FROM \(links) WHERE member = \(table)._id AND owner = \(key(entity, inverse, table)) LIMIT 1)"
    }

    // MARK: Pairs

    private func fillPairs(_ index: Int) throws(StoreError) {
        let pairs = layout.pairTables[index]
        if staysAsItIs(index) {
            keptPairs.insert(pairs.name)
            return
        }
        let temporary = layout.dialect.quote("_new_pairs_\(index)")
        fresh.append((temporary, pairs.quoted))
        try engine.createPairs(pairs, of: layout, named: temporary)
        try reporter.begin("writes \(pairs.name)")
        for (owner, relationship) in primaries(of: index) {
            if context.losesLinks(owner, relationship) { continue }
            guard let links = context.links(to: relationship, owner) else { continue }
            let columns = "\(temporary)(\(pairs.ownerColumn), \(pairs.memberColumn))"
            try insertNew(into: columns, "SELECT owner, member FROM \(links)\(allRows)")
            if let order = pairs.ownerOrder, let (past, before) = context.source(of: relationship, owner),
                before.isOrdered
            {
                try placePairs(temporary, order, pairs.ownerColumn, pairs.memberColumn, context.links(past, before))
            }
            if let order = pairs.memberOrder, let inverse = context.model.inverse(of: relationship),
                let (past, before) = context.source(of: inverse, context.model.destination(of: relationship)),
                before.isOrdered
            {
                try placePairs(temporary, order, pairs.memberColumn, pairs.ownerColumn, context.links(past, before))
            }
            if pairs.isSymmetric {
                try insertNew(
                    into: columns, "SELECT \(pairs.memberColumn), \(pairs.ownerColumn) FROM \(temporary)\(allRows)")
            }
        }
    }

    /// Whether the table of pairs is the same in both versions.
    private func staysAsItIs(_ index: Int) -> Bool {
        let pairs = layout.pairTables[index]
        let primaries = primaries(of: index)
        guard let (owner, relationship) = primaries.first, primaries.count == 1,
            !context.losesLinks(owner, relationship),
            let (pastOwner, before) = context.source(of: relationship, owner),
            let side = past.pairs(pastOwner.index, before.index), side.isPrimary
        else { return false }
        let old = side.table
        return old.quoted == pairs.quoted && old.ownerColumn == pairs.ownerColumn
            && old.memberColumn == pairs.memberColumn && old.ownerOrder == pairs.ownerOrder
            && old.memberOrder == pairs.memberOrder && old.isSymmetric == pairs.isSymmetric
            && past.tables[old.ownerTable].quoted == layout.tables[pairs.ownerTable].quoted
            && past.tables[old.memberTable].quoted == layout.tables[pairs.memberTable].quoted
            && context.pairNames[old.name] == nil
    }

    /// The relationships whose pairs a table keeps, at each entity whose past may have its own: the declaring one, or its
    /// heirs if it is new.
    private func primaries(of index: Int) -> [(EntityDescription, RelationshipDescription)] {
        let name = layout.pairTables[index].name
        var result: [(EntityDescription, RelationshipDescription)] = []
        var known: Set<String> = []
        for entity in context.model.entities {
            for relationship in entity.relationships {
                guard let side = layout.pairs(entity.index, relationship.index), side.isPrimary, side.table.name == name
                else { continue }
                // A subquery is the same for all heirs of an entity whose past declares the relationship.
                let links = context.links(to: relationship, entity) ?? ""
                if !links.isEmpty, known.insert(links).inserted { result.append((entity, relationship)) }
            }
        }
        return result
    }

    private func placePairs(
        _ table: String, _ order: String, _ near: String, _ far: String, _ links: String?
    ) throws(StoreError) {
        guard let links else { return }
        let places = engine.temporary("_places")
        try execute("DROP TABLE IF EXISTS \(places)")
        try execute(
            "CREATE TABLE \(places) (owner \(integer), member \(integer), place \(integer), "
                + "PRIMARY KEY (owner, member))")
        try insertNew(into: places, "SELECT owner, member, place FROM \(links)\(allRows)")
        try execute(
            "UPDATE \(table) SET \(order) = (SELECT place FROM \(places) AS p WHERE p.owner = \(table).\(near) AND p.member = \(table).\(far))"
        )
        try execute("DROP TABLE \(places)")
    }

    // MARK: Old tables

    /// The indexes of tables that neither move nor lose a column stay: to create them takes as long as to read the table.
    private lazy var untouchedTables: [String] = changes.changes.compactMap { change in
        guard case .alter(let renames, _, let drops) = change.kind, renames.isEmpty, drops.isEmpty,
            let source = change.source, past.tables[source].quoted == layout.tables[change.target].quoted,
            gone[source] == nil
        else { return nil }
        return layout.tables[change.target].quoted
    }

    private func dropTables() throws(StoreError) {
        for pairs in past.pairTables where !keptPairs.contains(pairs.name) {
            try execute("DROP TABLE \(context.pairName(pairs))")
        }
        for change in changes.changes {
            if case .rebuild = change.kind, let source = change.source {
                try execute("DROP TABLE \(context.tableNames[source])")
            }
        }
        for table in changes.removed { try execute("DROP TABLE \(context.tableNames[table])") }
    }

    // MARK: Tables that stay

    private func quote(_ name: String) -> String { layout.dialect.quote(name) }

    private func alter(_ change: TableChange) throws(StoreError) {
        guard case .alter(let renames, let adds, let drops) = change.kind else { return }
        let table = layout.tables[change.target].quoted
        if !renames.isEmpty || !adds.isEmpty || !drops.isEmpty {
            try reporter.begin("changes \(layout.tables[change.target].name)")
        }
        for name in drops { try execute("ALTER TABLE \(table) DROP COLUMN \(quote(name))") }
        for (number, name) in renames.enumerated() {
            try execute("ALTER TABLE \(table) RENAME COLUMN \(quote(name.old)) TO _moving_\(number)")
        }
        for (number, name) in renames.enumerated() {
            try execute("ALTER TABLE \(table) RENAME COLUMN _moving_\(number) TO \(quote(name.new))")
        }
        for definition in adds { try execute("ALTER TABLE \(table) ADD COLUMN \(definition)") }
        try backfill(change)
    }

    /// Values that are new, or stand in for missing ones, and the names of entities.
    private func backfill(_ change: TableChange) throws(StoreError) {
        let table = layout.tables[change.target]
        let entities = context.model.entities.filter {
            layout.tableOfEntity[$0.index] == change.target && !$0.isAbstract
        }
        var names: [(old: String, new: String)] = []
        for entity in entities {
            guard let past = context.source(of: entity), !past.isAbstract else { continue }
            if table.hasEntityColumn, past.name != entity.name { names.append((past.name, entity.name)) }
            let owner =
                table.hasEntityColumn
                ? "_entity = \(Identifiers.literal(past.name))" : layout.dialect.constant(true)
            let rows = "\(table.quoted) WHERE \(owner)"
            var assignments: [String] = []
            var conditions: [String] = []
            for slot in entity.slots where slot.relationshipIndex == nil {
                guard let column = layout.column(entity.index, slot.index),
                    layout.columnOfSlot[entity.index][slot.index].map({ !change.constants.contains($0) }) ?? true,
                    let condition = staleness(entity, slot, past, column)
                else { continue }
                let value = try context.value(entity, slot, rows: rows) { before in self.currentColumn(before, entity) }
                if value == engine.null(for: slot) || value == column.quoted { continue }
                assignments.append("\(column.quoted) = \(value)")
                conditions.append(condition)
            }
            guard !assignments.isEmpty else { continue }
            try reporter.begin("fills \(entity.name)")
            try execute(
                "UPDATE \(table.quoted) SET \(assignments.joined(separator: ", ")) WHERE \(owner) AND (\(conditions.joined(separator: " OR ")))"
            )
        }
        guard !names.isEmpty else { return }
        let cases = names.map { "WHEN \(Identifiers.literal($0.old)) THEN \(Identifiers.literal($0.new))" }
        try execute(
            "UPDATE \(table.quoted) SET _entity = CASE _entity \(cases.joined(separator: " ")) END WHERE _entity IN (\(names.map { Identifiers.literal($0.old) }.joined(separator: ", ")))"
        )
    }

    /// Which rows need a value in a column; nil if none does.
    private func staleness(
        _ entity: EntityDescription, _ slot: SlotDescription, _ past: EntityDescription, _ column: ColumnLayout
    ) -> String? {
        guard let mapping = context.slotMapping(entity, slot) else { return nil }
        let before = mapping.source.flatMap { past.slot(named: $0) }
        if mapping.derivation != nil {
            if let before, before.derivation == mapping.derivation, !isSourceStale(slot, entity, past) { return nil }
            return layout.dialect.constant(true)
        }
        guard let before else { return layout.dialect.constant(true) }
        guard before.isOptional, !slot.isOptional else { return nil }
        return ([column.quoted] + engine.companions(of: column)).map { "\($0) IS NULL" }.joined(separator: " AND ")
    }

    /// Whether the text that a derived attribute is computed from is filled in for some rows.
    private func isSourceStale(
        _ slot: SlotDescription, _ entity: EntityDescription, _ past: EntityDescription
    ) -> Bool {
        switch slot.derivation {
        case .lowercase(let name), .uppercase(let name), .canonical(let name):
            guard let source = entity.slot(named: name), let column = layout.column(entity.index, source.index) else {
                return false
            }
            // Another attribute may have had the name.
            if context.slotMapping(entity, source)?.source != name { return true }
            return staleness(entity, source, past, column) != nil
        default: return false
        }
    }

    /// The column of the new table that an old slot's values are in.
    private func currentColumn(_ before: SlotDescription, _ entity: EntityDescription) -> String? {
        context.mapping.entities[entity.name]?.slots.first { $0.source == before.name }
            .flatMap { entity.slot(named: $0.slot) }.flatMap { layout.column(entity.index, $0.index)?.quoted }
    }

    // MARK: Keys

    /// The next keys of hierarchies are under the names of their topmost entities.
    private func renameKeys() throws(StoreError) {
        let next = try engine.nextKeys()
        var keys: [String: Int64] = [:]
        for change in changes.changes {
            guard let source = change.source,
                let value = next[context.old.model.entities[past.tables[source].rootIndex].name]
            else { continue }
            keys[context.model.entities[layout.tables[change.target].rootIndex].name] = value
        }
        try engine.setNextKeys(keys)
    }
}
