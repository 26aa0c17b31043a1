import Foundation
import StrataStore

/// An expression in SQL with what is known about it.
struct SQLTerm {
    /// The slot after a term that is nothing but a column.
    struct Origin {
        let object: SQLObject
        let slot: SlotDescription
        let layout: StoreLayout

        /// Whether an index begins with the column.
        var leadsIndex: Bool {
            object.entity.indexes.contains { index in
                guard index.kind == .ordered || index.kind == .unique, let first = index.properties.first else {
                    return false
                }
                return first == slot.name || first == "-" + slot.name
            }
        }
    }

    let sql: String
    let kind: SQLKind
    /// Whether decimal numbers are text for certain; what functions and aggregates give may be a number of SQLite's.
    var isDecimalText = false
    var origin: Origin?
    /// The member of JSON that the term is, where its kind is ``SQLKind/json``.
    var member: SQLMember?

    /// The term on the left of a comparison or in an order: decimals by number, text by its bytes.
    ///
    /// In SQLite, the collation of an operand of a function or CASE can apply to the enclosing comparison, and that of
    /// the left side comes first. So the left side declares the collation.
    var comparedSQL: String {
        switch kind {
        case .decimal: Self.decimalCollated(isDecimalText ? sql : "strata_decimal(\(sql))")
        case .text, .uri: Self.byteCollated(sql)
        default: sql
        }
    }

    /// The term as it is where equal values are the same to SQLite: for `DISTINCT` and `GROUP BY`.
    var canonicalSQL: String { kind == .point ? "strata_point(\(sql))" : comparedSQL }

    static func decimalCollated(_ sql: String) -> String { "\(sql) COLLATE \(SQLFunctions.decimalCollation)" }

    static func byteCollated(_ sql: String) -> String {
        sql.contains(SQLFunctions.decimalCollation) ? "\(sql) COLLATE BINARY" : sql
    }
}

/// A constant of the condition, or one of its elements.
struct SQLConstant {
    let value: Value
    /// The position among the constants of the condition; nil for what is in no fetch, as nil after nil.
    let position: Int?
    /// The element, where a single one of a list is meant.
    var element: Int?

    static let null = SQLConstant(value: .null, position: nil)

    /// The elements, where the constant is a collection.
    var elements: [SQLConstant]? {
        Self.elements(of: value)?.enumerated().map {
            SQLConstant(value: $0.element, position: position, element: $0.offset)
        }
    }

    /// The value in a fetch of the same shape.
    func value(in constants: [Value]) -> Value {
        guard let position else { return value }
        guard let element else { return constants[position] }
        return Self.elements(of: constants[position])?[element] ?? .null
    }

    static func elements(of value: Value) -> [Value]? {
        switch value {
        case .list(let elements): elements
        case .set(let elements): elements.members
        default: nil
        }
    }
}

/// What an expression is in SQL.
indirect enum SQLOperand {
    case constant(SQLConstant)
    case term(SQLTerm)
    case object(SQLObject)
    /// A composite as a whole.
    case composite(SQLObject, AttributeDescription)
    case collection(SQLCollection)
    /// A member of JSON text, or all of it.
    case json(SQLMember)
    /// One of two operands, chosen by a condition; at least one of them is JSON. A comparison applies to both.
    case choice(String, SQLOperand, SQLOperand)
    case list([SQLOperand])

    static var null: SQLOperand { .constant(.null) }

    var isNull: Bool {
        if case .constant(let constant) = self { constant.value.isNull } else { false }
    }

    /// Whether it is or may be JSON.
    var isJSON: Bool {
        switch self {
        case .json, .choice: true
        default: false
        }
    }

    /// The name of the kind of values, for messages.
    var kindName: String {
        switch self {
        case .constant(let constant): constant.value.kind
        case .term(let term): term.kind.name
        case .object: "object"
        case .composite: "composite"
        case .collection(let collection): collection.isSet ? "set" : "list"
        case .json, .choice: "json"
        case .list: "list"
        }
    }
}

/// A row that paths start from: the table that they read is joined when a column is first asked for.
final class SQLObject {
    let scope: SQLScope
    let entity: EntityDescription
    /// The key in SQL.
    let key: String
    /// The name of the row's table in the scope, once it is there.
    var alias: String?
    /// Whether there may be no such row.
    let isOptional: Bool
    /// The objects that to-one relationships lead to.
    var targets: [String: SQLObject] = [:]

    init(scope: SQLScope, entity: EntityDescription, key: String, alias: String? = nil, isOptional: Bool) {
        self.scope = scope
        self.entity = entity
        self.key = key
        self.alias = alias
        self.isOptional = isOptional
    }
}

/// A `FROM` and a `WHERE` while they are made.
final class SQLScope {
    var from: String
    var joins = ""
    var conditions: [String] = []

    init(from: String = "") { self.from = from }

    /// What follows `FROM`.
    var body: String {
        from + joins + (conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "))
    }

    /// What follows the columns of a `SELECT`.
    var tail: String { " FROM " + body }
}

/// Several values: the rows of a subselect.
struct SQLCollection {
    /// What a row stands for.
    enum Element {
        case object(SQLObject)
        case composite(SQLObject, AttributeDescription)
        case value(SQLTerm)
        case json(SQLMember)
    }

    let scope: SQLScope
    var element: Element
    /// Whether it is a set to predicates: nil and what already exists does not count.
    var isSet: Bool
    /// Whether each element comes once.
    var isDistinct: Bool
    /// The terms of `ORDER BY` of a collection with an order.
    var order: [String]?
    /// The keys of the objects that it starts from: if one is nil, so is the collection.
    var guards: [String] = []

    var operand: SQLOperand {
        switch element {
        case .object(let object): .object(object)
        case .composite(let object, let attribute): .composite(object, attribute)
        case .value(let term): .term(term)
        case .json(let member): .json(member)
        }
    }

    /// A value that is nil where the collection is.
    func guarded(_ sql: String) -> String {
        if guards.isEmpty { return sql }
        return "CASE WHEN \(guards.map { $0 + " IS NOT NULL" }.joined(separator: " AND ")) THEN \(sql) END"
    }
}
