import StrataSQL
import StrataStore

extension PostgresDialect {
    package func call(
        _ operation: SQLOperation, _ arguments: [SQLTerm], _ kind: SQLKind, _ parameters: inout FetchParameters,
        _ evaluator: @escaping @Sendable ([Value]) throws(StoreError) -> SQLCall
    ) -> String? {
        switch operation {
        case .function(let function):
            return arguments.count == 1
                ? apply(function, arguments[0]) : apply(function, arguments[0], arguments[1])
        case .method(let method): return apply(method, arguments)
        case .cast(let type): return cast(arguments[0], type)
        case .like(let options):
            guard let text = folded(arguments[0], options), let pattern = folded(arguments[1], options) else {
                return nil
            }
            return "\(text) LIKE strata_pattern(\(pattern))"
        case .near: return valid(arguments[0], arguments[1])
        case .within(let unit):
            guard let limit = double(arguments[2]) else { return nil }
            let radius = arguments[3].sql
            let kilometers =
                switch unit {
                case .kilometers: limit
                case .miles: "\(limit) * 1.609344::double precision"
                case .radians: "\(limit) * \(radius)"
                }
            return "\(distance(arguments[0].sql, arguments[1].sql, radius: radius)) <= \(kilometers)"
        case .box:
            let points = arguments.map(\.sql).joined(separator: ", ")
            return "strata_is_inside(\(points))"
        case .aggregate(let function): return extreme(function, arguments)
        case .draw:
            if kind == .double { return "random()" }
            guard arguments[0].kind == .integer else { return nil }
            return "CASE WHEN \(arguments[0].sql) > 0 THEN floor(random() * \(arguments[0].sql))::bigint END"
        case .matches, .matchesText, .json: return nil
        }
    }

    // MARK: Numbers

    private func double(_ term: SQLTerm) -> String? {
        switch term.kind {
        case .double: term.sql
        case .integer, .boolean: "(\(whole(term)))::double precision"
        default: nil
        }
    }

    private func apply(_ function: FetchFunction, _ a: SQLTerm, _ b: SQLTerm) -> String? {
        let kinds = [a.kind, b.kind]
        let areWhole = kinds.allSatisfy { $0 == .integer || $0 == .boolean }
        switch function {
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift:
            guard areWhole else { return nil }
            switch function {
            case .bitwiseAnd: return "(\(whole(a)) & \(whole(b)))"
            case .bitwiseOr: return "(\(whole(a)) | \(whole(b)))"
            case .bitwiseXor: return "(\(whole(a)) # \(whole(b)))"
            case .leftShift: return "strata_shift(\(whole(a)), \(whole(b)))"
            default: return "strata_shift(\(whole(a)), \(whole(b)), TRUE)"
            }
        default: break
        }
        if areWhole {
            switch function {
            case .divide: return "strata_divide(\(whole(a)), \(whole(b)))"
            case .modulus: return "strata_modulus(\(whole(a)), \(whole(b)))"
            default:
                guard let sign = Self.sign(function), let x = number(a), let y = number(b) else { return nil }
                // Nil where the result has more than 64 bits.
                return "strata_whole(\(x) \(sign) \(y))"
            }
        }
        guard let sign = Self.sign(function) else {
            guard function == .divide, let x = double(a), let y = double(b) else { return nil }
            return "(\(x) / nullif(\(y), 0))"
        }
        if let x = double(a), let y = double(b) { return "(\(x) \(sign) \(y))" }
        guard !kinds.contains(.double), !kinds.contains(.number), let x = number(a), let y = number(b) else {
            return nil
        }
        return "(\(x) \(sign) \(y))"
    }

    /// The functions that no result makes undefined, but for its size.
    private static func sign(_ function: FetchFunction) -> String? {
        switch function {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        default: nil
        }
    }

    private func apply(_ function: FetchFunction, _ a: SQLTerm) -> String? {
        let isWhole = a.kind == .integer || a.kind == .boolean
        switch function {
        case .absolute:
            if isWhole { return "abs(nullif(\(whole(a)), (-9223372036854775808)::bigint))" }
            return a.kind == .double || a.kind == .decimal ? "abs(\(a.sql))" : nil
        case .onesComplement: return isWhole ? "(~\(whole(a)))" : nil
        case .floor, .ceiling, .truncate:
            if isWhole { return whole(a) }
            let name = function == .floor ? "floor" : function == .ceiling ? "ceil" : "trunc"
            return a.kind == .double || a.kind == .decimal ? "\(name)(\(a.sql))" : nil
        case .squareRoot: return double(a).map { "CASE WHEN \($0) >= 0 THEN sqrt(\($0)) END" }
        case .logarithm: return double(a).map { "CASE WHEN \($0) > 0 THEN log(\($0)) END" }
        case .naturalLogarithm: return double(a).map { "CASE WHEN \($0) > 0 THEN ln(\($0)) END" }
        case .exponential:
            return double(a).map { "CASE WHEN \($0) < -700 THEN 0 WHEN \($0) <= 709.78 THEN exp(\($0)) END" }
        default: return nil
        }
    }

    /// The minimum or the maximum of several values; nil does not count.
    private func extreme(_ function: FetchFunction, _ terms: [SQLTerm]) -> String? {
        guard function == .minimum || function == .maximum, let kind = terms.first?.kind,
            kind != .json && kind != .external && kind != .point, terms.allSatisfy({ $0.kind == kind })
        else { return nil }
        return "\(function == .minimum ? "LEAST" : "GREATEST")(\(terms.map(canonical).joined(separator: ", ")))"
    }

    // MARK: Methods and casts

    private func apply(_ method: FetchMethod, _ arguments: [SQLTerm]) -> String? {
        guard arguments.allSatisfy({ $0.kind == .text || (method == .length && $0.kind == .bytes) }) else { return nil }
        let texts = arguments.map(\.sql)
        switch method {
        case .length:
            return arguments[0].kind == .bytes ? "octet_length(\(texts[0]))::bigint" : "strata_length(\(texts[0]))"
        case .hasPrefix: return search(texts[0], .beginsWith, texts[1])
        case .hasSuffix: return "(\(search(texts[0], .endsWith, texts[1])))"
        case .stringByAppendingString: return "(\(texts[0]) || \(texts[1]))"
        default: return nil
        }
    }

    private func cast(_ term: SQLTerm, _ type: CastType) -> String? {
        switch (type, term.kind) {
        case (.date, .date), (.number, .integer), (.number, .double), (.number, .decimal), (.decimal, .decimal),
            (.string, .text), (.string, .uri), (.boolean, .boolean), (.uuid, .uuid), (.uri, .uri), (.data, .bytes),
            (.object, .object), (.object, .integer), (.geoPoint, .point):
            return term.sql
        case (.number, .boolean): return whole(term)
        case (.number, .date): return "(extract(epoch FROM \(term.sql)) - 978307200)::double precision"
        case (.decimal, .integer), (.decimal, .boolean): return number(term)
        case (.string, .integer), (.string, .object): return "(\(term.sql))::text"
        case (.string, .boolean): return "(\(whole(term)))::text"
        case (.string, .uuid): return "upper((\(term.sql))::text)"
        case (.boolean, .integer), (.boolean, .double), (.boolean, .decimal): return "(\(term.sql) <> 0)"
        default: return nil
        }
    }

    // MARK: Aggregates

    package func aggregate(
        _ function: FetchFunction, _ value: SQLTerm, _ kind: SQLKind, clampsSums: Bool,
        _ parameters: inout FetchParameters, _ evaluator: @escaping @Sendable ([Value]) throws(StoreError) -> SQLCall
    ) -> SQLTerm? {
        switch (function, value.kind) {
        case (.minimum, .boolean): return SQLTerm(sql: "bool_and(\(value.sql))", kind: kind)
        case (.maximum, .boolean): return SQLTerm(sql: "bool_or(\(value.sql))", kind: kind)
        case (.minimum, .uuid), (.maximum, .uuid), (.minimum, .bytes), (.maximum, .bytes): return nil
        case (.minimum, _), (.maximum, _):
            let word = function == .minimum ? "min" : "max"
            return SQLTerm(sql: "\(word)(\(canonical(value)))", kind: kind, isDecimalText: value.isDecimalText)
        case (.sum, .integer), (.sum, .boolean): return SQLTerm(sql: clamped("sum(\(whole(value)))"), kind: .integer)
        case (.sum, .double): return SQLTerm(sql: "coalesce(sum(\(value.sql)), 0)", kind: .double)
        case (.sum, .decimal): return SQLTerm(sql: "coalesce(sum(\(value.sql)), 0)", kind: kind, isDecimalText: true)
        case (.average, .integer), (.average, .boolean):
            // `avg` rounds decimally before the result becomes a double, and so may miss the nearest one.
            let number = whole(value)
            return SQLTerm(sql: "(sum(\(number))::double precision / count(\(number)))", kind: .double)
        case (.average, .double): return SQLTerm(sql: "avg(\(value.sql))", kind: .double)
        // Foundation rounds decimals to 38 digits.
        case (.average, .decimal): return nil
        case (.median, .integer), (.median, .boolean), (.median, .double):
            return double(value).map {
                SQLTerm(sql: "percentile_cont(0.5) WITHIN GROUP (ORDER BY \($0))", kind: .double)
            }
        case (.standardDeviation, .integer), (.standardDeviation, .boolean), (.standardDeviation, .double):
            return double(value).map { SQLTerm(sql: "stddev_pop(\($0))", kind: .double) }
        default: return nil
        }
    }

    /// A sum of whole numbers, which may have more than 64 bits.
    private func clamped(_ sum: String) -> String {
        "LEAST(GREATEST(coalesce(\(sum), 0), -9223372036854775808), 9223372036854775807)::bigint"
    }

    package func derivedSum(_ value: String, of storage: SlotStorage, as result: SlotStorage) -> String {
        switch result {
        case .decimal: "coalesce(sum(\(value)), 0)::numeric"
        case .integer: clamped(storage == .integer ? "sum(\(value))" : "trunc(sum(\(value)))::numeric")
        default: "coalesce(sum(\(value)), 0)::double precision"
        }
    }

    // MARK: Places

    package func distance(_ a: String, _ b: String, radius: String) -> String {
        "strata_distance(\(a), \(b), \(radius))"
    }

    private func valid(_ a: SQLTerm, _ b: SQLTerm) -> String {
        "(strata_is_valid(\(a.sql)) AND strata_is_valid(\(b.sql)))"
    }

    package func areaSearch(_ index: SpatialIndex, key: String, point: String, _ areas: [[String]]) -> String {
        let boxes = areas.map { bounds in
            "\(point) <@ box(point(\(bounds[2]), \(bounds[0])), point(\(bounds[3]), \(bounds[1])))"
        }
        return "(\(boxes.joined(separator: " OR ")))"
    }

    /// There are no indexes of words.
    package func wordSearch(_ index: FullTextIndex, key: String, _ query: String) -> String { constant(false) }
}
