import StrataStore

/// How values of an expression compare, as ``ValueComparison`` sees them.
package enum SQLKind: Sendable, Hashable {
    /// Integers, floating-point numbers and truth values compare with each other by value.
    case integer, double, boolean
    /// A whole or a floating-point number; each value says which.
    case number
    /// Decimal text, or a whole number where a function gave it.
    case decimal
    case text, uri, date, uuid, object, point
    /// JSON text, of whose content nothing is known.
    case json
    /// Bytes that are always in the column.
    case bytes
    /// Bytes that may be in a file; only nil can be told.
    case external

    package var isPlainNumber: Bool { self == .integer || self == .double || self == .boolean || self == .number }
    package var isNumber: Bool { isPlainNumber || self == .decimal }
    package var isText: Bool { self == .text || self == .uri }

    /// The name of the kind of values, as ``Value/kind`` has it.
    package var name: String {
        switch self {
        case .integer: "integer"
        case .double, .number: "double"
        case .boolean: "boolean"
        case .decimal: "decimal"
        case .text: "string"
        case .uri: "uri"
        case .date: "date"
        case .uuid: "uuid"
        case .object: "object"
        case .point: "geoPoint"
        case .json: "json"
        case .bytes, .external: "binary"
        }
    }

    /// The kind of a constant; nil for nil and for values that SQL cannot express as a single value.
    package init?(_ value: Value) {
        switch value {
        case .integer: self = .integer
        case .double: self = .double
        case .decimal: self = .decimal
        case .string: self = .text
        case .boolean: self = .boolean
        case .date: self = .date
        case .binary: self = .bytes
        case .uuid: self = .uuid
        case .uri: self = .uri
        case .geoPoint: self = .point
        case .object: self = .object
        case .null, .composite, .list, .set: return nil
        }
    }
}

/// Writes the SQL for the slots of entities: columns, and what derived attributes compute from other tables.
package struct SlotExpression {
    package let layout: StoreLayout

    package init(layout: StoreLayout) { self.layout = layout }

    /// The SQL for a slot of an entity whose table has an alias.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` for what has no column: transient attributes.
    package func sql(_ entity: EntityDescription, _ slot: SlotDescription, alias: String, depth: Int = 0)
        throws(StoreError)
        -> String
    {
        if let column = layout.column(entity.index, slot.index) { return "\(alias).\(column.quoted)" }
        let name = "\(entity.name).\(slot.name)"
        guard depth < 8 else { throw unsupported("the derived attribute \(name), which depends on itself") }
        switch slot.derivation {
        case .count(let relationship):
            return "(SELECT count(*) FROM \(try members(of: relationship, entity, alias: alias, name: name).from))"
        case .sum(let relationship, let attribute):
            let members = try members(of: relationship, entity, alias: alias, name: name)
            guard let inner = members.destination.slot(named: attribute), inner.type?.isNumeric == true else {
                throw unsupported(
                    "the derived attribute \(name): \(attribute) is not a number of \(members.destination.name)")
            }
            let value = try sql(members.destination, inner, alias: members.alias, depth: depth + 1)
            let sum = layout.dialect.derivedSum(value, of: inner.storage, as: slot.storage)
            return "(SELECT \(sum) FROM \(members.from))"
        case .path(let path):
            return try self.path(path[...], entity, alias: alias, depth: depth + 1, name: name)
        default:
            throw unsupported("the transient attribute \(name), which has no column")
        }
    }

    /// How values of a slot compare.
    package func kind(_ entity: EntityDescription, _ slot: SlotDescription) -> SQLKind {
        switch slot.storage {
        case .integer: .integer
        case .double: .double
        case .boolean: .boolean
        case .date: .date
        case .key: .object
        case .text: slot.type == .uri ? .uri : slot.type?.isJSON == true ? .json : .text
        case .decimal: .decimal
        case .uuid: .uuid
        case .geoPoint: .point
        case .bytes: layout.column(entity.index, slot.index)?.allowsExternal == true ? .external : .bytes
        }
    }

    private func unsupported(_ feature: String) -> StoreError { layout.dialect.unsupported(feature) }

    /// The value at the end of a path through to-one relationships, as a subselect.
    private func path(
        _ path: ArraySlice<String>, _ entity: EntityDescription, alias: String, depth: Int, name: String
    ) throws(StoreError) -> String {
        if let slot = entity.slot(named: path.joined(separator: ".")) {
            return try sql(entity, slot, alias: alias, depth: depth)
        }
        guard let first = path.first, let relationship = entity.relationship(named: first), let slot = relationship.slot
        else {
            throw unsupported(
                "the derived attribute \(name): \(path.joined(separator: ".")) leads nowhere in \(entity.name)")
        }
        let destination = layout.model.destination(of: relationship)
        let inner = "\(alias)p"
        let value = try self.path(path.dropFirst(), destination, alias: inner, depth: depth, name: name)
        let key = try sql(entity, entity.slots[slot], alias: alias, depth: depth)
        return
            "(SELECT \(value) FROM \(layout.table(destination.index).quoted) AS \(inner) WHERE \(inner)._id = \(key))"
    }

    /// What follows `FROM` to go through the members of a to-many relationship.
    private func members(
        of name: String, _ entity: EntityDescription, alias: String, name derived: String
    ) throws(StoreError) -> (from: String, alias: String, destination: EntityDescription) {
        guard let relationship = entity.relationship(named: name), relationship.isToMany else {
            throw unsupported(
                "the derived attribute \(derived): \(name) is not a to-many relationship of \(entity.name)")
        }
        let destination = layout.model.destination(of: relationship)
        let inner = "\(alias)m"
        let table = layout.table(destination.index).quoted
        if let side = layout.pairs(entity.index, relationship.index) {
            let pairs = "\(alias)j"
            let from =
                "\(side.table.quoted) AS \(pairs) JOIN \(table) AS \(inner) ON \(inner)._id = \(pairs).\(side.far)"
                + " WHERE \(pairs).\(side.near) = \(alias)._id"
            return (from, inner, destination)
        }
        guard case .inverseSlot(let slot) = relationship.storage, let column = layout.column(destination.index, slot)
        else {
            throw unsupported("the derived attribute \(derived): \(name) is not kept by the store")
        }
        var from = "\(table) AS \(inner) WHERE \(inner).\(column.quoted) = \(alias)._id"
        if let condition = layout.entityCondition(destination.index, subentities: true, alias: inner) {
            from += " AND \(condition)"
        }
        return (from, inner, destination)
    }
}
