import Foundation
import StrataStore

/// An expression in SQL with what is known about it.
package struct SQLTerm {
    /// The slot after a term that is nothing but a column.
    package struct Origin {
        package let object: SQLObject
        package let slot: SlotDescription
        package let layout: StoreLayout

        /// Whether an index begins with the column.
        package var leadsIndex: Bool {
            object.entity.indexes.contains { index in
                guard index.kind == .ordered || index.kind == .unique, let first = index.properties.first else {
                    return false
                }
                return first == slot.name || first == "-" + slot.name
            }
        }
    }

    /// Whether the term is a column that has a value in every row.
    package var isRequiredAttribute: Bool {
        guard let origin, !origin.object.isOptional, origin.slot.attributeIndex != nil else { return false }
        return !origin.slot.isOptional && origin.slot.derivation == nil
    }

    package let sql: String
    package let kind: SQLKind
    /// Whether decimal numbers are as columns keep them for certain; what functions and aggregates give may be a number of
    /// another kind.
    package var isDecimalText = false
    package var origin: Origin?
    /// The member of JSON that the term is, where its kind is ``SQLKind/json``.
    package var member: SQLMember?

    package init(
        sql: String, kind: SQLKind, isDecimalText: Bool = false, origin: Origin? = nil, member: SQLMember? = nil
    ) {
        self.sql = sql
        self.kind = kind
        self.isDecimalText = isDecimalText
        self.origin = origin
        self.member = member
    }

    /// The attribute that the model keeps as this text without case and accents, as SQL; nil if there is none.
    package var canonicalColumn: String? {
        guard let origin, let alias = origin.object.alias else { return nil }
        let entity = origin.object.entity
        let canonical = entity.slots.first { $0.derivation == .canonical(origin.slot.name) }
        guard let canonical, let column = origin.layout.column(entity.index, canonical.index) else { return nil }
        return "\(alias).\(column.quoted)"
    }
}

/// A constant of the condition, or one of its elements.
package struct SQLConstant {
    package let value: Value
    /// The position among the constants of the condition; nil for what is in no fetch, as nil after nil.
    package let position: Int?
    /// The element, where a single one of a list is meant.
    package var element: Int?

    package static let null = SQLConstant(value: .null, position: nil)

    /// The elements, where the constant is a collection.
    package var elements: [SQLConstant]? {
        Self.elements(of: value)?.enumerated().map {
            SQLConstant(value: $0.element, position: position, element: $0.offset)
        }
    }

    /// The value in a fetch of the same shape.
    package func value(in constants: [Value]) -> Value {
        guard let position else { return value }
        guard let element else { return constants[position] }
        return Self.elements(of: constants[position])?[element] ?? .null
    }

    package static func elements(of value: Value) -> [Value]? {
        switch value {
        case .list(let elements): elements
        case .set(let elements): elements.members
        default: nil
        }
    }
}

/// What an expression is in SQL.
package indirect enum SQLOperand {
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

    package static var null: SQLOperand { .constant(.null) }

    package var isNull: Bool {
        if case .constant(let constant) = self { constant.value.isNull } else { false }
    }

    /// Whether it is or may be JSON.
    package var isJSON: Bool {
        switch self {
        case .json, .choice: true
        default: false
        }
    }

    /// The name of the kind of values, for messages.
    package var kindName: String {
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
package final class SQLObject {
    package let scope: SQLScope
    package let entity: EntityDescription
    /// The key in SQL.
    package let key: String
    /// The name of the row's table in the scope, once it is there.
    package var alias: String?
    /// Whether there may be no such row.
    package let isOptional: Bool
    /// The objects that to-one relationships lead to.
    package var targets: [String: SQLObject] = [:]

    package init(scope: SQLScope, entity: EntityDescription, key: String, alias: String? = nil, isOptional: Bool) {
        self.scope = scope
        self.entity = entity
        self.key = key
        self.alias = alias
        self.isOptional = isOptional
    }
}

/// A `FROM` and a `WHERE` while they are made.
package final class SQLScope {
    package var from: String
    package var joins = ""
    package var conditions: [String] = []

    package init(from: String = "") { self.from = from }

    /// What follows `FROM`.
    package var body: String {
        from + joins + (conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "))
    }

    /// What follows the columns of a `SELECT`.
    package var tail: String { " FROM " + body }
}

/// Several values: the rows of a subselect.
package struct SQLCollection {
    /// What a row stands for.
    package enum Element {
        case object(SQLObject)
        case composite(SQLObject, AttributeDescription)
        case value(SQLTerm)
        case json(SQLMember)
    }

    package let scope: SQLScope
    package var element: Element
    /// Whether it is a set to predicates: nil and what already exists does not count.
    package var isSet: Bool
    /// Whether each element comes once.
    package var isDistinct: Bool
    /// The terms of `ORDER BY` of a collection with an order.
    package var order: [String]?
    /// The keys of the objects that it starts from: if one is nil, so is the collection.
    package var guards: [String] = []

    package var operand: SQLOperand {
        switch element {
        case .object(let object): .object(object)
        case .composite(let object, let attribute): .composite(object, attribute)
        case .value(let term): .term(term)
        case .json(let member): .json(member)
        }
    }

    /// A value that is nil where the collection is.
    package func guarded(_ sql: String) -> String {
        if guards.isEmpty { return sql }
        return "CASE WHEN \(guards.map { $0 + " IS NOT NULL" }.joined(separator: " AND ")) THEN \(sql) END"
    }
}
