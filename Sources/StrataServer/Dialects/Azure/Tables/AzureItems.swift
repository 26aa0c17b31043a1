#if Server
    import Foundation
    import Strata

    /// The columns that a server of these dialects keeps itself.
    enum AzureColumn: String, CaseIterable {
        case createdAt, updatedAt, version, deleted

        /// The name of the column.
        func name(in kind: DialectMount.Kind) -> String { kind == .azureServices ? "__" + rawValue : rawValue }

        /// The column with the given name in any capitals; nil for any other name.
        static func named(_ name: String, in kind: DialectMount.Kind) -> AzureColumn? {
            let name = name.lowercased()
            return allCases.first { $0.name(in: kind).lowercased() == name }
        }

        /// The field that has it; nil for what no field has.
        var field: SchemaField? {
            switch self {
            case .createdAt: SchemaField(name: "createddate", kind: .integer, format: .date)
            case .updatedAt: SchemaField(name: "lastmoddate", kind: .integer, format: .date)
            case .version: SchemaField(name: "lastmoddate", kind: .integer)
            case .deleted: nil
            }
        }
    }

    /// How tables call their columns, and which of them an answer has.
    struct AzureTable: Sendable {
        let schema: ServerSchema
        let kind: DialectMount.Kind
        private let catalogue: SchemaCatalogue

        init(_ schema: ServerSchema, _ kind: DialectMount.Kind, in catalogue: SchemaCatalogue) {
            self.schema = schema
            self.kind = kind
            self.catalogue = catalogue
        }

        /// Whether the ids are JSON numbers. Such a table has no columns of the server's own: no versions, no times, no marks
        /// of deleted rows.
        var hasNumbers: Bool { hasNumbers(schema) }

        /// Whether a column has ids that are JSON numbers.
        func leadsToNumbers(_ field: SchemaField) -> Bool { catalogue.target(of: field).map(hasNumbers) ?? false }

        /// Whether the ids of a schema are JSON numbers. Only the first version has such tables.
        private func hasNumbers(_ schema: ServerSchema) -> Bool { kind == .azureServices && schema.hasNumberedKeys }

        /// The field that ids are compared and ordered by.
        var idField: SchemaField {
            hasNumbers
                ? SchemaField(name: KeyNumber.field, kind: .integer) : SchemaField(name: schema.keyField, kind: .string)
        }

        /// An id as JSON.
        func id(_ key: String?) -> JSONValue { Self.id(key, isNumber: hasNumbers) }

        /// - Parameter isNumber: Whether it is a number. Other texts in its place name no row: they come from the time before
        ///   the other table was declared.
        static func id(_ key: String?, isNumber: Bool) -> JSONValue {
            guard let key else { return .null }
            guard isNumber else { return .string(key) }
            return KeyNumber(key).map { .integer($0.value) } ?? .null
        }

        /// The key of the row that the last part of a path names.
        func key(_ part: String) throws(ServerError) -> String {
            guard hasNumbers else { return part }
            let digits = part.utf8.drop { $0 == UInt8(ascii: "-") }
            guard !digits.isEmpty, digits.count + 1 >= part.utf8.count,
                digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { throw .badRequest("The value specified for 'id' must be a number.") }
            // No row has a number that is too large.
            return Int64(part).map { String($0) } ?? part
        }

        /// The column with the given name that the server keeps itself.
        func own(_ title: String) -> AzureColumn? { hasNumbers ? nil : AzureColumn.named(title, in: kind) }

        /// The columns that are not the server's own, with their names.
        var columns: [(title: String, field: SchemaField)] {
            schema.fields.map { (NativeNames.title($0), $0) }.filter { !isOwn($0.0) }
        }

        /// Whether a name is that of a column that the server keeps itself.
        func isOwn(_ title: String) -> Bool {
            title.lowercased() == "id" || AzureColumn.named(title, in: kind) != nil
                || (kind == .azureServices && title.hasPrefix("__"))
        }

        /// The column with the given name; databases of these services do not tell capitals apart.
        func field(_ title: String) -> SchemaField? {
            guard !isOwn(title) else { return nil }
            let lowercase = title.lowercased()
            return NativeNames(schema: schema).field(title)
                ?? schema.fields.first { NativeNames.title($0).lowercased() == lowercase }
        }
    }

    /// What an answer shows of rows.
    struct AzureShape: Sendable {
        /// The columns by their names in small letters; nil for all.
        var columns: Set<String>?
        /// The server's own columns.
        var own: Set<AzureColumn>

        init(_ call: AzureCall, _ table: AzureTable) {
            let kind = table.kind
            own = table.hasNumbers ? [] : Set(AzureColumn.allCases)
            if let text = call["$select"] {
                let names = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
                columns = Set(names)
                if kind != .azureServices {
                    own = own.filter { $0 == .version || names.contains($0.rawValue.lowercased()) }
                }
            }
            guard kind == .azureServices else { return }
            let asked = (call["__systemproperties"] ?? "").split(separator: ",")
                .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            if asked.contains("*") { return }
            own = own.filter {
                asked.contains($0.rawValue.lowercased()) || asked.contains("__" + $0.rawValue.lowercased())
            }
        }

        func shows(_ title: String) -> Bool { columns.map { $0.contains(title.lowercased()) } ?? true }
    }

    /// Makes rows of objects.
    struct AzureEncoder {
        let table: AzureTable
        let scope: DataScope
        let caller: Caller
        let shape: AzureShape

        func row(_ object: ManagedObject) throws(ServerError) -> JSONObject {
            var row: JSONObject = [:]
            if shape.shows("id") { row["id"] = table.id(object.text(table.schema.keyField)) }
            for (title, field) in table.columns where shape.shows(title) { row[title] = try value(object, field) }
            add(created: object.whole("createddate"), updated: object.whole("lastmoddate"), isDeleted: false, to: &row)
            return row
        }

        /// What is known of a row that was deleted.
        func stone(_ stone: ManagedObject) -> JSONObject {
            var row: JSONObject = ["id": table.id(stone.text("identifier"))]
            let content = JSONValue.ofStored(stone.text("content"))
            for (title, field) in table.columns where shape.shows(title) {
                row[title] = content?[field.name].flatMap { encoded($0, field) } ?? .null
            }
            add(created: content?["createddate"]?.integer, updated: stone.whole("deleted"), isDeleted: true, to: &row)
            return row
        }

        private func add(created: Int64?, updated: Int64?, isDeleted: Bool, to row: inout JSONObject) {
            for column in AzureColumn.allCases where shape.own.contains(column) {
                let name = column.name(in: table.kind)
                switch column {
                case .createdAt: row[name] = (created ?? updated).flatMap(WireTime.text).map(JSONValue.string) ?? .null
                case .updatedAt: row[name] = updated.flatMap(WireTime.text).map(JSONValue.string) ?? .null
                case .version: row[name] = .string(String(updated ?? 0))
                case .deleted: row[name] = .boolean(isDeleted)
                }
            }
        }

        private func value(_ object: ManagedObject, _ field: SchemaField) throws(ServerError) -> JSONValue {
            let value = ObjectReader.value(object, field)
            if field.format == .bytes, let url = value.string {
                let data = try caller.vault.content(of: url, scope: scope)
                return data.map { .string($0.base64EncodedString()) } ?? .null
            }
            return encoded(value, field) ?? .null
        }

        private func encoded(_ value: JSONValue, _ field: SchemaField) -> JSONValue? {
            switch (field.kind, field.format, value) {
            // The bytes of a deleted row went with it.
            case (_, _, .null), (_, .bytes, _): return .null
            case (.integer, .date, _): return value.integer.flatMap(WireTime.text).map(JSONValue.string)
            case (.reference, _, _) where table.leadsToNumbers(field):
                return AzureTable.id(value.string, isNumber: true)
            case (.references, _, _) where table.leadsToNumbers(field):
                return .array((value.elements ?? []).map { AzureTable.id($0.string, isNumber: true) })
            case (.geoPoint, _, _): return ["latitude": value["lat"] ?? .null, "longitude": value["lon"] ?? .null]
            default: return value
            }
        }
    }

    /// Reads rows into the core's own form.
    struct AzureValues {
        /// A value for a column; nil for one that does not fit.
        static func value(_ json: JSONValue, for field: SchemaField) throws(ServerError) -> JSONValue? {
            if json.isNull { return .null }
            switch (field.kind, field.format) {
            case (.integer, .date): return json.string.flatMap(WireTime.milliseconds).map(JSONValue.integer)
            case (.string, .bytes):
                guard let data = json.string.flatMap({ Data(base64Encoded: $0) }) else { return nil }
                return .string(
                    InlineFile(name: "data", contentType: "application/octet-stream", data: data).fieldValue)
            case (.geoPoint, _):
                guard let latitude = json["latitude"]?.double, let longitude = json["longitude"]?.double,
                    (-90...90).contains(latitude), (-180...180).contains(longitude)
                else { return nil }
                return ["lat": .double(latitude), "lon": .double(longitude == 180 ? -180 : longitude)]
            case (.integer, _): return json.integer.map(JSONValue.integer)
            case (.number, _): return json.double.map(JSONValue.double)
            case (.boolean, _): return json.boolean.map(JSONValue.boolean)
            case (.string, _): return json.string.map(JSONValue.string)
            case (.reference, _): return json.string.map(JSONValue.string) ?? json.integer.map { .string(String($0)) }
            case (.references, _), (.list, _): return json.elements.map(JSONValue.array)
            case (.json, _): return json
            }
        }

        /// The column that a value makes where its table has none; nil for a value that says nothing of a type.
        static func field(
            _ title: String, of value: JSONValue, _ names: NativeNames
        ) throws(ServerError) -> SchemaField? {
            switch value {
            case .null: return nil
            case .boolean: return try names.newField(title, .boolean)
            // Numbers are one type; whole ones may be followed by others.
            case .integer, .double, .decimal: return try names.newField(title, .number)
            case .string(let text):
                let isTime =
                    text.utf8.count >= 20 && text.utf8.last == UInt8(ascii: "Z") && WireTime.milliseconds(text) != nil
                return try isTime ? names.newField(title, .integer, format: .date) : names.newField(title, .string)
            case .array(let elements):
                guard let kind = SchemaField.Kind.element(of: elements) else { return try names.newField(title, .json) }
                return try names.newField(title, .list, element: kind == .integer ? .number : kind)
            case .object: return try names.newField(title, .json)
            }
        }
    }
#endif
