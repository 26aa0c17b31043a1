import Foundation
import StrataMaxLeap

/// Queries as they appear in cases of MaxLeap.
enum MaxLeapWireQuery {
    static func query(_ input: WireCase) throws -> MaxLeapQuery {
        var query = MaxLeapQuery(input.text("className", "class") ?? "Test")
        for element in input.elements("constraints", "conditions", "where") ?? [] { try add(element, to: &query) }
        for element in input.elements("sort", "orderBy", "order") ?? [] {
            guard let (key, ascending) = order(element) else { throw WireFault("\(element) is not an order") }
            query.orders.append(MaxLeapQuery.Order(key, ascending: ascending))
        }
        query.limit = input.whole("limit")
        query.skip = input.whole("skip") ?? 0
        query.keys = input.texts("keys", "select", "selectKeys")
        query.excludedKeys = input.texts("excludeKeys", "excludedKeys", "exclude") ?? []
        query.include = input.texts("include", "includes", "includeKeys") ?? []
        return query
    }

    /// `["createdAt", "desc"]`, `"-createdAt"`.
    private static func order(_ json: JSONValue) -> (key: String, ascending: Bool)? {
        switch json {
        case .string(let text):
            let isDescending = text.hasPrefix("-")
            return (isDescending ? String(text.dropFirst()) : text, !isDescending)
        case .array(let parts):
            guard let key = parts.first?.string else { return nil }
            switch parts.dropFirst().first {
            case .string(let word): return (key, !word.lowercased().hasPrefix("desc"))
            case .boolean(let ascending): return (key, ascending)
            default: return (key, true)
            }
        default: return nil
        }
    }

    private static func add(_ json: JSONValue, to query: inout MaxLeapQuery) throws {
        guard let parts = json.elements, let name = parts.first?.string else {
            throw WireFault("\(json.description.prefix(80)) is not a condition")
        }
        let operands = Array(parts.dropFirst())
        switch WireCase.plain(name) {
        case "or", "and":
            // Lists of conditions, or queries.
            let branches = operands.count == 1 ? operands[0].elements ?? operands : operands
            var conditions: [MaxLeapWhere] = []
            for branch in branches {
                let inner: JSONValue = branch.elements == nil ? branch : ["constraints": branch]
                conditions.append(.and(try Self.query(WireCase(inner)).conditions))
            }
            query.conditions.append(WireCase.plain(name) == "or" ? .or(conditions) : .and(conditions))
        case "relatedto":
            // The key may be on either side of the object.
            guard let key = operands.compactMap(\.string).first,
                let object = try operands.first(where: { $0.string == nil }).map(MaxLeapWireValues.value)?.pointer
            else { throw WireFault("\(json.description.prefix(80)) names no relation of an object") }
            query.conditions.append(.relatedTo(object, key: key))
        default:
            guard let key = operands.first?.string else {
                throw WireFault("\(json.description.prefix(80)) names no field")
            }
            query.constrain(key, try constraint(name, Array(operands.dropFirst())))
        }
    }

    private static func constraint(_ name: String, _ operands: [JSONValue]) throws -> MaxLeapConstraint {
        if let make = comparisons[name.lowercased()] {
            return make(try operands.first.map(MaxLeapWireValues.value) ?? .null)
        }
        let plain = WireCase.plain(name)
        switch plain {
        case "in", "isin", "containedin": return .isIn(try list(operands))
        case "nin", "notin", "notcontainedin": return .isNotIn(try list(operands))
        case "all", "containsall", "containsallobjectsinarray": return .all(try list(operands))
        case "size", "arraysize": return .size(operands.first?.integer.flatMap { Int(exactly: $0) } ?? 0)
        case "exists": return .exists(operands.first != false)
        case "notexists", "doesnotexist": return .exists(false)
        case "regex", "matches", "matchesregex":
            return .matches(operands.first?.string ?? "", options: operands.dropFirst().first?.string ?? "")
        case "contains", "containsstring": return .contains(operands.first?.string ?? "")
        case "hasprefix", "prefix", "beginswith": return .hasPrefix(operands.first?.string ?? "")
        case "hassuffix", "suffix", "endswith": return .hasSuffix(operands.first?.string ?? "")
        case "matchesquery", "inquery": return .inQuery(try inner(operands.first))
        case "doesnotmatchquery", "notinquery": return .notInQuery(try inner(operands.first))
        case "matcheskey", "matcheskeyinquery", "select", "doesnotmatchkey", "doesnotmatchkeyinquery", "dontselect":
            let query = try inner(operands.first { $0.string == nil })
            let key = operands.compactMap(\.string).first ?? ""
            return plain.hasPrefix("do") ? .dontSelect(key: key, query) : .select(key: key, query)
        default: return try position(plain, operands)
        }
    }

    private static func inner(_ json: JSONValue?) throws -> MaxLeapQuery {
        if let className = json?["$query"]?.string { return MaxLeapQuery(className) }
        guard let json, json.members != nil else { throw WireFault("the condition has no query") }
        return try query(WireCase(json["$query"] ?? json))
    }

    private static let comparisons: [String: @Sendable (MaxLeapValue) -> MaxLeapConstraint] = [
        "==": { .equal($0) }, "=": { .equal($0) }, "eq": { .equal($0) }, "!=": { .notEqual($0) },
        "<>": { .notEqual($0) }, "ne": { .notEqual($0) }, "<": { .less($0) }, "lt": { .less($0) },
        "<=": { .lessOrEqual($0) }, "lte": { .lessOrEqual($0) }, ">": { .greater($0) }, "gt": { .greater($0) },
        ">=": { .greaterOrEqual($0) }, "gte": { .greaterOrEqual($0) },
    ]

    private static func list(_ operands: [JSONValue]) throws -> [MaxLeapValue] {
        guard operands.count == 1, let elements = operands[0].elements ?? operands[0]["$set"]?.elements else {
            return try operands.map(MaxLeapWireValues.value)
        }
        return try elements.map(MaxLeapWireValues.value)
    }

    private static func position(_ name: String, _ operands: [JSONValue]) throws -> MaxLeapConstraint {
        let points = operands.compactMap(WireValues.point)
        guard let point = points.first else { throw WireFault("there is no operator \(name.prefix(40))") }
        if points.count > 1 { return .box(southWest: point, northEast: points[1]) }
        guard let distance = operands.compactMap(\.double).first else { return .near(point) }
        let unit = name + operands.compactMap(\.string).joined().lowercased()
        if unit.contains("mile") { return .within(miles: distance, of: point) }
        if unit.contains("kilo") || unit.contains("km") { return .within(kilometers: distance, of: point) }
        return .within(radians: distance, of: point)
    }
}
