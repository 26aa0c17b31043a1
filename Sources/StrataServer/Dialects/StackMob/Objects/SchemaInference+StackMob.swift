#if Server
    import StrataWire

    // What bodies of StackMob's development mode use.
    extension SchemaInference {
        /// Adds the fields of a body and of what is nested in it.
        mutating func use(
            _ members: JSONObject, schema name: String, relations: RelationTree
        ) throws(ServerError) {
            try use(name)
            for (key, value) in members.sorted(by: { $0.name < $1.name }) {
                guard let (field, suffix) = FieldSuffix.split(key) else {
                    try use(field: key, value, schema: name, relations: relations)
                    continue
                }
                let example = suffix == .increment ? value : .array(value.elements ?? [value])
                try use(field: field, example, schema: name, relations: relations)
            }
        }

        private mutating func use(
            field: String, _ value: JSONValue, schema name: String, relations: RelationTree
        ) throws(ServerError) {
            guard let index = catalogue.schemas.firstIndex(where: { $0.name == name }) else { return }
            let schema = catalogue.schemas[index]
            if ServerSchema.isKept(field) || field == schema.keyField { return }
            if schema.isUser, field == "sm_roles" { return }
            if field == options.accounts(name)?.passwordField { return }
            try checkPassword(field, in: name)
            let relation = relations.fields[field]
            let known = schema.fields.firstIndex { $0.name == field }
            if let relation {
                try use(relation.schema)
                for element in value.elements ?? [value] {
                    if let nested = element.members {
                        try use(nested, schema: relation.schema, relations: relation.next)
                    }
                }
            }
            guard let known else {
                let new = try Self.field(field, value, relation: relation?.schema, schema: name)
                if new.kind == .geoPoint, schema.fields.contains(where: { $0.kind == .geoPoint }) {
                    throw .badRequest("The schema \(name) has a geo point already; one is the most.")
                }
                catalogue.schemas[index].fields.append(new)
                return
            }
            // What was inferred from the first values may turn out to be more than that; both forms are kept alike.
            switch (schema.fields[known].kind, value, relation) {
            case (.list, .array(let elements), nil) where schema.fields[known].element == nil:
                catalogue.schemas[index].fields[known].element = try Self.element(of: elements, field)
            case (.string, _, let relation?) where value.elements == nil:
                catalogue.schemas[index].fields[known].kind = .reference
                catalogue.schemas[index].fields[known].schema = relation.schema
            case (.list, .array, let relation?):
                catalogue.schemas[index].fields[known].kind = .references
                catalogue.schemas[index].fields[known].schema = relation.schema
            default: break
            }
        }

        private static func field(
            _ name: String, _ value: JSONValue, relation: String?, schema: String
        ) throws(ServerError) -> SchemaField {
            if let fault = ServerSchema.fault(ofName: name) { throw .badRequest(fault) }
            if let relation {
                return SchemaField(name: name, kind: value.elements == nil ? .reference : .references, schema: relation)
            }
            switch value {
            case .null:
                throw .badRequest("The schema \(schema) does not know the type of \(name), which is null.")
            case .boolean: return SchemaField(name: name, kind: .boolean)
            case .integer: return SchemaField(name: name, kind: .integer)
            case .double, .decimal: return SchemaField(name: name, kind: .number)
            case .string: return SchemaField(name: name, kind: .string)
            case .array(let elements):
                guard !elements.contains(where: { $0.members != nil }) else { throw unlisted(name) }
                return SchemaField(name: name, kind: .list, element: try element(of: elements, name))
            case .object(let members):
                guard Set(members.names) == ["lat", "lon"] else { throw unlisted(name) }
                return SchemaField(name: name, kind: .geoPoint)
            }
        }

        /// What all elements of a list are; nil if there are none yet.
        private static func element(of elements: [JSONValue], _ name: String) throws(ServerError) -> SchemaField.Kind? {
            if let kind = SchemaField.Kind.element(of: elements) { return kind }
            guard elements.allSatisfy(\.isNull) else {
                throw ServerError(
                    400, "\(name): an incompatible type, please check your schema",
                    detail: "The elements of \(name) must all be strings, numbers, or true or false.")
            }
            return nil
        }

        private static func unlisted(_ name: String) -> ServerError {
            .badRequest("\(name) holds an object; list it in X-StackMob-Relations, or send a point with lat and lon.")
        }
    }
#endif
