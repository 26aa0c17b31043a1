#if Server
    import Foundation
    import Strata

    // Objects made, changed and deleted.
    extension ParseService {
        /// `POST classes/<C>`.
        func create(_ call: ParseCall, _ className: String) throws(ServerError) -> ObjectWrite {
            let name = try schemaName(className)
            try server.precheck(.create, name, call.caller)
            guard options.accounts(name) == nil else {
                throw ParseCode.mustCreateThroughSignUp.error("Users are made by signing up.")
            }
            try checkACL(call.body)
            return { (scope) throws(ServerError) in
                let (reader, schema) = try ParseBody.read(
                    call.body, name, className: className, call, scope, self)
                let writer = server.writer(scope, call.caller, reading: { _ in reader.body })
                // The writer looks for the primary key among the members.
                let object = try writer.create(reader.body.values, schema, relations: RelationTree())
                return try created(object, schema, call, scope)
            }
        }

        /// The answer to a creation.
        func created(
            _ object: ManagedObject, _ schema: ServerSchema, _ call: ParseCall, _ scope: DataScope,
            adding more: JSONObject = [:]
        ) throws(ServerError) -> ServerResponse {
            let outline = ParseEncoder.outline(object, schema)
            var members = JSONObject(outline.filter { $0.name != "updatedAt" })
            if call.flag("new") {
                let encoder = ParseEncoder(service: self, scope: scope, caller: call.caller, shape: .everything)
                members = try encoder.json([object], schema)[0]
            }
            members.merge(more)
            let id = PercentEncoding.encode(object.text(schema.keyField) ?? "")
            let path = call.request.path.hasSuffix("/") ? String(call.request.path.dropLast()) : call.request.path
            return variant.created(members, at: "\(path)/\(id)")
        }

        /// Rights of single objects are not kept, so that a client must not believe that they are.
        func checkACL(_ body: JSONObject) throws(ServerError) {
            guard let acl = body["ACL"], !acl.isNull, acl["__op"] == nil else { return }
            let isPublic = acl.members?.count == 1 && acl["*"]?["read"] == true && acl["*"]?["write"] == true
            guard isPublic else {
                throw ParseCode.invalidACL.error(
                    "The server keeps no ACL of single objects; its access rules say who may do what.")
            }
        }

        /// `PUT classes/<C>/<id>`.
        func update(_ call: ParseCall, _ className: String, _ id: String) async throws(ServerError) -> ObjectWrite {
            let name = try schemaName(className)
            try server.precheck(.update, name, call.caller)
            try checkACL(call.body)
            if className == "_User" { return try await updateUser(call, name, id) }
            let condition = try condition(call)
            return { (scope) throws(ServerError) in
                let (object, _) = try existing(name, id, .update, call, scope)
                let (reader, schema) = try ParseBody.read(
                    call.body, name, className: className, call, scope, self)
                guard try meets(condition, object, schema, call, scope) else { throw Self.unmet }
                let writer = server.writer(scope, call.caller, reading: { _ in reader.body })
                try writer.update(object, by: reader.body.values, schema, relations: RelationTree())
                return try updated(object, schema, reader.computed, call, scope)
            }
        }

        /// The object of a path.
        func existing(
            _ name: String, _ id: String, _ operation: AccessRules.Operation, _ call: ParseCall, _ scope: DataScope
        ) throws(ServerError) -> (object: ManagedObject, schema: ServerSchema) {
            let grant = try server.precheck(operation, name, call.caller)
            guard let schema = scope.catalogue[name], let object = try scope.object(schema, id),
                try grant.includes(object, schema, scope)
            else { throw .noObject(name, id, operation) }
            return (object, schema)
        }

        /// The answer to a change: its time, and the values that the server has computed, to those who may read them.
        func updated(
            _ object: ManagedObject, _ schema: ServerSchema, _ computed: [String], _ call: ParseCall,
            _ scope: DataScope, adding more: JSONObject = [:]
        ) throws(ServerError) -> ServerResponse {
            var members = variant.written
            members["updatedAt"] = ParseEncoder.time(object.whole("lastmoddate"))
            members.merge(more)
            let level = options.access.level(.read, schema: schema.name, isUser: schema.isUser)
            if !computed.isEmpty, let grant = try? call.caller.principal.grant(level, "read"),
                try grant.includes(object, schema, scope)
            {
                let encoder = ParseEncoder(service: self, scope: scope, caller: call.caller, shape: .everything)
                for title in computed {
                    guard let field = ParseField.find(title, schema) else { continue }
                    members[title] = try encoder.value(object, field)
                }
            }
            return ServerResponse(json: .object(members))
        }

        /// `DELETE classes/<C>/<id>`.
        func delete(_ call: ParseCall, _ className: String, _ id: String) throws(ServerError) -> ObjectWrite {
            let name = try schemaName(className)
            try server.precheck(.delete, name, call.caller)
            let condition = try condition(call)
            return { (scope) throws(ServerError) in
                let (object, schema) = try existing(name, id, .delete, call, scope)
                guard try meets(condition, object, schema, call, scope) else { throw Self.unmet }
                try server.writer(scope, call.caller).delete(object, schema)
                return ServerResponse(json: .object(variant.written))
            }
        }

        // MARK: Conditions

        /// What an object must meet to be written: MaxLeap has that, and in Parse's dialect it is an extension.
        private func condition(_ call: ParseCall) throws(ServerError) -> JSONObject? {
            guard let json = try call.json("where", depth) else { return nil }
            guard let members = json.members else { throw ParseWhere.fault("where takes an object") }
            return members.isEmpty ? nil : members
        }

        private static var unmet: ServerError { ServerError(412, .changed, "The object does not meet the condition.") }

        private func meets(
            _ condition: JSONObject?, _ object: ManagedObject, _ schema: ServerSchema, _ call: ParseCall,
            _ scope: DataScope
        ) throws(ServerError) -> Bool {
            guard let condition else { return true }
            var compiler = ParseWhere(self, scope, call.caller, schema)
            guard let predicate = try compiler.predicate(condition) else { return true }
            // The condition may be about the very version, which only the store compares exactly.
            let key = DataScope.equal(schema.keyField, .string(object.text(schema.keyField) ?? ""))
            return try scope.count(FetchRequest(entity: schema.entityName, where: key && predicate)) > 0
        }
    }
#endif
