#if Server
    import Foundation
    import Strata

    /// Reads values of Parse into the core's own form.
    struct ParseValues {
        let service: ParseService

        /// The `__type` of a value; nil if it has none.
        static func type(_ json: JSONValue) -> String? { json["__type"]?.string }

        /// A value for a field.
        /// - Returns: nil for a value that does not fit.
        /// - Throws: ``ServerError`` for a value that would fit and is malformed.
        func value(_ json: JSONValue, for field: SchemaField) throws(ServerError) -> JSONValue? {
            if json.isNull { return .null }
            switch (field.kind, field.format) {
            case (.integer, .date): return Self.milliseconds(json).map(JSONValue.integer)
            case (.integer, _): return json.integer.map(JSONValue.integer)
            case (.number, _): return json.double.map(JSONValue.double)
            case (.boolean, _): return json.boolean.map(JSONValue.boolean)
            case (.string, .bytes): return try bytes(json) ?? url(json)
            case (.string, _): return json.string.map(JSONValue.string) ?? url(json)
            case (.geoPoint, _):
                return try Self.point(json).map { ["lat": .double($0.latitude), "lon": .double($0.longitude)] }
            case (.reference, _): return try key(json, of: field)
            case (.references, _):
                guard let elements = json.elements else { return nil }
                return try list(elements, for: field).map(JSONValue.array)
            case (.list, _):
                guard let elements = json.elements, elements.allSatisfy({ $0.members == nil && $0.elements == nil })
                else { return nil }
                return json
            case (.json, _): return json
            }
        }

        /// Elements of a field that holds several.
        func list(_ elements: [JSONValue], for field: SchemaField) throws(ServerError) -> [JSONValue]? {
            guard field.kind == .references else { return elements }
            var keys: [JSONValue] = []
            for element in elements {
                guard let key = try key(element, of: field) else { return nil }
                keys.append(key)
            }
            return keys
        }

        // MARK: Types

        static func milliseconds(_ json: JSONValue) -> Int64? {
            let isDate = type(json) == "Date"
            return (isDate ? json["iso"]?.string : nil).flatMap(WireTime.milliseconds)
        }

        static func point(_ json: JSONValue) throws(ServerError) -> GeoPoint? {
            guard type(json) == "GeoPoint" else { return nil }
            guard let latitude = json["latitude"]?.double, let longitude = json["longitude"]?.double,
                (-90...90).contains(latitude), (-180...180).contains(longitude)
            else {
                throw ParseCode.incorrectType.error(
                    "A GeoPoint has a latitude from -90 to 90 and a longitude from -180 to 180.")
            }
            // Both are the same meridian, and the core knows one of them.
            return GeoPoint(latitude: latitude, longitude: longitude == 180 ? -180 : longitude)
        }

        /// The class and the identifier of a pointer, or of an object in place of one.
        static func pointer(_ json: JSONValue) -> (className: String, id: String)? {
            guard let type = type(json), type == "Pointer" || type == "Object",
                let className = json["className"]?.string, let id = json["objectId"]?.string, !id.isEmpty
            else { return nil }
            return (className, id)
        }

        private func key(_ json: JSONValue, of field: SchemaField) throws(ServerError) -> JSONValue? {
            guard let (className, id) = Self.pointer(json) else { return nil }
            guard let target = field.schema, try service.schemaName(className) == target else { return nil }
            guard id.utf8.count <= 512 else { throw ParseCode.invalidPointer.error("A pointer is too long.") }
            return .string(id)
        }

        private func bytes(_ json: JSONValue) throws(ServerError) -> JSONValue? {
            guard Self.type(json) == "Bytes" else { return nil }
            guard let data = json["base64"]?.string.flatMap({ Data(base64Encoded: $0) }) else {
                throw ParseCode.incorrectType.error("Bytes have a base64.")
            }
            return .string(InlineFile(name: "data", contentType: "application/octet-stream", data: data).fieldValue)
        }

        private func url(_ json: JSONValue) -> JSONValue? {
            Self.type(json) == "File" ? json["url"]?.string.map(JSONValue.string) : nil
        }

        // MARK: New fields

        /// The field that a value makes where its schema has none; nil for a value that says nothing of a type.
        func field(
            _ title: String, of value: JSONValue, _ names: NativeNames, _ inference: inout SchemaInference
        ) throws(ServerError) -> SchemaField? {
            func new(
                _ kind: SchemaField.Kind, schema: String? = nil, element: SchemaField.Kind? = nil,
                format: SchemaField.Format? = nil
            ) throws(ServerError) -> SchemaField {
                try names.newField(title, kind, schema: schema, element: element, format: format)
            }
            switch value {
            case .null: return nil
            case .boolean: return try new(.boolean)
            // Numbers are one type; whole ones may be followed by others.
            case .integer, .double, .decimal: return try new(.number)
            case .string: return try new(.string)
            case .array(let elements):
                if let target = try target(elements, &inference) { return try new(.references, schema: target) }
                if elements.isEmpty { return try new(.list) }
                guard let kind = SchemaField.Kind.element(of: elements) else { return try new(.json) }
                return try new(.list, element: kind == .integer ? .number : kind)
            case .object:
                switch Self.type(value) {
                case "Date": return try new(.integer, format: .date)
                case "Bytes": return try new(.string, format: .bytes)
                case "File": return try new(.string, format: .file)
                case "GeoPoint": return try new(.geoPoint)
                case "Pointer", "Object":
                    guard let target = try target([value], &inference) else {
                        throw ParseCode.invalidPointer.error(
                            "\(title.prefix(80)): a pointer has className and objectId.")
                    }
                    return try new(.reference, schema: target)
                default: return try new(.json)
                }
            }
        }

        /// The schema that all of some pointers lead to, created if it is missing; nil if they are not pointers, or are
        /// pointers to several schemas.
        func target(
            _ elements: [JSONValue], _ inference: inout SchemaInference
        ) throws(ServerError) -> String? {
            var found: String?
            for element in elements {
                guard let (className, _) = Self.pointer(element), found == nil || found == className else { return nil }
                found = className
            }
            guard let found else { return nil }
            let name = try service.schemaName(found)
            try inference.use(name, title: service.title(ofClass: found))
            return name
        }
    }
#endif
