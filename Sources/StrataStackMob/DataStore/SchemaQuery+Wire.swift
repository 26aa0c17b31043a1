import Foundation

extension SchemaQuery {
    /// The query parameters, not encoded.
    /// - Throws: ``RemoteError`` with code -100 for what the server cannot be asked, and of domain
    ///   ``StackMobError/Exception/incompatibleObject`` for an alternative that names a field in the same way twice.
    public func parameters() throws(RemoteError) -> [(name: String, value: String)] {
        var parameters = SchemaParameters()
        for term in condition.terms { try parameters.add(term, prefix: "") }
        var groups = 0
        for alternative in alternatives {
            switch alternative.terms.count {
            case 0: throw StackMobError.invalid("an alternative without conditions is met by all objects; leave it out")
            case 1: try parameters.add(alternative.terms[0], prefix: "[or1].")
            default:
                groups += 1
                for term in alternative.terms { try parameters.add(term, prefix: "[or1].[and\(groups)].") }
            }
        }
        return parameters.pairs
    }

    /// The headers.
    /// - Throws: ``RemoteError`` with code -100 for a range or a number of levels that cannot be.
    public func headers() throws(RemoteError) -> [String: String] {
        var headers: [String: String] = [:]
        if !order.isEmpty {
            headers["X-StackMob-OrderBy"] =
                order.map { "\($0.field):\($0.descending ? "desc" : "asc")" }.joined(separator: ",")
        }
        if let range {
            guard range.lowerBound >= 0, !range.isEmpty else {
                throw StackMobError.invalid("objects \(range.lowerBound) to \(range.upperBound) are no range")
            }
            headers["Range"] =
                "objects=\(range.lowerBound)-" + (range.upperBound == .max ? "" : String(range.upperBound - 1))
        }
        if let fields, !fields.isEmpty { headers["X-StackMob-Select"] = fields.joined(separator: ",") }
        try Self.check(expansion: expansion)
        if expansion > 0 { headers["X-StackMob-Expand"] = String(expansion) }
        return headers
    }

    static func check(expansion: Int) throws(RemoteError) {
        guard (0...3).contains(expansion) else {
            throw StackMobError.invalid("related objects come along 0 to 3 levels deep, not \(expansion)")
        }
    }
}

/// Parameters of a query. A name stands for one condition, since the server takes the last of several.
private struct SchemaParameters {
    private(set) var pairs: [(name: String, value: String)] = []

    mutating func add(_ term: SchemaCondition.Term, prefix: String) throws(RemoteError) {
        guard !term.field.isEmpty else { throw StackMobError.invalid("a condition has no field") }
        let (suffix, value) = try Self.spell(term)
        let name = prefix + term.field + suffix
        if let other = pairs.first(where: { $0.name == name }) {
            guard prefix.isEmpty else {
                throw StackMobError.incompatible("an alternative names \(term.field)\(suffix) twice; use .in")
            }
            guard other.value == value else {
                throw StackMobError.invalid(
                    "\(term.field)\(suffix) is compared with \(other.value) and with \(value); the server takes one")
            }
            return
        }
        pairs.append((name, value))
    }

    private static func spell(
        _ term: SchemaCondition.Term
    ) throws(RemoteError) -> (suffix: String, value: String) {
        switch term.comparison {
        case .equal(.null): return ("[null]", "true")
        case .equal(.string("")): return ("[empty]", "true")
        case .equal(let value): return ("", try text(value, term.field))
        case .notEqual(.null): return ("[null]", "false")
        case .notEqual(.string("")): return ("[empty]", "false")
        case .notEqual(let value): return ("[ne]", try text(value, term.field))
        case .less(let value): return ("[lt]", try text(value, term.field))
        case .lessOrEqual(let value): return ("[lte]", try text(value, term.field))
        case .greater(let value): return ("[gt]", try text(value, term.field))
        case .greaterOrEqual(let value): return ("[gte]", try text(value, term.field))
        case .in(let values): return ("[in]", try list(values, term.field))
        case .notIn(let values): return ("[nin]", try list(values, term.field))
        case .near(let point, let radians):
            return ("[near]", try numbers([point], radians: radians, term.field))
        case .within(let point, let radians):
            return ("[within]", try numbers([point], radians: radians, term.field))
        case .inBox(let southWest, let northEast):
            return ("[within]", try numbers([southWest, northEast], radians: nil, term.field))
        }
    }

    private static func text(_ value: JSONValue, _ field: String) throws(RemoteError) -> String {
        switch value {
        case .string(let text): return text
        case .boolean(let flag): return String(flag)
        case .integer(let number): return String(number)
        case .decimal(let number) where !number.isNaN: return "\(number)"
        case .double(let number) where number.isFinite:
            // Decimals are written without an exponent.
            return Int64(exactly: number).map(String.init)
                ?? "\(Decimal(string: number.description) ?? Decimal(number))"
        default: throw StackMobError.invalid("\(field) cannot be compared with \(value)")
        }
    }

    private static func list(_ values: [JSONValue], _ field: String) throws(RemoteError) -> String {
        guard !values.isEmpty else {
            throw StackMobError.invalid("\(field) is compared with an empty list, which the server cannot be asked")
        }
        var texts: [String] = []
        for value in values {
            let text = try text(value, field)
            guard !text.contains(",") else {
                throw StackMobError.invalid(
                    "\(text.debugDescription) has a comma, which parts the values of a list; compare \(field) with it alone"
                )
            }
            texts.append(text)
        }
        return texts.joined(separator: ",")
    }

    private static func numbers(
        _ points: [GeoPoint], radians: Double?, _ field: String
    ) throws(RemoteError) -> String {
        for point in points where !point.isValid {
            throw StackMobError.invalid("\(field) is compared with \(point), which is no place on the earth")
        }
        if let radians, !radians.isFinite || radians < 0 {
            throw StackMobError.invalid("\(field) is compared with a distance of \(radians) radians, which is none")
        }
        let numbers = points.flatMap { [$0.latitude, $0.longitude] } + (radians.map { [$0] } ?? [])
        return numbers.map { String(format: "%.6f", $0) }.joined(separator: ",")
    }
}

extension WireResponse {
    /// How many objects there are in all: from the range of the content, or by counting those that came.
    func count() throws(RemoteError) -> Int {
        guard let range = head.headerFields[.contentRange] else { return try objects().count }
        let parts = range.split(separator: "/", omittingEmptySubsequences: false)
        let total = parts.last.map { $0.hasSuffix(",") ? $0.dropLast() : $0 } ?? ""
        guard parts.count == 2, let count = Int(total.trimmingCharacters(in: .whitespaces)), count >= 0 else {
            throw StackMobError.noCountAvailable.error(
                "the server does not tell how many objects there are: \(range)", status: status)
        }
        return count
    }
}
