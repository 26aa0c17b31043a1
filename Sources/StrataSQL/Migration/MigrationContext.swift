import Foundation
import StrataStore

/// What the parts of a migration share: both versions, the plan between them, and the answers.
///
/// Expressions stand for values of the new version in terms of columns of the old one. They name tables by what these are
/// called at the moment, which changes while tables are renamed.
package struct MigrationContext {
    /// Where the objects are, with the model that they have.
    package let old: PastVersion
    /// Where they will be.
    package let layout: StoreLayout
    package let engine: any MigrationEngine
    /// Whether the objects are those of a server, which has all values.
    let isMirror: Bool
    package let plan: MigrationPlan
    let answers: [String: MigrationAnswer]
    /// The moment of the migration, the same for all objects.
    let now: Date
    /// The present name of each table of the old layout, quoted.
    var tableNames: [String]
    /// The present names of tables of pairs that have been moved out of the way.
    var pairNames: [String: String] = [:]

    package var model: ManagedObjectModel { layout.model }
    var mapping: ModelMapping { plan.mapping }

    package init(
        old: StoreLayout, new: StoreLayout, engine: any MigrationEngine, isMirror: Bool = false, plan: MigrationPlan,
        answers: [String: MigrationAnswer], now: Date
    ) {
        self.old = PastVersion(layout: old)
        layout = new
        self.engine = engine
        self.isMirror = isMirror
        self.plan = plan
        self.answers = answers
        self.now = now
        tableNames = old.tables.map(\.quoted)
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
    /// - Parameters:
    ///   - rows: The rows, if they are not those of the old entity: what follows `FROM`.
    ///   - column: Finds the SQL of an old slot; by default its column.
    func value(
        _ entity: EntityDescription, _ slot: SlotDescription, rows: String? = nil,
        column: ((SlotDescription) -> String?)? = nil
    ) throws(StoreError) -> String {
        let past = source(of: entity)
        guard let mapping = slotMapping(entity, slot) else { return engine.null(for: slot) }
        let subject = rows ?? past.map { self.rows($0, subentities: false) } ?? ""
        let before = mapping.source.flatMap { past?.slot(named: $0) }
        let base = before.flatMap { slot in column.map { $0(slot) } ?? past.flatMap { self.column($0, slot) } }
        if let derivation = mapping.derivation {
            return try derived(
                derivation, entity, slot, base: before?.derivation == derivation ? base : nil, subject, column)
        }
        var value = base ?? engine.null(for: slot)
        var names: [String] = []
        if let before, base != nil, let past, let own = old.layout.column(past.index, before.index) {
            let table = tableNames[old.layout.tableOfEntity[past.index]]
            if own.allowsExternal, layout.column(entity.index, slot.index)?.allowsExternal != true {
                value = engine.inlined(own, of: table)
            } else if column == nil {
                names = engine.companions(of: own).map { "\(table).\($0)" }
            } else {
                names = layout.column(entity.index, slot.index).map(engine.companions) ?? []
            }
        }
        var stands: [String] = []
        if let conversion = mapping.conversion, base != nil, let before, let past {
            let converted = try engine.converted(
                value,
                MigrationConversion(
                    conversion: conversion, pastEntity: past, before: before, entity: entity, slot: slot),
                rows: subject)
            if case .fill(let answer)? = self.answer(entity, slot.name), slot.isOptional {
                // Nil stays nil.
                let stand = try engine.constant(Self.fitted(answer, to: slot), for: slot, of: entity)
                value =
                    "CASE WHEN \(value) IS NULL THEN \(engine.null(for: slot)) ELSE coalesce(\(converted), \(stand)) END"
            } else {
                value = converted
            }
        }
        if case .fill(let answer)? = self.answer(entity, slot.name), !slot.isOptional || base == nil {
            stands.append(try engine.constant(Self.fitted(answer, to: slot), for: slot, of: entity))
        }
        if let fill = mapping.fill { stands.append(try stand(fill, slot, of: entity)) }
        guard let stand = stands.first else { return value }
        guard base != nil else { return stand }
        let filled = "coalesce(\(value), \(stand))"
        if names.isEmpty { return filled }
        let isInline = names.map { "\($0) IS NULL" }.joined(separator: " AND ")
        return "CASE WHEN \(isInline) THEN \(filled) ELSE \(value) END"
    }

    private func derived(
        _ derivation: Derivation, _ entity: EntityDescription, _ slot: SlotDescription, base: String?, _ rows: String,
        _ column: ((SlotDescription) -> String?)?
    ) throws(StoreError) -> String {
        switch derivation {
        case .lowercase(let name), .uppercase(let name), .canonical(let name):
            guard let source = entity.slot(named: name) else { return engine.null(for: slot) }
            let text = try value(entity, source, rows: rows, column: column)
            return try engine.derived(derivation, text, for: slot, of: entity, rows: rows)
        // The time of the last save is known only if it was kept.
        case .now:
            if let base { return base }
            return try engine.constant(.date(now), for: slot, of: entity)
        case .count, .sum, .path: return engine.null(for: slot)
        }
    }

    private func stand(
        _ fill: AttributeDefault, _ slot: SlotDescription, of entity: EntityDescription
    ) throws(StoreError) -> String {
        switch fill {
        case .value(let value): try engine.constant(Self.fitted(value, to: slot), for: slot, of: entity)
        case .now: try engine.constant(.date(now), for: slot, of: entity)
        case .newUUID: engine.newUUID(for: slot)
        }
    }

    /// The value that all objects of an entity get in a new slot, as a literal of SQL; nil if it is not one for all, or has no such
    /// literal.
    func constant(_ entity: EntityDescription, _ slot: SlotDescription) -> String? {
        guard let mapping = slotMapping(entity, slot), mapping.source == nil, mapping.derivation == nil else {
            return nil
        }
        if case .fill(let answer)? = answer(entity, slot.name) {
            return engine.defaultLiteral(Self.fitted(answer, to: slot))
        }
        if case .value(let fill)? = mapping.fill { return engine.defaultLiteral(Self.fitted(fill, to: slot)) }
        return nil
    }

    /// A default as its slot keeps it: whole numbers may stand for others.
    static func fitted(_ value: Value, to slot: SlotDescription) -> Value {
        switch (value, slot.storage) {
        case (.integer(let number), .double): .double(Double(number))
        case (.integer(let number), .decimal): .decimal(Decimal(number))
        case (.double(let number), .decimal): .decimal(Decimal(number))
        default: value
        }
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
        return "\(table) WHERE \(condition ?? layout.dialect.constant(true))"
    }

    // MARK: Links

    /// No place in an order.
    private var noPlace: String { "CAST(NULL AS \(layout.dialect.columnType(.key)))" }

    /// The links of an old relationship: a subquery with `owner`, `member` and `place`, the order of the members of an owner.
    func links(_ entity: EntityDescription, _ relationship: RelationshipDescription) -> String? {
        switch relationship.storage {
        case .slot(let slot):
            guard let column = old.layout.column(entity.index, slot)?.quoted else { return nil }
            return
                "(SELECT _id AS owner, \(column) AS member, \(noPlace) AS place FROM \(rows(entity, subentities: true)) AND \(column) IS NOT NULL) AS links"
        case .inverseSlot(let slot):
            let destination = old.model.entities[relationship.destinationIndex]
            guard let column = old.layout.column(destination.index, slot)?.quoted else { return nil }
            let order = old.layout.orderColumn(entity.index, relationship.index) ?? noPlace
            return
                "(SELECT \(column) AS owner, _id AS member, \(order) AS place FROM \(rows(destination, subentities: true)) AND \(column) IS NOT NULL) AS links"
        case .pairs:
            guard let side = old.layout.pairs(entity.index, relationship.index) else { return nil }
            return
                "(SELECT \(side.near) AS owner, \(side.far) AS member, \(side.order ?? noPlace) AS place FROM \(pairName(side.table))) AS links"
        }
    }

    /// The links that a relationship begins with, from those of its own past or of its inverse's.
    func links(to relationship: RelationshipDescription, _ entity: EntityDescription) -> String? {
        if let (past, before) = source(of: relationship, entity) { return links(past, before) }
        guard let inverse = model.inverse(of: relationship) else { return nil }
        let destination = model.destination(of: relationship)
        guard let (past, before) = source(of: inverse, destination), let links = links(past, before) else { return nil }
        return "(SELECT member AS owner, owner AS member, \(noPlace) AS place FROM \(links)) AS links"
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

/// A version that is migrated from.
package struct PastVersion {
    package let layout: StoreLayout
    package var model: ManagedObjectModel { layout.model }
}
