/// A query for objects of a class: conditions, order, limit, and what comes along.
///
///     let query = MaxLeapQuery("Post")
///         .where("likes", .greater(10))
///         .where("author", .inQuery(MaxLeapQuery("_User").where("city", .equal("Paris"))))
///         .ordered(by: "createdAt", ascending: false)
///         .including("author").limited(to: 20)
///     let posts = try await client.find(query)
///
/// It is a value: each method returns a changed copy. All conditions must hold. Without a limit, the server gives 100 objects;
/// ask for up to 1,000, and use `skipping(_:)` for the next page. `selecting(_:)` reads only some fields, and gives objects
/// that are not complete; see ``MaxLeapObject/isComplete``.
public struct MaxLeapQuery: Sendable, Hashable {
    /// A field to order by.
    public struct Order: Sendable, Hashable {
        /// The field.
        public var key: String
        /// Whether small values come first.
        public var ascending: Bool

        /// Names a field to order by.
        public init(_ key: String, ascending: Bool = true) {
            self.key = key
            self.ascending = ascending
        }

        /// As it is sent: `-createdAt`.
        var text: String { (ascending ? "" : "-") + key }
    }

    /// The class.
    public var className: String
    /// What objects must meet, all of it.
    public var conditions: [MaxLeapWhere] = []
    /// The order, the most important field first.
    public var orders: [Order] = []
    /// The maximum number of objects; nil for as many as the server gives, which is 100. Servers give 1000 at most.
    public var limit: Int?
    /// How many objects are left out at the beginning.
    public var skip = 0
    /// The fields that are requested; nil for all. Those that the server keeps itself always come.
    public var keys: [String]?
    /// The fields to leave out.
    public var excludedKeys: [String] = []
    /// The fields whose objects come along, as paths with dots.
    public var include: [String] = []
    /// Whether objects are counted, too.
    public var countsObjects = false

    /// Asks for all objects of a class.
    public init(_ className: String) { self.className = className }

    /// What objects must meet, as it is sent; empty for all objects.
    /// - Throws: ``RemoteError`` with code 102 for a condition that cannot be sent.
    public func condition() throws(RemoteError) -> JSONObject { try MaxLeapWhere.and(conditions).json() }

    /// The query as parameters, not encoded.
    /// - Throws: ``RemoteError`` with code 102 for a condition that cannot be sent.
    public func parameters(for flavor: MaxLeapFlavor = .maxLeap) throws(RemoteError) -> [MaxLeapParameter] {
        var parameters: [MaxLeapParameter] = []
        let condition = try condition()
        if !condition.isEmpty { parameters.append(MaxLeapParameter("where", try Self.text(condition))) }
        for (name, value) in try settings(for: flavor) {
            parameters.append(MaxLeapParameter(name, value.string ?? value.description))
        }
        return parameters
    }

    /// The query as a text after the question mark of an address.
    /// - Throws: As ``parameters(for:)``.
    public func encoded(for flavor: MaxLeapFlavor = .maxLeap) throws(RemoteError) -> String {
        MaxLeapParameter.encoded(try parameters(for: flavor))
    }

    /// The query within a condition of another one.
    func nested() throws(RemoteError) -> JSONObject {
        let base: JSONObject = ["className": .string(className), "where": .object(try condition())]
        return base.merging(try settings(for: .maxLeap))
    }

    /// All but class and conditions.
    private func settings(for flavor: MaxLeapFlavor) throws(RemoteError) -> JSONObject {
        var members: JSONObject = [:]
        func list(_ texts: some Sequence<String>) throws(RemoteError) -> JSONValue {
            let names = Set(texts)
            if let wrong = names.first(where: { $0.isEmpty || $0.contains(",") }) {
                throw MaxLeapError.invalidKeyName.error("\"\(wrong.prefix(80))\" is not a valid field name")
            }
            return .string(names.sorted().joined(separator: ","))
        }
        if !orders.isEmpty {
            _ = try list(orders.map(\.key))
            members["order"] = .string(orders.map(\.text).joined(separator: ","))
        }
        if let limit, limit >= 0 { members["limit"] = .integer(Int64(limit)) }
        if skip > 0 { members["skip"] = .integer(Int64(skip)) }
        if let keys {
            // What comes along must be among what comes at all.
            let roots = include.map { String($0.prefix { $0 != "." }) }
            members["keys"] = try list(keys + roots)
        } else if !excludedKeys.isEmpty {
            members[flavor == .maxLeap ? "keys" : "excludeKeys"] = try list(
                excludedKeys.map { flavor == .maxLeap ? "-" + $0 : $0 })
        }
        if !include.isEmpty { members["include"] = try list(include) }
        if countsObjects { members["count"] = .integer(1) }
        return members
    }

    static func text(_ condition: JSONObject) throws(RemoteError) -> String {
        do throws(JSONWritingError) {
            return try JSONValue.object(condition).text()
        } catch {
            throw MaxLeapError.invalidQuery.error("the condition cannot be sent: \(error)")
        }
    }

    /// The query that counts what this one finds: without objects in the answer, wherever this one begins.
    public var counting: MaxLeapQuery {
        var copy = self
        copy.skip = 0
        copy.limit = 0
        copy.countsObjects = true
        return copy
    }
}
