#if Server
    import Foundation
    import Strata

    extension ObjectReader {
        // MARK: Selecting and expanding

        /// What an answer shows of objects, from the headers of a request.
        struct Shape {
            /// The parameter that clients send in place of the header.
            static let expandParameter = "_expand"

            /// How many levels of references become objects.
            var depth = 0
            /// The fields by level, dotted for deeper ones; nil for all.
            private var fields: Set<String>?
            /// What comes before the points of those.
            private var prefixes: Set<String> = []

            init(_ request: ServerRequest) throws(ServerError) {
                let parameter = request.parameters?.first { $0.name == Self.expandParameter }?.value
                if let text = request.header("X-StackMob-Expand") ?? parameter {
                    guard request.method == "GET" || request.method == "HEAD" else {
                        throw .badRequest("X-StackMob-Expand and _expand are for reading.")
                    }
                    guard let depth = Int(text.trimmingCharacters(in: .whitespaces)), (0...3).contains(depth) else {
                        throw .badRequest("X-StackMob-Expand and _expand take 1, 2 or 3.")
                    }
                    self.depth = depth
                }
                if let text = request.header("X-StackMob-Select") {
                    let fields = Set(
                        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                            .filter { !$0.isEmpty })
                    for field in fields {
                        var end = field.startIndex
                        // Deeper than any object is expanded, there is nothing to show.
                        for _ in 0..<4 {
                            guard let point = field[end...].firstIndex(of: ".") else { break }
                            prefixes.insert(String(field[..<point]))
                            end = field.index(after: point)
                        }
                    }
                    self.fields = fields
                }
            }

            /// Whether a field is shown at the end of a path. A field that is named with a part of its own is, and all
            /// that is under it only if it says so.
            /// Whether all fields are shown, at all levels.
            var showsAll: Bool { fields == nil }

            func shows(_ field: String, path: [String]) -> Bool {
                guard let fields else { return true }
                let above = path.joined(separator: ".")
                let prefix = path.isEmpty ? "" : above + "."
                return fields.contains(prefix + field) || fields.contains(prefix + "*")
                    || prefixes.contains(prefix + field)
                    || (!path.isEmpty && fields.contains(above) && !prefixes.contains(above))
            }
        }

        /// Objects as JSON, with references expanded level by level: each level takes one fetch a schema, however many
        /// objects refer.
        func json(_ objects: [ManagedObject], _ schema: ServerSchema, _ shape: Shape) throws(ServerError) -> [JSONValue]
        {
            var budget = limits.answers.objects
            return try json(objects, schema, shape, path: [], budget: &budget).map(JSONValue.object)
        }

        private func json(
            _ objects: [ManagedObject], _ schema: ServerSchema, _ shape: Shape, path: [String], budget: inout Int
        ) throws(ServerError) -> [JSONObject] {
            var result: [JSONObject]
            if shape.showsAll {
                result = objects.map { Self.members($0, schema) }
            } else {
                let shown = Set(
                    (["createddate", "lastmoddate", "sm_owner"] + schema.fields.map(\.name))
                        .filter { shape.shows($0, path: path) })
                result = objects.map { Self.members($0, schema, shows: shown.contains) }
            }
            guard path.count < shape.depth else { return result }
            for field in schema.fields where field.kind == .reference || field.kind == .references {
                guard let target = scope.catalogue.target(of: field), shape.shows(field.name, path: path)
                else { continue }
                let found = try expanded(
                    keys(in: result, field), target, shape, path: path + [field.name], budget: &budget)
                for index in result.indices {
                    guard let value = result[index][field.name] else { continue }
                    let new = Self.expand(value, found)
                    budget -= new.elements?.count ?? 1
                    guard budget > 0 else {
                        throw .badRequest(
                            "The answer would hold more than \(limits.answers.objects) objects; expand less, or ask for a range."
                        )
                    }
                    result[index][field.name] = new
                }
            }
            return result
        }

        private func keys(in objects: [JSONObject], _ field: SchemaField) -> Set<String> {
            var keys: Set<String> = []
            for object in objects {
                switch object[field.name] {
                case .string(let key): keys.insert(key)
                case .array(let elements): keys.formUnion(elements.compactMap(\.string))
                default: break
                }
            }
            return keys
        }

        /// The objects of keys that the reader may see, by key, themselves expanded.
        private func expanded(
            _ keys: Set<String>, _ schema: ServerSchema, _ shape: Shape, path: [String], budget: inout Int
        ) throws(ServerError) -> [String: JSONValue] {
            let objects = try readable(keys, schema)
            let members = try json(objects, schema, shape, path: path, budget: &budget)
            return Dictionary(
                zip(objects.map { $0.text(schema.keyField) ?? "" }, members.map(JSONValue.object)),
                uniquingKeysWith: { $1 })
        }

        private static func expand(_ value: JSONValue, _ found: [String: JSONValue]) -> JSONValue {
            switch value {
            case .string(let key): found[key] ?? value
            case .array(let elements): .array(elements.map { expand($0, found) })
            default: value
            }
        }
    }
#endif
