#if Server
    import StrataWire

    /// How dialects that spell names as models do call schemas and fields.
    ///
    /// The core's names have small letters, digits and underscores. In addition, a schema or field keeps the spelling
    /// of the model, or of the client that created it. One that a client of another dialect created has the spelling that
    /// models have by convention.
    struct NativeNames: Sendable {
        let schema: ServerSchema

        /// The name of a field in the dialect.
        static func title(_ field: SchemaField) -> String { field.title ?? FieldNames.camelCase(field.name) }

        /// The field with the given name in the dialect. Two names that would be one in the core are not one here;
        /// where nobody has told the spelling, either will do.
        func field(_ title: String) -> SchemaField? {
            if let field = schema.fields.first(where: { Self.title($0) == title }) { return field }
            let name = Self.coreName(title)
            return schema.fields.first { $0.title == nil && ($0.name == name || $0.name == title) }
        }

        /// What a name would be in the core, where each begins with a small letter.
        private static func coreName(_ title: String) -> String {
            FieldNames.field(of: title.prefix(1).lowercased() + title.dropFirst())
        }

        /// The core's name for a new field.
        /// - Throws: ``ServerError`` 400 if a field of another spelling has it.
        func name(ofNew title: String) throws(ServerError) -> String {
            let name = Self.coreName(title)
            if let fault = ServerSchema.fault(ofName: name) { throw ServerError(400, .noField, fault) }
            guard !ServerSchema.isKept(name), name != schema.keyField else {
                throw ServerError(400, .noField, "\(title.prefix(80)) is a name that the server reserves.")
            }
            if let other = schema.fields.first(where: { $0.name == name }) {
                throw ServerError(
                    400, .noField,
                    "The schema \(schema.name) has a field \(Self.title(other)), which is too like \(title.prefix(80)); choose another name."
                )
            }
            return name
        }

        /// A new field.
        func newField(
            _ title: String, _ kind: SchemaField.Kind, schema target: String? = nil,
            element: SchemaField.Kind? = nil, format: SchemaField.Format? = nil
        ) throws(ServerError) -> SchemaField {
            let name = try name(ofNew: title)
            return SchemaField(
                name: name, kind: kind, schema: target, element: element, format: format,
                title: title)
        }
    }
#endif
