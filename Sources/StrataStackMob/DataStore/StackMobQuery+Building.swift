import Foundation

/// Parts of queries, one after another. Each method gives a copy of the query with one more part.
///
/// ```swift
/// let query = StackMobQuery("city")
///     .where("capital", .equal, false)
///     .whereAny(
///         .compare("visited", .less, .date(.now)),
///         .and([.isIn("country", ["PE", "CL"]), .compare("note", .notEqual, nil)]))
///     .ordered(by: "visited").ordered(by: "name", ascending: false)
///     .skipping(20).limited(to: 10)
/// ```
extension StackMobQuery {
    /// Only objects that meet a condition. Several calls all count.
    public func `where`(_ condition: StackMobCondition) -> StackMobQuery {
        var copy = self
        copy.add(condition)
        return copy
    }

    /// Only objects whose field compares so with a value; nil stands for fields without one.
    public func `where`(
        _ field: String, _ comparison: StackMobCondition.Comparison, _ value: Value
    ) -> StackMobQuery {
        self.where(.compare(field, comparison, value))
    }

    /// Only objects whose field has one of several values, or is an array with one of them.
    public func `where`(_ field: String, isIn values: [Value]) -> StackMobQuery {
        self.where(.isIn(field, values))
    }

    /// Only objects whose field has none of several values.
    public func `where`(_ field: String, isNotIn values: [Value]) -> StackMobQuery {
        self.where(.isNotIn(field, values))
    }

    /// The objects nearest to a point first, whatever the order of the query.
    public func `where`(_ field: String, near point: GeoPoint) -> StackMobQuery {
        self.where(.near(field, point))
    }

    /// Only objects no further from a point than this many miles, by the server's radius of the earth.
    public func `where`(_ field: String, within miles: Double, milesOf point: GeoPoint) -> StackMobQuery {
        self.where(.within(field, point, radians: miles / StackMobCondition.milesPerRadian))
    }

    /// Only objects no further from a point than this many kilometres, by the server's radius of the earth.
    public func `where`(_ field: String, within kilometers: Double, kilometersOf point: GeoPoint) -> StackMobQuery {
        self.where(.within(field, point, radians: kilometers / StackMobCondition.kilometersPerRadian))
    }

    /// Only objects in a box.
    public func `where`(_ field: String, from southWest: GeoPoint, to northEast: GeoPoint) -> StackMobQuery {
        self.where(.box(field, southWest: southWest, northEast: northEast))
    }

    /// Only objects that meet at least one of several conditions. A query takes one such group.
    public func whereAny(_ conditions: StackMobCondition...) -> StackMobQuery {
        self.where(.or(conditions))
    }

    /// In the order of a field, after those given before.
    public func ordered(by field: String, ascending: Bool = true) -> StackMobQuery {
        var copy = self
        copy.order(field, ascending: ascending)
        return copy
    }

    /// Without so many objects at the beginning. A limit counts from there.
    public func skipping(_ count: Int) -> StackMobQuery {
        var copy = self
        let length = last.map { $0 - (first ?? 0) }
        copy.first = count
        copy.last = length.map { count + $0 }
        return copy
    }

    /// So many objects at most, at least one.
    public func limited(to count: Int) -> StackMobQuery {
        var copy = self
        copy.limit(count)
        return copy
    }

    /// With only these fields, and the primary key; `rel.field` and `rel.*` are fields of expanded objects.
    public func selecting(_ fields: String...) -> StackMobQuery {
        var copy = self
        copy.fields = (copy.fields ?? []) + fields
        return copy
    }

    /// With related objects whole, so many levels deep, 3 at most.
    public func expanding(_ levels: Int) -> StackMobQuery {
        var copy = self
        copy.expansion = levels
        return copy
    }
}
