#if Server
    /// A field of a schema.
    struct SchemaField: Codable, Hashable, Sendable {
        /// What values a field takes.
        enum Kind: String, Codable, Hashable, Sendable {
            case string
            case integer
            case number
            case boolean
            case geoPoint
            /// Values in order.
            case list
            /// The key of an object of another schema.
            case reference
            /// The keys of several, each once.
            case references
            /// Any JSON, as a model declares it; queries ask only whether there is a value.
            case json
        }

        var name: String
        var kind: Kind
        /// The schema that references lead to.
        var schema: String?
        /// What the elements of a list are; nil as long as there were none.
        var element: Kind?
        /// What the values stand for, where that is more than their kind; dialects with types of their own tell by it.
        var format: Format?
        /// The name as a model or a client spells it, where that is another one.
        var title: String?

        /// What values stand for.
        enum Format: String, Codable, Hashable, Sendable {
            /// A point in time: milliseconds since 1970 in an integer.
            case date
            /// Bytes: a string that is the address of a file with them.
            case bytes
            /// A file: a string that is its address.
            case file
            /// Members that are not listed with the object.
            case relation
        }

        /// Whether the value is kept as a JSON text, with the elements in a table of their own to be found by.
        var isCollection: Bool { kind == .list || kind == .references }

        /// The kind in words, for messages.
        var expectation: String {
            switch kind {
            case .list: element.map { "an array whose elements are \($0.plural)" } ?? "an array"
            case .reference: "the id of a \(schema ?? "related object")"
            case .references: "an array of ids of \(schema ?? "related objects")"
            case .string: "a string"
            case .integer: "an integer"
            case .number: "a number"
            case .boolean: "true or false"
            case .geoPoint: "an object with lat and lon"
            case .json: "any value"
            }
        }
    }

    extension SchemaField.Kind {
        fileprivate var plural: String {
            switch self {
            case .integer: "integers"
            case .number: "numbers"
            case .boolean: "true or false"
            default: "strings"
            }
        }

        /// Whether a value can be an element of a list of this kind. A missing element keeps its place.
        func takes(element: JSONValue) -> Bool {
            switch (self, element) {
            case (_, .null), (.string, .string), (.boolean, .boolean), (.integer, .integer), (.number, .integer),
                (.number, .double), (.number, .decimal):
                true
            case (.integer, .double), (.integer, .decimal): !element.hasFraction
            default: false
            }
        }

        /// What kind all elements of a list have.
        /// - Returns: nil if there is none that has a value, or if they have several.
        static func element(of elements: [JSONValue]) -> SchemaField.Kind? {
            let kinds: [SchemaField.Kind] = [.string, .boolean, .integer, .number]
            guard elements.contains(where: { !$0.isNull }) else { return nil }
            return kinds.first { kind in elements.allSatisfy { kind.takes(element: $0) } }
        }
    }

    /// A schema: what the dialect calls an entity.
    struct ServerSchema: Codable, Hashable, Sendable {
        var name: String
        var keyField: String
        /// Whether its objects are accounts.
        var isUser: Bool
        /// The name as a model or a client spells it; nil if nobody has told.
        var title: String?
        /// What the keys are; nil for texts that clients may choose.
        var keyFormat: KeyFormat?
        /// In the order of their first use.
        var fields: [SchemaField] = []

        /// What keys are, although all are kept as texts.
        enum KeyFormat: String, Codable, Hashable, Sendable {
            /// Whole numbers from 1 on, in decimal digits. The server assigns them.
            case number
        }

        /// Whether the server assigns numbers as keys.
        var hasNumberedKeys: Bool { keyFormat == .number }

        /// Whether an object could have a key. Of several ways to write a number, only the usual one is a key.
        func canHaveKey(_ text: String) -> Bool { !hasNumberedKeys || KeyNumber(text) != nil }

        /// Whether a value in a body is the key of an object.
        func isKey(_ value: JSONValue, _ key: String) -> Bool {
            value == .string(key) || hasNumberedKeys && value.integer.map { String($0) } == key
        }

        /// The entity that keeps the objects.
        var entityName: String { "Object_" + name }
        /// The entity that keeps the elements of their collections.
        var elementEntityName: String { "Element_" + name }

        /// A field by name, those that the server keeps itself included.
        func field(_ name: String) -> SchemaField? {
            switch name {
            case keyField, "sm_owner": SchemaField(name: name, kind: .string)
            case "createddate", "lastmoddate": SchemaField(name: name, kind: .integer)
            default: fields.first { $0.name == name }
            }
        }

        /// Whether clients cannot set the field.
        static func isKept(_ name: String) -> Bool {
            name == "createddate" || name == "lastmoddate" || name == "sm_owner"
        }

        /// Why a name cannot be that of a schema or field; nil if it can.
        static func fault(ofName name: String) -> String? {
            let isPlain =
                name.utf8.count <= 64
                && name.utf8.first.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } == true
                && name.utf8.allSatisfy {
                    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "_")
                }
            guard isPlain else {
                return
                    "'\(name.prefix(80))' is not a name: use up to 64 lower-case letters, digits and underscores, a letter first"
            }
            return name.hasPrefix("sm_") ? "names that begin with sm_ are the server's own" : nil
        }
    }

    /// All schemas of a server.
    struct SchemaCatalogue: Codable, Hashable, Sendable {
        /// In the order of their first use, which is that of the tables.
        var schemas: [ServerSchema] = []

        subscript(name: String) -> ServerSchema? { schemas.first { $0.name == name } }

        /// The schema of the objects that a field leads to; nil if it leads to none, or to a schema that is not there.
        func target(of field: SchemaField) -> ServerSchema? { field.schema.flatMap { self[$0] } }

        /// Checks that schemas of a model have the same kind of keys here, since objects cannot get other keys.
        func checkKeys(of declared: SchemaCatalogue) throws(ServerSetupError) {
            for schema in declared.schemas {
                guard let known = self[schema.name], known.keyFormat != schema.keyFormat else { continue }
                throw ServerSetupError(
                    "\(schema.title ?? schema.name): the keys of \(schema.name) are "
                        + (known.hasNumberedKeys
                            ? "numbers in the database, and texts in the model; declare the primary key as an integer64"
                            : "texts in the database, and numbers in the model; declare the primary key as a string")
                        + ", or give the entity another name")
            }
        }

        /// Adds the schemas and fields of another catalogue that are not there yet; what is there stays.
        mutating func merge(_ other: SchemaCatalogue) {
            for schema in other.schemas {
                guard let index = schemas.firstIndex(where: { $0.name == schema.name }) else {
                    schemas.append(schema)
                    continue
                }
                schemas[index].title = schemas[index].title ?? schema.title
                for field in schema.fields {
                    guard let known = schemas[index].fields.firstIndex(where: { $0.name == field.name }) else {
                        if schemas[index].field(field.name) == nil { schemas[index].fields.append(field) }
                        continue
                    }
                    // What values stand for may be known by now.
                    var copy = schemas[index].fields[known]
                    copy.title = copy.title ?? field.title
                    if copy.kind == field.kind { copy.format = copy.format ?? field.format }
                    schemas[index].fields[known] = copy
                }
            }
        }
    }
#endif
