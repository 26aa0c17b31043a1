import Foundation
import StrataStore

/// What a fetch becomes in SQL.
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

        package init(number: Int, type: String, text: String) {
            self.number = number
            self.type = type
            self.text = text
        }
    }

    /// A step of the engine's query plan.
    public struct Step: Sendable, Hashable {
        /// How many steps this one is part of.
        public let depth: Int
        /// What is done, in the engine's words. In those of SQLite, `SCAN` goes through a whole table or index, and `SEARCH`
        /// looks in it.
        public let text: String

        package init(depth: Int, text: String) {
            self.depth = depth
            self.text = text
        }
    }

    /// A table that is read as a whole.
    package struct Scan: Sendable, Hashable {
        /// The name that the table has in the SQL.
        let table: String
        /// The step that reads it.
        let step: String

        package init(table: String, step: String) {
            self.table = table
            self.step = step
        }
    }

    /// The SQL that finds the keys, or counts them.
    public let sql: String
    /// What is bound to the parameters that are there, in order.
    public let bindings: [Binding]
    /// The engine's query plan. Steps follow the one that they are part of.
    public let plan: [Step]
    /// The entities whose tables the SQL reads, by the name that the table has there.
    let entities: [String: String]
    /// The tables that are read as a whole.
    let scans: [Scan]
    /// Whether all rows are sorted after they were found. A part of the order costs little.
    let sorts: Bool
    /// The address of the replica that has explained it, without its password; nil for the primary, and for stores without
    /// replicas.
    public package(set) var replica: String?

    package init(
        sql: String, bindings: [Binding], plan: [Step], entities: [String: String],
        scans: [Scan], sorts: Bool
    ) {
        self.sql = sql
        self.bindings = bindings
        self.plan = plan
        self.entities = entities
        self.scans = scans
        self.sorts = sorts
    }

    /// The texts of the steps.
    public var steps: [String] { plan.map(\.text) }
}

extension SQLValue: CustomStringConvertible {
    package var typeName: String {
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

    package var description: String {
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
