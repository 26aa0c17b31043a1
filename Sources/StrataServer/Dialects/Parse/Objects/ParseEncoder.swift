#if Server
    import Foundation
    import Strata

    /// Which fields of objects an answer has, and which objects come along.
    struct ParseShape: Sendable {
        /// nil for all; what begins with a point leads on.
        private var keys: Set<String>?
        private var excluded: Set<String> = []
        /// The fields whose objects come along, as paths.
        private(set) var include: Set<[String]> = []
        private(set) var includesAll = false

        static let everything = ParseShape()

        private init() {}

        /// Some fields.
        init(keys: [String]) { self.keys = Set(keys) }

        init(_ call: ParseCall) throws(ServerError) {
            for name in try call.names("keys") ?? [] {
                if name.hasPrefix("-") {
                    excluded.insert(String(name.dropFirst()))
                } else {
                    keys = (keys ?? []).union([name])
                }
            }
            excluded.formUnion(try call.names("excludeKeys") ?? [])
            for name in try call.names("include") ?? [] {
                if name == "*" {
                    includesAll = true
                    continue
                }
                let path = name.split(separator: ".").map(String.init)
                guard path.count <= 5 else { throw ParseCode.invalidQuery.error("include may be 5 levels deep.") }
                for count in path.indices { include.insert(Array(path[...count])) }
                // Included objects are shown, whatever the keys are.
                if keys != nil, let first = path.first { keys?.insert(first) }
            }
        }

        func shows(_ title: String, _ path: [String]) -> Bool {
            if excluded.contains((path + [title]).joined(separator: ".")) { return false }
            guard let keys, path.isEmpty else { return true }
            return keys.contains(title) || keys.contains { $0.hasPrefix(title + ".") }
        }

        func includes(_ path: [String]) -> Bool { include.contains(path) || (includesAll && path.count == 1) }
    }

    /// Makes JSON of objects.
    struct ParseEncoder {
        let service: ParseService
        let scope: DataScope
        let caller: Caller
        let shape: ParseShape

        /// Objects, with those that come along: each level takes one fetch a field, however many objects refer.
        func json(_ objects: [ManagedObject], _ schema: ServerSchema) throws(ServerError) -> [JSONObject] {
            var budget = service.options.limits.answers.objects
            return try json(objects, schema, [], &budget)
        }

        private func json(
            _ objects: [ManagedObject], _ schema: ServerSchema, _ path: [String], _ budget: inout Int
        ) throws(ServerError) -> [JSONObject] {
            let fields = ParseField.shown(schema).filter { shape.shows($0.title, path) }
            var result: [JSONObject] = []
            result.reserveCapacity(objects.count)
            for object in objects { result.append(try members(object, schema, fields)) }
            for (title, field) in fields where field.kind == .reference || field.kind == .references {
                let next = path + [title]
                guard shape.includes(next), let target = scope.catalogue.target(of: field) else { continue }
                var keys: Set<String> = []
                for object in objects {
                    let value = ObjectReader.value(object, field)
                    if let key = value.string { keys.insert(key) }
                    keys.formUnion((value.elements ?? []).compactMap(\.string))
                }
                budget -= keys.count
                guard budget > 0 else {
                    throw ParseCode.tooMany.error("The answer would hold too many objects; include less.")
                }
                let reader = ObjectReader(
                    scope: scope, principal: caller.principal, access: service.options.access,
                    limits: service.options.limits)
                let found = try reader.readable(keys, target)
                let members = try json(found, target, next, &budget)
                let byKey = Dictionary(
                    zip(found.map { $0.text(target.keyField) ?? "" }, members), uniquingKeysWith: { $1 })
                for place in result.indices {
                    guard let value = result[place][title] else { continue }
                    result[place][title] = included(value, byKey, target)
                }
            }
            return result
        }

        private func included(
            _ value: JSONValue, _ found: [String: JSONObject], _ schema: ServerSchema
        ) -> JSONValue {
            if let elements = value.elements { return .array(elements.map { included($0, found, schema) }) }
            guard let key = value["objectId"]?.string, let members = found[key] else { return value }
            let head: JSONObject = ["__type": "Object", "className": .string(service.className(schema))]
            return .object(head.merging(members))
        }

        // MARK: One object

        private func members(
            _ object: ManagedObject, _ schema: ServerSchema, _ fields: [(title: String, field: SchemaField)]
        ) throws(ServerError) -> JSONObject {
            var members = Self.outline(object, schema)
            for (title, field) in fields { members[title] = try value(object, field) }
            if schema.isUser, shape.shows("username", []) {
                let name = object.text("sm_login") ?? object.text(schema.keyField)
                members["username"] = name.map(JSONValue.string) ?? .null
            }
            return members
        }

        /// What somebody is shown who may have changed an object and may not read it.
        static func outline(_ object: ManagedObject, _ schema: ServerSchema) -> JSONObject {
            [
                "objectId": object.text(schema.keyField).map(JSONValue.string) ?? .null,
                "createdAt": time(object.whole("createddate")), "updatedAt": time(object.whole("lastmoddate")),
            ]
        }

        static func time(_ milliseconds: Int64?) -> JSONValue {
            milliseconds.flatMap(WireTime.text).map(JSONValue.string) ?? .null
        }

        /// The value of a field; null where there is none, so that a client can tell a value that was cleared from one that
        /// was not asked for.
        func value(_ object: ManagedObject, _ field: SchemaField) throws(ServerError) -> JSONValue {
            let value = ObjectReader.value(object, field)
            switch (field.kind, field.format, value) {
            case (.references, .relation, _):
                return [
                    "__type": "Relation", "className": .string(service.className(field.schema ?? "", scope.catalogue)),
                ]
            case (_, _, .null): return .null
            case (.integer, .date, _):
                return value.integer.flatMap(WireTime.text).map { ["__type": "Date", "iso": .string($0)] } ?? .null
            case (.geoPoint, _, _):
                return ["__type": "GeoPoint", "latitude": value["lat"] ?? .null, "longitude": value["lon"] ?? .null]
            case (.reference, _, _): return pointer(value, field)
            case (.references, _, _): return .array((value.elements ?? []).map { pointer($0, field) })
            case (.string, .bytes, .string(let url)):
                let data = try caller.vault.content(of: url, scope: scope)
                return data.map { ["__type": "Bytes", "base64": .string($0.base64EncodedString())] } ?? .null
            case (.string, .file, .string(let url)):
                return ["__type": "File", "name": .string(Self.fileName(url)), "url": .string(url)]
            default: return value
            }
        }

        /// The name of a file by its address.
        static func fileName(_ url: String) -> String {
            let path = url.prefix { $0 != "?" && $0 != "#" }
            // Of a file of this server, the name has the digest in it, by which it is deleted.
            let parts = path.split(separator: "/").suffix(2)
            guard parts.count == 2, parts[parts.startIndex].utf8.count == 64 else {
                return parts.last.flatMap { PercentEncoding.decode($0) } ?? "file"
            }
            return "\(parts[parts.startIndex])_\(PercentEncoding.decode(parts[parts.startIndex + 1]) ?? "file")"
        }

        private func pointer(_ key: JSONValue, _ field: SchemaField) -> JSONValue {
            [
                "__type": "Pointer", "className": .string(service.className(field.schema ?? "", scope.catalogue)),
                "objectId": key,
            ]
        }
    }
#endif
