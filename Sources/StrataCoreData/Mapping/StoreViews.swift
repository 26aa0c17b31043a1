import Foundation
import StrataCoreDataModel
import StrataSQL
import StrataSQLite

/// The SQL of the views that show a Core Data store as the tables of a store of Strata.
struct StoreViews: Sendable {
    /// A view: its columns in order, each with its SQL, and what follows `FROM`.
    struct View: Sendable {
        /// The table that it replaces, as written in SQL.
        var table: String
        var columns: [(name: String, sql: String)]
        var from: String

        /// The statement that makes the view.
        func statement(named name: String) -> String {
            let list = columns.map { "\($0.sql) AS \($0.name)" }.joined(separator: ", ")
            return "CREATE TEMP VIEW \(name) AS SELECT \(list) FROM \(from)"
        }
    }

    /// A value that an exporter looks at: where it stands, and the SQL that turns it into what it becomes.
    struct Check: Sendable {
        var entity: String
        var property: String
        /// The view with the property, by its position, and what follows `FROM` to find the rows of the entity.
        var view: Int
        var from: String
        var column: String
        var converted: String
        /// The SQL that says why a value cannot be converted; nil where only its type can be the reason.
        var reason: String?
        var typeName: String
        /// Whether a value is required.
        var isRequired: Bool
    }

    let properties: PropertyMap
    let map: StoreMap
    let mode: ColumnExpression.Mode
    /// The name by which the connection knows the file.
    let schema: String
    private(set) var tables: [View] = []
    private(set) var pairs: [View] = []
    private(set) var checks: [Check] = []
    private(set) var differences: [String] = []
    private(set) var warnings: [String] = []

    private var model: ManagedObjectModel { properties.model }
    private var expressions: ColumnExpression { ColumnExpression(mode: mode) }

    init(
        layout: ViewLayout, properties: PropertyMap, map: StoreMap, mode: ColumnExpression.Mode, schema: String = "main"
    ) {
        self.properties = properties
        self.map = map
        self.mode = mode
        self.schema = schema
        for table in layout.tables { tables.append(view(of: table)) }
        for pairs in layout.pairs {
            if let view = view(of: pairs) { self.pairs.append(view) }
        }
    }

    /// All views that stand for tables.
    var all: [View] { tables + pairs }

    // MARK: Tables

    private mutating func view(of table: ViewLayout.Table) -> View {
        let root = model.entities[table.root]
        guard let place = properties.entity(table.root).flatMap({ map.places[$0] }) else { return emptyView(of: table) }
        let source = "\(schema).\(Identifiers.quote(place.table)) AS s"
        var columns = [("_id", "s.Z_PK"), ("_version", "coalesce(s.Z_OPT, 1)")]
        var condition = ""
        if table.hasEntityColumn {
            let numbers = numbers(of: root.descendantIndexes)
            if numbers.isEmpty { return emptyView(of: table) }
            let cases = numbers.map { "WHEN \($0.number) THEN \(Identifiers.literal(model.entities[$0.entity].name))" }
            columns.append(("_entity", "CASE s.Z_ENT \(cases.joined(separator: " ")) END"))
            // The plus sign keeps SQLite from reading the rows in the order of the index of Z_ENT.
            condition = " WHERE +s.Z_ENT IN (\(numbers.map { String($0.number) }.joined(separator: ", ")))"
        }
        for column in table.columns { columns.append((column.quoted, sql(of: column, in: source + condition))) }
        for order in table.orders { columns.append((order.quoted, sql(of: order) ?? "NULL")) }
        return View(table: table.quoted, columns: columns, from: source + condition)
    }

    /// The view of a table without a counterpart in the file.
    private func emptyView(of table: ViewLayout.Table) -> View {
        let names = ["_id", "_version"] + (table.hasEntityColumn ? ["_entity"] : [])
        let all = names + table.columns.map(\.quoted) + table.orders.map(\.quoted)
        return View(table: table.quoted, columns: all.map { ($0, "NULL") }, from: "(SELECT 1 WHERE 0) AS s")
    }

    /// The numbers of the entities that can have rows.
    private func numbers(of entities: [Int]) -> [(entity: Int, number: Int64)] {
        entities.compactMap { index in
            guard !model.entities[index].isAbstract, let place = properties.entity(index).flatMap({ map.places[$0] })
            else { return nil }
            return (index, place.number)
        }
    }

    private mutating func sql(of column: ViewLayout.Column, in from: String) -> String {
        var found: [(sql: String, entities: [Int])] = []
        for (entity, slot) in column.slots {
            guard let sql = sql(of: model.entities[entity].slots[slot], entity, column, from) else { continue }
            if let position = found.firstIndex(where: { $0.sql == sql }) {
                found[position].entities.append(entity)
            } else {
                found.append((sql, [entity]))
            }
        }
        guard found.count > 1 else { return found.first?.sql ?? "NULL" }
        // Core Data gives each entity a column where Strata has one for all.
        let cases = found.map { part in
            let list = numbers(of: part.entities).map { String($0.number) }.joined(separator: ", ")
            return "WHEN s.Z_ENT IN (\(list)) THEN \(part.sql)"
        }
        return "CASE \(cases.joined(separator: " ")) END"
    }

    /// The SQL of a slot; nil where there is no column.
    private mutating func sql(
        of slot: SlotDescription, _ entity: Int, _ column: ViewLayout.Column, _ from: String
    ) -> String? {
        let subject = "\(model.entities[entity].name).\(slot.name)"
        let path = slot.name.split(separator: ".").map(String.init)
        guard let owner = properties.entity(entity), map.places[owner] != nil else { return nil }
        switch properties.property(path[0], of: entity) {
        case .relationship(let relationship, let declaring):
            guard !relationship.isToMany, slot.relationshipIndex != nil else {
                differences.append(
                    "\(subject) is a relationship to \(relationship.isToMany ? "many" : "one") in the store")
                return nil
            }
            guard let place = map.columns[declaring]?[relationship.name] else { return nil }
            let quoted = "s.\(Identifiers.quote(place))"
            let sql = expressions.key(quoted)
            note(slot, entity, from, quoted, sql, nil, "key")
            return sql
        case .attribute(let attribute, let declaring):
            guard let type = slot.type, !attribute.isTransient else {
                differences.append("\(subject) is \(attribute.isTransient ? "transient" : "an attribute") in the store")
                return nil
            }
            let source: (column: String, attribute: CoreDataAttribute)
            if attribute.type == .composite {
                guard let element = element(path.dropFirst().joined(separator: "."), of: attribute, in: declaring)
                else {
                    warnings.append("\(subject): no column of the store is known to hold it; it has no values")
                    return nil
                }
                source = element
            } else {
                guard path.count == 1, let place = map.columns[declaring]?[attribute.name] else { return nil }
                source = (place, attribute)
            }
            let quoted = "s.\(Identifiers.quote(source.column))"
            guard
                let sql = expressions.sql(quoted, source.attribute, as: type, allowsExternal: column.allowsExternal)
            else {
                differences.append(
                    "\(subject) is of the type \(source.attribute.type.name) in the store, and of \(type.name) in the model"
                )
                return nil
            }
            let isTransformed = source.attribute.type == .transformable && type != .binary
            let reason =
                isTransformed
                ? "\(ValueFunctions.reason)(\(ColumnExpression.arguments(quoted, source.attribute)))"
                : source.attribute.options.contains(.externalStorage)
                    ? "'the file of the external value is missing'" : nil
            note(slot, entity, from, quoted, sql, reason, type.name)
            return column.allowsExternal && mode == .exporting ? "\(ValueFunctions.keep)(\(sql))" : sql
        case nil:
            if slot.isStored { differences.append("\(subject) is not in the store's model") }
            return nil
        }
    }

    /// The column of an element of a composite, and the attribute of the composite type that declares it.
    private func element(
        _ name: String, of attribute: CoreDataAttribute, in entity: String
    ) -> (column: String, attribute: CoreDataAttribute)? {
        guard let composite = attribute.compositeName.flatMap(map.model.compositeType),
            let element = composite.attributes.first(where: { $0.name == name }),
            let column = map.column(ofElement: name, of: attribute.name, in: entity)
        else { return nil }
        return (column, element)
    }

    private mutating func note(
        _ slot: SlotDescription, _ entity: Int, _ from: String, _ column: String, _ sql: String, _ reason: String?,
        _ typeName: String
    ) {
        guard mode == .exporting, let number = numbers(of: [entity]).first?.number else { return }
        let hasCondition = from.contains(" WHERE ")
        checks.append(
            Check(
                entity: model.entities[entity].name, property: slot.name, view: tables.count,
                from: hasCondition ? from + " AND +s.Z_ENT = \(number)" : from, column: column, converted: sql,
                reason: reason, typeName: typeName, isRequired: !slot.isOptional))
    }

    /// The column with the places of rows in an ordered relationship.
    private mutating func sql(of order: ViewLayout.Order) -> String? {
        let name = model.entities[order.entity].relationships[order.relationship].name
        guard case .relationship(let relationship, let entity)? = properties.property(name, of: order.entity) else {
            differences.append("\(model.entities[order.entity].name).\(name) is not in the store's model")
            return nil
        }
        guard let inverse = relationship.inverse, map.places[entity] != nil,
            let destination = map.model.entity(named: relationship.destination)
        else { return nil }
        for owner in map.model.lineage(of: destination) {
            if let column = map.orderColumn(of: inverse, in: owner.name) { return "s.\(Identifiers.quote(column))" }
        }
        return nil
    }

    // MARK: Pairs

    private mutating func view(of pairs: ViewLayout.Pairs) -> View? {
        let name = model.entities[pairs.entity].relationships[pairs.relationship].name
        let subject = "\(model.entities[pairs.entity].name).\(name)"
        guard case .relationship(let relationship, let entity)? = properties.property(name, of: pairs.entity),
            relationship.isToMany
        else {
            differences.append("\(subject) is not a relationship to many in the store's model")
            return nil
        }
        var names = [pairs.ownerColumn, pairs.memberColumn]
        names += [pairs.ownerOrder, pairs.memberOrder].compactMap(\.self)
        let empty = View(table: pairs.quoted, columns: names.map { ($0, "NULL") }, from: "(SELECT 1 WHERE 0)")
        guard map.places[entity] != nil, map.places[relationship.destination] != nil else { return empty }
        if let column = inverseColumn(of: relationship) {
            // To-many for Core Data by the other side, which Strata has no inverse for.
            return View(
                table: pairs.quoted,
                columns: [(pairs.ownerColumn, "s.\(column.name)"), (pairs.memberColumn, "s.Z_PK")]
                    + names.dropFirst(2).map { ($0, "NULL") },
                from: "\(schema).\(column.table) AS s WHERE s.\(column.name) IS NOT NULL")
        }
        guard let place = map.pairs(of: relationship, in: entity) else {
            differences.append("\(subject): the table with its pairs is missing")
            return nil
        }
        return view(of: pairs, in: place)
    }

    /// The column at the other end, if it holds the relationship.
    private func inverseColumn(of relationship: CoreDataRelationship) -> (table: String, name: String)? {
        guard let inverse = relationship.inverse, let destination = map.model.entity(named: relationship.destination)
        else { return nil }
        for owner in map.model.lineage(of: destination) {
            guard let back = owner.relationships.first(where: { $0.name == inverse }), !back.isToMany,
                let column = map.columns[owner.name]?[inverse], let place = map.places[owner.name]
            else { continue }
            return (Identifiers.quote(place.table), Identifiers.quote(column))
        }
        return nil
    }

    private func view(of pairs: ViewLayout.Pairs, in place: StoreMap.Pairs) -> View {
        func quoted(_ column: String?) -> String { column.map { "s.\(Identifiers.quote($0))" } ?? "NULL" }
        let (owner, member) = (quoted(place.ownerColumn), quoted(place.memberColumn))
        var columns = [(pairs.ownerColumn, owner), (pairs.memberColumn, member)]
        if let name = pairs.ownerOrder { columns.append((name, quoted(place.orderColumn))) }
        if let name = pairs.memberOrder { columns.append((name, quoted(place.inverseOrderColumn))) }
        let source = "\(schema).\(Identifiers.quote(place.table)) AS s"
        // What is not a key leads nowhere.
        let isPair = "typeof(\(owner)) = 'integer' AND typeof(\(member)) = 'integer'"
        guard pairs.isSymmetric else {
            return View(
                table: pairs.quoted, columns: columns, from: mode == .reading ? source : "\(source) WHERE \(isPair)")
        }
        // Strata keeps such a pair both ways round.
        let order = pairs.ownerOrder == nil ? "" : ", \(quoted(place.orderColumn)) AS z"
        let both = """
            (SELECT x, y\(order.isEmpty ? "" : ", max(z) AS z") FROM (\
            SELECT \(owner) AS x, \(member) AS y\(order) FROM \(source) WHERE \(isPair) UNION ALL \
            SELECT \(member) AS x, \(owner) AS y\(order.isEmpty ? "" : ", NULL AS z") FROM \(source) WHERE \(isPair)\
            ) GROUP BY x, y) AS s
            """
        return View(
            table: pairs.quoted,
            columns: [(pairs.ownerColumn, "s.x"), (pairs.memberColumn, "s.y")]
                + (pairs.ownerOrder.map { [($0, "s.z")] } ?? []),
            from: both)
    }
}
