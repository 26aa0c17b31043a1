#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// Translates conditions whose SQL has the same meaning as their evaluation in memory, and no others.
    ///
    /// A translated condition may be NULL where it does not hold; a negation asks whether it is true, so that nil is unequal to
    /// every value.
    struct ConditionBuilder {
        private let layout: StoreLayout
        private let entity: EntityDescription
        private let environment: EvaluationEnvironment
        private(set) var parameters = StatementParameters()
        /// The tables that to-one relationships lead to.
        private(set) var joins = ""
        private var aliases: [String: String] = [:]

        init(layout: StoreLayout, entity: EntityDescription, environment: EvaluationEnvironment) {
            self.layout = layout
            self.entity = entity
            self.environment = environment
        }

        /// The SQL of a condition; nil if it is to be evaluated in memory.
        mutating func condition(_ predicate: FetchPredicate) -> String? {
            switch predicate.node {
            case .constant(let flag): return flag ? "true" : "false"
            case .and(let parts): return joined(parts, " AND ", empty: "true")
            case .or(let parts): return joined(parts, " OR ", empty: "false")
            case .not(let part): return condition(part).map { "(\($0)) IS NOT TRUE" }
            case .comparison(let left, let op, let right, let options):
                guard options.isEmpty || options == .normalized else { return nil }
                if let column = column(left), let value = constant(right) { return compare(column, op, value) }
                if let column = column(right), let value = constant(left), let mirrored = op.mirrored {
                    return compare(column, mirrored, value)
                }
                return nil
            case .quantified, .geo, .tooDeep: return nil
            }
        }

        private mutating func joined(_ parts: [FetchPredicate], _ word: String, empty: String) -> String? {
            if parts.isEmpty { return empty }
            var list: [String] = []
            for part in parts {
                guard let sql = condition(part) else { return nil }
                list.append("(\(sql))")
            }
            return list.joined(separator: word)
        }

        // MARK: Columns

        /// A column, and how its values compare.
        struct Column {
            let sql: String
            let storage: SlotStorage
            let type: AttributeType?
            let isExternal: Bool

            var isJSON: Bool { type?.isJSON == true }
            var postgresType: PostgresType { storage.postgresType(isJSON: isJSON) }
        }

        private mutating func column(_ expression: FetchExpression) -> Column? {
            switch expression.node {
            case .evaluatedObject: Column(sql: "t0.\"_id\"", storage: .key, type: nil, isExternal: false)
            case .keyPath(let path): column(at: path)
            default: nil
            }
        }

        /// The column at the end of a path through to-one relationships.
        private mutating func column(at path: [String]) -> Column? {
            var current = entity
            var alias = "t0"
            var walked = ""
            for (index, name) in path.enumerated() {
                let rest = path[index...].joined(separator: ".")
                if let slot = current.slot(named: rest), let column = layout.column(current.index, slot.index) {
                    return Column(
                        sql: "\(alias).\(column.quoted)", storage: slot.storage, type: slot.type,
                        isExternal: column.allowsExternal)
                }
                guard let relationship = current.relationship(named: name), let slot = relationship.slot,
                    let column = layout.column(current.index, slot), index + 1 < path.count
                else { return nil }
                walked += "." + name
                let destination = layout.model.destination(of: relationship)
                if let known = aliases[walked] {
                    alias = known
                } else {
                    let next = "t\(aliases.count + 1)"
                    joins +=
                        " LEFT JOIN \(layout.table(destination.index).quoted) AS \(next) ON \(next).\"_id\" = "
                        + "\(alias).\(column.quoted)"
                    aliases[walked] = next
                    alias = next
                }
                current = destination
            }
            return nil
        }

        /// Whether an expression is a value that may be kept apart from its row.
        mutating func isExternal(_ expression: FetchExpression) -> Bool { column(expression)?.isExternal == true }

        // MARK: Order

        /// The term of an order; nil if it is to be sorted in memory.
        mutating func order(_ sort: FetchSort) -> String? {
            guard sort.options.isEmpty || sort.options == .normalized, let column = column(sort.expression),
                !column.isExternal, !column.isJSON, column.storage != .geoPoint
            else { return nil }
            return "\(column.sql) \(sort.ascending ? "ASC NULLS FIRST" : "DESC NULLS LAST")"
        }

        // MARK: Comparisons

        /// The value of an expression that is the same for all objects.
        private func constant(_ expression: FetchExpression) -> Value? {
            guard Self.isFixed(expression) else { return nil }
            return try? expression.evaluate(on: Value.null, environment: environment)
        }

        private static func isFixed(_ expression: FetchExpression) -> Bool {
            switch expression.node {
            case .constant: true
            case .aggregate(let parts): parts.allSatisfy(isFixed)
            case .function(let function, let arguments): function != .random && arguments.allSatisfy(isFixed)
            case .cast(let value, _): isFixed(value)
            default: false
            }
        }

        private mutating func compare(_ column: Column, _ op: ComparisonOperator, _ value: Value) -> String? {
            if value.isNull {
                // A JSON null is nil as well.
                if column.isJSON || column.isExternal { return nil }
                switch op {
                case .equal: return "\(column.sql) IS NULL"
                case .notEqual: return "\(column.sql) IS NOT NULL"
                case .less, .lessOrEqual, .greater, .greaterOrEqual: return "false"
                default: return nil
                }
            }
            switch op {
            case .equal: return parameter(value, column).map { "\(column.sql) = \($0)" }
            case .notEqual: return parameter(value, column).map { "\(column.sql) IS DISTINCT FROM \($0)" }
            case .less: return ordered(column, "<", value)
            case .lessOrEqual: return ordered(column, "<=", value)
            case .greater: return ordered(column, ">", value)
            case .greaterOrEqual: return ordered(column, ">=", value)
            case .between:
                guard case .list(let bounds) = value, bounds.count == 2,
                    let low = ordered(column, ">=", bounds[0]), let high = ordered(column, "<=", bounds[1])
                else { return nil }
                return "\(low) AND \(high)"
            case .isIn: return member(column, of: value)
            case .contains: return text(column, value) { "strpos(\(column.sql), \($0)) > 0" }
            case .beginsWith: return text(column, value) { "starts_with(\(column.sql), \($0))" }
            case .endsWith: return text(column, value) { "right(\(column.sql), length(\($0))) = \($0)" }
            case .like, .matches, .matchesText: return nil
            }
        }

        /// Truth values and references have no order in which a comparison makes sense.
        private mutating func ordered(_ column: Column, _ sign: String, _ value: Value) -> String? {
            guard column.storage != .boolean, column.storage != .key, !value.isNull else { return nil }
            return parameter(value, column).map { "\(column.sql) \(sign) \($0)" }
        }

        private mutating func text(_ column: Column, _ value: Value, _ sql: (String) -> String) -> String? {
            guard column.storage == .text, column.type == .string, case .string(let part) = value, !part.isEmpty,
                let parameter = parameter(value, column)
            else { return nil }
            return sql(parameter)
        }

        private mutating func member(_ column: Column, of value: Value) -> String? {
            // PostgreSQL does not compare values of these types, not even with those of an empty list.
            if column.isJSON || column.isExternal || column.storage == .geoPoint { return nil }
            let elements: [Value]
            switch value {
            case .list(let list): elements = list
            case .set(let set): elements = set.members
            default: return nil
            }
            var writer = ByteWriter()
            var count = 0
            for element in elements where !element.isNull {
                guard let write = coding(of: element, column) else { return nil }
                writer.appendSized { write(&$0) }
                count += 1
            }
            parameters.addArray(of: column.postgresType, count: count) { array in
                writer.bytes.withUnsafeBytes { array.append($0) }
            }
            return "\(column.sql) = ANY($\(parameters.count))"
        }

        /// Adds a value that compares with a column as PostgreSQL compares them.
        private mutating func parameter(_ value: Value, _ column: Column) -> String? {
            guard let write = coding(of: value, column) else { return nil }
            parameters.add(column.postgresType.rawValue) { write(&$0) }
            return "$\(parameters.count)"
        }

        /// How a value is sent to be compared with a column; nil if the comparison is left to memory.
        private func coding(of value: Value, _ column: Column) -> ((inout ByteWriter) -> Void)? {
            if column.isExternal || column.isJSON { return nil }
            switch (column.storage, value) {
            case (.integer, .integer(let number)), (.key, .object(let number)): return { $0.append(number) }
            case (.integer, .double(let number)):
                return Int64(exactly: number).map { number in { $0.append(number) } }
            case (.double, .double(let number)): return number.isNaN ? nil : { $0.append(number) }
            case (.double, .integer(let number)): return Double(exactly: number).map { number in { $0.append(number) } }
            case (.boolean, .boolean(let flag)): return { $0.append(UInt8(flag ? 1 : 0)) }
            case (.decimal, .decimal(let number)): return decimal(number)
            case (.decimal, .integer(let number)): return decimal(Decimal(number))
            case (.date, .date(let date)):
                let seconds = date.timeIntervalSinceReferenceDate
                guard TimestampCoding.isExact(seconds), let number = TimestampCoding.microseconds(seconds) else {
                    return nil
                }
                return { $0.append(number) }
            case (.text, .string(let text)): return text.utf8.contains(0) ? nil : { $0.append(text) }
            case (.text, .uri(let url)) where column.type == .uri: return { $0.append(url.absoluteString) }
            case (.bytes, .binary(let data)): return { writer in data.withUnsafeBytes { writer.append($0) } }
            case (.uuid, .uuid(let uuid)): return { writer in withUnsafeBytes(of: uuid.uuid) { writer.append($0) } }
            default: return nil
            }
        }

        private func decimal(_ number: Decimal) -> ((inout ByteWriter) -> Void)? {
            if number.isNaN { return nil }
            let text = Array(number.description.utf8)
            return { writer in text.withUnsafeBytes { _ = NumericCoding.write($0, to: &writer) } }
        }
    }

    extension ComparisonOperator {
        /// The operator that says the same with its sides exchanged; nil if there is none.
        fileprivate var mirrored: ComparisonOperator? {
            switch self {
            case .equal, .notEqual: self
            case .less: .greater
            case .lessOrEqual: .greaterOrEqual
            case .greater: .less
            case .greaterOrEqual: .lessOrEqual
            default: nil
            }
        }
    }
#endif
