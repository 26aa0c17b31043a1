import Foundation

extension MaxLeapDialect {
    /// A query of the model in terms of classes and fields.
    /// - Throws: ``RemoteError`` that names the part which the server has no words for.
    public func query(for query: RemoteQuery) throws(RemoteError) -> MaxLeapQuery {
        let schema = try schema(query.entity)
        var result = MaxLeapQuery(schema.className)
        if let predicate = query.predicate {
            result.conditions = [try MaxLeapPredicate(dialect: self, schema: schema).condition(predicate)]
        }
        for sort in query.sorts { result.orders.append(try order(sort, schema)) }
        if let properties = query.properties {
            var keys: [String] = []
            for property in properties where property != schema.primaryKey {
                keys.append(try schema.field(of: property))
            }
            // Without any the server would give all.
            result.keys = keys.isEmpty ? ["objectId"] : keys
        }
        for path in query.includes { result.include.append(try included(path, schema)) }
        if let membership = query.memberOf { result.conditions.append(try condition(membership)) }
        for subquery in query.subqueries { result.conditions.append(try condition(subquery, schema)) }
        result.countsObjects = query.countsAll
        guard query.offset >= 0, query.limit.map({ $0 >= 0 }) != false else {
            throw MaxLeapError.invalidQuery.error("an offset and a limit are at least 0")
        }
        var skip = query.offset
        if let cursor = query.cursor {
            guard let place = Int(cursor), place >= query.offset else {
                throw MaxLeapError.invalidQuery.error("\"\(cursor)\" is not a cursor of a query")
            }
            skip = place
        }
        result.skip = skip
        // After a cursor the limit is what is left of it.
        result.limit = min(query.limit ?? Self.maximumPage, Self.maximumPage)
        // Pages fit together only in an order that tells all objects apart, from the first one on. An order would come before
        // nearness.
        let hasPages = skip > 0 || query.limit != 1
        if hasPages, query.predicate?.nearestFirst == nil, !result.orders.contains(where: { $0.key == "objectId" }) {
            result.orders.append(MaxLeapQuery.Order("objectId"))
        }
        return result
    }

    /// The most objects of an answer.
    static let maximumPage = 1000

    private func order(_ sort: FetchSort, _ schema: MaxLeapSchema) throws(RemoteError) -> MaxLeapQuery.Order {
        guard let path = sort.keyPath, path.count == 1, let key = path.first else {
            throw MaxLeapError.unsupported("\(name) does not order by a path: \(sort.expression)")
        }
        guard sort.options.isEmpty else {
            throw MaxLeapError.unsupported("\(name) does not order with options: \(key)\(sort.options.suffix)")
        }
        return MaxLeapQuery.Order(try schema.field(of: key), ascending: sort.ascending)
    }

    /// The fields on the way to objects that come along.
    private func included(_ path: [String], _ schema: MaxLeapSchema) throws(RemoteError) -> String {
        var fields: [String] = []
        var current = schema
        for name in path {
            switch current.properties[name] {
            case .toOne(let entity)?, .toMany(let entity)?:
                guard let other = try self.schema(named: entity) else {
                    throw MaxLeapError.unsupported("the dialect needs the model to read related objects along")
                }
                fields.append(try current.field(of: name))
                current = other
            default:
                throw MaxLeapError.unsupported(
                    "\(current.entity).\(name) is not a field with pointers, so its objects cannot be included")
            }
        }
        return fields.joined(separator: ".")
    }

    /// That an object is a member of a relation.
    private func condition(_ membership: RemoteMembership) throws(RemoteError) -> MaxLeapWhere {
        let schema = try schema(membership.entity)
        guard case .relation? = schema.properties[membership.relationship] else {
            throw MaxLeapError.unsupported(
                "\(membership.entity.name).\(membership.relationship) is not a relation; its object lists the members")
        }
        return .relatedTo(
            try pointer(membership.entity.name, membership.id), key: try schema.field(of: membership.relationship))
    }

    private func condition(_ subquery: RemoteSubquery, _ schema: MaxLeapSchema) throws(RemoteError) -> MaxLeapWhere {
        guard let other = try self.schema(named: subquery.entity) else {
            throw MaxLeapError.unsupported("the dialect needs the model for a query within another one")
        }
        let field = try schema.field(of: subquery.property)
        var query = MaxLeapQuery(other.className)
        if let predicate = subquery.predicate {
            query.conditions = [try MaxLeapPredicate(dialect: self, schema: other).condition(predicate)]
        }
        for sort in subquery.sorts { query.orders.append(try order(sort, other)) }
        query.limit = subquery.limit
        if let key = subquery.key {
            let key = try other.field(of: key)
            return .key(field, subquery.isNegated ? .dontSelect(key: key, query) : .select(key: key, query))
        }
        guard case .toOne(let destination)? = schema.properties[subquery.property],
            names.className(ofEntity: destination) == other.className
        else {
            throw MaxLeapError.unsupported(
                "\(schema.entity).\(subquery.property) is not a to-one relationship to \(subquery.entity)")
        }
        return .key(field, subquery.isNegated ? .notInQuery(query) : .inQuery(query))
    }
}
