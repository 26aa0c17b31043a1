import StrataSQL
import StrataStore

extension SQLiteDialect {
    /// An R*Tree and the triggers that keep it.
    ///
    /// A writer that has none of Strata's functions, a shell for instance, may delete rows; to insert one, or to change a
    /// point, is an error for it. So the tree never lacks a row without anybody noticing.
    func spatialObjects(
        _ name: String, _ column: ColumnLayout, of table: TableLayout, _ names: inout NamePool
    ) -> [SchemaObject] {
        let tree = quote(name)
        let column = column.quoted
        func entry(_ row: String, from: String = "") -> String {
            let latitude = "\(SQLFunctions.latitude)(\(row)\(column))"
            let longitude = "\(SQLFunctions.longitude)(\(row)\(column))"
            return
                "INSERT OR REPLACE INTO \(tree) SELECT \(row)_id, \(latitude), \(latitude), \(longitude), \(longitude)"
                + "\(from) WHERE \(latitude) IS NOT NULL"
        }
        var objects = [
            SchemaObject(
                name: name, kind: "table",
                sql: "CREATE VIRTUAL TABLE \(tree)"
                    + " USING rtree(id, min_latitude, max_latitude, min_longitude, max_longitude)",
                fill: entry("", from: " FROM \(table.quoted)"), group: name)
        ]
        let remove = "DELETE FROM \(tree) WHERE id = old._id;"
        let add = entry("new.") + ";"
        for (event, when, body) in [
            ("insert", "INSERT", add), ("delete", "DELETE", remove),
            ("update", "UPDATE OF _id, \(column)", remove + "\n    " + add),
        ] {
            objects.append(trigger(name, event, "AFTER \(when) ON \(table.quoted)", body, &names))
        }
        return objects
    }

    /// A table of FTS5 and the triggers that keep it.
    func fullTextObjects(
        _ name: String, _ columns: [ColumnLayout], of table: TableLayout, _ names: inout NamePool
    ) -> [SchemaObject] {
        let quoted = quote(name)
        let list = columns.map(\.quoted).joined(separator: ", ")
        func values(_ row: String) -> String { columns.map { "\(row).\($0.quoted)" }.joined(separator: ", ") }
        var objects = [
            SchemaObject(
                name: name, kind: "table",
                sql:
                    "CREATE VIRTUAL TABLE \(quoted)"
                    + " USING fts5(\(list), content=\(Identifiers.literal(table.name)), content_rowid='_id',"
                    + " tokenize='\(WordTokenizer.name)')",
                fill: "INSERT INTO \(quoted)(\(quoted)) VALUES('rebuild')", group: name)
        ]
        let remove =
            "INSERT INTO \(quoted)(\(quoted), rowid, \(list)) VALUES('delete', old._id, \(values("old")));"
        let add =
            "INSERT INTO \(quoted)(rowid, \(list)) VALUES(new._id, \(values("new")));"
        for (event, body) in [
            ("insert", add), ("delete", remove), ("update", remove + "\n    " + add),
        ] {
            let when = event == "update" ? "UPDATE OF _id, \(list)" : event.uppercased()
            objects.append(trigger(name, event, "AFTER \(when) ON \(table.quoted)", body, &names))
        }
        return objects
    }

    private func trigger(
        _ index: String, _ event: String, _ when: String, _ body: String, _ names: inout NamePool
    ) -> SchemaObject {
        let name = names.take("\(index)_\(event)")
        return SchemaObject(
            name: name, kind: "trigger", sql: "CREATE TRIGGER \(quote(name)) \(when) BEGIN\n    \(body)\nEND",
            group: index)
    }
}
