import Foundation

/// Which objects of a schema to read, by the names that fields have on the server.
///
/// ```swift
/// let query = SchemaQuery("todo")
///     .where("done", .equal(false))
///     .whereAny(
///         SchemaCondition("due", .less(.milliseconds(.now))),
///         SchemaCondition("priority", .in([1, 2])).and("title", .notEqual(nil)))
///     .ordered(by: "due").ordered(by: "title", descending: true)
///     .limited(to: 20)
/// ```
///
/// A query is a value: every method gives a copy with one more part.
public struct SchemaQuery: Sendable, Hashable {
    /// The schema.
    public var schema: String
    /// Conditions that all have to be met.
    public var condition = SchemaCondition()
    /// Conditions one of which has to be met; empty for none. There is one such group in a query.
    public var alternatives: [SchemaCondition] = []
    /// The order, first field first.
    public var order: [SchemaOrder] = []
    /// Which of the objects that were found, counted from 0; nil for all. An upper bound of `Int.max` is open.
    public var range: Range<Int>?
    /// The fields that are wanted; nil for all. The primary key always comes.
    public var fields: [String]?
    /// How many levels of related objects come along whole, 0 to 3.
    public var expansion = 0

    /// Asks for all objects of a schema.
    public init(_ schema: String) { self.schema = schema }

    /// Only objects whose field compares so. Several calls all count.
    public func `where`(_ field: String, _ comparison: SchemaComparison) -> SchemaQuery {
        var copy = self
        copy.condition = condition.and(field, comparison)
        return copy
    }

    /// Only objects that meet one condition at least. Another call adds conditions to the same group.
    public func whereAny(_ conditions: SchemaCondition...) -> SchemaQuery {
        var copy = self
        copy.alternatives += conditions
        return copy
    }

    /// In the order of a field; after the fields that were given before.
    public func ordered(by field: String, descending: Bool = false) -> SchemaQuery {
        var copy = self
        copy.order.append(SchemaOrder(field, descending: descending))
        return copy
    }

    /// Only so many objects from the beginning, or from ``skipping(_:)``.
    public func limited(to count: Int) -> SchemaQuery {
        var copy = self
        let first = range?.lowerBound ?? 0
        copy.range = first..<max(first, first.addingReportingOverflow(max(0, count)).partialValue)
        return copy
    }

    /// Without so many objects at the beginning. A limit counts from there.
    public func skipping(_ count: Int) -> SchemaQuery {
        var copy = self
        let first = max(0, count)
        guard let range, range.upperBound != .max else {
            copy.range = first..<Int.max
            return copy
        }
        let last = first.addingReportingOverflow(range.count)
        copy.range = first..<(last.overflow ? .max : last.partialValue)
        return copy
    }

    /// With these fields alone, and the primary key. `rel.field` and `rel.*` name fields of expanded objects.
    public func selecting(_ fields: String...) -> SchemaQuery {
        var copy = self
        copy.fields = (copy.fields ?? []) + fields
        return copy
    }

    /// With related objects whole, so many levels deep.
    public func expanding(_ levels: Int) -> SchemaQuery {
        var copy = self
        copy.expansion = levels
        return copy
    }

    /// The query that asks how many objects there are.
    var counting: SchemaQuery {
        var copy = self
        copy.range = 0..<1
        copy.fields = nil
        copy.expansion = 0
        return copy
    }
}

/// A field that objects are ordered by.
public struct SchemaOrder: Sendable, Hashable {
    /// The field.
    public var field: String
    /// Whether the greatest comes first.
    public var descending: Bool

    /// Names a field.
    public init(_ field: String, descending: Bool = false) {
        self.field = field
        self.descending = descending
    }
}
