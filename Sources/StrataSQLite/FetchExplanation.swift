import Foundation
import StrataStore

/// What a fetch becomes in SQLite.
public struct FetchExplanation: Sendable, Hashable {
    /// The SQL that finds the keys.
    public let sql: String
    /// What is bound to its parameters, in order, as text for people.
    public let bindings: [String]
    /// The steps of SQLite's query plan. A step that begins with `SCAN` looks at all rows of a table.
    public let steps: [String]
}

extension SQLiteStore {
    /// Says how a fetch finds its objects, without running it.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` and ``StoreError/invalidPredicate(_:)`` as the fetch would.
    public func explain(_ plan: FetchPlan) throws(StoreError) -> FetchExplanation {
        let shape = FetchShape(plan, .keys)
        let compiled = try FetchCompiler(schema: schema, rowPlans: rowPlans).compile(shape)
        var bindings: [String] = []
        for parameter in compiled.parameters { bindings.append(try parameter.value(shape.constants).description) }
        if let limit = plan.limit { bindings.append(String(limit)) }
        if plan.offset > 0 { bindings.append(String(plan.offset)) }
        let steps = try pool.read { (connection) throws(StoreError) in
            let statement = try connection.prepare("EXPLAIN QUERY PLAN " + compiled.sql, persistent: false)
            try PreparedFetch(statement: statement, parameters: compiled.parameters).bind(shape.constants, plan)
            var steps: [String] = []
            while try statement.step() { steps.append(statement.text(3)) }
            return steps
        }
        return FetchExplanation(sql: compiled.sql, bindings: bindings, steps: steps)
    }
}

extension SQLValue: CustomStringConvertible {
    var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): String(number)
        case .double(let number): String(number)
        case .text(let text): Identifiers.literal(text)
        case .utf8(let bytes): Self.hexadecimal(bytes)
        case .blob(let data): Self.hexadecimal(Array(data))
        case .list(let list): "a list of \(list.count)"
        case .call: "a function of the condition"
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF")
        return "x'" + String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }) + "'"
    }
}
