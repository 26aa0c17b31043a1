#if Server
    import Crypto
    import Foundation
    import Strata

    /// A write that waits for its turn in a transaction.
    typealias ObjectWrite = @Sendable (DataScope) throws(ServerError) -> ServerResponse

    extension StackMobServer {
        /// Answers requests for a schema, its objects and their fields.
        func objects(_ call: Call, schema name: String) async throws(ServerError) -> ServerResponse {
            if let write = try await write(call, schema: name) { return try await database.write(write) }
            switch call.segments.count {
            case 1: return try await query(call, name)
            case 2: return try await read(call, name, call.segments[1])
            default: throw Self.notAnswered(call)
            }
        }

        /// What a request writes, with all that takes time or needs no store done before; nil for a request that reads.
        func write(_ call: Call, schema name: String) async throws(ServerError) -> ObjectWrite? {
            let id = call.segments.count > 1 ? call.segments[1] : ""
            let field = call.segments.count > 2 ? call.segments[2] : ""
            switch (call.request.method, call.segments.count) {
            case ("GET", _), ("HEAD", _): return nil
            case ("POST", 1): return try await create(call, name)
            case ("PUT", 2): return try await update(call, name, id)
            case ("DELETE", 2): return try delete(call, name, id)
            case ("DELETE", 1): return try deleteByQuery(call, name)
            case ("PUT", 3): return try append(call, name, id, field)
            case ("POST", 3): return try await createAndAppend(call, name, id, field)
            case ("DELETE", 4): return try remove(call, name, id, field)
            default: throw Self.notAnswered(call)
            }
        }

        private static func notAnswered(_ call: Call) -> ServerError {
            let allowed =
                switch call.segments.count {
                case 1: "GET, HEAD, POST, DELETE"
                case 2: "GET, HEAD, PUT, DELETE"
                case 3: "PUT, POST"
                case 4: "DELETE"
                default: ""
                }
            return .notAllowed(
                "\(call.request.method) is not answered at \(call.request.path.prefix(200)).", allowed)
        }

        // MARK: Reading

        private func read(_ call: Call, _ name: String, _ id: String) async throws(ServerError) -> ServerResponse {
            let options = options
            return try await database.read { (scope) throws(ServerError) in
                let shape = try ObjectReader.Shape(call.request)
                guard let schema = scope.catalogue[name] else { throw Self.noSchema(name) }
                let level = options.access.level(.read, schema: name, isUser: schema.isUser)
                let owner = try call.principal.check(level, "read \(name)")
                guard let object = try scope.object(schema, id) else { throw Self.noObject(name, id) }
                if let owner { try Principal.check(owner, owns: object) }
                let reader = ObjectReader(
                    scope: scope, principal: call.principal, access: options.access, limits: options.limits)
                return ServerResponse(json: try reader.json([object], schema, shape)[0])
            }
        }

        static func noSchema(_ name: String) -> ServerError { .notFound("There is no schema \(name).") }
        static func noObject(_ name: String, _ id: String) -> ServerError {
            .notFound("There is no object \"\(id.prefix(200))\" in schema \(name).")
        }

        // MARK: Writing

        /// A write that is done once: a second request with the same `Idempotency-Key` has the answer of the first.
        func once(
            _ call: Call,
            _ body: @escaping @Sendable (DataScope, ObjectWriter) throws(ServerError) -> ServerResponse,
            passwords: [String: String] = [:]
        ) throws(ServerError) -> ObjectWrite {
            let (options, vault) = (options, vault(for: call.request))
            let key = try Self.idempotencyKey(call)
            return { (scope) throws(ServerError) in
                if let key, let answer = try Self.rememberedAnswer(key, call, scope) { return answer }
                let writer = ObjectWriter(
                    scope: scope, principal: call.principal, options: options, passwords: passwords, files: vault)
                let response = try body(scope, writer)
                if let key { try Self.remember(response, key, call, scope, options) }
                return response
            }
        }

        /// Keys are each account's own.
        private static func idempotencyKey(_ call: Call) throws(ServerError) -> String? {
            guard let key = call.request.header("Idempotency-Key") else { return nil }
            guard (1...255).contains(key.utf8.count) else { throw .badRequest("Idempotency-Key has 1 to 255 bytes.") }
            return (call.principal.account?.owner ?? "") + "|" + key
        }

        private static func fingerprint(_ call: Call) -> String {
            var hash = SHA256()
            hash.update(data: Data("\(call.request.method) \(call.request.path)?\(call.request.query)\n".utf8))
            hash.update(data: call.request.body)
            return Hexadecimal.text(hash.finalize())
        }

        private static func rememberedAnswer(
            _ key: String, _ call: Call, _ scope: DataScope
        ) throws(ServerError) -> ServerResponse? {
            guard let row = try scope.find("ServerAnswer", ("key", key)) else { return nil }
            guard row.text("fingerprint") == fingerprint(call) else {
                throw .conflict("The Idempotency-Key was used for another request.")
            }
            return ServerResponse(
                status: Int(row["status"] as? Int32 ?? 200), headers: [("Content-Type", "application/json")],
                body: Data((row.text("body") ?? "").utf8))
        }

        private static func remember(
            _ response: ServerResponse, _ key: String, _ call: Call, _ scope: DataScope, _ options: ServerOptions
        ) throws(ServerError) {
            let row = try scope.insert("ServerAnswer")
            row["key"] = key
            scope.register(row, key)
            row["fingerprint"] = fingerprint(call)
            row["status"] = Int32(clamping: response.status)
            row["body"] = String(decoding: response.body, as: UTF8.self)
            row["created"] = scope.now
            scope.remembersAnswer(expired: scope.now - Int64(options.answerLifetime) * 1000)
        }

        /// The folder of files, with URLs as the client reaches this server.
        func vault(for request: ServerRequest) -> FileVault {
            var vault = files
            vault.baseURL =
                options.baseURL ?? request.header("Host").map { "\(request.isSecure ? "https" : "http")://\($0)" } ?? ""
            return vault
        }

        /// The schema that bodies are for. In development it takes in what they use.
        static func schema(
            _ name: String, for bodies: [JSONObject], _ relations: RelationTree, _ call: Call,
            _ scope: DataScope, _ options: ServerOptions
        ) throws(ServerError) -> ServerSchema {
            if options.isDevelopment, call.version == 0 {
                var inference = SchemaInference(catalogue: scope.catalogue, options: options)
                try inference.use(name)
                for body in bodies { try inference.use(body, schema: name, relations: relations) }
                if inference.catalogue != scope.catalogue {
                    guard inference.catalogue.schemas.count <= 1_000,
                        inference.catalogue.schemas.allSatisfy({ $0.fields.count <= 500 })
                    else { throw .badRequest("There may be 1,000 schemas of 500 fields.") }
                    try scope.grow(to: inference.catalogue)
                }
            }
            guard let schema = scope.catalogue[name] else { throw noSchema(name) }
            return schema
        }

        /// What must hold before anything is looked at, so that strangers cannot even extend a schema.
        func precheck(_ operation: AccessRules.Operation, _ name: String, _ call: Call) throws(ServerError) {
            let level = options.access.level(operation, schema: name, isUser: name == options.userSchema)
            _ = try call.principal.check(level, "\(operation.rawValue) \(name)")
        }

        private func create(_ call: Call, _ name: String) async throws(ServerError) -> ObjectWrite {
            try precheck(.create, name, call)
            let (all, isMany) = try bodies(call)
            let relations = try RelationTree(header: call.request.header("X-StackMob-Relations"))
            let options = options
            let passwords = try await hashes(of: all, schema: name, relations: relations)
            return try once(
                call,
                { (scope, writer) throws(ServerError) in
                    let schema = try Self.schema(name, for: all, relations, call, scope, options)
                    guard isMany else {
                        let object = try writer.create(all[0], schema, relations: relations)
                        return ServerResponse(status: 201, json: .object(ObjectReader.members(object, schema)))
                    }
                    return try Self.createMany(all, schema, relations, scope, writer).response
                }, passwords: passwords)
        }

        /// The new objects of a body: one, or several in an array.
        func bodies(_ call: Call) throws(ServerError) -> (all: [JSONObject], isMany: Bool) {
            let body = try call.json(options)
            let elements = body.elements ?? [body]
            guard elements.count <= options.limits.requestObjects else {
                throw .badRequest("A request may create \(options.limits.requestObjects) objects; send several.")
            }
            var all: [JSONObject] = []
            for element in elements {
                guard let members = element.members else { throw .badRequest("The body must hold objects.") }
                all.append(members)
            }
            return (all, body.elements != nil)
        }

        struct CreatedMany {
            var succeeded: [JSONValue] = []
            var failed: [JSONValue] = []
            var errors: JSONObject = [:]

            /// `succeeded` and `failed` hold ids in the order of the request; `errors` says why, by id.
            var response: ServerResponse {
                var members: JSONObject = ["succeeded": .array(succeeded), "failed": .array(failed)]
                if !errors.isEmpty { members["errors"] = .object(errors) }
                return ServerResponse(status: 201, json: .object(members))
            }
        }

        /// Makes objects, each for itself: one that fails leaves the others be.
        static func createMany(
            _ bodies: [JSONObject], _ schema: ServerSchema, _ relations: RelationTree, _ scope: DataScope,
            _ writer: ObjectWriter
        ) throws(ServerError) -> CreatedMany {
            var result = CreatedMany()
            for (index, members) in bodies.enumerated() {
                do throws(ServerError) {
                    let id = try scope.attempt { (inner) throws(ServerError) in
                        try writer.within(inner).create(members, schema, relations: relations).text(schema.keyField)
                    }
                    result.succeeded.append(.string(id ?? ""))
                } catch {
                    let id = members[schema.keyField]?.string ?? "#\(index)"
                    result.failed.append(.string(id))
                    result.errors[id] = .string(error.message)
                }
            }
            return result
        }

        /// The object of a path, with the condition of `If-Match` checked.
        static func existing(
            _ call: Call, _ name: String, _ id: String, _ scope: DataScope, _ writer: ObjectWriter,
            _ operation: AccessRules.Operation
        ) throws(ServerError) -> (object: ManagedObject, schema: ServerSchema) {
            guard let schema = scope.catalogue[name] else { throw noSchema(name) }
            guard let object = try scope.object(schema, id) else { throw noObject(name, id) }
            try writer.check(operation, schema, object)
            if let condition = call.request.header("If-Match")?.trimmingCharacters(in: .whitespaces), condition != "*",
                condition != "\"\(object.whole("lastmoddate") ?? 0)\""
            {
                throw ServerError(412, "The object has changed.", body: writer.shown(object, schema))
            }
            return (object, schema)
        }

        private func update(_ call: Call, _ name: String, _ id: String) async throws(ServerError) -> ObjectWrite {
            try precheck(.update, name, call)
            guard let members = try call.json(options).members else { throw .badRequest("The body must be an object.") }
            let relations = try RelationTree(header: call.request.header("X-StackMob-Relations"))
            let options = options
            try await checkPassword(in: members, schema: name, id: id, call)
            let passwords = try await hashes(of: [members], schema: name, relations: relations)
            return try once(
                call,
                { (scope, writer) throws(ServerError) in
                    let (object, _) = try Self.existing(call, name, id, scope, writer, .update)
                    let schema = try Self.schema(name, for: [members], relations, call, scope, options)
                    try writer.update(object, by: members, schema, relations: relations)
                    return ServerResponse(json: writer.shown(object, schema))
                }, passwords: passwords)
        }

        private func delete(_ call: Call, _ name: String, _ id: String) throws(ServerError) -> ObjectWrite {
            try precheck(.delete, name, call)
            return try once(call) { (scope, writer) throws(ServerError) in
                let (object, schema) = try Self.existing(call, name, id, scope, writer, .delete)
                try writer.delete(object, schema)
                return ServerResponse(json: ["status": "OK"])
            }
        }

        /// `DELETE /todo?todo_id=1`: the form of the documentation.
        private func deleteByQuery(_ call: Call, _ name: String) throws(ServerError) -> ObjectWrite {
            let key = database.catalogue[name]?.keyField ?? ""
            let pairs = QueryParameters.read(call.request.query) ?? []
            guard pairs.count == 1, pairs[0].name == key else {
                throw .badRequest("Delete one object: by its path, or by its key as the only parameter.")
            }
            return try delete(call, name, pairs[0].value)
        }
    }

    extension DataScope {
        /// Runs a part of a write in a context of its own, so that it leaves nothing behind when it fails.
        func attempt<T>(_ body: (DataScope) throws(ServerError) -> T) throws(ServerError) -> T {
            let inner = nested()
            defer { takeOver(inner) }
            let value = try body(inner)
            do throws(PersistenceError) { try inner.context.save() } catch { throw ServerError(error) }
            inner.pending?.settle()
            return value
        }
    }
#endif
