#if Server
    import Strata

    // What tools for administration ask for: the classes and their fields.
    extension ParseService {
        /// `GET schemas` and `GET schemas/<C>`, which take the master key.
        func schemas(_ call: ParseCall, _ className: String?) async throws(ServerError) -> ServerResponse {
            guard call.caller.principal.hasPrivateKey else {
                throw ParseCode.operationForbidden.error("unauthorized: master key is required", status: 403)
            }
            return try await call.caller.database.read { (scope) throws(ServerError) in
                guard let className else {
                    let all = scope.catalogue.schemas.map { JSONValue.object(description(of: $0, scope.catalogue)) }
                    return ServerResponse(json: ["results": .array(all)])
                }
                guard let schema = scope.catalogue[try schemaName(className)] else {
                    throw ParseCode.invalidClassName.error("Class \(className.prefix(80)) does not exist.")
                }
                return ServerResponse(json: .object(description(of: schema, scope.catalogue)))
            }
        }

        private func description(of schema: ServerSchema, _ catalogue: SchemaCatalogue) -> JSONObject {
            var fields: JSONObject = [
                "objectId": ["type": "String"], "createdAt": ["type": "Date"], "updatedAt": ["type": "Date"],
            ]
            if schema.isUser { fields["username"] = ["type": "String"] }
            for (title, field) in ParseField.shown(schema) { fields[title] = type(of: field, catalogue) }
            return ["className": .string(className(schema)), "fields": .object(fields)]
        }

        private func type(of field: SchemaField, _ catalogue: SchemaCatalogue) -> JSONValue {
            func leading(_ type: String) -> JSONValue {
                ["type": .string(type), "targetClass": .string(className(field.schema ?? "", catalogue))]
            }
            return switch (field.kind, field.format) {
            case (.reference, _): leading("Pointer")
            case (.references, .relation?): leading("Relation")
            case (.references, _), (.list, _): ["type": "Array"]
            case (.integer, .date?): ["type": "Date"]
            case (.integer, _), (.number, _): ["type": "Number"]
            case (.string, .bytes?): ["type": "Bytes"]
            case (.string, .file?): ["type": "File"]
            case (.string, _): ["type": "String"]
            case (.boolean, _): ["type": "Boolean"]
            case (.geoPoint, _): ["type": "GeoPoint"]
            case (.json, _): ["type": "Object"]
            }
        }
    }
#endif
