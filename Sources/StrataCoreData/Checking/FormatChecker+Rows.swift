import StrataCoreDataModel
import StrataSQL
import StrataSQLite

extension FormatChecker {
    /// Checks the rows of an entity: those with its number.
    mutating func checkRows(of entity: CoreDataEntity) throws(StoreError) {
        guard let place = map.places[entity.name], let table = file.tables.table(place.table),
            ["Z_PK", "Z_ENT", "Z_OPT"].allSatisfy({ table.column($0) != nil })
        else { return }
        let from = "\(Identifiers.quote(place.table)) AS s"
        if entity.parent == nil {
            let family = model.entities.filter { model.lineage(of: $0).last?.name == entity.name && !$0.isAbstract }
            let numbers = family.compactMap { map.places[$0.name].map { String($0.number) } }.joined(separator: ", ")
            try count(
                .rows, place.table, from, "s.Z_ENT IS NULL OR s.Z_ENT NOT IN (\(numbers))",
                "Z_ENT is not the number of an entity of the table")
            try count(.rows, place.table, from, "s.Z_PK < 1", "Z_PK is below 1")
            try count(
                .rows, place.table, from, "s.Z_OPT IS NULL OR typeof(s.Z_OPT) <> 'integer' OR s.Z_OPT < 1",
                "Z_OPT is not a version")
        }
        // Columns that an entity declares have no values in rows of others.
        let numbers = model.entities.filter { other in model.lineage(of: other).contains { $0.name == entity.name } }
            .compactMap { map.places[$0.name].map { String($0.number) } }.joined(separator: ", ")
        let own = "s.Z_ENT IN (\(numbers))"
        for attribute in entity.attributes where !attribute.isTransient {
            guard let column = map.columns[entity.name]?[attribute.name] else { continue }
            let subject = "\(place.table).\(column)"
            let quoted = "s.\(Identifiers.quote(column))"
            if let condition = misfit(attribute, quoted) {
                try count(
                    .values, subject, from, "\(own) AND \(quoted) IS NOT NULL AND \(condition)",
                    "the value is not one of the type \(attribute.type.name)")
            }
            if attribute.options.contains(.externalStorage) { try checkFiles(subject, from, quoted) }
        }
        for relationship in entity.relationships where !relationship.isToMany && !relationship.isTransient {
            try checkReferences(of: relationship, in: entity, place, from, own)
        }
    }

    /// The SQL that finds values of a wrong kind.
    private func misfit(_ attribute: CoreDataAttribute, _ column: String) -> String? {
        let isBlob = "typeof(\(column)) = 'blob'"
        switch attribute.type {
        case .integer16: return "NOT (typeof(\(column)) = 'integer' AND \(column) BETWEEN -32768 AND 32767)"
        case .integer32: return "NOT (typeof(\(column)) = 'integer' AND \(column) BETWEEN -2147483648 AND 2147483647)"
        case .integer64: return "typeof(\(column)) <> 'integer'"
        case .boolean: return "\(column) NOT IN (0, 1)"
        case .double, .float, .date: return "typeof(\(column)) NOT IN ('integer', 'real')"
        case .decimal: return "typeof(\(column)) NOT IN ('integer', 'real') AND \(column) <> 'NaN'"
        case .string, .uri: return "typeof(\(column)) <> 'text'"
        case .uuid: return "NOT (\(isBlob) AND length(\(column)) = 16)"
        case .binary, .transformable:
            guard attribute.options.contains(.externalStorage) else { return nil }
            return """
                NOT (\(isBlob) AND (substr(\(column), 1, 1) = x'01' OR substr(\(column), 1, 1) = x'02' \
                AND length(\(column)) = 38 AND substr(\(column), 38) = x'00'))
                """
        case .undefined, .objectID, .composite: return nil
        }
    }

    private mutating func checkFiles(_ subject: String, _ from: String, _ column: String) throws(StoreError) {
        let names = try connection.texts(
            """
            SELECT CAST(substr(\(column), 2, 36) AS TEXT) FROM \(from) \
            WHERE typeof(\(column)) = 'blob' AND substr(\(column), 1, 1) = x'02'
            """)
        let missing = names.filter { !file.folder.contains($0) }
        if let first = missing.first {
            note(.externalFiles, subject, "\(missing.count) files are missing, first \(first)")
        }
        if Set(names).count < names.count { note(.externalFiles, subject, "two values are in the same file") }
    }

    // MARK: References

    private mutating func checkReferences(
        of relationship: CoreDataRelationship, in entity: CoreDataEntity, _ place: StoreMap.Place, _ from: String,
        _ own: String
    ) throws(StoreError) {
        guard let column = map.columns[entity.name]?[relationship.name],
            let target = map.places[relationship.destination]
        else { return }
        let subject = "\(place.table).\(column)"
        let quoted = "s.\(Identifiers.quote(column))"
        let table = Identifiers.quote(target.table)
        let kinds = model.entities.filter { other in
            model.lineage(of: other).contains { $0.name == relationship.destination }
        }.compactMap { map.places[$0.name].map { String($0.number) } }.joined(separator: ", ")
        try count(
            .references, subject, from,
            "\(own) AND \(quoted) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(table) AS t WHERE t.Z_PK = \(quoted) AND t.Z_ENT IN (\(kinds)))",
            "the reference leads to no object of \(relationship.destination)")
        if let found = map.entityColumn(of: column, in: place.table) {
            let number = "s.\(Identifiers.quote(found))"
            try count(
                .references, "\(place.table).\(found)", from,
                "\(own) AND \(number) IS NOT (SELECT t.Z_ENT FROM \(table) AS t WHERE t.Z_PK = \(quoted))",
                "the number is not that of the object's entity")
        } else if model.entities.contains(where: { $0.parent == relationship.destination }) {
            note(.tables, subject, "the column for the number of the object's entity is missing")
        }
        let destination = model.entity(named: relationship.destination)
        let back = destination.flatMap { destination in
            model.lineage(of: destination).lazy.compactMap { owner in
                owner.relationships.first { $0.name == relationship.inverse }.map { (owner, $0) }
            }.first
        }
        guard let (backOwner, back) = back else { return }
        if !back.isToMany, let other = map.columns[backOwner.name]?[back.name] {
            try count(
                .references, subject, from,
                "\(own) AND \(quoted) IS NOT NULL AND (SELECT t.\(Identifiers.quote(other)) FROM \(table) AS t WHERE t.Z_PK = \(quoted)) IS NOT s.Z_PK",
                "the other end of the one-to-one relationship does not lead back")
        }
        if back.isOrdered { try checkOrder(relationship, entity, place, from, own, quoted) }
    }

    private mutating func checkOrder(
        _ relationship: CoreDataRelationship, _ entity: CoreDataEntity, _ place: StoreMap.Place, _ from: String,
        _ own: String, _ column: String
    ) throws(StoreError) {
        guard let order = map.orderColumn(of: relationship.name, in: entity.name) else {
            return note(.tables, "\(place.table).\(column)", "the column for the order is missing")
        }
        let subject = "\(place.table).\(order)"
        let quoted = "s.\(Identifiers.quote(order))"
        try count(
            .order, subject, from, "\(own) AND (\(quoted) IS NULL) <> (\(column) IS NULL)",
            "there is a place without a reference, or a reference without a place")
    }

    // MARK: Pairs

    mutating func checkPairs(of relationship: CoreDataRelationship, in entity: CoreDataEntity) throws(StoreError) {
        if let inverse = relationship.inverse, let destination = model.entity(named: relationship.destination) {
            let back = model.lineage(of: destination).lazy.flatMap(\.relationships).first { $0.name == inverse }
            if back?.isToMany == false { return }
        }
        guard let owner = map.places[entity.name], let member = map.places[relationship.destination] else { return }
        let name = "\(entity.name).\(relationship.name)"
        guard let pairs = map.pairs(of: relationship, in: entity.name) else {
            return note(.tables, name, "the table of its pairs is missing")
        }
        // Each table is seen from both sides; this is about the members.
        let rows = "\(Identifiers.quote(pairs.table)) AS s"
        for (column, place) in [(pairs.ownerColumn, owner), (pairs.memberColumn, member)] {
            let quoted = "s.\(Identifiers.quote(column))"
            let found =
                try connection.integer(
                    """
                    SELECT count(*) FROM \(rows) WHERE \(quoted) IS NULL OR NOT EXISTS \
                    (SELECT 1 FROM \(Identifiers.quote(place.table)) AS t WHERE t.Z_PK = \(quoted))
                    """) ?? 0
            if found > 0 { note(.pairs, "\(pairs.table).\(column)", "the key leads to no object in \(found) rows") }
        }
        if relationship.isOrdered {
            guard let order = pairs.orderColumn else {
                return note(.tables, name, "the column for its order is missing from \(pairs.table)")
            }
            let found =
                try connection.integer("SELECT count(*) FROM \(rows) WHERE s.\(Identifiers.quote(order)) IS NULL") ?? 0
            if found > 0 { note(.order, "\(pairs.table).\(order)", "there is no place in \(found) rows") }
        }
    }
}
