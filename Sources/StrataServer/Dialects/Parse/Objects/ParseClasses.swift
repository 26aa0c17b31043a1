#if Server
    import Strata

    // The names of classes.
    extension ParseService {
        /// The schema that a class is.
        /// - Throws: ``ServerError`` of code 103 for what is not a name of a class, 119 for classes that the server
        ///   does not have.
        func schemaName(_ className: String) throws(ServerError) -> String {
            switch className {
            case "_User":
                guard let accounts = options.accountSchemas.first else {
                    throw ParseCode.invalidClassName.error("The server has no accounts.")
                }
                return accounts.name
            case "_Installation": return "installation"
            case "_Role", "_Session":
                throw ParseCode.operationForbidden.error(
                    "\(className) is not kept as objects here: the server manages roles and sessions itself.",
                    status: 403
                )
            default:
                let name = className.lowercased()
                guard ServerSchema.fault(ofName: name) == nil, className.utf8.allSatisfy({ $0 < 0x80 }) else {
                    throw ParseCode.invalidClassName.error(
                        "\"\(className.prefix(80))\" is not a valid class name; use up to 64 letters, digits and underscores, a letter first."
                    )
                }
                guard name != options.accountSchemas.first?.name else {
                    throw ParseCode.invalidClassName.error("The class of users is _User.")
                }
                return name
            }
        }

        /// The class that a schema is.
        func className(_ schema: ServerSchema) -> String {
            if schema.name == options.accountSchemas.first?.name { return "_User" }
            return schema.name == "installation" ? "_Installation" : schema.title ?? schema.name
        }

        /// The class of a schema by name, which may not be there yet.
        func className(_ name: String, _ catalogue: SchemaCatalogue) -> String {
            className(catalogue[name] ?? ServerSchema(name: name, keyField: "", isUser: false))
        }

        /// The spelling of a class that is kept with its schema.
        func title(ofClass className: String) -> String? { className.hasPrefix("_") ? nil : className }
    }

    /// The fields that objects of a class have besides those of their schema.
    enum ParseField {
        /// Names that no field of a schema is shown under.
        static let reserved: Set<String> = [
            "objectId", "createdAt", "updatedAt", "ACL", "sessionToken", "authData", "emailVerified", "__type",
            "className",
        ]

        /// The core's name of a field that the server keeps itself; nil for any other.
        static func system(_ title: String, _ schema: ServerSchema) -> SchemaField? {
            switch title {
            case "objectId": SchemaField(name: schema.keyField, kind: .string)
            case "createdAt": SchemaField(name: "createddate", kind: .integer, format: .date)
            case "updatedAt": SchemaField(name: "lastmoddate", kind: .integer, format: .date)
            default: nil
            }
        }

        /// The fields of a schema that are shown, with their names.
        static func shown(_ schema: ServerSchema) -> [(title: String, field: SchemaField)] {
            schema.fields.map { (NativeNames.title($0), $0) }.filter {
                !reserved.contains($0.0) && !(schema.isUser && $0.0 == "username")
            }
        }

        /// The field that a client means, the server's own included.
        static func find(_ title: String, _ schema: ServerSchema) -> SchemaField? {
            if let field = system(title, schema) { return field }
            return reserved.contains(title) ? nil : NativeNames(schema: schema).field(title)
        }
    }
#endif
