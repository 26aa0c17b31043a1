#if Server
    import Strata

    extension StackMobService {
        /// `DELETE /<schema>?…`: deletes all objects that meet the conditions and that the caller may delete.
        ///
        /// A single condition on the key names one object, whose absence is an error; other conditions may find none.
        func deleteMatching(_ call: Call, _ name: String) throws(ServerError) -> ObjectWrite {
            try server.precheck(.delete, name, call.caller)
            let conditions = try QueryReader(call.request, limit: options.limits.requests.conditions)
            guard !conditions.all.isEmpty || !conditions.any.isEmpty else {
                throw .badRequest("Say which objects to delete: by the path, or by conditions as in a query.")
            }
            let key = call.database.catalogue[name]?.keyField
            if conditions.any.isEmpty, conditions.all.count == 1, conditions.all[0].field == key,
                conditions.all[0].operation == nil
            {
                return try delete(call, name, conditions.all[0].value)
            }
            let (options, isForgiving) = (options, call.isDevelopment)
            return try once(call) { (scope, writer) throws(ServerError) in
                let status = ServerResponse(json: ["status": "OK"])
                guard let schema = scope.catalogue[name] else {
                    guard isForgiving else { throw .noSchema(name) }
                    return status
                }
                var compiler = QueryCompiler(schema: schema, isForgiving: isForgiving, limits: options.limits)
                var parts = [try compiler.predicate(conditions)]
                parts.append(try writer.grant(.delete, schema).predicate(schema, scope))
                let most = options.limits.requests.objects
                let found = try scope.fetch(
                    FetchRequest(entity: schema.entityName, where: .and(parts.compactMap { $0 }), limit: most + 1))
                guard found.count <= most else {
                    throw .badRequest("The conditions find more than \(most) objects; delete them in several requests.")
                }
                for object in found where !object.isDeleted { try writer.delete(object, schema) }
                return status
            }
        }
    }
#endif
