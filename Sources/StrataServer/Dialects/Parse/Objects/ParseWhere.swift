#if Server
    import Foundation
    import Strata

    /// Creates predicates from the conditions of a query. It lives in one transaction, since sub-queries run before the
    /// query that contains them.
    struct ParseWhere {
        let service: ParseService
        let scope: DataScope
        let caller: Caller
        let schema: ServerSchema
        /// How many conditions there may still be, in all levels.
        private var rest: Int
        /// Whether a condition puts the nearest first.
        private(set) var isNearest = false

        init(_ service: ParseService, _ scope: DataScope, _ caller: Caller, _ schema: ServerSchema, rest: Int? = nil) {
            self.service = service
            self.scope = scope
            self.caller = caller
            self.schema = schema
            self.rest = rest ?? service.options.limits.requests.conditions
        }

        /// The predicate of a condition; nil if it is empty.
        mutating func predicate(_ condition: JSONObject) throws(ServerError) -> FetchPredicate? {
            var parts: [FetchPredicate] = []
            for (key, value) in condition {
                try spend()
                switch key {
                case "$or", "$and", "$nor": parts.append(try group(key, value))
                case "$relatedTo": parts.append(try relatedTo(value))
                default:
                    guard !key.hasPrefix("$") else { throw Self.fault("\(key.prefix(80)) is not a condition") }
                    parts.append(try field(key, value))
                }
            }
            return parts.isEmpty ? nil : parts.count == 1 ? parts[0] : .and(parts)
        }

        private mutating func spend(_ count: Int = 1) throws(ServerError) {
            rest -= count
            guard rest >= 0 else {
                throw Self.fault("there are more than \(service.options.limits.requests.conditions) conditions")
            }
        }

        static func fault(_ message: String) -> ServerError { ParseCode.invalidQuery.error("The query: \(message).") }

        private mutating func group(_ key: String, _ value: JSONValue) throws(ServerError) -> FetchPredicate {
            guard let members = value.elements, !members.isEmpty else { throw Self.fault("\(key) takes conditions") }
            var parts: [FetchPredicate] = []
            for member in members {
                guard let condition = member.members else { throw Self.fault("\(key) takes conditions") }
                parts.append(try predicate(condition) ?? .constant(true))
            }
            switch key {
            case "$or": return .or(parts)
            case "$and": return .and(parts)
            default: return .not(.or(parts))
            }
        }

        /// The objects in a relation of another one.
        private mutating func relatedTo(_ value: JSONValue) throws(ServerError) -> FetchPredicate {
            guard let pointer = value["object"].flatMap(ParseValues.pointer), let key = value["key"]?.string else {
                throw Self.fault("$relatedTo takes object and key")
            }
            let name = try service.schemaName(pointer.className)
            let grant = try service.server.precheck(.read, name, caller)
            guard let owners = scope.catalogue[name], let field = ParseField.find(key, owners),
                field.kind == .references, field.schema == schema.name,
                let object = try scope.object(owners, pointer.id), try grant.includes(object, owners, scope)
            else { return .constant(false) }
            let keys = (ObjectReader.elements(object, field) ?? []).compactMap(\.string)
            return .comparison(.keyPath([schema.keyField]), .isIn, .constant(.list(keys.map(Value.string))), [])
        }

        // MARK: Fields

        private mutating func field(_ key: String, _ value: JSONValue) throws(ServerError) -> FetchPredicate {
            let operators = value.members.flatMap { members in
                members.contains { $0.name.hasPrefix("$") } ? members : nil
            }
            if schema.isUser, key == "username" { return try login(operators ?? ["$eq": value]) }
            guard let field = ParseField.find(key, schema) else {
                return try nothing(key, operators ?? ["$eq": value])
            }
            guard let operators else { return try condition(field, "$eq", value, [:]) }
            var parts: [FetchPredicate] = []
            for (name, operand) in operators {
                try spend()
                parts.append(try condition(field, name, operand, operators))
            }
            return parts.count == 1 ? parts[0] : .and(parts)
        }

        /// A condition on a field that no object has a value for, or on a member of a dictionary.
        private mutating func nothing(_ key: String, _ operators: JSONObject) throws(ServerError) -> FetchPredicate {
            if let point = key.firstIndex(of: "."), let field = ParseField.find(String(key[..<point]), schema),
                field.kind == .json, operators.count == 1, let value = operators["$eq"]
            {
                let path = key[key.index(after: point)...].split(separator: ".").map(String.init)
                return try scan(field) { json in
                    var json: JSONValue? = json
                    for name in path { json = json?[name] }
                    return json?.withPlainNumbers == value.withPlainNumbers
                }
            }
            guard caller.isDevelopment || ParseField.reserved.contains(key) else { throw .noField(schema, key) }
            let holds = operators.allSatisfy { name, value in
                switch name {
                case "$eq": value.isNull
                case "$ne": !value.isNull
                case "$nin", "$notInQuery", "$dontSelect": true
                case "$exists": value == false
                default: false
                }
            }
            return .constant(holds)
        }

        /// Conditions on the name that somebody logs in with: the primary key, or another one.
        private mutating func login(_ operators: JSONObject) throws(ServerError) -> FetchPredicate {
            let (key, other) = (FetchExpression.keyPath([schema.keyField]), FetchExpression.keyPath(["sm_login"]))
            if operators.count == 1, let name = operators["$eq"]?.string {
                return .comparison(other, .equal, .constant(.string(name)), [])
                    || (.comparison(key, .equal, .constant(.string(name)), [])
                        && .comparison(other, .equal, .constant(.null), []))
            }
            let isNamed = FetchPredicate.comparison(other, .notEqual, .constant(.null), [])
            let field = SchemaField(name: "sm_login", kind: .string)
            let byKey = SchemaField(name: schema.keyField, kind: .string)
            var parts: [FetchPredicate] = []
            for (name, operand) in operators {
                try spend()
                parts.append(
                    .or([
                        .and([isNamed, try condition(field, name, operand, operators)]),
                        .and([.not(isNamed), try condition(byKey, name, operand, operators)]),
                    ]))
            }
            return .and(parts)
        }

        private mutating func condition(
            _ field: SchemaField, _ name: String, _ operand: JSONValue, _ all: JSONObject
        ) throws(ServerError) -> FetchPredicate {
            let path = FetchExpression.keyPath([field.name])
            let isThere = FetchPredicate.comparison(path, .notEqual, .constant(.null), [])
            switch name {
            case "$eq": return try equal(field, operand)
            case "$ne": return .not(try equal(field, operand))
            case "$in", "$nin":
                guard let elements = operand.elements else { throw Self.fault("\(name) takes an array") }
                try spend(elements.count)
                let found = try isIn(field, elements)
                return name == "$in" ? found : .not(found)
            case "$all":
                guard let elements = operand.elements else { throw Self.fault("$all takes an array") }
                try spend(elements.count)
                var parts: [FetchPredicate] = []
                for element in elements { parts.append(try equal(field, element)) }
                return parts.isEmpty ? .constant(false) : .and(parts)
            case "$exists":
                guard let flag = operand.boolean else { throw Self.fault("$exists takes true or false") }
                return flag ? isThere : .not(isThere)
            case "$lt": return try order(field, .less, operand)
            case "$lte": return try order(field, .lessOrEqual, operand)
            case "$gt": return try order(field, .greater, operand)
            case "$gte": return try order(field, .greaterOrEqual, operand)
            case "$size":
                guard let count = operand.integer else { throw Self.fault("$size takes a whole number") }
                return try scan(field) { Int64($0.elements?.count ?? -1) == count }
            case "$regex": return try ParsePattern(operand, all["$options"]).predicate(path, field)
            case "$options", "$maxDistance", "$maxDistanceInRadians", "$maxDistanceInMiles", "$maxDistanceInKilometers":
                return .constant(true)
            case "$nearSphere", "$within", "$geoWithin":
                let geo = try ParsePlace(field, operand, all).predicate(name)
                if name == "$nearSphere" { isNearest = true }
                return geo
            case "$inQuery", "$notInQuery":
                let found = try inQuery(field, operand)
                return name == "$inQuery" ? found : .not(found)
            case "$select", "$dontSelect":
                let found = try select(field, operand)
                return name == "$select" ? found : .not(found)
            default: throw Self.fault("\(name.prefix(80)) is not an operator that the server knows")
            }
        }

        // MARK: Values

        /// A value as the store has it; nil if no value of the field can be equal to it.
        private func stored(_ json: JSONValue, _ field: SchemaField) throws(ServerError) -> Value? {
            guard let value = try ParseValues(service: service).value(json, for: field) else { return nil }
            switch value {
            case .null: return .null
            case .boolean(let flag): return .boolean(flag)
            case .integer(let number): return .integer(number)
            case .double(let number): return .double(number)
            case .decimal: return value.double.map(Value.double)
            case .string(let text): return .string(text)
            case .array, .object:
                if field.kind == .geoPoint, let point = try ParseValues.point(json) { return .geoPoint(point) }
                return .string(try value.withPlainNumbers.stored())
            }
        }

        private func equal(_ field: SchemaField, _ json: JSONValue) throws(ServerError) -> FetchPredicate {
            let path = FetchExpression.keyPath([field.name])
            if json.isNull { return .comparison(path, .equal, .constant(.null), []) }
            guard field.format != .bytes else { throw Self.fault("bytes are not compared; ask whether there are some") }
            if field.isCollection, json.elements == nil { return try isIn(field, [json]) }
            if field.kind == .integer, let number = json.double, field.format == nil {
                return .comparison(path, .equal, .constant(.double(number)), [])
            }
            guard let value = try stored(json, field) else { return .constant(false) }
            return .comparison(path, .equal, .constant(value), [])
        }

        private func isIn(_ field: SchemaField, _ elements: [JSONValue]) throws(ServerError) -> FetchPredicate {
            guard field.isCollection else {
                var values: [Value] = []
                for element in elements where !element.isNull {
                    guard field.format != .bytes else { throw Self.fault("bytes are not compared") }
                    if let value = try stored(element, field) { values.append(value) }
                }
                let path = FetchExpression.keyPath([field.name])
                let found = FetchPredicate.comparison(path, .isIn, .constant(.list(values)), [])
                let withNull = elements.contains(where: \.isNull)
                return withNull ? found || .comparison(path, .equal, .constant(.null), []) : found
            }
            var texts: [Value] = []
            var numbers: [Double] = []
            for element in elements {
                if field.kind == .references {
                    let keys = try ParseValues(service: service).list([element], for: field) ?? []
                    texts += keys.compactMap(\.string).map(Value.string)
                } else if let text = element.string {
                    texts.append(.string(text))
                } else if let flag = element.boolean {
                    texts.append(.string(String(flag)))
                } else if let number = element.double {
                    numbers.append(number)
                }
            }
            return CollectionMatch.holding(texts, numbers: numbers, in: field)
        }

        private func order(
            _ field: SchemaField, _ comparison: ComparisonOperator, _ json: JSONValue
        ) throws(ServerError) -> FetchPredicate {
            let isOrdered: Bool
            switch field.kind {
            case .string, .integer, .number, .reference: isOrdered = field.format != .bytes
            default: isOrdered = false
            }
            guard isOrdered, json.string != nil || json.double != nil || ParseValues.type(json) == "Date" else {
                throw Self.fault("only numbers, text and dates are less or greater than others")
            }
            let path = FetchExpression.keyPath([field.name])
            if field.kind == .integer, field.format == nil, let number = json.double {
                return .comparison(path, comparison, .constant(.double(number)), [])
            }
            guard let value = try stored(json, field) else { return .constant(false) }
            return .comparison(path, comparison, .constant(value), [])
        }

        // MARK: Sub-queries

        /// The objects whose JSON in a field is as a closure says, which takes reading all that have any.
        private func scan(
            _ field: SchemaField, _ holds: (JSONValue) -> Bool
        ) throws(ServerError) -> FetchPredicate {
            guard field.isCollection || field.kind == .json else { return .constant(false) }
            let found = try scope.fetchLazily(
                FetchRequest(
                    entity: schema.entityName,
                    where: .comparison(.keyPath([field.name]), .notEqual, .constant(.null), [])))
            guard found.count <= service.options.limits.answers.objects else { throw tooMany() }
            var keys: [Value] = []
            for object in found where holds(ObjectReader.value(object, field)) {
                try scope.checkCancellation()
                if let key = object.text(schema.keyField) { keys.append(.string(key)) }
            }
            try scope.checkReading()
            guard keys.count <= service.options.limits.requests.objects else { throw tooMany() }
            return .comparison(.keyPath([schema.keyField]), .isIn, .constant(.list(keys)), [])
        }

        private func tooMany() -> ServerError {
            ParseCode.tooMany.error("A part of the query finds too many objects; narrow it.")
        }

        /// The objects that a sub-query finds, and their schema; nil if there is none yet.
        private mutating func objects(
            of query: JSONValue
        ) throws(ServerError) -> (schema: ServerSchema, objects: [ManagedObject])? {
            guard let className = query["className"]?.string else {
                throw Self.fault("a sub-query takes className and where")
            }
            let name = try service.schemaName(className)
            let grant = try service.server.precheck(.read, name, caller)
            guard let target = scope.catalogue[name] else {
                guard caller.isDevelopment else { throw .noSchema(name) }
                return nil
            }
            var inner = ParseWhere(service, scope, caller, target, rest: rest)
            var request = FetchRequest<ManagedObject>(entity: target.entityName)
            request.predicate = try inner.predicate(query["where"]?.members ?? [:])
            rest = inner.rest
            if let own = try grant.predicate(target, scope) {
                request.predicate = request.predicate.map { own && $0 } ?? own
            }
            request.sorts = try service.sorts(query["order"]?.string, target, isForgiving: caller.isDevelopment)
            request.offset = max(0, query["skip"]?.integer.flatMap { Int(exactly: $0) } ?? 0)
            let most = service.options.limits.requests.objects
            let limit = query["limit"]?.integer.flatMap { Int(exactly: $0) }.flatMap { $0 >= 0 ? $0 : nil }
            request.limit = min(limit ?? .max, most + 1)
            let objects = try scope.fetch(request)
            guard objects.count <= most else { throw tooMany() }
            return (target, objects)
        }

        private mutating func inQuery(_ field: SchemaField, _ query: JSONValue) throws(ServerError) -> FetchPredicate {
            guard let (target, objects) = try objects(of: query), field.schema == target.name else {
                return .constant(false)
            }
            let keys = objects.compactMap { $0.text(target.keyField) }.map(Value.string)
            return field.isCollection
                ? CollectionMatch.holding(keys, in: field)
                : .comparison(.keyPath([field.name]), .isIn, .constant(.list(keys)), [])
        }

        private mutating func select(_ field: SchemaField, _ value: JSONValue) throws(ServerError) -> FetchPredicate {
            guard let query = value["query"], let key = (value["key"] ?? query["key"])?.string else {
                throw Self.fault("$select takes key and query")
            }
            guard let (target, objects) = try objects(of: query) else { return .constant(false) }
            var values: [JSONValue] = []
            if target.isUser, key == "username" {
                values = objects.compactMap { ($0.text("sm_login") ?? $0.text(target.keyField)).map(JSONValue.string) }
            } else {
                guard let other = ParseField.find(key, target) else { return .constant(false) }
                let encoder = ParseEncoder(service: service, scope: scope, caller: caller, shape: .everything)
                for object in objects {
                    let value: JSONValue =
                        other.name == target.keyField
                        ? object.text(target.keyField).map(JSONValue.string) ?? .null
                        : try encoder.value(object, other)
                    if !value.isNull { values += value.elements ?? [value] }
                }
            }
            return try isIn(field, values)
        }
    }
#endif
