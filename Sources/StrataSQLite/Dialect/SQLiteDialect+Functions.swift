import StrataSQL
import StrataStore

extension SQLiteDialect {
    // MARK: Functions

    func call(
        _ operation: SQLOperation, _ arguments: [SQLTerm], _ kind: SQLKind, _ parameters: inout FetchParameters,
        _ evaluator: @escaping @Sendable ([Value]) throws(StoreError) -> SQLCall
    ) -> String? {
        let number = parameters.addCall { (constants: [Value]) throws(StoreError) -> SQLValue in
            .call(try evaluator(constants))
        }
        let function = if case .draw = operation { "strata_draw" } else { "strata_call" }
        return "\(function)(\((["?\(number)"] + arguments.map(\.sql)).joined(separator: ", ")))"
    }

    func aggregate(
        _ function: FetchFunction, _ value: SQLTerm, _ kind: SQLKind, clampsSums: Bool,
        _ parameters: inout FetchParameters, _ evaluator: @escaping @Sendable ([Value]) throws(StoreError) -> SQLCall
    ) -> SQLTerm? {
        let isExtreme = function == .minimum || function == .maximum
        if isExtreme, value.kind != .decimal || value.isDecimalText {
            let word = function == .minimum ? "min" : "max"
            let sql = value.kind == .point ? value.sql : canonical(value)
            return SQLTerm(sql: "\(word)(\(sql))", kind: kind, isDecimalText: value.isDecimalText)
        }
        if function == .sum, kind == .integer {
            return SQLTerm(
                sql: clampsSums ? "strata_sum(\(value.sql))" : "coalesce(sum(\(value.sql)), 0)", kind: kind)
        }
        let isDecimalText = function != .sum && value.isDecimalText
        let number = parameters.addCall { (constants: [Value]) throws(StoreError) -> SQLValue in
            .call(try evaluator(constants))
        }
        let sql = "strata_aggregate(?\(number), \(value.sql))"
        return SQLTerm(
            sql: function == .sum ? "coalesce(\(sql), 0)" : sql, kind: kind, isDecimalText: isDecimalText)
    }

    func derivedSum(_ value: String, of storage: SlotStorage, as result: SlotStorage) -> String {
        switch result {
        case .decimal: "strata_decimal_sum(\(value))"
        case .integer where storage == .integer: "strata_sum(\(value))"
        case .integer: "CAST(total(\(value)) AS INTEGER)"
        default: "total(\(value))"
        }
    }

    func distance(_ a: String, _ b: String, radius: String) -> String { "strata_distance(\(a), \(b), \(radius))" }

    // MARK: JSON

    func member(_ member: SQLMember, as form: JSONForm) -> String {
        switch form {
        case .fragment: call(JSONFunctions.fragment, member)
        case .text: call(JSONFunctions.text, member)
        case .number: call(JSONFunctions.number, member)
        }
    }

    func call(_ function: String, _ member: SQLMember) -> String {
        let path = member.path.map { step in
            switch step {
            case .name(let name): Identifiers.literal(name)
            case .first: "0"
            case .last: "-1"
            case .position(let parameter): parameter
            }
        }
        return "\(function)(\(([member.text] + path).joined(separator: ", ")))"
    }

    // MARK: Searches

    func areaSearch(_ index: SpatialIndex, key: String, point: String, _ areas: [[String]]) -> String {
        let searches = areas.map { bounds in
            "SELECT id FROM \(index.name) WHERE max_latitude >= \(bounds[0]) AND min_latitude <= \(bounds[1])"
                + " AND max_longitude >= \(bounds[2]) AND min_longitude <= \(bounds[3])"
        }
        return "\(key) IN (\(searches.joined(separator: " UNION ALL ")))"
    }

    func wordSearch(_ index: FullTextIndex, key: String, _ query: String) -> String {
        "\(key) IN (SELECT rowid FROM \(index.name) WHERE \(index.name) MATCH \(query))"
    }
}
