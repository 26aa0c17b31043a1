import Foundation
import StrataStackMob

extension StackMobWire {
    /// Conditions of the low-level query, all of which hold.
    static func query(_ input: WireCase) throws -> JSONValue {
        try answer(lowLevelQuery(input), input)
    }

    /// A tree of conditions.
    static func queryLogic(_ input: WireCase) throws -> JSONValue {
        var query = StackMobQuery(input.text("schema") ?? "test")
        guard let tree = input["tree"] else { throw WireFault("the case has no \"tree\"") }
        query.condition = try condition(tree)
        return try answer(query, input)
    }

    /// A predicate in the format language. One that cannot be read is not a predicate that StackMob could do.
    static func predicate(_ input: WireCase) throws -> JSONValue {
        let predicate: FetchPredicate
        do {
            predicate = try FetchPredicate(
                format: input.argument("predicate", "format"),
                arguments: WireValues.values(input.elements("args") ?? [])
            ).withVariables(variables(input))
        } catch let error as PredicateParseError {
            throw StackMobError.invalidArguments.error(error.description)
        }
        var schema = try Self.schema(input)
        if !input.has("model") {
            // Without a model every name is that of a property.
            var properties = schema.properties
            for path in predicate.keyPaths where path.count == 1 {
                properties[path[0]] = .attribute(.transformable(""))
            }
            schema = StackMobSchema(entity: schema.entity, primaryKey: schema.primaryKey, properties: properties)
        }
        return try answer(StackMobQuery(schema, predicate: predicate), input)
    }

    static func fetchRequest(_ input: WireCase) throws -> JSONValue {
        if let size = input.whole("fetchBatchSize"), size != 0 {
            throw StackMobError.invalidArguments.error(
                "the server gives no objects in batches; a batch size is the business of what keeps them here")
        }
        if let type = input.text("resultType").map(WireCase.plain), !type.contains("object") {
            throw StackMobError.exception(
                .incompatibleObject, "the server gives objects; counts and dictionaries are made of these here")
        }
        var schema = try Self.schema(input)
        let sorts = try (input.elements("sort", "sortDescriptors", "orderBy") ?? []).map { element in
            guard let (key, ascending) = order(element) else { throw WireFault("\(element) is not an order") }
            return FetchSort(key, ascending: ascending)
        }
        if !input.has("model") {
            var properties = schema.properties
            for sort in sorts { properties["\(sort.expression)"] = .attribute(.string) }
            schema = StackMobSchema(entity: schema.entity, primaryKey: schema.primaryKey, properties: properties)
        }
        var predicate: FetchPredicate?
        if let format = input.text("predicate") {
            predicate = try FetchPredicate(
                format: format, arguments: WireValues.values(input.elements("args") ?? []))
        }
        var query = try StackMobQuery(schema, predicate: predicate, sorts: sorts)
        // A limit of 0 means no limit, as everywhere in fetch requests.
        let limit = input.whole("fetchLimit").flatMap { $0 == 0 ? nil : $0 }
        try query.setRange(offset: input.whole("fetchOffset") ?? 0, limit: limit)
        return try answer(query, input)
    }

    static func count(_ input: WireCase) throws -> JSONValue {
        let dialect = try input.dialect()
        if let query = input["query"] {
            let inner = try WireCase(query)
            let request = try dialect.countRequest(lowLevelQuery(inner), options: input.options)
            return WireActual.json(request).adding(["requestHeaders": WireActual.headers(request)])
        }
        let number = try dialect.count(
            contentRange: input.text("contentRange"), elements: input.whole("resultCount"))
        return ["count": .integer(Int64(number))]
    }

    private static func answer(_ query: StackMobQuery, _ input: WireCase) throws -> JSONValue {
        WireActual.json(try input.dialect().queryRequest(query, options: input.options))
    }

    static func lowLevelQuery(_ input: WireCase) throws -> StackMobQuery {
        var query = StackMobQuery(input.text("schema") ?? "test")
        for element in input.elements("conditions") ?? [] { query.add(try condition(element)) }
        for element in input.elements("orderBy", "sort") ?? [] {
            guard let (field, ascending) = order(element) else { throw WireFault("\(element) is not an order") }
            query.orders.append(StackMobQuery.Order(field, ascending: ascending))
        }
        query.first = input.whole("fromIndex")
        query.last = input.whole("toIndex")
        if let limit = input.whole("limit") { query.limit(limit) }
        query.fields = input.texts("select", "fields", "selectFields")
        query.expansion = input.whole("expandDepth", "expand") ?? 0
        return query
    }

    /// `["name", "asc"]`, `{"field": "name", "ascending": false}`, `"name"`, `"name:desc"`.
    private static func order(_ json: JSONValue) -> (key: String, ascending: Bool)? {
        switch json {
        case .string(let text):
            let parts = text.split(separator: ":").map(String.init)
            return parts.first.map { ($0, parts.count < 2 || !parts[1].lowercased().hasPrefix("desc")) }
        case .array(let parts):
            guard let key = parts.first?.string else { return nil }
            switch parts.dropFirst().first {
            case .string(let word): return (key, !word.lowercased().hasPrefix("desc"))
            case .boolean(let ascending): return (key, ascending)
            default: return (key, true)
            }
        case .object(let members):
            guard let key = (members["field"] ?? members["key"])?.string else { return nil }
            let isDescending = members["order"]?.string?.lowercased().hasPrefix("desc") ?? false
            return (key, members["ascending"]?.boolean ?? !isDescending)
        default: return nil
        }
    }

    static func variables(_ input: WireCase) throws -> [String: Value] {
        var values: [String: Value] = [:]
        for (name, json) in input["variables"]?.members ?? [:] { values[name] = try WireValues.value(json) }
        return values
    }

    /// What the dialect is told about the entity of a case.
    static func schema(_ input: WireCase) throws -> StackMobSchema {
        let entity = input.text("entity", "schema") ?? "Entity"
        var properties: [String: StackMobSchema.Property] = [:]
        for (name, type) in input["model"]?.members ?? [:] {
            properties[name] = try WireValues.property(WireValues.text(type))
        }
        let dialect = try input.dialect()
        let isUser = dialect.isUserSchema(StackMobNames.schema(ofEntity: entity))
        let names = Set(properties.keys).union(input["values"]?.members?.names ?? [])
        let key = try? StackMobNames.primaryKey(
            ofEntity: entity, among: names, user: isUser ? dialect.userPrimaryKeyField : nil)
        let fallback = isUser ? dialect.userPrimaryKeyField : StackMobNames.schema(ofEntity: entity) + "_id"
        return StackMobSchema(entity: entity, primaryKey: key ?? fallback, properties: properties)
    }
}
