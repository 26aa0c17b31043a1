import StrataStore

/// Texts whose words an index finds.
package struct FullTextIndex: Sendable {
    /// The table whose rows have the texts.
    package let table: Int
    /// The positions of the texts among the columns of the table.
    package let columns: [Int]
    package let columnNames: [String]
    /// The name of the index as it appears in SQL.
    package let name: String

    package func covers(_ origin: SQLTerm.Origin) -> Bool { column(origin) != nil }

    /// The column of the index with an attribute.
    package func column(_ origin: SQLTerm.Origin) -> String? {
        let entity = origin.object.entity.index
        guard origin.layout.tableOfEntity[entity] == table,
            let column = origin.layout.columnOfSlot[entity][origin.slot.index],
            let place = columns.firstIndex(of: column)
        else { return nil }
        return columnNames[place]
    }

    /// A query in the language of FTS5. Words are runs of letters and digits, so that none of them needs an escape.
    package func query(_ query: TextQuery, columns: [String]) -> String {
        let phrases = query.phrases.map { "\"\($0.words.joined(separator: " "))\"" + ($0.isPrefix ? "*" : "") }
        // A query without a word finds nothing, and neither does an empty phrase.
        return phrases.isEmpty
            ? "\"\"" : "{\(columns.joined(separator: " "))} : (\(phrases.joined(separator: " AND ")))"
    }
}

extension Schema {
    /// The spatial index of a column.
    package func spatialIndex(of origin: SQLTerm.Origin) -> SpatialIndex? {
        let entity = origin.object.entity.index
        let table = layout.tableOfEntity[entity]
        let column = layout.columnOfSlot[entity][origin.slot.index]
        return spatialIndexes.first { $0.table == table && $0.column == column }
    }
}
