#if Server
    import Foundation
    import Strata

    extension StackMobService {
        /// Answers requests for a schema, its objects and their fields.
        func objects(_ call: Call, schema name: String) async throws(ServerError) -> ServerResponse {
            if let write = try await write(call, schema: name) { return try await call.database.write(write) }
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
            case ("DELETE", 1): return try deleteMatching(call, name)
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
            let shape = try ObjectReader.Shape(call.request)
            let others = call.request.parameters?.filter {
                $0.name != ObjectReader.Shape.expandParameter
            }
            if let other = others?.first {
                throw .badRequest("One object is read without conditions; \(other.name.prefix(80)) is not known here.")
            }
            let grant = try server.precheck(.read, name, call.caller)
            return try await call.database.read(shape.depth == 0 ? .one : .few) { (scope) throws(ServerError) in
                guard let schema = scope.catalogue[name] else { throw .noSchema(name) }
                // Whether there is an object that somebody may not read is not told.
                guard let object = try scope.object(schema, id), try grant.includes(object, schema, scope) else {
                    throw .noObject(name, id)
                }
                let reader = ObjectReader(
                    scope: scope, principal: call.principal, access: options.access, limits: options.limits)
                return ServerResponse(json: try reader.json([object], schema, shape)[0])
            }
        }

        // MARK: Writing

        /// A write that is done once, if its request has an `Idempotency-Key`.
        func once(
            _ call: Call,
            _ body: @escaping @Sendable (DataScope, ObjectWriter) throws(ServerError) -> ServerResponse,
            passwords: [String: String] = [:]
        ) throws(ServerError) -> ObjectWrite {
            let server = server
            let write: ObjectWrite = { (scope) throws(ServerError) in
                let writer = server.writer(
                    scope, call.caller, passwords: passwords, reading: ObjectBody.init(stackMob:))
                return try body(scope, writer)
            }
            let repeatable = try RepeatableWrite(
                call.request, target: call.request.target, body: try? JSONValue(parsing: call.request.body),
                caller: call.caller, options)
            return repeatable?.once(write) ?? write
        }

        /// The schema that bodies are for. In development, it adds the fields that they use.
        static func schema(
            _ name: String, for bodies: [JSONObject], _ relations: RelationTree, _ call: Call,
            _ scope: DataScope, _ options: ServerOptions
        ) throws(ServerError) -> ServerSchema {
            guard call.isDevelopment else { return try scope.schema(name) }
            var inference = SchemaInference(catalogue: scope.catalogue, options: options)
            try inference.use(name)
            for body in bodies { try inference.use(body, schema: name, relations: relations) }
            return try scope.schema(name, in: inference)
        }

        private func create(_ call: Call, _ name: String) async throws(ServerError) -> ObjectWrite {
            try server.precheck(.create, name, call.caller)
            let (all, isMany) = try bodies(call)
            let relations = try RelationTree(header: call.request.header("X-StackMob-Relations"))
            let options = options
            let passwords = try await hashes(of: all, schema: name, relations: relations, call)
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

        /// The object of a path, with the condition of `If-Match` checked.
        static func existing(
            _ call: Call, _ name: String, _ id: String, _ scope: DataScope, _ writer: ObjectWriter,
            _ operation: AccessRules.Operation
        ) throws(ServerError) -> (object: ManagedObject, schema: ServerSchema) {
            guard let schema = scope.catalogue[name] else { throw .noSchema(name) }
            guard let object = try scope.object(schema, id), try writer.may(operation, schema, object) else {
                throw .noObject(name, id, operation)
            }
            if let condition = call.request.header("If-Match")?.trimmingCharacters(in: .whitespaces), condition != "*",
                condition != "\"\(object.whole("lastmoddate") ?? 0)\""
            {
                throw ServerError(412, "The object has changed.", body: writer.shown(object, schema))
            }
            return (object, schema)
        }

        private func update(_ call: Call, _ name: String, _ id: String) async throws(ServerError) -> ObjectWrite {
            try server.precheck(.update, name, call.caller)
            guard let members = try call.json(options).members else { throw .badRequest("The body must be an object.") }
            let relations = try RelationTree(header: call.request.header("X-StackMob-Relations"))
            let options = options
            if let accounts = call.database.catalogue[name], let given = members[accounts.keyField],
                !accounts.isKey(given, id)
            {
                throw ObjectWriter.keyIsFixed(accounts)
            }
            try await checkPassword(in: members, schema: name, id: id, call)
            let passwords = try await newHashes(in: members, name, relations, call)
            return try once(
                call,
                { (scope, writer) throws(ServerError) in
                    let (object, _) = try Self.existing(call, name, id, scope, writer, .update)
                    let schema = try Self.schema(name, for: [members], relations, call, scope, options)
                    try writer.update(object, by: members, schema, relations: relations)
                    return ServerResponse(json: writer.shown(object, schema))
                }, passwords: passwords)
        }

        func delete(_ call: Call, _ name: String, _ id: String) throws(ServerError) -> ObjectWrite {
            try server.precheck(.delete, name, call.caller)
            return try once(call) { (scope, writer) throws(ServerError) in
                let (object, schema) = try Self.existing(call, name, id, scope, writer, .delete)
                try writer.delete(object, schema)
                return ServerResponse(json: ["status": "OK"])
            }
        }

        /// The passwords that the body of a change brings: those of new accounts nested in it, not the object's own.
        private func newHashes(
            in members: JSONObject, _ name: String, _ relations: RelationTree, _ call: Call
        ) async throws(ServerError) -> [String: String] {
            var rest = members
            if let accounts = options.accounts(name) { rest[accounts.passwordField] = nil }
            return try await hashes(of: [rest], schema: name, relations: relations, call)
        }
    }
#endif
