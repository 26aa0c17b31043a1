#if Server
    import Foundation
    import Strata

    // Requests for one field of an object: values and related objects put in and taken out.
    extension StackMobService {
        /// `PUT /<schema>/<id>/<field>`: appends values. Relationships keep each once, arrays all.
        func append(
            _ call: Call, _ name: String, _ id: String, _ fieldName: String
        ) throws(ServerError) -> ObjectWrite {
            try server.precheck(.update, name, call.caller)
            guard let values = try call.json(options).elements,
                values.allSatisfy({ $0.members == nil && $0.elements == nil && $0 != .null })
            else { throw .badRequest("The body must be an array of plain values.") }
            let relations = try RelationTree(header: call.request.header("X-StackMob-Relations"))
            let options = options
            return try once(call) { (scope, writer) throws(ServerError) in
                let (object, _) = try Self.existing(call, name, id, scope, writer, .update)
                let schema = try Self.schema(name, for: [[fieldName: .array(values)]], relations, call, scope, options)
                let field = try Self.field(fieldName, schema)
                let relation = relations.fields[fieldName]
                switch field.kind {
                case .list, .references:
                    var elements = ObjectReader.elements(object, field) ?? []
                    elements += field.kind == .list ? values : values.map(Self.asKey)
                    if field.kind == .references { elements = ObjectWriter.unique(elements) }
                    writer.touch(object, schema)
                    try writer.check(elements: values, of: field, schema)
                    try writer.setElements(object, field, elements, schema)
                case .reference where values.count == 1:
                    let relations = relation.map { _ in relations } ?? RelationTree()
                    try writer.update(object, by: [fieldName: values[0]], schema, relations: relations)
                default: throw .badRequest("\(fieldName) holds one value; PUT the object instead.")
                }
                return ServerResponse(json: writer.shown(object, schema))
            }
        }

        private static func asKey(_ value: JSONValue) -> JSONValue {
            value.integer.map { .string(String($0)) } ?? value
        }

        private static func field(_ name: String, _ schema: ServerSchema) throws(ServerError) -> SchemaField {
            guard let field = schema.fields.first(where: { $0.name == name }) else {
                throw .noField(schema, name)
            }
            return field
        }

        /// `POST /<schema>/<id>/<field>`: creates related objects and appends their keys.
        ///
        /// In development a field that is not known becomes a relationship to many: to the schema that the relations
        /// header names for it, or to one that has its name.
        func createAndAppend(
            _ call: Call, _ name: String, _ id: String, _ fieldName: String
        ) async throws(ServerError) -> ObjectWrite {
            try server.precheck(.update, name, call.caller)
            let all = try bodies(call).all
            let relations = try RelationTree(header: call.request.header("X-StackMob-Relations"))
            let known = call.database.catalogue[name]?.field(fieldName)
            guard
                let related = known?.schema ?? relations.fields[fieldName]?.schema
                    ?? (call.isDevelopment && known == nil ? fieldName : nil)
            else {
                throw .badRequest("\(fieldName.prefix(80)) of \(name) is not a relationship that the server knows.")
            }
            try server.precheck(.create, related, call.caller)
            // What the header names for the field itself is not part of the new objects.
            let inner = relations.fields[fieldName]?.next ?? relations
            let passwords = try await hashes(of: all, schema: related, relations: inner, call)
            let options = options
            return try once(
                call,
                { (scope, writer) throws(ServerError) in
                    let (object, _) = try Self.existing(call, name, id, scope, writer, .update)
                    let place = RelationTree(field: fieldName, schema: related)
                    let schema =
                        known == nil
                        ? try Self.schema(name, for: [[fieldName: .array([])]], place, call, scope, options)
                        : try scope.schema(name)
                    let target = try Self.schema(related, for: all, inner, call, scope, options)
                    let field = try Self.field(fieldName, schema)
                    guard field.kind == .references || all.count == 1 else {
                        throw .badRequest("\(fieldName) leads to one object.")
                    }
                    let created = try Self.createMany(all, target, inner, scope, writer)
                    writer.touch(object, schema)
                    if field.kind == .references {
                        let elements = (ObjectReader.elements(object, field) ?? []) + created.succeeded
                        try writer.setElements(object, field, ObjectWriter.unique(elements), schema)
                    } else if let key = created.succeeded.first?.string {
                        object[field.name] = key
                    }
                    return created.response
                }, passwords: passwords)
        }

        /// `DELETE /<schema>/<id>/<field>/<v1>,<v2>`: takes values out, and deletes the objects that they name if the
        /// header for that is there.
        func remove(
            _ call: Call, _ name: String, _ id: String, _ fieldName: String
        ) throws(ServerError) -> ObjectWrite {
            try server.precheck(.update, name, call.caller)
            // A comma within a value is escaped, so the path is split before it is unescaped.
            let raw = call.request.path.split(separator: "/", omittingEmptySubsequences: true).last ?? ""
            var values: [String] = []
            for part in raw.split(separator: ",") { values.append(PercentEncoding.decode(part) ?? String(part)) }
            let header = call.request.header("X-StackMob-CascadeDelete")
            let isCascading = header.map { $0.trimmingCharacters(in: .whitespaces).lowercased() != "false" } ?? false
            let wanted = Set(values)
            return try once(call) { (scope, writer) throws(ServerError) in
                let (object, schema) = try Self.existing(call, name, id, scope, writer, .update)
                let field = try Self.field(fieldName, schema)
                switch field.kind {
                case .list, .references:
                    let elements = ObjectReader.elements(object, field) ?? []
                    let kept = elements.filter { !Self.isOne(of: wanted, $0) }
                    writer.touch(object, schema)
                    try writer.setElements(object, field, kept, schema)
                case .reference:
                    writer.touch(object, schema)
                    if let key = object.text(field.name), wanted.contains(key) { object[field.name] = nil }
                default: throw .badRequest("\(fieldName) holds one value; PUT null instead.")
                }
                if isCascading, let target = scope.catalogue.target(of: field) {
                    for key in wanted.sorted() {
                        if let related = try scope.object(target, key) { try writer.delete(related, target) }
                    }
                }
                return ServerResponse(json: ["status": "OK"])
            }
        }

        private static func isOne(of wanted: Set<String>, _ value: JSONValue) -> Bool {
            wanted.contains(value.string ?? value.description)
        }
    }
#endif
