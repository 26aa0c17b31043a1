import Foundation

extension AzureSyncState {
    /// The state as JSON, to be kept.
    func data() throws(RemoteError) -> Data {
        let json: JSONValue = [
            "format": 1,
            "tables": .object(
                JSONObject(tables.mapValues { .array($0.sorted { $0.key < $1.key }.map { .object($0.value) }) })),
            "operations": .array(
                operations.map { operation in
                    var members: JSONObject = [
                        "id": .integer(operation.sequence), "table": .string(operation.table),
                        "itemId": .string(operation.itemID), "type": .integer(Int64(operation.kind.rawValue)),
                    ]
                    if let item = operation.item { members["item"] = .object(item) }
                    return .object(members)
                }),
            "tokens": .object(
                JSONObject(tokens.mapValues { .object(JSONObject($0.mapValues(JSONValue.string))) })),
        ]
        do throws(JSONWritingError) {
            return try json.data(sortingNames: true)
        } catch {
            throw AzureError.invalidItem.error("an item cannot be kept: \(error)", version: version)
        }
    }

    /// Reads what ``data()`` wrote.
    /// - Throws: ``RemoteError`` of code ``AzureError/syncTableInternal`` for anything else.
    init(version: AzureVersion, data: Data) throws(RemoteError) {
        self.init(version: version)
        func fault(_ what: String) -> RemoteError {
            AzureError.syncTableInternal.error(
                "the file with the state of the tables is damaged: \(what); restore the file, or remove it to start over",
                version: version)
        }
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: data) } catch { throw fault("\(error)") }
        guard json["format"]?.integer == 1, let tables = json["tables"]?.members,
            let operations = json["operations"]?.elements, let tokens = json["tokens"]?.members
        else { throw fault("a part of it is missing") }
        for (name, rows) in tables {
            for row in rows.elements ?? [] {
                guard let members = row.members, let id = members["id"]?.string else { throw fault("a row of \(name)") }
                self.tables[name, default: [:]][Self.key(id)] = members
            }
        }
        for json in operations {
            guard let sequence = json["id"]?.integer, sequence > self.operations.last?.sequence ?? 0,
                sequence < .max, let table = json["table"]?.string, let id = json["itemId"]?.string,
                let kind = json["type"]?.integer.flatMap({ Int(exactly: $0) }).flatMap(AzureTableOperation.Kind.init)
            else { throw fault("an operation") }
            self.operations.append(
                AzureTableOperation(
                    sequence: sequence, table: table, itemID: id, kind: kind, item: json["item"]?.members))
        }
        for (table, list) in tokens {
            for (name, token) in list.members ?? [:] {
                guard let text = token.string, AzureDate.isDate(text) else { throw fault("a delta token of \(table)") }
                self.tokens[table, default: [:]][name] = text
            }
        }
    }
}
