#if Server
    import Foundation
    import Strata

    /// Makes JSON of objects.
    struct ObjectReader {
        let scope: DataScope
        let principal: Principal
        let access: AccessRules
        let limits: ServerLimits

        /// The object with all fields of its schema: null where there is no value, so that a client can tell a value
        /// that was cleared from one that was not asked for. Passwords are in no answer.
        static func members(_ object: ManagedObject, _ schema: ServerSchema) -> JSONObject {
            members(object, schema) { _ in true }
        }

        /// The object with some of its fields, its key always.
        static func members(
            _ object: ManagedObject, _ schema: ServerSchema, shows: (String) -> Bool
        ) -> JSONObject {
            var members: JSONObject = [schema.keyField: object.text(schema.keyField).map(JSONValue.string) ?? .null]
            for name in ["createddate", "lastmoddate"] where shows(name) {
                members[name] = .integer(object.whole(name) ?? 0)
            }
            if shows("sm_owner"), let owner = object.text("sm_owner") { members["sm_owner"] = .string(owner) }
            for field in schema.fields where shows(field.name) { members[field.name] = value(object, field) }
            return members
        }

        /// What somebody is shown who may have changed an object and may not read it: which it is, and when it changed.
        static func outline(_ object: ManagedObject, _ schema: ServerSchema) -> JSONObject {
            members(object, schema) { $0 == "createddate" || $0 == "lastmoddate" }
        }

        static func value(_ object: ManagedObject, _ field: SchemaField) -> JSONValue {
            switch field.kind {
            case .string, .reference: return object.text(field.name).map(JSONValue.string) ?? .null
            case .integer: return object.whole(field.name).map(JSONValue.integer) ?? .null
            case .number: return (object[field.name] as? Double).map(JSONValue.number) ?? .null
            case .boolean: return (object[field.name] as? Bool).map(JSONValue.boolean) ?? .null
            case .geoPoint:
                guard let point = object[field.name] as? GeoPoint else { return .null }
                return ["lat": .number(point.latitude), "lon": .number(point.longitude)]
            case .list: return elements(object, field).map(JSONValue.array) ?? .null
            // A client that reads a to-many relationship needs an array.
            case .references: return .array(elements(object, field) ?? [])
            case .json: return .ofStored(object.text(field.name)) ?? .null
            }
        }

        /// The elements of a collection; nil if it has no value.
        static func elements(_ object: ManagedObject, _ field: SchemaField) -> [JSONValue]? {
            JSONValue.ofStored(object.text(field.name))?.elements
        }

        /// The objects of keys that the reader may see.
        func readable(_ keys: Set<String>, _ schema: ServerSchema) throws(ServerError) -> [ManagedObject] {
            guard !keys.isEmpty else { return [] }
            let level = access.level(.read, schema: schema.name, isUser: schema.isUser)
            var parts = [
                FetchPredicate.comparison(
                    .keyPath([schema.keyField]), .isIn, .constant(.list(keys.map(Value.string))), [])
            ]
            do throws(ServerError) {
                let grant = try principal.grant(level, "read \(schema.name)")
                if let own = try grant.predicate(schema, scope) { parts.append(own) }
            } catch {
                // An object that the client may not read stays a key.
                guard (400..<500).contains(error.status) else { throw error }
                return []
            }
            return try scope.fetch(FetchRequest(entity: schema.entityName, where: .and(parts)))
        }
    }
#endif
