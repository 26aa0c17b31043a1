#if Server
    /// Widens a catalogue by what requests use and the catalogue lacks, as it is done in development. Each dialect says what
    /// that is.
    struct SchemaInference {
        var catalogue: SchemaCatalogue
        let options: ServerOptions

        /// The schema with the given name, made if it is missing.
        /// - Parameter title: The name as the client spells it.
        mutating func use(_ name: String, title: String? = nil) throws(ServerError) {
            if let known = catalogue.schemas.firstIndex(where: { $0.name == name }) {
                if let title, title != name, catalogue.schemas[known].title == nil {
                    catalogue.schemas[known].title = title
                }
                return
            }
            if let fault = ServerSchema.fault(ofName: name) { throw .badRequest(fault) }
            let accounts = options.accounts(name)
            catalogue.schemas.append(
                ServerSchema(
                    name: name, keyField: accounts?.keyField ?? name + "_id", isUser: accounts != nil,
                    title: title == name ? nil : title))
        }

        /// Adds a field that the schema with the given name lacks.
        mutating func add(_ field: SchemaField, to name: String) throws(ServerError) {
            if let fault = ServerSchema.fault(ofName: field.name) { throw .badRequest(fault) }
            guard let index = catalogue.schemas.firstIndex(where: { $0.name == name }) else { throw .noSchema(name) }
            let schema = catalogue.schemas[index]
            if field.kind == .geoPoint, schema.fields.contains(where: { $0.kind == .geoPoint }) {
                throw .badRequest("The schema \(name) has a geo point already; one is the most.")
            }
            catalogue.schemas[index].fields.append(field)
        }

        /// Refuses the name of a password in a schema that is none of accounts: it would be kept as it is, for all to read.
        func checkPassword(_ field: String, in name: String) throws(ServerError) {
            guard options.accounts(name) == nil, options.accountSchemas.contains(where: { $0.passwordField == field })
            else { return }
            throw .badRequest(
                "\(name) is not a schema of accounts, so that it cannot hold \(field); name it under users in the configuration."
            )
        }
    }

    extension DataScope {
        /// The schema with the given name in a catalogue that may have been widened for a request. If it was, the file
        /// grows first.
        func schema(_ name: String, in inference: SchemaInference) throws(ServerError) -> ServerSchema {
            if inference.catalogue != catalogue {
                guard inference.catalogue.schemas.count <= 1_000,
                    inference.catalogue.schemas.allSatisfy({ $0.fields.count <= 500 })
                else { throw .badRequest("There may be 1,000 schemas of 500 fields.") }
                try grow(to: inference.catalogue)
            }
            return try schema(name)
        }
    }
#endif
