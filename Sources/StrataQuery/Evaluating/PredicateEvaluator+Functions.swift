import Foundation

extension PredicateEvaluator {
    func call(_ function: FetchFunction, _ arguments: [Evaluated]) throws(PredicateEvaluationError) -> Evaluated {
        let name = function.rawValue
        guard function.arity.contains(arguments.count) else {
            throw .wrongArgumentCount(function: name, count: arguments.count)
        }
        switch function {
        case .now: return .plain(.date(environment.now))
        case .random: return try random(arguments.first)
        case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation:
            if arguments.count > 1 { return try aggregate(function, arguments.filter { !$0.isNull }, name) }
            if arguments[0].isNull { return .plain(.null) }
            guard let elements = arguments[0].elements else {
                throw .noCollection(found: arguments[0].value.kind, context: name)
            }
            if function == .count { return .plain(.integer(Int64(elements.count))) }
            return try aggregate(function, elements.filter { !$0.isNull }, name)
        default: break
        }
        if arguments.contains(where: \.isNull) { return .plain(.null) }
        switch function {
        case .union, .intersect, .minus: return try combine(function, arguments[0], arguments[1])
        case .uppercase, .lowercase:
            guard case .string(let text) = arguments[0].value else {
                throw .wrongOperand(found: arguments[0].value.kind, context: name)
            }
            return .plain(.string(function == .uppercase ? text.uppercased() : text.lowercased()))
        default:
            let first = try number(arguments[0], name)
            guard arguments.count == 2 else { return .plain(NumberOperation.apply(function, first)) }
            return .plain(NumberOperation.apply(function, first, try number(arguments[1], name)))
        }
    }

    private func number(_ value: Evaluated, _ context: String) throws(PredicateEvaluationError) -> NumberOperation {
        guard let number = NumberOperation(value.value) else {
            throw .wrongOperand(found: value.value.kind, context: context)
        }
        return number
    }

    private func numbers(
        _ elements: [Evaluated], _ context: String
    ) throws(PredicateEvaluationError) -> [NumberOperation] {
        var numbers: [NumberOperation] = []
        for element in elements { numbers.append(try number(element, context)) }
        return numbers
    }

    private func random(_ limit: Evaluated?) throws(PredicateEvaluationError) -> Evaluated {
        guard let limit else { return .plain(.double(.random(in: 0..<1))) }
        if limit.isNull { return .plain(.null) }
        guard let end = try number(limit, "random").asInteger, end > 0 else { return .plain(.null) }
        return .plain(.integer(.random(in: 0..<end)))
    }

    /// The result of an aggregate function over elements of which none is nil.
    func aggregate(
        _ function: FetchFunction, _ elements: [Evaluated], _ name: String
    ) throws(PredicateEvaluationError) -> Evaluated {
        switch function {
        case .count: return .plain(.integer(Int64(elements.count)))
        case .sum: return .plain(NumberOperation.sum(try numbers(elements, name)).value)
        case .average: return .plain(NumberOperation.average(try numbers(elements, name)))
        case .minimum: return try extreme(elements, .less, name)
        case .maximum: return try extreme(elements, .greater, name)
        case .mode: return .array(mode(elements))
        case .median:
            let sorted = try numbers(elements, name).sorted {
                ValueComparison.order($0.value, $1.value) == .orderedAscending
            }
            guard !sorted.isEmpty else { return .plain(.null) }
            let middle = sorted.count / 2
            if !sorted.count.isMultiple(of: 2) { return .plain(sorted[middle].value) }
            return .plain(NumberOperation.average([sorted[middle - 1], sorted[middle]]))
        default:
            let numbers = try numbers(elements, name).map(\.asDouble)
            guard !numbers.isEmpty else { return .plain(.null) }
            let mean = numbers.reduce(0, +) / Double(numbers.count)
            let variance = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count)
            return .plain(variance.isNaN ? .null : .double(variance.squareRoot()))
        }
    }

    /// The element that comes before (or after) all others.
    private func extreme(
        _ elements: [Evaluated], _ op: ComparisonOperator, _ name: String
    ) throws(PredicateEvaluationError) -> Evaluated {
        guard var best = elements.first else { return .plain(.null) }
        for element in elements.dropFirst() where try op.evaluate(element, best, []) { best = element }
        return best
    }

    private func mode(_ elements: [Evaluated]) -> [Evaluated] {
        let sorted = elements.map(\.value).sorted { ValueComparison.sortOrder($0, $1) == .orderedAscending }
        var runs: [(value: Value, count: Int)] = []
        for value in sorted {
            if let last = runs.last, ValueComparison.areEqual(last.value, value) {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((value, 1))
            }
        }
        let most = runs.map(\.count).max() ?? 0
        return runs.filter { $0.count == most }.map { .plain($0.value) }
    }

    private func combine(
        _ function: FetchFunction, _ left: Evaluated, _ right: Evaluated
    ) throws(PredicateEvaluationError) -> Evaluated {
        guard let a = left.elements, let b = right.elements else {
            let other = left.elements == nil ? left : right
            throw .noCollection(found: other.value.kind, context: function.rawValue)
        }
        switch function {
        case .union: return .set(Evaluated.distinct(a + b))
        case .intersect:
            let table = ElementTable(b.map(\.value))
            return .set(Evaluated.distinct(a).filter { table.contains($0.value) })
        default:
            let table = ElementTable(b.map(\.value))
            return .set(Evaluated.distinct(a).filter { !table.contains($0.value) })
        }
    }

    // MARK: Methods

    func call(
        _ method: FetchMethod, on receiver: Evaluated, _ arguments: [Evaluated]
    ) throws(PredicateEvaluationError) -> Evaluated {
        guard arguments.count == method.arity else {
            throw .wrongArgumentCount(function: method.rawValue, count: arguments.count)
        }
        if receiver.isNull || arguments.contains(where: \.isNull) { return .plain(.null) }
        switch method {
        case .count, .firstObject, .lastObject:
            guard let elements = receiver.elements else {
                throw .noCollection(found: receiver.value.kind, context: method.rawValue)
            }
            if method == .count { return .plain(.integer(Int64(elements.count))) }
            return (method == .firstObject ? elements.first : elements.last) ?? .plain(.null)
        case .valueForKey:
            guard case .string(let key) = arguments[0].value else { break }
            return try walk(receiver, [key])
        case .length:
            if case .binary(let data) = receiver.value { return .plain(.integer(Int64(data.count))) }
        case .integerValue, .doubleValue:
            if let number = NumberOperation(receiver.value) {
                let isWhole = method == .integerValue
                return .plain(isWhole ? Self.whole(number) : .double(number.asDouble))
            }
        default: break
        }
        guard case .string(let text) = receiver.value else {
            throw .wrongOperand(found: receiver.value.kind, context: method.rawValue)
        }
        return .plain(try call(method, on: text, arguments.first?.value ?? .null))
    }

    private static func whole(_ number: NumberOperation) -> Value {
        if let whole = number.asInteger { return .integer(whole) }
        return Int64(exactly: number.asDouble.rounded(.towardZero)).map(Value.integer) ?? .null
    }

    private func call(
        _ method: FetchMethod, on text: String, _ argument: Value
    ) throws(PredicateEvaluationError) -> Value {
        switch (method, argument) {
        case (.uppercaseString, _): return .string(text.uppercased())
        case (.lowercaseString, _): return .string(text.lowercased())
        case (.length, _): return .integer(Int64(text.utf16.count))
        case (.integerValue, _):
            let sign = text.first == "-" || text.first == "+" ? 1 : 0
            let digits = text.dropFirst(sign).prefix { $0.isASCII && $0.isNumber }
            return .integer(Int64(text.prefix(sign) + digits) ?? 0)
        case (.doubleValue, _): return .double(Double(text) ?? 0)
        case (.stringByAppendingString, .string(let other)): return .string(text + other)
        case (.hasPrefix, .string(let part)): return .boolean(TextComparison.begins(text, with: part))
        case (.hasSuffix, .string(let part)): return .boolean(TextComparison.ends(text, with: part))
        case (.substringFromIndex, .integer(let index)), (.substringToIndex, .integer(let index)):
            let units = Array(text.utf16)
            guard index >= 0, index <= units.count else { return .null }
            let part = method == .substringFromIndex ? units[Int(index)...] : units[..<Int(index)]
            return .string(String(decoding: part, as: UTF16.self))
        default: throw .wrongOperand(found: argument.kind, context: method.rawValue)
        }
    }
}
