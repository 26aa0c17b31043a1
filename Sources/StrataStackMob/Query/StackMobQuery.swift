import Foundation

/// A query in terms of schemas and fields, for code that works without managed objects.
///
///     let query = StackMobQuery("city")
///         .where("capital", .equal, false)
///         .ordered(by: "createddate", ascending: false)
///         .limited(to: 20)
///     let cities = try await client.dataStore.query(query)
///
/// It is a value: each method returns a changed copy, so you can keep a query and refine it. Names of fields are the server's.
/// Select fields and expand related objects to get exactly what you show. ``DataStore/count(_:options:)`` ignores the range.
///
/// Errors in a query, such as a second group of alternatives, are reported when it is sent. The dialect makes its own requests
/// of it, too. For a query that is built in steps, ``add(_:)``, ``order(_:ascending:)`` and ``limit(_:)`` change the query
/// itself.
public struct StackMobQuery: Sendable, Hashable {
    /// A field to order by.
    public struct Order: Sendable, Hashable {
        /// The field.
        public var field: String
        /// Whether small values come first.
        public var ascending: Bool

        /// Names a field to order by.
        public init(_ field: String, ascending: Bool = true) {
            self.field = field
            self.ascending = ascending
        }
    }

    /// The schema; it is sent in lower case.
    public var schema: String
    /// What objects must satisfy; nil for all.
    public var condition: StackMobCondition?
    /// The order, the most important field first. Conditions with `near` order by distance in any case.
    public var orders: [Order] = []
    /// The position of the first object, from 0; nil for the beginning.
    public var first: Int?
    /// The position of the last object; nil for the end.
    public var last: Int?
    /// The fields that are requested, those of expanded objects as `rel.field` or `rel.*`; nil for all.
    public var fields: [String]?
    /// How many levels of related objects come along whole: 0 to 3.
    public var expansion = 0

    /// Asks for all objects of a schema.
    public init(_ schema: String) { self.schema = schema }

    /// Adds a condition to those there are.
    public mutating func add(_ condition: StackMobCondition) {
        self.condition = self.condition.map { .and([$0, condition]) } ?? condition
    }

    /// Orders by a field, after those given before.
    public mutating func order(_ field: String, ascending: Bool = true) {
        orders.append(Order(field, ascending: ascending))
    }

    /// Asks for only the first objects, or, if ``first`` is set, for this many from there on.
    public mutating func limit(_ count: Int) {
        let end = (first ?? 0).addingReportingOverflow(max(count, 1) - 1)
        last = end.overflow ? nil : end.partialValue
    }

    /// The query parameters, in the order of the conditions.
    /// - Throws: ``RemoteError`` for conditions that StackMob has no words for.
    public func parameters() throws(RemoteError) -> [StackMobParameter] {
        guard let condition else { return [] }
        var writer = StackMobConditionWriter()
        try writer.add(condition)
        return writer.parameters
    }

    /// The headers with order, range, fields and expansion.
    /// - Throws: ``RemoteError`` if the expansion is more than 3, or the range ends before it begins.
    public func headers() throws(RemoteError) -> [HTTPField] {
        var headers: [HTTPField] = []
        if !orders.isEmpty {
            let value = orders.map { "\($0.field):\($0.ascending ? "asc" : "desc")" }.joined(separator: ",")
            headers.append(HTTPField(name: .orderBy, value: value))
        }
        if first != nil || last != nil {
            let start = first ?? 0
            guard start >= 0, last.map({ $0 >= start }) != false else {
                throw StackMobError.invalid("the range \(start)-\(last ?? start) has no objects")
            }
            headers.append(HTTPField(name: .range, value: "objects=\(start)-\(last.map(String.init) ?? "")"))
        }
        if let fields { headers.append(HTTPField(name: .select, value: fields.joined(separator: ","))) }
        if expansion != 0 {
            guard (1...3).contains(expansion) else {
                throw StackMobError.invalid("StackMob expands up to 3 levels, not \(expansion)")
            }
            headers.append(HTTPField(name: .expand, value: String(expansion)))
        }
        return headers
    }
}

/// Writes a tree of conditions as parameters: those that must all hold side by side, those of the one OR group after
/// `[or1].`, and several that hold together within it after `[or1].[andN].`.
struct StackMobConditionWriter {
    private(set) var parameters: [StackMobParameter] = []
    private var hasGroup = false

    mutating func add(_ condition: StackMobCondition) throws(RemoteError) {
        switch condition {
        case .and(let parts):
            for part in parts { try add(part) }
        case .or(let parts) where parts.count == 1: try add(parts[0])
        case .or(let parts): try addGroup(parts)
        default:
            guard let parameter = try condition.parameter() else { return }
            if let other = parameters.first(where: { $0.name == parameter.name }) {
                guard other.value == parameter.value else {
                    throw StackMobError.invalid(
                        "\(parameter.name) is compared with two values, and only one can be sent")
                }
                return
            }
            parameters.append(parameter)
        }
    }

    private mutating func addGroup(_ parts: [StackMobCondition]) throws(RemoteError) {
        guard !parts.isEmpty else { throw StackMobError.unsupported("StackMob has no condition that never holds") }
        guard !hasGroup else { throw StackMobError.unsupported("StackMob takes one OR group in a query, not two") }
        hasGroup = true
        var group = 0
        for member in Self.members(parts) {
            var conditions: [StackMobParameter] = []
            try Self.collect(member, into: &conditions)
            if conditions.count > 1 { group += 1 }
            let prefix = conditions.count > 1 ? "[or1].[and\(group)]." : "[or1]."
            for condition in conditions {
                let name = prefix + condition.name
                guard !parameters.contains(where: { $0.name == name }) else {
                    throw StackMobError.incompatible(
                        "\(condition.name) appears twice in one group of conditions; use IN with both values")
                }
                parameters.append(StackMobParameter(name: name, value: condition.value))
            }
        }
    }

    /// An OR within an OR is the same group.
    private static func members(_ parts: [StackMobCondition]) -> [StackMobCondition] {
        parts.flatMap { part in if case .or(let inner) = part { members(inner) } else { [part] } }
    }

    private static func collect(
        _ condition: StackMobCondition, into parameters: inout [StackMobParameter]
    ) throws(RemoteError) {
        switch condition {
        case .and(let parts):
            for part in parts { try collect(part, into: &parameters) }
        case .or(let parts) where parts.count == 1: try collect(parts[0], into: &parameters)
        case .or:
            throw StackMobError.incompatible("StackMob takes one OR group in a query, and no other within it")
        default:
            if let parameter = try condition.parameter() { parameters.append(parameter) }
        }
    }
}
