import Foundation
import StrataStore

/// What a fetch becomes in SQLite.
public struct FetchExplanation: Sendable, Hashable {
    /// A value that is bound to a parameter.
    public struct Binding: Sendable, Hashable {
        /// The number of the parameter: `?1` is 1.
        public let number: Int
        /// `integer`, `real`, `text`, `blob` or `null`, or `list` and `function` for what Strata hands to its own
        /// functions.
        public let type: String
        /// The value as SQL writes it; of a list the first elements.
        public let text: String
    }

    /// A step of SQLite's query plan.
    public struct Step: Sendable, Hashable {
        /// How many steps this one is part of.
        public let depth: Int
        /// What is done, in SQLite's words. `SCAN` goes through a whole table or index, `SEARCH` looks in it.
        public let text: String
    }

    /// The SQL that finds the keys, or counts them.
    public let sql: String
    /// What is bound to the parameters that are there, in order.
    public let bindings: [Binding]
    /// SQLite's query plan. Steps follow the one that they are part of.
    public let plan: [Step]
    /// The entities whose tables the SQL reads, by the name that the table has there.
    let entities: [String: String]

    /// The texts of the steps.
    public var steps: [String] { plan.map(\.text) }
}

extension SQLiteStore {
    /// Says how a fetch finds its objects, without running it.
    /// - Parameters:
    ///   - plan: The fetch.
    ///   - counting: Whether the objects are only counted.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` and ``StoreError/invalidPredicate(_:)`` as the fetch would.
    public func explain(_ plan: FetchPlan, counting: Bool = false) throws(StoreError) -> FetchExplanation {
        let search = counting ? nil : NearestSearch(plan, schema)
        let shape = FetchShape(plan, counting ? .count : .keys, angle: search.map { _ in NearestSearch.firstAngle })
        let compiled = try FetchCompiler(schema: schema, rowPlans: rowPlans).compile(shape)
        var values: [SQLValue] = []
        for parameter in compiled.parameters { values.append(try parameter.value(shape.constants)) }
        if let limit = plan.limit { values.append(.integer(Int64(limit))) }
        if plan.offset > 0 { values.append(.integer(Int64(plan.offset))) }
        let steps = try pool.read { (connection) throws(StoreError) in
            let statement = try connection.prepare("EXPLAIN QUERY PLAN " + compiled.sql, persistent: false)
            try PreparedFetch(statement: statement, parameters: compiled.parameters).bind(shape.constants, plan)
            var steps: [FetchExplanation.Step] = []
            // The steps name the one that they are part of by its number.
            var depths: [Int64: Int] = [:]
            while try statement.step() {
                let depth = depths[statement.integer(1)].map { $0 + 1 } ?? 0
                depths[statement.integer(0)] = depth
                steps.append(FetchExplanation.Step(depth: depth, text: statement.text(3)))
            }
            return steps
        }
        return FetchExplanation(
            sql: compiled.sql,
            // A constant may not appear in the SQL, for example when a search was rewritten as a range.
            bindings: values.enumerated().compactMap { (index, value) in
                guard Self.hasParameter(index + 1, compiled.sql) else { return nil }
                return FetchExplanation.Binding(number: index + 1, type: value.typeName, text: value.description)
            },
            plan: steps, entities: compiled.entities)
    }

    private static func hasParameter(_ number: Int, _ sql: String) -> Bool {
        sql.ranges(of: "?\(number)").contains { range in
            range.upperBound == sql.endIndex || !sql[range.upperBound].isNumber
        }
    }
}

extension SQLValue: CustomStringConvertible {
    var typeName: String {
        switch self {
        case .null: "null"
        case .integer: "integer"
        case .double: "real"
        case .text, .utf8: "text"
        case .blob: "blob"
        case .list: "list"
        case .call: "function"
        }
    }

    var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): String(number)
        case .double(let number): String(number)
        case .text(let text): Identifiers.literal(text)
        // The end of a range of texts need not be text itself.
        case .utf8(let bytes):
            String(validating: bytes, as: UTF8.self).map(Identifiers.literal) ?? Self.hexadecimal(bytes)
        case .blob(let data): Self.hexadecimal(Array(data))
        case .list(let list): Self.text(of: list)
        case .call: "a function of the condition"
        }
    }

    private static func text(of list: ValueList) -> String {
        let shown = 10
        let first = list.keys.prefix(shown).map { String($0) } + list.values.prefix(shown).map(\.description)
        let rest = list.count > shown ? ", … \(list.count) in all" : ""
        return "(\(first.joined(separator: ", "))\(rest))"
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF")
        return "x'" + String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }) + "'"
    }
}
