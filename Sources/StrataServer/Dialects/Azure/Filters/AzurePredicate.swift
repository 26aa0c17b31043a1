#if Server
    import Strata

    /// Makes predicates of filters, for rows or for the marks of rows that were deleted.
    ///
    /// Databases know a third answer besides true and false, where something is null, and it stays that under NOT. So
    /// there are two predicates for each part: that it is true, and that it is false. Of a deleted row only a few
    /// columns are known: what depends on another is taken for both, so that no deletion is kept from a client that may
    /// have the row.
    struct AzurePredicate {
        let table: AzureTable
        /// Whether it is for the marks of deleted rows.
        let isStone: Bool
        /// Whether a column that the table lacks is one that no row has a value in.
        let isForgiving: Bool

        /// What a part of a filter is.
        struct Operand {
            var expression: FetchExpression
            var field: SchemaField?
            /// The part itself, if it is a fixed value.
            var constant: AzureNode?
            /// Whether it is unknown for a deleted row.
            var isUnknown = false
            /// Whether something that may be null is in it.
            var isOptional = true
        }

        /// The rows for which a filter is true.
        func predicate(_ node: AzureNode) throws(ServerError) -> FetchPredicate { try predicate(node, true) }

        /// - Parameter answer: Whether the part must be true, or false.
        private func predicate(_ node: AzureNode, _ answer: Bool) throws(ServerError) -> FetchPredicate {
            switch node {
            case .flag(let flag): return .constant(flag == answer)
            case .not(let part): return try predicate(part, !answer)
            case .binary("and", _, _), .binary("or", _, _):
                guard case .binary(let word, _, _) = node else { return .constant(false) }
                // Chains are long and lean to the left.
                var parts: [FetchPredicate] = []
                for part in Self.chain(node, word) { parts.append(try predicate(part, answer)) }
                return (word == "and") == answer ? .and(parts) : .or(parts)
            case .binary(let word, let left, let right) where Self.comparisons[word] != nil:
                return try comparison(word, left, right, answer)
            case .call(let name, let arguments): return try call(name, arguments, answer)
            case .column(let name):
                let operand = try operand(node)
                if operand.isUnknown { return .constant(true) }
                guard operand.field?.kind == .boolean || operand.constant != nil else {
                    throw Self.fault("\(name) is neither true nor false")
                }
                return try comparison("eq", node, .flag(answer), true)
            default: throw Self.fault("a condition is expected, and there is a value")
            }
        }

        private static func chain(_ node: AzureNode, _ word: String) -> [AzureNode] {
            var (node, parts) = (node, [AzureNode]())
            while case .binary(word, let left, let right) = node {
                parts.append(right)
                node = left
            }
            return [node] + parts.reversed()
        }

        static func fault(_ message: String) -> ServerError { .badRequest("$filter: \(message).") }

        // MARK: Comparisons

        private static let comparisons: [String: ComparisonOperator] = [
            "eq": .equal, "ne": .notEqual, "lt": .less, "le": .lessOrEqual, "gt": .greater, "ge": .greaterOrEqual,
        ]
        private static let opposites: [ComparisonOperator: ComparisonOperator] = [
            .equal: .notEqual, .notEqual: .equal, .less: .greaterOrEqual, .lessOrEqual: .greater,
            .greater: .lessOrEqual, .greaterOrEqual: .less,
        ]

        private func comparison(
            _ word: String, _ left: AzureNode, _ right: AzureNode, _ answer: Bool
        ) throws(ServerError) -> FetchPredicate {
            guard let asked = Self.comparisons[word] else { throw Self.fault("\(word) is not an operator") }
            // `startswith(a,'b') eq true` is how some clients write a condition.
            for (condition, flag) in [(left, right), (right, left)] {
                guard case .call(let name, _) = condition, Self.conditions.contains(name), case .flag(let flag) = flag,
                    asked == .equal || asked == .notEqual
                else { continue }
                return try predicate(condition, (flag == (asked == .equal)) == answer)
            }
            if let position = try position(asked, left, right, answer) { return position }
            if let trimmed = try trimmed(asked, left, right, answer) { return trimmed }
            let (a, b) = (try operand(left), try operand(right))
            if a.isUnknown || b.isUnknown { return .constant(true) }
            let comparison = answer ? asked : Self.opposites[asked] ?? asked
            if case .null? = a.constant { return try null(b, comparison) }
            if case .null? = b.constant { return try null(a, comparison) }
            // They are kept as texts, in whose order 10 comes before 9.
            if let field = [a, b].compactMap(\.field).first(where: table.leadsToNumbers), !["eq", "ne"].contains(word) {
                throw Self.fault("\(NativeNames.title(field)) names rows of another table; compare it with eq or ne")
            }
            let (x, y) = (try fitting(a, to: b), try fitting(b, to: a))
            guard let x, let y else { return .constant(asked == .notEqual && answer || asked == .equal && !answer) }
            let plain = FetchPredicate.comparison(x, comparison, y, [])
            // What has an order has a value. Of unequal values one may be null.
            guard comparison == .notEqual else { return plain }
            return .and([plain] + isThere(a) + isThere(b))
        }

        private func null(_ operand: Operand, _ comparison: ComparisonOperator) throws(ServerError) -> FetchPredicate {
            switch comparison {
            case .equal, .notEqual:
                if let constant = operand.constant {
                    let isNull = if case .null = constant { true } else { false }
                    return .constant(isNull == (comparison == .equal))
                }
                return .comparison(operand.expression, comparison, .constant(.null), [])
            default: return .constant(false)
            }
        }

        /// That an operand has a value.
        func isThere(_ operand: Operand) -> [FetchPredicate] {
            operand.isOptional && operand.constant == nil
                ? [.comparison(operand.expression, .notEqual, .constant(.null), [])] : []
        }

        /// An operand as what the other one is; nil if no value of that can be equal to it.
        private func fitting(_ operand: Operand, to other: Operand) throws(ServerError) -> FetchExpression? {
            guard let constant = operand.constant else {
                if let field = operand.field,
                    field.isCollection || field.kind == .geoPoint || field.kind == .json
                        || field.format == .bytes
                {
                    throw Self.fault("\(NativeNames.title(field)) is only compared with null")
                }
                return operand.expression
            }
            let value: Value?
            switch (constant, other.field?.kind, other.field?.format) {
            case (.time(let time), .integer?, .date?): value = .integer(time)
            case (.text(let text), .integer?, .date?): value = WireTime.milliseconds(text).map(Value.integer)
            case (.time(let time), .string?, _): value = WireTime.text(time).map(Value.string)
            case (.text(let text), .integer?, nil), (.text(let text), .number?, _):
                value = Int64(text).map(Value.integer) ?? Double(text).map(Value.double)
            case (.whole(let number), .reference?, _), (.whole(let number), .string?, _):
                value = .string(String(number))
            case (.flag(let flag), .integer?, _), (.flag(let flag), .number?, _): value = .integer(flag ? 1 : 0)
            case (.whole(let number), .boolean?, _): value = .boolean(number != 0)
            case (_, .boolean?, _): if case .flag(let flag) = constant { value = .boolean(flag) } else { value = nil }
            default: value = Self.value(constant)
            }
            return value.map(FetchExpression.constant)
        }

        static func value(_ constant: AzureNode) -> Value? {
            switch constant {
            case .null: .null
            case .flag(let flag): .boolean(flag)
            case .whole(let number): .integer(number)
            case .number(let number): .double(number)
            case .text(let text): .string(text)
            case .time(let time): .integer(time)
            default: nil
            }
        }

        // MARK: Conditions by function

        private static let conditions: Set<String> = ["startswith", "endswith", "substringof", "contains"]

        private func call(
            _ name: String, _ arguments: [AzureNode], _ answer: Bool
        ) throws(ServerError) -> FetchPredicate {
            guard Self.conditions.contains(name) else { throw Self.fault("\(name.prefix(40)) is not a condition") }
            guard arguments.count == 2 else { throw Self.fault("\(name) takes two values") }
            let isSwapped = name == "substringof"
            let (first, second) = (arguments[isSwapped ? 1 : 0], arguments[isSwapped ? 0 : 1])
            if let trimmed = try trimmed(name, first, second, answer) { return trimmed }
            let (whole, part) = (try operand(first), try operand(second))
            if whole.isUnknown || part.isUnknown { return .constant(true) }
            for operand in [whole, part] {
                guard operand.field.map({ $0.kind == .string && $0.format != .bytes || $0.kind == .reference }) ?? true
                else {
                    throw Self.fault("\(name) is for text")
                }
            }
            let comparison: ComparisonOperator =
                name == "startswith" ? .beginsWith : name == "endswith" ? .endsWith : .contains
            let found = FetchPredicate.comparison(whole.expression, comparison, part.expression, [])
            return answer ? found : .and([.not(found)] + isThere(whole) + isThere(part))
        }
    }
#endif
