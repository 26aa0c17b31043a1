import Foundation
import StrataRemote

/// Conditions of a service with a query language: `(name eq "Lima" and population lt 1000000)`.
struct Conditions {
    let entity: EntityDescription
    let coder = JSONRecordCoder()

    func text(_ predicate: FetchPredicate, negated: Bool = false) throws(RemoteError) -> String {
        switch predicate.node {
        case .not(let part): return try text(part, negated: !negated)
        case .and(let parts): return try joined(parts, by: negated ? " or " : " and ", negated)
        case .or(let parts): return try joined(parts, by: negated ? " and " : " or ", negated)
        case .comparison(let left, let op, let right, let options) where options.isEmpty:
            switch (left.node, right.node) {
            case (.keyPath(let path), .constant(let value)) where path.count == 1:
                return try text(path[0], op, value, negated)
            case (.constant(let value), .keyPath(let path)) where path.count == 1:
                return try text(path[0], op.mirrored, value, negated)
            default: break
            }
        default: break
        }
        throw RemoteError(.unsupported, domain: "Shelf", message: "Shelf cannot take \(predicate)")
    }

    private func joined(_ parts: [FetchPredicate], by word: String, _ negated: Bool) throws(RemoteError) -> String {
        var texts: [String] = []
        for part in parts { texts.append(try text(part, negated: negated)) }
        return texts.isEmpty ? String(word == " and ") : "(" + texts.joined(separator: word) + ")"
    }

    private static let words: [ComparisonOperator: (holds: String, fails: String)] = [
        .equal: ("eq", "ne"), .notEqual: ("ne", "eq"), .less: ("lt", "ge"), .lessOrEqual: ("le", "gt"),
        .greater: ("gt", "le"), .greaterOrEqual: ("ge", "lt"),
    ]

    private func text(
        _ name: String, _ op: ComparisonOperator, _ value: Value, _ negated: Bool
    ) throws(RemoteError) -> String {
        guard let words = Self.words[op], let json = comparable(value, name, isOrdered: op.isOrdering) else {
            throw RemoteError(.unsupported, domain: "Shelf", message: "Shelf cannot compare \(name) by \(op.rawValue)")
        }
        // The primary key is the property cityId in the model, and the field id in the service.
        let field = coder.field(name, of: entity)
        let word = negated ? words.fails : words.holds
        if json.isNull { return "\(field) is \(word == "eq" ? "" : "not ")null" }
        let test = "\(field) \(word) \(json)"
        // To Strata, a missing value is unlike all values, and every other comparison with it fails. To most services
        // a comparison with a missing value is neither true nor false.
        let includesMissing = negated != (op == .notEqual)
        return includesMissing ? "(\(test) or \(field) is null)" : test
    }

    /// What the service compares as Strata does; nil for all other values.
    private func comparable(_ value: Value, _ name: String, isOrdered: Bool) -> JSONValue? {
        // A relationship to one object is compared with the primary key of that object.
        let isToOne = entity.relationship(named: name)?.isToMany == false
        guard let type = entity.attribute(named: name)?.type ?? (isToOne ? .string : nil) else { return nil }
        switch (type, value) {
        case (_, .null), (.boolean, .boolean), (.string, .string), (.uuid, .uuid):
            return isOrdered ? nil : coder.json(value, type)
        case (.double, .integer), (.double, .double): return coder.json(value, type)
        case (_, .integer) where type.isInteger: return coder.json(value, type)
        default: return nil
        }
    }
}
