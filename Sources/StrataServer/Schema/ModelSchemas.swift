#if Server
    import Strata
    import StrataWire

    /// The schemas that a Strata model stands for.
    struct ModelSchemas {
        /// The schemas, one for each entity that is not abstract.
        private(set) var catalogue = SchemaCatalogue()
        /// What the model says about the columns of a schema beyond their kinds: indexes, uniqueness, rules. The names
        /// are those of fields.
        private(set) var hints: [String: Entity] = [:]

        /// Translates a model by the rules for names of schemas and fields.
        /// - Throws: ``ServerSetupError`` for what the server cannot keep, naming entity and property.
        init(_ model: ManagedObjectModel, options: ServerOptions) throws(ServerSetupError) {
            for entity in model.entities where !entity.isAbstract {
                let schema = try Self.schema(of: entity, in: model, options: options)
                guard catalogue[schema.name] == nil else {
                    throw ServerSetupError("two entities have the schema \(schema.name); rename one of them")
                }
                hints[schema.name] = Self.hint(for: entity)
                catalogue.schemas.append(schema)
            }
        }

        private static func schema(
            of entity: EntityDescription, in model: ManagedObjectModel, options: ServerOptions
        ) throws(ServerSetupError) -> ServerSchema {
            let name = FieldNames.schema(ofEntity: entity.name)
            let accounts = options.accounts(name)
            let keyFormat = try keyFormat(of: entity, isUser: accounts != nil)
            let key = accounts?.keyField ?? entity.primaryKeyField.map(FieldNames.field) ?? name + "_id"
            var schema = ServerSchema(
                name: name, keyField: key, isUser: accounts != nil, title: entity.name, keyFormat: keyFormat)
            func check(_ name: String, _ property: String) throws(ServerSetupError) {
                if let fault = ServerSchema.fault(ofName: name) {
                    throw ServerSetupError("\(entity.name).\(property): \(fault); rename it")
                }
            }
            try check(name, "")
            try check(key, key)
            for attribute in entity.attributes where !attribute.isTransient {
                let field = FieldNames.field(of: attribute.name)
                if field == key || ServerSchema.isKept(field) { continue }
                if field == accounts?.passwordField { continue }
                // Elsewhere it would be kept as it is, for all to read.
                if options.accountSchemas.contains(where: { $0.passwordField == field }) {
                    throw ServerSetupError(
                        "\(entity.name).\(attribute.name): \(name) is not a schema of accounts; name it under users in the "
                            + "configuration, or rename the attribute")
                }
                try check(field, attribute.name)
                guard let kind = kind(of: attribute.type) else {
                    throw ServerSetupError(
                        "\(entity.name).\(attribute.name): the server keeps no \(attribute.type.name) values; "
                            + "make it transient or take a string")
                }
                schema.fields.append(
                    SchemaField(
                        name: field, kind: kind, element: attribute.type.element.flatMap(Self.kind),
                        format: format(of: attribute.type), title: attribute.name))
            }
            for relationship in entity.relationships {
                let field = FieldNames.field(of: relationship.name)
                try check(field, relationship.name)
                schema.fields.append(
                    SchemaField(
                        name: field, kind: relationship.isToMany ? .references : .reference,
                        schema: FieldNames.schema(ofEntity: relationship.destination),
                        title: relationship.name))
            }
            return schema
        }

        private static func keyFormat(
            of entity: EntityDescription, isUser: Bool
        ) throws(ServerSetupError) -> ServerSchema.KeyFormat? {
            guard let field = entity.primaryKeyField else { return nil }
            switch entity.primaryKeyType {
            case .string: return nil
            case .integer64, .integer:
                guard isUser else { return .number }
                throw ServerSetupError("\(entity.name).\(field): the primary keys of accounts are strings")
            default:
                throw ServerSetupError(
                    "\(entity.name).\(field): primary keys are strings, or numbers of type integer64 that the server assigns"
                )
            }
        }

        private static func format(of type: AttributeType) -> SchemaField.Format? {
            switch type {
            case .date: .date
            case .binary: .bytes
            default: nil
            }
        }

        private static func kind(of type: AttributeType) -> SchemaField.Kind? {
            switch type {
            case .integer16, .integer32, .integer64, .integer, .date: .integer
            case .decimal, .double, .float: .number
            // A file's content comes in a string and is answered as a URL.
            case .string, .uuid, .uri, .binary: .string
            case .boolean: .boolean
            case .geoPoint: .geoPoint
            case .json: .json
            case .array: .list
            case .transformable, .composite: nil
            }
        }

        private static func hint(for entity: EntityDescription) -> Entity {
            var hint = Entity(name: entity.name, location: nil)
            for attribute in entity.attributes {
                var copy = Attribute(FieldNames.field(of: attribute.name), attribute.type)
                copy.isIndexed = attribute.declaration.isIndexed
                copy.isUnique = attribute.declaration.isUnique
                // Bounds of dates are dates, and texts of other types are not what their rules speak of.
                if attribute.type == .string || attribute.type.isNumeric { copy.rules = attribute.declaration.rules }
                hint.attributes.append(copy)
            }
            let single = Set(
                entity.attributes.filter { $0.declaration.isIndexed || $0.declaration.isUnique }.map(\.name))
            for index in entity.indexes where index.kind == .ordered || index.kind == .unique {
                // Those of single attributes exist already; places in to-many relationships have no column.
                if index.properties.count == 1, single.contains(index.properties[0]) { continue }
                guard
                    index.properties.allSatisfy({
                        entity.slot(named: $0.hasPrefix("-") ? String($0.dropFirst()) : $0) != nil
                    })
                else { continue }
                hint.indexes.append(Index(index.properties.map(FieldNames.field), kind: index.kind, location: nil))
            }
            return hint
        }
    }
#endif
