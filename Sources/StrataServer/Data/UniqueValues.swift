#if Server
    import Strata

    /// The unique constraints of each schema: single fields, and combinations of fields.
    ///
    /// The store holds to it as well, but at the end of a transaction, when it is too late to say whose mistake it is:
    /// an array of new objects would fail for one of them.
    struct UniqueValues: Sendable {
        /// The fields by the name of the schema.
        private var fields: [String: [[String]]] = [:]

        init(_ hints: [String: Entity]) {
            for (schema, hint) in hints {
                fields[schema] =
                    hint.attributes.filter(\.isUnique).map { [$0.name] }
                    + hint.indexes.filter { $0.kind == .unique }.map(\.properties)
            }
        }

        /// The values of an object that no other may have, by their fields. Missing values are nobody's.
        func values(of object: ManagedObject, _ schema: ServerSchema) -> [[String]: [Value]] {
            var result: [[String]: [Value]] = [:]
            for names in fields[schema.name] ?? [] {
                let values = names.compactMap { Self.value(object, schema.field($0)) }
                if values.count == names.count { result[names] = values }
            }
            return result
        }

        private static func value(_ object: ManagedObject, _ field: SchemaField?) -> Value? {
            guard let field else { return nil }
            switch field.kind {
            case .string, .reference, .list, .references, .json: return object.text(field.name).map(Value.string)
            case .integer: return object.whole(field.name).map(Value.integer)
            case .number: return (object[field.name] as? Double).map(Value.double)
            case .boolean: return (object[field.name] as? Bool).map(Value.boolean)
            case .geoPoint: return (object[field.name] as? GeoPoint).map(Value.geoPoint)
            }
        }
    }

    extension DataScope {
        /// Gives up the values that an object had, and takes those that it has.
        /// - Throws: ``ServerError`` 409 if another object has them.
        func claim(
            _ object: ManagedObject, _ schema: ServerSchema, before: [[String]: [Value]] = [:]
        ) throws(ServerError) {
            let after = uniques.values(of: object, schema)
            for (fields, values) in before where after[fields] != values {
                pending?.delete(Self.name(schema, fields, values))
            }
            for (fields, values) in after.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) })
            where before[fields] != values {
                if let holder = try holder(schema, fields, values), holder != object.objectID {
                    let shown = zip(fields, values).map { "\($0) \(Self.text($1))" }.joined(separator: ", ")
                    throw ServerError(409, .duplicateValue, "Duplicate value for schema \(schema.name): \(shown)")
                }
                pending?.insert(object.objectID, Self.name(schema, fields, values))
            }
        }

        /// Gives up the values of an object that goes.
        func release(_ object: ManagedObject, _ schema: ServerSchema) {
            for (fields, values) in uniques.values(of: object, schema) {
                pending?.delete(Self.name(schema, fields, values))
            }
        }

        private func holder(
            _ schema: ServerSchema, _ fields: [String], _ values: [Value]
        ) throws(ServerError) -> ObjectID? {
            if let entry = pending?[Self.name(schema, fields, values)] { return entry }
            var request = FetchRequest<ManagedObject>(
                entity: schema.entityName, where: .and(zip(fields, values).map { Self.equal($0, $1) }), limit: 1)
            request.includesPendingChanges = false
            do throws(PersistenceError) { return try context.fetchIDs(request).first } catch {
                throw ServerError(error)
            }
        }

        private static func text(_ value: Value) -> String {
            if case .string(let text) = value { "\"\(text.prefix(200))\"" } else { "\(value)" }
        }

        private static func name(_ schema: ServerSchema, _ fields: [String], _ values: [Value]) -> PendingKeys.Name {
            // Keys have two parts; the third tells these from them.
            PendingKeys.Name([schema.entityName, "", fields.joined(separator: ",")] + values.map { "\($0)" })
        }
    }
#endif
