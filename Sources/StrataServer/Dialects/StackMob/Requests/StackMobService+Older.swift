#if Server
    // Requests of the dialect's older clients that are about no objects.
    extension StackMobService {
        /// Answers a request for one of these names; nil for any other name.
        func answerOlder(_ name: String, _ call: Call) throws(ServerError) -> ServerResponse? {
            switch (call.request.method, name) {
            case ("GET", "listapi"):
                guard call.principal.hasPrivateKey else {
                    throw .unauthorized("Only the private key may list the schemas.")
                }
                return ServerResponse(json: listing(call.database.catalogue))
            // Clients count their launches so. Nothing is kept of it.
            case ("POST", "startsession"), ("POST", "endsession"): return ServerResponse(json: ["status": "OK"])
            default: return nil
            }
        }

        /// The schemas with their fields, and the methods of custom code.
        private func listing(_ catalogue: SchemaCatalogue) -> JSONValue {
            var result: JSONObject = [:]
            for schema in catalogue.schemas {
                var properties: JSONObject = [
                    schema.keyField: ["type": "string", "identity": true], "createddate": ["type": "integer"],
                    "lastmoddate": ["type": "integer"],
                ]
                for field in schema.fields {
                    var members: JSONObject = ["type": .string(field.kind.listed)]
                    if let related = field.schema { members["$ref"] = .string(related) }
                    if let element = field.element { members["items"] = ["type": .string(element.listed)] }
                    properties[field.name] = .object(members)
                }
                result[schema.name] = [
                    "id": .string(schema.name), "type": "object", "properties": .object(properties),
                ]
            }
            for name in server.methods.keys.sorted() where result[name] == nil {
                result[name] = ["id": .string(name), "type": "method"]
            }
            return .object(result)
        }
    }

    extension SchemaField.Kind {
        fileprivate var listed: String {
            switch self {
            case .string: "string"
            case .integer: "integer"
            case .number: "number"
            case .boolean: "boolean"
            case .geoPoint: "geopoint"
            case .list, .references: "array"
            case .reference: "object"
            case .json: "any"
            }
        }
    }
#endif
