import StrataStore

/// Leaves one of the objects that have the same values where a new constraint allows only one, as an answer says.
///
/// It works on the new tables, under their final names, before unique indexes are created.
struct DuplicateMerger {
    private let context: MigrationContext
    private var engine: any MigrationEngine { context.engine }
    private var layout: StoreLayout { context.layout }
    /// The objects that go, each with the one that stays.
    private var merged: String { engine.temporary("_merged") }
    private var isGone: String { "IN (SELECT gone FROM \(merged))" }

    init(_ context: MigrationContext) { self.context = context }

    /// Merges the duplicates of a step, if its answer asks for that.
    func run(_ step: MigrationStep) throws(StoreError) {
        guard let kept = Self.aggregate(context.answers[step.id]), let names = step.property,
            let entity = context.model.entity(named: step.entity)
        else { return }
        let columns = names.split(separator: ", ").compactMap { name in
            entity.slot(named: name.hasPrefix("-") ? String(name.dropFirst()) : String(name))
                .flatMap { layout.column(entity.index, $0.index)?.quoted }
        }
        guard !columns.isEmpty else { return }
        let target = layout.tableOfEntity[entity.index]
        let table = layout.tables[target].quoted
        let condition =
            layout.entityCondition(entity.index, subentities: true, alias: nil) ?? layout.dialect.constant(true)
        let key = layout.dialect.columnType(.integer)
        let present = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        try engine.execute("DROP TABLE IF EXISTS \(merged)")
        try engine.execute("CREATE TABLE \(merged) (gone \(key) PRIMARY KEY, kept \(key) NOT NULL)")
        try engine.execute(
            "INSERT INTO \(merged) SELECT _id, kept FROM (SELECT _id, \(kept)(_id) OVER (PARTITION BY "
                + "\(columns.joined(separator: ", "))) AS kept FROM \(table) WHERE \(condition) AND \(present)) AS all_rows "
                + "WHERE _id <> kept")
        for (owner, relationship) in relationships(to: target) { try redirect(owner, relationship) }
        for pairs in layout.pairTables {
            if pairs.ownerTable == target { try redirect(pairs, pairs.ownerColumn) }
            if pairs.memberTable == target { try redirect(pairs, pairs.memberColumn) }
        }
        try engine.execute("DELETE FROM \(table) WHERE _id \(isGone)")
        try engine.execute("DROP TABLE \(merged)")
    }

    /// What finds the key of the object that stays. Keys grow, so the least one is the oldest.
    private static func aggregate(_ answer: MigrationAnswer?) -> String? {
        switch answer {
        case .keepFirst: "min"
        case .keepLast: "max"
        default: nil
        }
    }

    /// The to-one relationships that lead to objects of a table, at the entities that declare them.
    private func relationships(to target: Int) -> [(EntityDescription, RelationshipDescription)] {
        context.model.entities.flatMap { entity in
            entity.relationships.filter {
                $0.slot != nil && $0.declaringEntity == entity.name
                    && layout.tableOfEntity[$0.destinationIndex] == target
            }.map { (entity, $0) }
        }
    }

    private func redirect(
        _ entity: EntityDescription, _ relationship: RelationshipDescription
    ) throws(StoreError) {
        guard let slot = relationship.slot, let column = layout.column(entity.index, slot)?.quoted else { return }
        let table = layout.table(entity.index).quoted
        let owners = layout.entityCondition(entity.index, subentities: true, alias: nil).map { "\($0) AND " } ?? ""
        guard let inverse = context.model.inverse(of: relationship), !inverse.isToMany else {
            try engine.execute(
                "UPDATE \(table) SET \(column) = (SELECT kept FROM \(merged) WHERE gone = \(column)) "
                    + "WHERE \(owners)\(column) \(isGone)")
            return
        }
        try redirectOneToOne(entity, relationship, inverse, column: column, owners: owners)
    }

    /// The object that stays has room for one at the other end: its own, or else the first of the others. Both ends have a
    /// column.
    private func redirectOneToOne(
        _ entity: EntityDescription, _ relationship: RelationshipDescription, _ inverse: RelationshipDescription,
        column: String, owners: String
    ) throws(StoreError) {
        let table = layout.table(entity.index).quoted
        let target = layout.tableOfEntity[relationship.destinationIndex]
        // Only where objects lead to others of their own table can they go themselves.
        let remains = layout.tableOfEntity[entity.index] == target ? " AND _id NOT \(isGone)" : ""
        let taken = "SELECT \(column) FROM \(table) WHERE \(owners)\(column) IS NOT NULL"
        try engine.execute(
            "UPDATE \(table) SET \(column) = (SELECT kept FROM \(merged) WHERE gone = \(column)) WHERE _id IN "
                + "(SELECT min(_id) FROM \(table) JOIN \(merged) ON gone = \(column) "
                + "WHERE \(owners)\(layout.dialect.constant(true))\(remains) GROUP BY kept HAVING kept NOT IN (\(taken)))"
        )
        let lost = "\(owners)\(column) \(isGone)\(remains)"
        let left = relationship.isOptional ? 0 : try engine.integer("SELECT count(*) FROM \(table) WHERE \(lost)")
        guard left == 0 else {
            throw .migrationFailed(
                path: engine.path, step: "keep one of the duplicates",
                reason:
                    "\(left ?? 0) objects of \(entity.name) would have no \(relationship.name), which must not be nil; "
                    + "merge them in a custom stage")
        }
        try engine.execute("UPDATE \(table) SET \(column) = NULL WHERE \(owners)\(column) \(isGone)")
        guard let slot = inverse.slot, let back = layout.column(relationship.destinationIndex, slot)?.quoted else {
            return
        }
        let kept = layout.tables[target].quoted
        try engine.execute(
            "UPDATE \(kept) SET \(back) = (SELECT o._id FROM \(table) AS o WHERE \(owners)o.\(column) = \(kept)._id) "
                + "WHERE _id IN (SELECT kept FROM \(merged)) AND \(back) IS NULL")
    }

    /// Of two equal pairs one is enough.
    private func redirect(_ pairs: PairTable, _ column: String) throws(StoreError) {
        let columns = [pairs.ownerColumn, pairs.memberColumn, pairs.ownerOrder, pairs.memberOrder].compactMap(\.self)
        let values = columns.map { $0 == column ? "kept" : $0 }
        let words = engine.insertOfNewRows
        try engine.execute(
            "\(words.head) INTO \(pairs.quoted)(\(columns.joined(separator: ", "))) "
                + "SELECT \(values.joined(separator: ", ")) FROM \(pairs.quoted) JOIN \(merged) ON gone = \(column) "
                + "WHERE \(layout.dialect.constant(true)) ORDER BY \(pairs.ownerColumn), \(pairs.memberColumn)\(words.end)"
        )
        try engine.execute("DELETE FROM \(pairs.quoted) WHERE \(column) \(isGone)")
    }
}
