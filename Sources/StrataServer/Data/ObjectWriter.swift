#if Server
    import Foundation
    import Strata

    /// Creates, changes and deletes objects within one write.
    final class ObjectWriter {
        let scope: DataScope
        let principal: Principal
        let options: ServerOptions
        /// The hashes of the passwords that the body holds, made before the write, because they take time.
        let passwords: [String: String]
        /// The objects whose bodies are being worked on: a nested body that names one refers to it.
        private var underWay: Set<[String]> = []
        /// How many objects the request may still touch, in all of its parts.
        private let budget: Budget
        /// The address that files are answered under.
        let files: FileVault
        /// What a body asks for.
        private let reading: @Sendable (JSONObject) -> ObjectBody

        private final class Budget {
            var rest: Int
            init(_ rest: Int) { self.rest = rest }
        }

        convenience init(
            scope: DataScope, principal: Principal, options: ServerOptions, passwords: [String: String] = [:],
            files: FileVault, reading: @escaping @Sendable (JSONObject) -> ObjectBody = { ObjectBody($0) }
        ) {
            self.init(
                scope, principal, options, passwords, files, reading, Budget(options.limits.requests.objects))
        }

        private init(
            _ scope: DataScope, _ principal: Principal, _ options: ServerOptions, _ passwords: [String: String],
            _ files: FileVault, _ reading: @escaping @Sendable (JSONObject) -> ObjectBody, _ budget: Budget
        ) {
            self.scope = scope
            self.principal = principal
            self.options = options
            self.passwords = passwords
            self.files = files
            self.reading = reading
            self.budget = budget
        }

        /// The same in another scope.
        func within(_ scope: DataScope) -> ObjectWriter {
            ObjectWriter(scope, principal, options, passwords, files, reading, budget)
        }

        private func spend() throws(ServerError) {
            budget.rest -= 1
            guard budget.rest >= 0 else {
                throw .badRequest("A request may touch \(options.limits.requests.objects) objects; send several.")
            }
        }

        /// The objects with which an operation is allowed.
        func grant(
            _ operation: AccessRules.Operation, _ schema: ServerSchema
        ) throws(ServerError) -> AccessGrant {
            let level = options.access.level(operation, schema: schema.name, isUser: schema.isUser)
            return try principal.grant(level, "\(operation.rawValue) \(schema.name)")
        }

        /// Whether an operation is allowed on an object.
        /// - Throws: ``ServerError`` if it is not allowed on any.
        func may(
            _ operation: AccessRules.Operation, _ schema: ServerSchema, _ object: ManagedObject
        ) throws(ServerError) -> Bool {
            try grant(operation, schema).includes(object, schema, scope)
        }

        /// Checks whether an operation is allowed on an object. To others it does not exist.
        private func check(
            _ operation: AccessRules.Operation, _ schema: ServerSchema, _ object: ManagedObject
        ) throws(ServerError) {
            guard try may(operation, schema, object) else {
                throw .noObject(schema.name, object.text(schema.keyField) ?? "", operation)
            }
        }

        /// What an answer to a change shows of an object: all of it to those who may read it.
        func shown(_ object: ManagedObject, _ schema: ServerSchema) -> JSONValue {
            do throws(ServerError) {
                try check(.read, schema, object)
                return .object(ObjectReader.members(object, schema))
            } catch {
                return .object(ObjectReader.outline(object, schema))
            }
        }

        // MARK: Creating and changing

        /// Makes an object of a body, and of what is nested in it.
        /// - Parameter isRestored: Whether the object was there before, and comes back with its key.
        /// - Returns: The object.
        func create(
            _ members: JSONObject, _ schema: ServerSchema, relations: RelationTree, isRestored: Bool = false
        ) throws(ServerError) -> ManagedObject {
            _ = try grant(.create, schema)
            let given = try key(of: members, schema)
            if let given, try scope.object(schema, given) != nil {
                throw ServerError(409, .duplicateKey, "Duplicate key for schema \(schema.name): \"\(given)\"")
            }
            let number = schema.hasNumberedKeys ? try self.number(given, schema, isRestored: isRestored) : nil
            let id = number?.text ?? given ?? Self.newKey()
            // A server of the application may make an account that nobody can log in to yet.
            if let accounts = options.accounts(schema.name), members[accounts.passwordField] == nil,
                !principal.hasPrivateKey
            {
                throw .badRequest("An account needs a \(accounts.passwordField).")
            }
            try spend()
            let object = try scope.insert(schema.entityName)
            object[schema.keyField] = id
            if let number { object[KeyNumber.field] = number.value }
            scope.register(object, id)
            let time = scope.stamp()
            object["createddate"] = time
            object["lastmoddate"] = time
            object["sm_owner"] = schema.isUser ? schema.name + "/" + id : principal.account?.owner
            let sequence = scope.nextSequence(in: schema)
            object["sm_sequence"] = sequence
            object["sm_created"] = sequence
            underWay.insert([schema.name, id])
            defer { underWay.remove([schema.name, id]) }
            try write(members, to: object, schema, relations: relations)
            try scope.claim(object, schema)
            if let stone = try scope.find("ServerTombstone", ("schema", schema.name), ("identifier", id)) {
                object["sm_deleted"] = stone.whole("sequence")
                scope.delete(stone, schema.name, id)
            }
            return object
        }

        /// Changes an object by a body. What the body does not name stays as it is.
        func update(
            _ object: ManagedObject, by members: JSONObject, _ schema: ServerSchema, relations: RelationTree
        ) throws(ServerError) {
            try check(.update, schema, object)
            try spend()
            let id = object.text(schema.keyField) ?? ""
            if let given = members[schema.keyField], !schema.isKey(given, id) {
                throw Self.keyIsFixed(schema)
            }
            underWay.insert([schema.name, id])
            defer { underWay.remove([schema.name, id]) }
            touch(object, schema)
            let before = scope.uniques.values(of: object, schema)
            try write(members, to: object, schema, relations: relations)
            try scope.claim(object, schema, before: before)
        }

        /// Writes what the body says into an object that has just been made.
        func fill(_ object: ManagedObject, _ schema: ServerSchema) throws(ServerError) {
            try write([:], to: object, schema, relations: RelationTree())
        }

        /// Counts a change of an object: its time grows, whatever the clock says.
        func touch(_ object: ManagedObject, _ schema: ServerSchema) {
            object["lastmoddate"] = scope.stamp(after: object.whole("lastmoddate") ?? 0)
            object["sm_sequence"] = scope.nextSequence(in: schema)
        }

        private func key(of members: JSONObject, _ schema: ServerSchema) throws(ServerError) -> String? {
            guard let value = members[schema.keyField], value != .null else {
                guard !schema.isUser else { throw .badRequest("An account needs a \(schema.keyField).") }
                return nil
            }
            // Ids that were numbers in somebody's hands are the text that they would be in a path.
            let text = value.string ?? value.integer.map { String($0) }
            guard let text, !text.isEmpty, text.utf8.count <= 512 else {
                throw .badRequest("\(schema.keyField) takes a string of 1 to 512 bytes.")
            }
            guard !schema.isUser || !DialectRegistry.isReservedAccountName(text) else {
                throw .badRequest("\(text) is the name of a request; an account needs another.")
            }
            return text
        }

        /// The number of a new object: the next one, unless the application itself brings objects with their numbers.
        private func number(
            _ given: String?, _ schema: ServerSchema, isRestored: Bool
        ) throws(ServerError) -> KeyNumber {
            guard let given else { return try scope.nextNumber(in: schema) }
            guard let number = KeyNumber(given), number.value <= KeyNumber.largestChosen || isRestored else {
                throw .badRequest(
                    "\(schema.keyField) takes a whole number from 1 to \(KeyNumber.largestChosen); leave it out to get the next one."
                )
            }
            guard isRestored || principal.hasPrivateKey else {
                throw .badRequest("The server assigns the keys of \(schema.name); leave \(schema.keyField) out.")
            }
            try scope.reserve(number, in: schema)
            return number
        }

        /// 32 lower-case hexadecimal digits.
        static func newKey() -> String {
            UUID().uuidString.lowercased().replacing("-", with: "")
        }

        private func write(
            _ members: JSONObject, to object: ManagedObject, _ schema: ServerSchema, relations: RelationTree
        ) throws(ServerError) {
            let body = reading(members)
            for (name, value) in body.values.sorted(by: { $0.name < $1.name }) {
                if ServerSchema.isKept(name) || name == schema.keyField { continue }
                if name == "sm_roles", schema.isUser, principal.hasPrivateKey {
                    try setRoles(value, object)
                    continue
                }
                if name == options.accounts(schema.name)?.passwordField {
                    // A change has been checked to hold the password that the account has.
                    guard object.isInserted, object.text("sm_password") == nil else { continue }
                    guard let hash = value.string.flatMap({ passwords[$0] }) else {
                        throw .badRequest("\(name) takes a string.")
                    }
                    object["sm_password"] = hash
                    continue
                }
                guard let field = schema.field(name) else { throw .noField(schema, name) }
                try set(object, field, value, schema, relation: relations.fields[name])
            }
            for (name, change) in body.changes { try apply(change, to: object, name, schema) }
        }

        static func keyIsFixed(_ schema: ServerSchema) -> ServerError {
            ServerError(400, .fixedKey, "\(schema.name).\(schema.keyField) cannot change.")
        }

        /// What roles an account has is for holders of the private key to say.
        private func setRoles(_ value: JSONValue, _ object: ManagedObject) throws(ServerError) {
            let roles = value.elements ?? (value.isNull ? [] : nil)
            guard let roles, roles.count <= 100, roles.allSatisfy({ $0.string?.isEmpty == false }) else {
                throw .badRequest("sm_roles takes an array of up to 100 names.")
            }
            object["sm_roles"] = try JSONValue.array(Self.unique(roles)).stored()
        }

        // MARK: Values

        private func set(
            _ object: ManagedObject, _ field: SchemaField, _ value: JSONValue, _ schema: ServerSchema,
            relation: (schema: String, next: RelationTree)?
        ) throws(ServerError) {
            func refuse() -> ServerError {
                Self.typeFault(field, schema, "\(value.typeName)", isNew: object.isInserted)
            }
            if value == .null {
                try setText(object, field, nil)
                object[field.name] = nil
                if field.isCollection { try index(object, field, [], schema) }
                return
            }
            switch field.kind {
            case .string:
                guard let text = value.string else { throw refuse() }
                try setText(object, field, try files.replaceContent(text, scope: scope))
            case .integer:
                guard let number = value.integer else { throw refuse() }
                object[field.name] = number
            case .number:
                guard let number = value.double else { throw refuse() }
                object[field.name] = number
            case .boolean:
                guard let flag = value.boolean else { throw refuse() }
                object[field.name] = flag
            case .geoPoint:
                guard let latitude = value["lat"]?.double, let longitude = value["lon"]?.double,
                    (-90...90).contains(latitude), (-180..<180).contains(longitude)
                else {
                    throw .badRequest("\(field.name) takes lat from -90 to 90 and lon from -180 up to 180.")
                }
                object[field.name] = GeoPoint(latitude: latitude, longitude: longitude)
            case .list:
                guard let elements = value.elements else { throw refuse() }
                try check(elements: elements, of: field, schema, isNew: object.isInserted)
                try setElements(object, field, elements, schema)
            case .json:
                object[field.name] = try value.stored()
            case .reference:
                object[field.name] = try reference(value, field, relation, refuse())
            case .references:
                guard let elements = value.elements else { throw refuse() }
                var keys: [JSONValue] = []
                for element in elements { keys.append(.string(try reference(element, field, relation, refuse()))) }
                try setElements(object, field, Self.unique(keys), schema)
            }
        }

        /// Sets a text, and counts the fields that hold the URL of a file.
        private func setText(_ object: ManagedObject, _ field: SchemaField, _ text: String?) throws(ServerError) {
            guard field.kind == .string else { return }
            let old = object.text(field.name)
            guard old != text else { return }
            if let text { try files.retain(text, scope: scope) }
            if let old { try files.release(old, scope: scope) }
            object[field.name] = text
        }

        /// The key that a reference leads to.
        private func reference(
            _ value: JSONValue, _ field: SchemaField, _ relation: (schema: String, next: RelationTree)?,
            _ refusal: @autoclosure () -> ServerError
        ) throws(ServerError) -> String {
            let key = try target(value, field, relation, refusal())
            guard canHold([.string(key)], field) else { throw refusal() }
            return key
        }

        /// The key of a value. A nested body is created, or changes the object that has its key.
        private func target(
            _ value: JSONValue, _ field: SchemaField, _ relation: (schema: String, next: RelationTree)?,
            _ refusal: @autoclosure () -> ServerError
        ) throws(ServerError) -> String {
            if let key = value.string ?? value.integer.map({ String($0) }) { return key }
            guard let members = value.members else { throw refusal() }
            guard let relation, let schema = scope.catalogue[relation.schema] else {
                throw .badRequest(
                    "\(field.name) holds an object of a schema that the request does not name; send its key, or list its schema."
                )
            }
            guard let id = try key(of: members, schema) else {
                return try create(members, schema, relations: relation.next).text(schema.keyField) ?? ""
            }
            if members.count == 1 || underWay.contains([schema.name, id]) { return id }
            if let object = try scope.object(schema, id) {
                try update(object, by: members, schema, relations: relation.next)
            } else {
                _ = try create(members, schema, relations: relation.next)
            }
            return id
        }

        /// Whether values could be the keys of objects that a field leads to. These need not exist.
        private func canHold(_ keys: [JSONValue], _ field: SchemaField) -> Bool {
            guard let target = scope.catalogue.target(of: field), target.hasNumberedKeys else { return true }
            return keys.allSatisfy { target.canHaveKey($0.string ?? $0.description) }
        }

        static func typeFault(
            _ field: SchemaField, _ schema: ServerSchema, _ found: String, isNew: Bool
        ) -> ServerError {
            let path = "\(schema.name).\(field.name)"
            return ServerError(
                400, .wrongType(path: path, isNew: isNew), "\(path) takes \(field.expectation), not \(found).")
        }

        /// Checks the elements of a list: all are of the kind that the first ones had. Those of a relationship are keys.
        func check(
            elements: [JSONValue], of field: SchemaField, _ schema: ServerSchema, isNew: Bool = false
        ) throws(ServerError) {
            guard field.isCollection else { return }
            let isFine =
                field.kind == .references
                ? canHold(elements, field)
                : field.element.map { kind in elements.allSatisfy { kind.takes(element: $0) } }
                    ?? elements.allSatisfy { $0.members == nil && $0.elements == nil }
            guard isFine else {
                throw Self.typeFault(field, schema, "\(JSONValue.array(elements).description.prefix(80))", isNew: isNew)
            }
        }

        static func unique(_ elements: [JSONValue]) -> [JSONValue] {
            var seen: Set<JSONValue> = []
            return elements.filter { seen.insert($0).inserted }
        }

        /// Sets a collection, and the rows by which its elements are found.
        func setElements(
            _ object: ManagedObject, _ field: SchemaField, _ elements: [JSONValue], _ schema: ServerSchema
        ) throws(ServerError) {
            guard elements.count <= options.limits.requests.objects else {
                throw .badRequest("\(field.name) may hold \(options.limits.requests.objects) values.")
            }
            let elements = elements.map(\.withPlainNumbers)
            object[field.name] = try JSONValue.array(elements).stored()
            try index(object, field, elements, schema)
        }

        private func index(
            _ object: ManagedObject, _ field: SchemaField, _ elements: [JSONValue], _ schema: ServerSchema
        ) throws(ServerError) {
            var wanted: Set<JSONValue> = []
            for element in elements {
                switch element {
                case .string: wanted.insert(element)
                case .integer, .double, .decimal: if let number = element.double { wanted.insert(.double(number)) }
                case .boolean(let flag): wanted.insert(.string(String(flag)))
                case .null, .array, .object: break
                }
            }
            if !object.isInserted {
                for row in object["sm_elements"] as? Set<ManagedObject> ?? [] where row.text("field") == field.name {
                    let value =
                        row.text("text").map(JSONValue.string) ?? (row["number"] as? Double).map(JSONValue.double)
                    if let value, wanted.remove(value) == nil { scope.context.delete(row) }
                }
            }
            for value in wanted {
                let row = try scope.insert(schema.elementEntityName)
                row["field"] = field.name
                row["text"] = value.string
                row["number"] = value.double
                row["owner"] = object
            }
        }

        // MARK: Deleting

        /// Deletes an object and leaves a mark for clients that ask what changed.
        func delete(_ object: ManagedObject, _ schema: ServerSchema) throws(ServerError) {
            try check(.delete, schema, object)
            try spend()
            let id = object.text(schema.keyField) ?? ""
            let stone = try scope.insert("ServerTombstone")
            stone["schema"] = schema.name
            stone["identifier"] = id
            scope.register(stone, schema.name, id)
            stone["owner"] = object.text("sm_owner")
            stone["sequence"] = scope.nextSequence(in: schema)
            stone["created"] = object.whole("sm_created")
            stone["earlier"] = object.whole("sm_deleted")
            stone["deleted"] = scope.stamp(after: object.whole("lastmoddate") ?? 0)
            if options.keepsDeletedContent, !schema.isUser {
                stone["content"] = try JSONValue.object(ObjectReader.members(object, schema)).stored()
            }
            scope.leavesTombstone(options.storage)
            if schema.isUser {
                scope.endsSessions()
                for entity in ["ServerSession", "ServerLink"] {
                    for row in try scope.all(entity, ("schema", .string(schema.name)), ("user", .string(id))) {
                        scope.context.delete(row)
                    }
                }
            }
            scope.release(object, schema)
            for field in schema.fields { try setText(object, field, nil) }
            scope.delete(object, id)
        }
    }
#endif
