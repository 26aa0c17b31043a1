#if Server
    import Strata

    // The values in filters.
    extension AzurePredicate {
        func operand(_ node: AzureNode) throws(ServerError) -> Operand {
            switch node {
            case .null, .flag, .whole, .number, .text, .time:
                return Operand(
                    expression: .constant(Self.value(node) ?? .null), constant: node, isOptional: false)
            case .column(let name): return try column(name)
            case .negative(let part):
                switch part {
                case .whole(let number): return try operand(.whole(0 &- number))
                case .number(let number): return try operand(.number(-number))
                default: return try operand(.binary("sub", .whole(0), part))
                }
            case .binary(let word, let left, let right):
                guard let function = Self.operators[word] else {
                    throw Self.fault("a value is expected, and there is a condition")
                }
                let (a, b) = (try number(left), try number(right))
                return joined(.function(function, [a.expression, b.expression]), [a, b], .number)
            case .call(let name, let arguments): return try call(name, arguments)
            case .not: throw Self.fault("a value is expected, and there is a condition")
            }
        }

        private static let operators: [String: FetchFunction] = [
            "add": .add, "sub": .subtract, "mul": .multiply, "div": .divide, "mod": .modulus,
        ]

        private func column(_ name: String) throws(ServerError) -> Operand {
            func of(_ field: SchemaField, isOptional: Bool) -> Operand {
                Operand(expression: .keyPath([field.name]), field: field, isOptional: isOptional)
            }
            let unknown = Operand(expression: .constant(.null), isUnknown: true)
            if name.lowercased() == "id" {
                return of(isStone ? SchemaField(name: "identifier", kind: .string) : table.idField, isOptional: false)
            }
            if let column = table.own(name) {
                if column == .deleted { return try operand(.flag(isStone)) }
                guard isStone else {
                    guard let field = column.field else { return unknown }
                    return of(field, isOptional: false)
                }
                guard column != .createdAt else { return unknown }
                return of(
                    SchemaField(name: "deleted", kind: .integer, format: column == .updatedAt ? .date : nil),
                    isOptional: true)
            }
            if isStone { return unknown }
            guard let field = table.field(name) else {
                guard isForgiving else { throw .noField(table.schema, name) }
                return try operand(.null)
            }
            return of(field, isOptional: true)
        }

        private func joined(_ expression: FetchExpression, _ parts: [Operand], _ kind: SchemaField.Kind) -> Operand {
            Operand(
                expression: expression, field: SchemaField(name: "", kind: kind),
                isUnknown: parts.contains(where: \.isUnknown))
        }

        private func number(_ node: AzureNode) throws(ServerError) -> Operand {
            let operand = try operand(node)
            switch (operand.field?.kind, operand.constant) {
            case (.integer?, _), (.number?, _), (nil, .whole?), (nil, .number?), (nil, .null?), (nil, nil):
                return operand
            default: throw Self.fault("only numbers are reckoned with")
            }
        }

        /// An operand that is text.
        func text(_ node: AzureNode) throws(ServerError) -> Operand {
            let operand = try operand(node)
            switch (operand.field?.kind, operand.constant) {
            case (.string?, _), (.reference?, _), (nil, .text?), (nil, .null?), (nil, nil): return operand
            default: throw Self.fault("a text is expected")
            }
        }

        private func time(_ node: AzureNode) throws(ServerError) -> Operand {
            let operand = try operand(node)
            if operand.isUnknown || operand.field?.format == .date { return operand }
            guard case .time? = operand.constant else { throw Self.fault("a time is expected") }
            return operand
        }

        private static let arities: [String: ClosedRange<Int>] = [
            "tolower": 1...1, "toupper": 1...1, "length": 1...1, "floor": 1...1, "ceiling": 1...1, "round": 1...1,
            "concat": 2...2, "substring": 2...3, "year": 1...1, "month": 1...1, "day": 1...1, "hour": 1...1,
            "minute": 1...1, "second": 1...1,
        ]

        /// The error for a function that gives no value here: conditions of the core have no such function.
        private static func missing(_ name: String) -> ServerError {
            switch name {
            case "indexof": fault("indexof can only be compared with a whole number, as in indexof(name,'x') ge 0")
            case "trim": untrimmed
            case "replace": fault("the server does not support the function replace")
            default: fault("\(name.prefix(40)) is not a function of the server")
            }
        }

        private func call(_ name: String, _ arguments: [AzureNode]) throws(ServerError) -> Operand {
            guard let arity = Self.arities[name] else { throw Self.missing(name) }
            guard arity.contains(arguments.count) else { throw Self.fault("\(name) takes another number of values") }
            switch name {
            case "tolower", "toupper":
                let a = try text(arguments[0])
                return joined(.function(name == "tolower" ? .lowercase : .uppercase, [a.expression]), [a], .string)
            case "length":
                let a = try text(arguments[0])
                return joined(.method(a.expression, .length, []), [a], .integer)
            case "concat":
                let (a, b) = (try text(arguments[0]), try text(arguments[1]))
                return joined(.method(a.expression, .stringByAppendingString, [b.expression]), [a, b], .string)
            case "substring":
                let (a, start) = (try text(arguments[0]), try number(arguments[1]))
                let tail = FetchExpression.method(a.expression, .substringFromIndex, [start.expression])
                guard arguments.count == 3 else { return joined(tail, [a, start], .string) }
                let count = try number(arguments[2])
                // A text that is shorter is taken to its end.
                let length = FetchExpression.method(tail, .length, [])
                let end = FetchExpression.ternary(
                    .comparison(length, .less, count.expression, []), length, count.expression)
                return joined(.method(tail, .substringToIndex, [end]), [a, start, count], .string)
            case "floor", "ceiling":
                let a = try number(arguments[0])
                return joined(.function(name == "floor" ? .floor : .ceiling, [a.expression]), [a], .number)
            case "round":
                let a = try number(arguments[0])
                let half = FetchExpression.function(.add, [a.expression, .constant(.double(0.5))])
                return joined(.function(.floor, [half]), [a], .number)
            default:
                let a = try time(arguments[0])
                return joined(AzureCalendar.part(name, of: a.expression), [a], .integer)
            }
        }
    }

    /// The parts of a time, computed from its milliseconds.
    private enum AzureCalendar {
        private static func whole(_ number: Int64) -> FetchExpression { .constant(.integer(number)) }
        private static func add(_ a: FetchExpression, _ b: FetchExpression) -> FetchExpression {
            .function(.add, [a, b])
        }
        private static func subtract(_ a: FetchExpression, _ b: FetchExpression) -> FetchExpression {
            .function(.subtract, [a, b])
        }
        private static func multiply(_ a: FetchExpression, _ b: Int64) -> FetchExpression {
            .function(.multiply, [a, whole(b)])
        }
        private static func divide(_ a: FetchExpression, _ b: Int64) -> FetchExpression {
            .function(.divide, [a, whole(b)])
        }

        static func part(_ name: String, of time: FetchExpression) -> FetchExpression {
            // Counted from the year 0 on, so that nothing is negative and division cuts off downwards.
            let shifted = add(time, whole(719_468 * 86_400_000))
            switch name {
            case "hour": return .function(.modulus, [divide(shifted, 3_600_000), whole(24)])
            case "minute": return .function(.modulus, [divide(shifted, 60_000), whole(60)])
            case "second": return .function(.modulus, [divide(shifted, 1000), whole(60)])
            default: break
            }
            // The Gregorian calendar in eras of 400 years that begin in March.
            let days = divide(shifted, 86_400_000)
            let dayOfEra = FetchExpression.function(.modulus, [days, whole(146_097)])
            let yearOfEra = divide(
                subtract(
                    add(subtract(dayOfEra, divide(dayOfEra, 1460)), divide(dayOfEra, 36_524)), divide(dayOfEra, 146_096)
                ),
                365)
            let dayOfYear = subtract(
                dayOfEra,
                subtract(add(multiply(yearOfEra, 365), divide(yearOfEra, 4)), divide(yearOfEra, 100)))
            let shiftedMonth = divide(add(multiply(dayOfYear, 5), whole(2)), 153)
            // Each form has the costly parts once, since nothing here can be given a name.
            switch name {
            case "year": return add(add(yearOfEra, multiply(divide(days, 146_097), 400)), divide(shiftedMonth, 10))
            case "month":
                return add(.function(.modulus, [add(shiftedMonth, whole(2)), whole(12)]), whole(1))
            default:
                let rest = FetchExpression.function(.modulus, [add(multiply(dayOfYear, 5), whole(2)), whole(153)])
                return add(divide(rest, 5), whole(1))
            }
        }
    }
#endif
