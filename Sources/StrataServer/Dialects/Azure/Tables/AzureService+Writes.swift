#if Server
    import Foundation
    import Strata

    // Rows made, changed and deleted.
    extension AzureService {
        /// The columns of a body in the core's own form, with the schema that has them.
        private func values(
            _ members: JSONObject, _ name: String, title: String?, _ call: AzureCall, _ scope: DataScope
        ) throws(ServerError) -> (values: JSONObject, schema: ServerSchema) {
            var inference = SchemaInference(catalogue: scope.catalogue, options: options)
            if call.caller.isDevelopment {
                try inference.use(name, title: title)
                for (column, value) in members.sorted(by: { $0.name < $1.name }) {
                    guard let schema = inference.catalogue[name] else { continue }
                    let table = AzureTable(schema, kind, in: inference.catalogue)
                    if table.isOwn(column) || table.field(column) != nil { continue }
                    try inference.checkPassword(FieldNames.field(of: column), in: name)
                    if schema.isUser, options.accounts(name)?.passwordField == column { continue }
                    let names = NativeNames(schema: schema)
                    if let field = try AzureValues.field(column, of: value, names) {
                        try inference.add(field, to: name)
                    }
                }
            }
            let schema = try scope.schema(name, in: inference)
            let table = AzureTable(schema, kind, in: scope.catalogue)
            var values: JSONObject = [:]
            for (column, value) in members.sorted(by: { $0.name < $1.name }) where !table.isOwn(column) {
                guard let field = table.field(column) else {
                    if value.isNull { continue }
                    throw .noField(schema, column)
                }
                guard let fitting = try AzureValues.value(value, for: field) else {
                    throw ObjectWriter.typeFault(field, schema, "\(value.description.prefix(80))", isNew: false)
                }
                values[field.name] = fitting
            }
            return (values, schema)
        }

        /// Refuses columns that are the server's to write. Clients of Datasync send back whole rows.
        private func checkColumns(_ members: JSONObject) throws(ServerError) {
            guard kind != .datasync else { return }
            for name in members.names {
                let isOwn =
                    kind == .azureServices
                    ? name.hasPrefix("__") : AzureColumn.named(name, in: kind).map { $0 != .version } ?? false
                if isOwn { throw .badRequest("The column \(name.prefix(80)) is the server's own and cannot be set.") }
            }
        }

        /// Writes, once if the request has an `Idempotency-Key`.
        private func write(
            _ call: AzureCall, _ write: @escaping ObjectWrite
        ) async throws(ServerError) -> ServerResponse {
            let repeatable = try RepeatableWrite(
                call.request, target: call.request.target, body: try? JSONValue(parsing: call.request.body),
                caller: call.caller, options)
            return try await call.caller.database.write(repeatable?.once(write) ?? write)
        }

        private func answer(
            _ object: ManagedObject, _ schema: ServerSchema, _ call: AzureCall, _ scope: DataScope, status: Int = 200
        ) throws(ServerError) -> ServerResponse {
            let encoder = encoder(schema, call, scope)
            var headers = [("Content-Type", "application/json")]
            if !encoder.table.hasNumbers { headers.append(("ETag", "\"\(object.whole("lastmoddate") ?? 0)\"")) }
            if status == 201, call.segments.count == 2 {
                let path = call.request.path.hasSuffix("/") ? String(call.request.path.dropLast()) : call.request.path
                headers.append(("Location", "\(path)/\(PercentEncoding.encode(object.text(schema.keyField) ?? ""))"))
            }
            return ServerResponse(
                status: status, json: .object(try shown(object, schema, encoder, call, scope)),
                headers: headers.dropFirst().map { (name: $0.0, value: $0.1) })
        }

        /// All of a row to those who may read it; to others which it is.
        private func shown(
            _ object: ManagedObject, _ schema: ServerSchema, _ encoder: AzureEncoder, _ call: AzureCall,
            _ scope: DataScope
        ) throws(ServerError) -> JSONObject {
            let level = options.access.level(.read, schema: schema.name, isUser: schema.isUser)
            if let grant = try? call.caller.principal.grant(level, "read"), try grant.includes(object, schema, scope) {
                return try encoder.row(object)
            }
            var shape = encoder.shape
            shape.columns = ["id"]
            return try AzureEncoder(table: encoder.table, scope: scope, caller: call.caller, shape: shape).row(object)
        }

        // MARK: New rows

        /// `POST tables/T`.
        func insert(_ call: AzureCall, _ name: String, title: String) async throws(ServerError) -> ServerResponse {
            try server.precheck(.create, name, call.caller)
            guard options.accounts(name) == nil else {
                throw .forbidden("Accounts are not made as rows of a table.")
            }
            var members = try call.members(options)
            try checkColumns(members)
            let given: String?
            switch members["id"] {
            case nil, .null, .string(""), .integer(0): given = nil
            case .string(let text): given = text
            case .integer(let number): given = String(number)
            default: throw .badRequest("The id of a row is a string.")
            }
            guard given.map(AzureIdentifier.isValid) ?? true else {
                throw .badRequest(
                    "The id of a row has 1 to 255 characters, and none of \" + ? \\ / ` nor control characters.")
            }
            members["id"] = nil
            let columns = members
            return try await write(call) { (scope) throws(ServerError) in
                var (values, schema) = try values(columns, name, title: title, call, scope)
                // The first version of the service makes no exception, not for the master key either.
                if given != nil, encoder(schema, call, scope).table.hasNumbers {
                    throw .badRequest("A value cannot be specified for property 'id'")
                }
                if let id = given ?? (schema.hasNumberedKeys ? nil : UUID().uuidString) {
                    if let object = try scope.object(schema, id) { throw try duplicate(object, schema, call, scope) }
                    values[schema.keyField] = .string(id)
                }
                let writer = server.writer(scope, call.caller)
                let object = try writer.create(values, schema, relations: RelationTree())
                return try answer(object, schema, call, scope, status: 201)
            }
        }

        private func duplicate(
            _ object: ManagedObject, _ schema: ServerSchema, _ call: AzureCall, _ scope: DataScope
        ) throws(ServerError) -> ServerError {
            var error = ServerError(
                409, .duplicateKey, "Could not insert the item because an item with that id already exists.")
            let level = options.access.level(.read, schema: schema.name, isUser: schema.isUser)
            if kind != .azureServices, let grant = try? call.caller.principal.grant(level, "read"),
                try grant.includes(object, schema, scope)
            {
                error.body = .object(try encoder(schema, call, scope).row(object))
            }
            return error
        }

        /// `POST tables/T/<id>`: takes a deletion back.
        func undelete(_ call: AzureCall, _ name: String, _ id: String) async throws(ServerError) -> ServerResponse {
            try server.precheck(.create, name, call.caller)
            return try await write(call) { (scope) throws(ServerError) in
                if let schema = scope.catalogue[name], encoder(schema, call, scope).table.hasNumbers {
                    throw .badRequest("The undelete operation is not supported on this table.")
                }
                return try restored(name, id, nil, call, scope)
            }
        }

        /// Makes a row again that was deleted.
        /// - Parameter values: What it is to hold; nil for what it held.
        private func restored(
            _ name: String, _ id: String, _ values: JSONObject?, _ call: AzureCall, _ scope: DataScope
        ) throws(ServerError) -> ServerResponse {
            let grant = try server.precheck(.update, name, call.caller)
            guard let schema = scope.catalogue[name], !schema.isUser,
                let stone = try scope.find("ServerTombstone", ("schema", name), ("identifier", id)),
                grant.owner.map({ $0 == stone.text("owner") }) ?? true,
                let content = JSONValue.ofStored(stone.text("content"))?.members
            else { throw .noObject(name, id, .update) }
            try match(call, "\(stone.whole("deleted") ?? 0)", encoder(schema, call, scope).stone(stone))
            var body = values ?? content
            body[schema.keyField] = .string(id)
            for name in ["createddate", "lastmoddate", "sm_owner"] { body[name] = nil }
            let (created, owner) = (content["createddate"]?.integer, stone.text("owner"))
            let object = try server.writer(scope, call.caller).create(
                body, schema, relations: RelationTree(), isRestored: true)
            if let created { object["createddate"] = created }
            object["sm_owner"] = owner
            return try answer(object, schema, call, scope, status: kind == .datasync ? 200 : 201)
        }

        // MARK: Changes

        /// Checks `If-Match`.
        private func match(_ call: AzureCall, _ version: String, _ row: JSONObject) throws(ServerError) {
            guard let header = call.request.header("If-Match")?.trimmingCharacters(in: .whitespaces), header != "*"
            else {
                return
            }
            guard header.utf8.count >= 2, header.hasPrefix("\""), header.hasSuffix("\"") else {
                throw .badRequest("If-Match takes one version in quotes.")
            }
            guard header == "\"\(version)\"" else {
                var error = ServerError(412, .changed, "The item has changed.")
                error.body = .object(row)
                throw error
            }
        }

        /// The row of a path, in the version that the request expects.
        private func existing(
            _ name: String, _ id: String, _ operation: AccessRules.Operation, _ call: AzureCall, _ scope: DataScope
        ) throws(ServerError) -> (object: ManagedObject, schema: ServerSchema) {
            let grant = try server.precheck(operation, name, call.caller)
            guard let schema = scope.catalogue[name] else { throw .noObject(name, id, operation) }
            let encoder = encoder(schema, call, scope)
            let key = try encoder.table.key(id)
            guard let object = try scope.object(schema, key), try grant.includes(object, schema, scope) else {
                throw try gone(name, id, call, scope) ?? .noObject(name, id, operation)
            }
            // Rows with numbers have no versions.
            if !encoder.table.hasNumbers {
                try match(
                    call, "\(object.whole("lastmoddate") ?? 0)", try shown(object, schema, encoder, call, scope))
            }
            return (object, schema)
        }

        /// Datasync tells rows that were deleted from those that never were.
        func gone(
            _ name: String, _ id: String, _ call: AzureCall, _ scope: DataScope
        ) throws(ServerError) -> ServerError? {
            guard kind == .datasync, let grant = try? server.precheck(.read, name, call.caller),
                let stone = try scope.find("ServerTombstone", ("schema", name), ("identifier", id)),
                grant.owner.map({ $0 == stone.text("owner") }) ?? true
            else { return nil }
            return ServerError(410, "The item was deleted.")
        }

        /// `PATCH tables/T/<id>`, which changes columns, and `PUT` of Datasync, which brings all of them.
        func update(_ call: AzureCall, _ name: String, _ id: String) async throws(ServerError) -> ServerResponse {
            try server.precheck(.update, name, call.caller)
            var members = try call.members(options)
            try checkColumns(members)
            if let given = members["id"], given != .string(id), given.integer.map({ String($0) }) != id {
                throw .badRequest("The item ID and querystring ID did not match")
            }
            let revives = kind == .datasync && call["__includedeleted"] == "true" && members["deleted"] != true
            members["id"] = nil
            let columns = members
            return try await write(call) { (scope) throws(ServerError) in
                if revives, let schema = scope.catalogue[name], try scope.object(schema, id) == nil {
                    let (values, _) = try values(columns, name, title: nil, call, scope)
                    return try restored(name, id, values, call, scope)
                }
                let (object, _) = try existing(name, id, .update, call, scope)
                var (values, schema) = try values(columns, name, title: nil, call, scope)
                if kind == .datasync {
                    let table = AzureTable(schema, kind, in: scope.catalogue)
                    for (_, field) in table.columns where values[field.name] == nil && field.format != .relation {
                        values[field.name] = .null
                    }
                }
                try server.writer(scope, call.caller).update(object, by: values, schema, relations: RelationTree())
                return try answer(object, schema, call, scope)
            }
        }

        /// `DELETE tables/T/<id>`.
        func delete(_ call: AzureCall, _ name: String, _ id: String) async throws(ServerError) -> ServerResponse {
            try server.precheck(.delete, name, call.caller)
            return try await write(call) { (scope) throws(ServerError) in
                let (object, schema) = try existing(name, id, .delete, call, scope)
                try server.writer(scope, call.caller).delete(object, schema)
                return ServerResponse(status: kind == .azureApps ? 200 : 204)
            }
        }
    }

    /// What may be the id of a row.
    enum AzureIdentifier {
        private static let forbidden: Set<Unicode.Scalar> = ["+", "?", "`", "\"", "/", "\\"]

        static func isValid(_ text: String) -> Bool {
            (1...255).contains(text.utf16.count) && text != "." && text != ".."
                && text.contains { !$0.isWhitespace }
                && text.unicodeScalars.allSatisfy {
                    $0.value > 0x1F && !(0x7F...0x9F).contains($0.value) && !forbidden.contains($0)
                }
        }
    }
#endif
