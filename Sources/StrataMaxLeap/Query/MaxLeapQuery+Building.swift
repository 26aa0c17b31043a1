/// Parts of queries, one after another. Each method gives a copy of the query with one more part.
extension MaxLeapQuery {
    /// Only objects that meet a condition. Several calls all count.
    public func `where`(_ condition: MaxLeapWhere) -> MaxLeapQuery {
        var copy = self
        copy.conditions.append(condition)
        return copy
    }

    /// Only objects whose field is as it must be. Several calls all count.
    public func `where`(_ key: String, _ constraint: MaxLeapConstraint) -> MaxLeapQuery {
        self.where(.key(key, constraint))
    }

    /// Only objects that meet at least one of several conditions.
    public func whereAny(_ conditions: MaxLeapWhere...) -> MaxLeapQuery { self.where(.or(conditions)) }

    /// Only members of a relation of another object, whose class the query must have.
    public func `where`(isIn key: String, of object: MaxLeapPointer) -> MaxLeapQuery {
        self.where(.relatedTo(object, key: key))
    }

    /// Sets what a field must be as the libraries of MaxLeap and Parse do: an equality takes the place of everything
    /// else that was set for the field, and another constraint that of an equality.
    public mutating func constrain(_ key: String, _ constraint: MaxLeapConstraint) {
        let isEquality = if case .equal = constraint { true } else { false }
        conditions.removeAll { condition in
            guard case .key(key, let other) = condition else { return false }
            if case .equal = other { return true }
            return isEquality
        }
        conditions.append(.key(key, constraint))
    }

    /// What meets one of several queries.
    /// - Throws: ``RemoteError`` with code 102 if there are none, if their classes differ, or if one has an order, a limit, a
    ///   skip, or names fields.
    public static func any(_ queries: [MaxLeapQuery]) throws(RemoteError) -> MaxLeapQuery {
        guard let first = queries.first else {
            throw MaxLeapError.invalidQuery.error("there are no queries of which one must be met")
        }
        for query in queries {
            guard query.className == first.className else {
                throw MaxLeapError.invalidQuery.error(
                    "queries of \(first.className) and \(query.className) cannot be one")
            }
            var plain = MaxLeapQuery(query.className)
            plain.conditions = query.conditions
            guard plain == query else {
                throw MaxLeapError.invalidQuery.error(
                    "one of several joined queries has only conditions; set order, limit, skip and fields on the joined query"
                )
            }
        }
        var result = MaxLeapQuery(first.className)
        result.conditions = [.or(queries.map { .and($0.conditions) })]
        return result
    }

    /// In the order of a field, after those given before.
    public func ordered(by key: String, ascending: Bool = true) -> MaxLeapQuery {
        var copy = self
        copy.orders.append(Order(key, ascending: ascending))
        return copy
    }

    /// Without so many objects at the beginning.
    public func skipping(_ count: Int) -> MaxLeapQuery {
        var copy = self
        copy.skip = count
        return copy
    }

    /// So many objects at most.
    public func limited(to count: Int) -> MaxLeapQuery {
        var copy = self
        copy.limit = count
        return copy
    }

    /// With only these fields.
    public func selecting(_ keys: String...) -> MaxLeapQuery {
        var copy = self
        copy.keys = (copy.keys ?? []) + keys
        return copy
    }

    /// Without these fields.
    public func excluding(_ keys: String...) -> MaxLeapQuery {
        var copy = self
        copy.excludedKeys += keys
        return copy
    }

    /// With the objects of these fields, as paths with dots.
    public func including(_ keys: String...) -> MaxLeapQuery {
        var copy = self
        copy.include += keys
        return copy
    }
}
