import Foundation

extension MaxLeapPredicate {
    /// The field that a comparison is about, and what it holds if that is known.
    struct Target {
        var field: String
        var property: MaxLeapSchema.Property?

        /// The type of the elements, if the field is known to be an array of values.
        var element: AttributeType? {
            if case .attribute(let type) = property { type.element } else { nil }
        }
        /// Whether the field is known to be an array of objects.
        var isCollection: Bool {
            switch property {
            case .toMany, .relation: true
            default: false
            }
        }
        /// Whether the field holds any JSON.
        var isJSON: Bool { if case .attribute(.json) = property { true } else { false } }
        /// The entity of the objects that the field leads to.
        var destination: String? {
            switch property {
            case .toOne(let entity), .toMany(let entity), .relation(let entity): entity
            case .attribute, nil: nil
            }
        }
    }

    /// The names of an expression that leads to a property; the object itself has none. nil for all other expressions.
    func path(_ expression: FetchExpression) -> [String]? {
        switch expression.node {
        case .evaluatedObject: []
        case .keyPath(let names) where !names.contains(where: { $0.hasPrefix("@") }): names
        default: nil
        }
    }

    /// The field that a path of one name leads to; the object itself is compared by its identifier.
    func target(_ path: [String], _ whole: FetchPredicate) throws(RemoteError) -> Target {
        guard let schema else {
            // Names with dots are members of dictionaries.
            return Target(field: path.isEmpty ? "objectId" : path.joined(separator: "."))
        }
        guard let name = path.first else { return Target(field: "objectId", property: .attribute(.string)) }
        guard path.count == 1 else { throw unsupported(whole, "a path through \(name)") }
        return Target(field: try schema.field(of: name), property: schema.properties[name])
    }

    /// A path that leads through a to-one relationship: that relationship, and the rest of the path.
    func nested(
        _ path: [String], _ whole: FetchPredicate
    ) throws(RemoteError) -> (Target, [String])? {
        guard let schema, path.count > 1, case .toOne? = schema.properties[path[0]] else { return nil }
        return (try target([path[0]], whole), Array(path.dropFirst()))
    }

    /// A comparison with a property of a related object: the object is one that a query finds. That is the same only if an
    /// object without a related one does not meet the comparison.
    func within(
        _ relationship: Target, _ rest: [String], _ comparison: ComparisonOperator, _ right: FetchExpression,
        _ options: ComparisonOptions, _ whole: FetchPredicate, _ isNegated: Bool
    ) throws(RemoteError) -> MaxLeapNormalForm {
        guard let dialect, let destination = relationship.destination,
            let schema = try dialect.schema(named: destination)
        else { throw unsupported(whole, "a path through relationships; the dialect needs the model for that") }
        let isNil = if case .constant(.null) = right.node { true } else { false }
        guard !isNegated, comparison != .notEqual, !(comparison == .equal && isNil) else {
            throw unsupported(whole, "a comparison that holds where a relationship on the path leads nowhere")
        }
        var query = MaxLeapQuery(schema.className)
        query.conditions = [
            try MaxLeapPredicate(dialect: dialect, schema: schema, bindings: bindings)
                .condition(.comparison(.keyPath(rest), comparison, right, options))
        ]
        return MaxLeapNormalForm(.key(relationship.field, .inQuery(query)))
    }

    /// The fixed value of an expression.
    func value(
        _ expression: FetchExpression, _ target: Target, _ whole: FetchPredicate
    ) throws(RemoteError) -> MaxLeapValue {
        switch expression.node {
        case .constant(let value): return try self.value(value, target, whole)
        case .aggregate(let parts):
            var values: [MaxLeapValue] = []
            for part in parts { values.append(try value(part, target, whole)) }
            return .array(values)
        case .variable(let name):
            if case .value(let value)? = bindings[name] { return value }
            throw unsupported(whole, "the variable $\(name), which has no value here")
        case .keyPath, .evaluatedObject: throw unsupported(whole, "one property compared with another")
        default: throw unsupported(whole, "a right side that is not a fixed value")
        }
    }

    private func value(
        _ value: Value, _ target: Target, _ whole: FetchPredicate
    ) throws(RemoteError) -> MaxLeapValue {
        switch value {
        case .null: return .null
        case .integer(let number):
            if case .attribute(.boolean) = target.property { return .boolean(number != 0) }
            return .integer(number)
        case .double(let number): return .double(number)
        case .decimal(let number): return .decimal(number)
        case .string(let text):
            guard let entity = target.destination else { return .string(text) }
            return .pointer(try dialect?.pointer(entity, text) ?? MaxLeapPointer(entity, text))
        case .boolean(let flag):
            if case .attribute(let type) = target.property, type.isNumeric { return .integer(flag ? 1 : 0) }
            return .boolean(flag)
        case .date(let date): return .date(date)
        case .binary(let data): return .bytes(data)
        case .uuid(let uuid): return .string(uuid.uuidString)
        case .uri(let uri): return .string(uri.absoluteString)
        case .geoPoint(let point): return .geoPoint(point)
        case .composite(let members):
            var values: [String: MaxLeapValue] = [:]
            for (name, member) in members { values[name] = try self.value(member, target, whole) }
            return .dictionary(values)
        case .list(let elements): return .array(try list(elements, target, whole))
        case .set(let elements): return .array(try list(elements.members, target, whole))
        case .object: throw unsupported(whole, "an object that is not given by its identifier")
        }
    }

    private func list(
        _ elements: [Value], _ target: Target, _ whole: FetchPredicate
    ) throws(RemoteError) -> [MaxLeapValue] {
        var values: [MaxLeapValue] = []
        for element in elements { values.append(try value(element, target, whole)) }
        return values
    }
}

extension MaxLeapQuery {
    /// Asks for objects by a predicate in terms of fields.
    ///
    /// ```swift
    /// let query = try MaxLeapQuery(
    ///     "Post", predicate: FetchPredicate(format: "likes > %@ AND author IN $friends", 10),
    ///     queries: ["friends": MaxLeapQuery("_User").where("city", .equal("Paris"))])
    /// ```
    /// - Parameters:
    ///   - values: What the predicate's variables stand for, pointers for instance.
    ///   - queries: The queries that its variables stand for, on the right of IN.
    /// - Throws: ``RemoteError`` with code 102 that names the part which the server has no words for.
    public init(
        _ className: String, predicate: FetchPredicate, values: [String: MaxLeapValue] = [:],
        queries: [String: MaxLeapQuery] = [:]
    ) throws(RemoteError) {
        self.init(className)
        let bindings = values.mapValues(MaxLeapPredicate.Binding.value)
            .merging(queries.mapValues(MaxLeapPredicate.Binding.query)) { $1 }
        conditions = [try MaxLeapPredicate(bindings: bindings).condition(predicate)]
    }
}
