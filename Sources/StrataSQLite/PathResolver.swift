import StrataStore

/// An expression in SQL with what is known about it.
struct SQLTerm {
    let sql: String
    let kind: SQLKind
}

/// Turns key paths into columns and collects the joins that they need.
struct PathResolver {
    let layout: StoreLayout
    let entity: EntityDescription
    private(set) var joins = ""
    private var aliases: [[String]: String] = [:]

    init(layout: StoreLayout, entity: EntityDescription) {
        self.layout = layout
        self.entity = entity
    }

    /// The column or computed value at the end of a path.
    /// - Parameter context: What the path stands in, for errors; making the text costs more than the rest, so it waits
    ///   until it is needed.
    mutating func resolve(_ path: [String], in context: @autoclosure () -> String) throws(StoreError) -> SQLTerm {
        var entity = entity
        var alias = "t0"
        var walked: [String] = []
        var rest = path[...]
        while true {
            if let slot = entity.slot(named: rest.joined(separator: ".")) {
                let expressions = SlotExpression(layout: layout)
                var sql = try expressions.sql(entity, slot, alias: alias)
                // Behind a to-one that is nil there is no object whose members could be counted.
                if !slot.isStored, alias != "t0" { sql = "CASE WHEN \(alias)._id IS NOT NULL THEN \(sql) END" }
                return SQLTerm(sql: sql, kind: expressions.kind(entity, slot))
            }
            guard let first = rest.first else { throw unsupported("an empty key path", context()) }
            guard let relationship = entity.relationship(named: first) else {
                let whole = entity.attribute(named: first) != nil
                throw unsupported(
                    whole
                        ? "the composite \(entity.name).\(first) as a whole; compare its elements"
                        : "\(path.joined(separator: ".")): \(entity.name) has no property \(first)", context())
            }
            guard let slot = relationship.slot, let column = layout.column(entity.index, slot) else {
                throw unsupported("the to-many relationship \(entity.name).\(first) in a key path", context())
            }
            walked.append(first)
            let destination = layout.model.destination(of: relationship)
            if let known = aliases[walked] {
                alias = known
            } else {
                let next = "t\(aliases.count + 1)"
                joins +=
                    " LEFT JOIN \(layout.table(destination.index).quoted) AS \(next)"
                    + " ON \(next)._id = \(alias).\(column.quoted)"
                aliases[walked] = next
                alias = next
            }
            entity = destination
            rest = rest.dropFirst()
        }
    }

    private func unsupported(_ feature: String, _ context: String) -> StoreError {
        .unsupported(store: "SQLite", feature: feature == context ? feature : "\(feature), in \(context)")
    }
}
