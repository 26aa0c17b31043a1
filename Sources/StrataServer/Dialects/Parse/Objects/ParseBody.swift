#if Server
    import Strata

    /// Reads the fields of an object that is created or changed: values and operations.
    struct ParseBody {
        private let values: ParseValues
        private let service: ParseService
        /// What the writer is told.
        private(set) var body = ObjectBody([:])
        /// The names of the fields whose values the server computes, as the client spells them.
        private(set) var computed: [String] = []

        /// Reads what a body says of an object.
        /// - Parameter inference: The catalogue, which gets new fields in development; nil leaves it as it is.
        /// - Returns: What it says, and the schema with new fields.
        static func read(
            _ members: JSONObject, _ name: String, className: String, _ call: ParseCall, _ scope: DataScope,
            _ service: ParseService
        ) throws(ServerError) -> (ParseBody, ServerSchema) {
            var inference = SchemaInference(catalogue: scope.catalogue, options: service.options)
            if call.caller.isDevelopment {
                try inference.use(name, title: service.title(ofClass: className))
                for (title, value) in members.sorted(by: { $0.name < $1.name }) {
                    try grow(title, value, name, &inference, service)
                }
            }
            let schema = try scope.schema(name, in: inference)
            var reader = ParseBody(service)
            for (title, value) in members.sorted(by: { $0.name < $1.name }) {
                try reader.read(title, value, schema)
            }
            return (reader, schema)
        }

        private init(_ service: ParseService) {
            self.service = service
            values = ParseValues(service: service)
        }

        // MARK: New fields

        private static func grow(
            _ title: String, _ value: JSONValue, _ name: String, _ inference: inout SchemaInference,
            _ service: ParseService
        ) throws(ServerError) {
            guard let place = inference.catalogue.schemas.firstIndex(where: { $0.name == name }) else { return }
            let schema = inference.catalogue.schemas[place]
            if ParseField.reserved.contains(title) || ParseField.system(title, schema) != nil { return }
            if schema.isUser, ["username", "password", "sm_roles"].contains(title) { return }
            let values = ParseValues(service: service)
            let names = NativeNames(schema: schema)
            try inference.checkPassword(FieldNames.field(of: title), in: name)
            guard let known = names.field(title) else {
                for (value, isRelation) in examples(value) {
                    guard var field = try values.field(title, of: value, names, &inference) else { continue }
                    if isRelation { field.format = .relation }
                    return try inference.add(field, to: name)
                }
                return
            }
            // A list that was empty so far may hold pointers, or elements of any one kind.
            guard known.kind == .list, known.element == nil,
                let at = schema.fields.firstIndex(where: { $0.name == known.name })
            else { return }
            for (value, _) in examples(value) {
                guard let elements = value.elements, !elements.isEmpty else { continue }
                if let target = try values.target(elements, &inference) {
                    inference.catalogue.schemas[place].fields[at].kind = .references
                    inference.catalogue.schemas[place].fields[at].schema = target
                } else if let kind = SchemaField.Kind.element(of: elements) {
                    inference.catalogue.schemas[place].fields[at].element = kind == .integer ? .number : kind
                }
                return
            }
        }

        /// The values that an operation is about, or the value itself.
        private static func examples(_ value: JSONValue) -> [(value: JSONValue, isRelation: Bool)] {
            guard let operation = value["__op"]?.string else { return [(value, false)] }
            switch operation {
            case "Increment", "Decrement": return value["amount"].map { [($0, false)] } ?? []
            case "Add", "AddUnique", "Remove": return value["objects"].map { [($0, false)] } ?? []
            case "AddRelation", "RemoveRelation": return value["objects"].map { [($0, true)] } ?? []
            case "Batch": return (value["ops"]?.elements ?? []).flatMap(examples)
            default: return []
            }
        }

        // MARK: Reading

        private mutating func read(
            _ title: String, _ value: JSONValue, _ schema: ServerSchema
        ) throws(ServerError) {
            // The server's own are sent back by clients that send whole objects.
            if ["createdAt", "updatedAt", "sessionToken", "emailVerified", "ACL", "__type", "className"].contains(title)
            {
                return
            }
            // The roles that access rules ask for are the master key's to give; the writer looks at that.
            if title == "sm_roles", schema.isUser {
                body.values[title] = value
                return
            }
            if title == "objectId" {
                body.values[schema.keyField] = value
                return
            }
            guard let field = ParseField.find(title, schema) else {
                // Nothing is cleared where nothing is.
                if value.isNull || value["__op"]?.string == "Delete" { return }
                throw ServerError(
                    400, .noField, "The class \(service.className(schema)) has no field \(title.prefix(80)).")
            }
            guard let operation = value["__op"] else {
                body.values[field.name] = try fitting(value, field, schema)
                return
            }
            guard let operation = operation.string else { throw malformed(title) }
            try read(operation, value, title, field, schema, depth: 0)
        }

        private mutating func read(
            _ operation: String, _ value: JSONValue, _ title: String, _ field: SchemaField, _ schema: ServerSchema,
            depth: Int
        ) throws(ServerError) {
            switch operation {
            case "Delete": body.values[field.name] = .null
            case "Increment", "Decrement":
                guard let amount = value["amount"], amount.double != nil else { throw malformed(title) }
                guard operation == "Decrement" else { return add(.increment(amount), title, field) }
                guard
                    let negative = amount.integer.map({ 0 &- $0 }).map(JSONValue.integer)
                        ?? amount.double.map({ .double(-$0) })
                else { throw malformed(title) }
                add(.increment(negative), title, field)
            case "Add", "AddUnique", "Remove", "AddRelation", "RemoveRelation":
                guard let elements = value["objects"]?.elements else { throw malformed(title) }
                guard let list = try values.list(elements, for: field) else {
                    throw ObjectWriter.typeFault(field, schema, "an array of other objects", isNew: false)
                }
                switch operation {
                case "Add": add(field.kind == .references ? .addUnique(list) : .add(list), title, field)
                case "AddUnique", "AddRelation": add(.addUnique(list), title, field)
                default: add(.remove(list), title, field)
                }
            case "Batch":
                guard depth == 0, let parts = value["ops"]?.elements else { throw malformed(title) }
                for part in parts {
                    guard let operation = part["__op"]?.string else { throw malformed(title) }
                    try read(operation, part, title, field, schema, depth: 1)
                }
            default: throw malformed(title)
            }
        }

        private mutating func add(_ change: FieldChange, _ title: String, _ field: SchemaField) {
            body.changes.append((field.name, change))
            if field.format != .relation, !computed.contains(title) { computed.append(title) }
        }

        private func fitting(
            _ value: JSONValue, _ field: SchemaField, _ schema: ServerSchema
        ) throws(ServerError) -> JSONValue {
            if let fitting = try values.value(value, for: field) { return fitting }
            throw ObjectWriter.typeFault(field, schema, value.description.prefix(80).description, isNew: false)
        }

        private func malformed(_ title: String) -> ServerError {
            ParseCode.incorrectType.error(
                "\(title.prefix(80)): the server does not know the operation, or it lacks a part.")
        }
    }
#endif
