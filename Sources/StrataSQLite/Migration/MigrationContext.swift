import Foundation
import StrataStore

/// What the parts of a migration share: both versions, the plan between them, and the answers.
///
/// Expressions stand for values of the new version in terms of columns of the old one. They name tables by what these are
/// called at the moment, which changes while tables are renamed.
struct MigrationContext {
    let old: StoredModel
    let schema: Schema
    let plan: MigrationPlan
    let answers: [String: MigrationAnswer]
    /// The moment of the migration, the same for all objects.
    let now: Date
    /// The present name of each table of the old layout, quoted.
    var tableNames: [String]
    /// The present names of tables of pairs that have been moved out of the way.
    var pairNames: [String: String] = [:]

    var layout: StoreLayout { schema.layout }
    var model: ManagedObjectModel { schema.layout.model }
    var mapping: ModelMapping { plan.mapping }

    init(old: StoredModel, schema: Schema, plan: MigrationPlan, answers: [String: MigrationAnswer], now: Date) {
        self.old = old
        self.schema = schema
        self.plan = plan
        self.answers = answers
        self.now = now
        tableNames = old.layout.tables.map(\.quoted)
    }

    /// The present name of a table of pairs of the old layout.
    func pairName(_ table: PairTable) -> String { pairNames[table.name] ?? table.quoted }

    /// The old entity that a new one continues.
    func source(of entity: EntityDescription) -> EntityDescription? {
        mapping.entities[entity.name]?.source.flatMap(old.model.entity(named:))
    }

    /// The new entity that an old one becomes.
    func successor(of entity: EntityDescription) -> EntityDescription? {
        mapping.successor(of: entity.name).flatMap(model.entity(named:))
    }

    func slotMapping(_ entity: EntityDescription, _ slot: SlotDescription) -> SlotMapping? {
        mapping.entities[entity.name]?.slots.first { $0.slot == slot.name }
    }

    /// The old relationship that a relationship continues.
    func source(of relationship: RelationshipDescription, _ entity: EntityDescription) -> (
        EntityDescription, RelationshipDescription
    )? {
        guard let past = source(of: entity),
            let name = mapping.entities[entity.name]?.properties[relationship.name],
            let before = past.relationship(named: name)
        else { return nil }
        return (past, before)
    }

    /// The answer to the steps of a property, given under the name of the entity that declares it.
    func answer(_ entity: EntityDescription, _ property: String) -> MigrationAnswer? {
        let first = property.split(separator: ".").first.map(String.init) ?? property
        let declaring =
            entity.attribute(named: first)?.declaringEntity ?? entity.relationship(named: first)?.declaringEntity
            ?? entity.name
        return answers["\(declaring).\(property)"]
    }

    // MARK: Values

    /// The value of a slot of an attribute for rows of the old table.
    /// - Parameter column: Finds the SQL of an old slot; by default its column.
    func value(
        _ entity: EntityDescription, _ slot: SlotDescription, column: ((SlotDescription) -> String?)? = nil
    ) -> String {
        guard let mapping = slotMapping(entity, slot) else { return "NULL" }
        let past = source(of: entity)
        let before = mapping.source.flatMap { past?.slot(named: $0) }
        let base = before.flatMap { slot in column.map { $0(slot) } ?? past.flatMap { self.column($0, slot) } }
        if let derivation = mapping.derivation {
            return derived(derivation, entity, base: before?.derivation == derivation ? base : nil, column: column)
        }
        var value = base ?? "NULL"
        if let before, base != nil, let past {
            let wasExternal = old.layout.column(past.index, before.index)?.allowsExternal == true
            if wasExternal, layout.column(entity.index, slot.index)?.allowsExternal != true {
                value = "strata_external(\(value))"
            }
        }
        var stands: [String] = []
        if let conversion = mapping.conversion, base != nil {
            let converted =
                "strata_convert(\(value), \(Identifiers.literal(conversion.source.name)), \(Identifiers.literal(conversion.target.name)))"
            if case .fill(let answer)? = self.answer(entity, slot.name), slot.isOptional {
                // Nil stays nil.
                value = "CASE WHEN \(value) IS NULL THEN NULL ELSE coalesce(\(converted), \(literal(answer))) END"
            } else {
                value = converted
            }
        }
        if case .fill(let answer)? = self.answer(entity, slot.name), !slot.isOptional || base == nil {
            stands.append(literal(answer))
        }
        if let fill = mapping.fill, let text = fillText(fill, slot) { stands.append(text) }
        guard let stand = stands.first else { return value }
        return base == nil ? stand : "coalesce(\(value), \(stand))"
    }

    private func derived(
        _ derivation: Derivation, _ entity: EntityDescription, base: String?,
        column: ((SlotDescription) -> String?)?
    ) -> String {
        func text(_ kind: String, _ name: String) -> String {
            guard let slot = entity.slot(named: name) else { return "NULL" }
            return "strata_derive('\(kind)', \(value(entity, slot, column: column)))"
        }
        switch derivation {
        case .lowercase(let name): return text("lowercase", name)
        case .uppercase(let name): return text("uppercase", name)
        case .canonical(let name): return text("canonical", name)
        // The time of the last save is known only if it was kept.
        case .now: return base ?? literal(.date(now))
        case .count, .sum, .path: return "NULL"
        }
    }

    private func fillText(_ fill: AttributeDefault, _ slot: SlotDescription) -> String? {
        switch fill {
        case .value(let value): literal(Self.fitted(value, to: slot))
        case .now: literal(.date(now))
        case .newUUID: "strata_new_uuid(\(slot.storage == .uuid ? 0 : 1))"
        }
    }

    /// A default as its slot keeps it: whole numbers may stand for others.
    private static func fitted(_ value: Value, to slot: SlotDescription) -> Value {
        switch (value, slot.storage) {
        case (.integer(let number), .double): .double(Double(number))
        case (.integer(let number), .decimal): .decimal(Decimal(number))
        case (.double(let number), .decimal): .decimal(Decimal(number))
        default: value
        }
    }

    func literal(_ value: Value) -> String {
        value.isNull ? "NULL" : "strata_value(\(Identifiers.literal(ValueRecord.text(of: value))))"
    }

    /// The column of an old slot, with its table.
    func column(_ entity: EntityDescription, _ slot: SlotDescription) -> String? {
        old.layout.column(entity.index, slot.index).map {
            "\(tableNames[old.layout.tableOfEntity[entity.index]]).\($0.quoted)"
        }
    }

    /// The rows of an old entity: what follows `FROM`.
    func rows(_ entity: EntityDescription, subentities: Bool) -> String {
        let table = tableNames[old.layout.tableOfEntity[entity.index]]
        let condition = old.layout.entityCondition(entity.index, subentities: subentities, alias: nil)
        return table + (condition.map { " WHERE \($0)" } ?? " WHERE 1")
    }

    // MARK: Links

    /// The links of an old relationship: a subquery with `owner`, `member` and `place`, the order of the members of an owner.
    func links(_ entity: EntityDescription, _ relationship: RelationshipDescription) -> String? {
        switch relationship.storage {
        case .slot(let slot):
            guard let column = old.layout.column(entity.index, slot)?.quoted else { return nil }
            return
                "(SELECT _id AS owner, \(column) AS member, NULL AS place FROM \(rows(entity, subentities: true)) AND \(column) IS NOT NULL)"
        case .inverseSlot(let slot):
            let destination = old.model.entities[relationship.destinationIndex]
            guard let column = old.layout.column(destination.index, slot)?.quoted else { return nil }
            let order = old.layout.orderColumn(entity.index, relationship.index) ?? "NULL"
            return
                "(SELECT \(column) AS owner, _id AS member, \(order) AS place FROM \(rows(destination, subentities: true)) AND \(column) IS NOT NULL)"
        case .pairs:
            guard let side = old.layout.pairs(entity.index, relationship.index) else { return nil }
            return
                "(SELECT \(side.near) AS owner, \(side.far) AS member, \(side.order ?? "NULL") AS place FROM \(pairName(side.table)))"
        }
    }

    /// The links that a relationship begins with, from those of its own past or of its inverse's.
    func links(to relationship: RelationshipDescription, _ entity: EntityDescription) -> String? {
        if let (past, before) = source(of: relationship, entity) { return links(past, before) }
        guard let inverse = model.inverse(of: relationship) else { return nil }
        let destination = model.destination(of: relationship)
        guard let (past, before) = source(of: inverse, destination), let links = links(past, before) else { return nil }
        return "(SELECT member AS owner, owner AS member, NULL AS place FROM \(links))"
    }

    /// The column that a to-one relationship keeps its value in already; nil if its links have to be looked up.
    func keyColumn(_ entity: EntityDescription, _ relationship: RelationshipDescription) -> String? {
        guard let (past, before) = source(of: relationship, entity), let slot = before.slot else { return nil }
        return column(past, past.slots[slot])
    }

    /// The column of the old table with the order of the rows in a relationship that leads to them.
    func orderColumn(_ entity: EntityDescription, _ relationship: RelationshipDescription) -> String? {
        guard let (past, before) = source(of: relationship, entity), case .inverseSlot = before.storage,
            let order = old.layout.orderColumn(past.index, before.index)
        else { return nil }
        return "\(tableNames[old.layout.tableOfEntity[before.destinationIndex]]).\(order)"
    }

    /// Whether the links of a relationship are lost, because it leads elsewhere.
    func losesLinks(_ entity: EntityDescription, _ relationship: RelationshipDescription) -> Bool {
        guard let (_, before) = source(of: relationship, entity) else { return false }
        return mapping.successor(of: before.destination) == nil
    }
}
