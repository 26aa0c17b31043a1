#if Server
    import Strata

    extension StackMobService {
        /// The new objects of a body: one, or several in an array.
        func bodies(_ call: Call) throws(ServerError) -> (all: [JSONObject], isMany: Bool) {
            let body = try call.json(options)
            let elements = body.elements ?? [body]
            guard elements.count <= options.limits.requests.objects else {
                throw .badRequest("A request may create \(options.limits.requests.objects) objects; send several.")
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

        /// Creates objects independently: one that fails does not affect the others.
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
                    result.errors[id] = .string(words(of: error).message)
                }
            }
            return result
        }
    }
#endif
