import Foundation
import StrataRemote

extension KintoDialect {
    /// Conditions are equalities of properties and elements of arrays, joined by AND; the store evaluates all others itself.
    func parameters(_ query: RemoteQuery) throws(RemoteError) -> [String] {
        if query.offset > 0 { throw unsupported("an offset; Kinto gives pages by tokens") }
        var parameters = try conditions(query.predicate, query.entity)
        let names = parameters.map { $0.prefix { $0 != "=" } }
        // Of several parameters of one name, Kinto takes the last.
        guard Set(names).count == names.count else { throw unsupported("two conditions on one property") }
        if !query.sorts.isEmpty { parameters.append("_sort=" + (try order(query)).joined(separator: ",")) }
        if let limit = query.limit { parameters.append("_limit=\(max(1, limit))") }
        if let token = query.cursor { parameters.append("_token=\(PercentEncoding.encode(token))") }
        return parameters
    }

    /// Everything that changed after the last record that was read. No two changes in a collection have the same time, so
    /// pages neither overlap nor leave anything out, and the records that have been deleted come along.
    func parameters(_ pull: RemotePull) throws(RemoteError) -> [String] {
        let cursor = pull.cursor ?? "0"
        guard let since = Int64(cursor), since >= 0 else {
            throw RemoteError(
                .cursorExpired, domain: "Kinto", message: "\"\(cursor.prefix(80))\" is not a time of Kinto's")
        }
        return ["_since=\(since)", "_sort=last_modified", "_limit=\(max(1, pull.limit))"]
    }

    /// Ids are JSON strings: Kinto reads 123 as a number. Texts that cannot be ids are left out; if none is left, the
    /// parameter matches no record.
    static func parameter(ids: [String]) -> String {
        let quoted = ids.filter(isID).map { "%22\($0)%22" }
        return "in_id=" + (quoted.isEmpty ? "%22-%22" : quoted.joined(separator: ","))
    }

    private func conditions(_ predicate: FetchPredicate?, _ entity: EntityDescription) throws(RemoteError) -> [String] {
        switch predicate?.node {
        case nil: return []
        case .and(let parts)?:
            return try parts.map { (part) throws(RemoteError) in try conditions(part, entity) }.flatMap(\.self)
        case .comparison(let left, let comparison, let right, [])?:
            guard case .keyPath(let path) = left.node, path.count == 1, case .constant(let value) = right.node,
                let parameter = parameter(path[0], comparison, value, entity)
            else { break }
            return [parameter]
        default: break
        }
        throw unsupported("the condition \(predicate.map { "\($0)" } ?? "")")
    }

    /// The condition on a property; nil if Kinto has none that means the same.
    private func parameter(
        _ name: String, _ comparison: ComparisonOperator, _ value: Value, _ entity: EntityDescription
    ) -> String? {
        func text(_ prefix: String, _ json: JSONValue) -> String {
            "\(prefix)_\(PercentEncoding.encode(name))=\(PercentEncoding.encode(json.description))"
        }
        // The elements of a to-many relationship are ids.
        let isToMany = entity.relationship(named: name)?.isToMany == true
        switch (comparison, isToMany ? .string : entity.attribute(named: name)?.type.element, value) {
        case (.equal, nil, .string(let id)) where name == entity.primaryKeyField: return Self.parameter(ids: [id])
        case (.equal, nil, _) where name != entity.primaryKeyField && entity.slot(named: name) != nil:
            return comparable(value).map { text("eq", $0) }
        case (.contains, .string?, .string), (.contains, .boolean?, .boolean), (.contains, .integer64?, .integer):
            return comparable(value).map { text("contains", [$0]) }
        default: return nil
        }
    }

    /// The values that are equal on the server exactly when they are equal here. Of others, null is not a missing field there,
    /// numbers and dates may be rounded, and Kinto refuses texts with the character 0.
    private func comparable(_ value: Value) -> JSONValue? {
        switch value {
        case .string(let text): text.utf8.contains(0) ? nil : .string(text)
        case .integer(let number): .integer(number)
        case .boolean(let flag): .boolean(flag)
        case .uuid(let uuid): .string(uuid.uuidString)
        default: nil
        }
    }

    /// Texts are left to the store: their order depends on the server's database.
    private func order(_ query: RemoteQuery) throws(RemoteError) -> [String] {
        var fields: [String] = []
        for sort in query.sorts {
            guard let path = sort.keyPath, path.count == 1, sort.options.isEmpty,
                let type = query.entity.attribute(named: path[0])?.type,
                type.isNumeric && type != .decimal || type == .date || type == .boolean
            else { throw unsupported("the order \(sort)") }
            fields.append((sort.ascending ? "" : "-") + PercentEncoding.encode(path[0]))
        }
        return fields
    }
}
