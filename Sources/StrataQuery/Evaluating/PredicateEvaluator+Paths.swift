import Foundation

extension PredicateEvaluator {
    /// What a path leads to. A key is mapped over a collection: over an array it keeps nil, over a set it drops nil and
    /// what already exists; collections of collections are joined to one.
    func walk(_ start: Evaluated, _ names: ArraySlice<String>) throws(PredicateEvaluationError) -> Evaluated {
        var current = start
        var rest = names
        while let name = rest.first {
            if current.isNull { return .plain(.null) }
            rest = rest.dropFirst()
            if case .json(let value) = current, name.utf8.first != UInt8(ascii: "@") {
                current = .json(value.member(name))
            } else if name.utf8.first == UInt8(ascii: "@") {
                return try apply(name, to: current, rest)
            } else if let elements = current.elements {
                current = try map(name, over: elements, isSet: current.isSet)
            } else {
                current = property(name, of: current)
            }
        }
        return current
    }

    private func property(_ name: String, of value: Evaluated) -> Evaluated {
        switch value {
        case .object(let source): Evaluated(source.property(name))
        case .plain(let value): Evaluated(value.property(name))
        case .json(let value): .json(value.member(name))
        case .array, .set: .plain(.null)
        }
    }

    private func map(
        _ name: String, over elements: [Evaluated], isSet: Bool
    ) throws(PredicateEvaluationError) -> Evaluated {
        var results: [Evaluated] = []
        results.reserveCapacity(elements.count)
        for element in elements {
            let isSingle = element.elements == nil || element.isJSON
            let result = isSingle ? property(name, of: element) : try walk(element, [name])
            if !result.isJSON, let members = result.elements { results += members } else { results.append(result) }
        }
        return isSet ? .set(Evaluated.distinct(results.filter { !$0.isNull })) : .array(results)
    }

    private func apply(
        _ name: String, to collection: Evaluated, _ rest: ArraySlice<String>
    ) throws(PredicateEvaluationError) -> Evaluated {
        guard let op = CollectionOperator(rawValue: name) else { throw .unknownOperator(name: name) }
        guard let elements = collection.elements else {
            if collection.isJSON { return .plain(.null) }
            throw .noCollection(found: collection.value.kind, context: name)
        }
        switch op {
        case .count: return try walk(.plain(.integer(Int64(elements.count))), rest)
        case .union, .distinctUnion:
            let keys = rest.prefix { $0.utf8.first != UInt8(ascii: "@") }
            let values = try members(elements, keys)
            return try walk(.array(op == .union ? values : Evaluated.distinct(values)), rest.dropFirst(keys.count))
        case .sum, .average, .minimum, .maximum:
            return try aggregate(op.function, try members(elements, rest), name)
        }
    }

    /// The values at the end of a path over all elements, without nil.
    private func members(
        _ elements: [Evaluated], _ path: ArraySlice<String>
    ) throws(PredicateEvaluationError) -> [Evaluated] {
        var values: [Evaluated] = []
        for element in elements {
            let value = try walk(element, path)
            // An array in JSON is one value here.
            if !value.isJSON, let members = value.elements {
                values += members.filter { !$0.isNull }
            } else if !value.isNull {
                values.append(value)
            }
        }
        return values
    }
}

extension CollectionOperator {
    fileprivate var function: FetchFunction {
        switch self {
        case .sum: .sum
        case .average: .average
        case .minimum: .minimum
        case .maximum: .maximum
        case .count, .union, .distinctUnion: .count
        }
    }
}

extension Evaluated {
    /// The elements, each once: the first of those that are equal.
    static func distinct(_ elements: [Evaluated]) -> [Evaluated] {
        var seen = ElementTable()
        return elements.filter { seen.insert($0.value) }
    }
}
