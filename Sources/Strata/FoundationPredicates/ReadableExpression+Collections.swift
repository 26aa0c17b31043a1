import Foundation

extension PredicateReader {
    fileprivate static func count(_ collection: FetchExpression, _ op: ComparisonOperator) -> PredicatePart {
        .condition(
            .comparison(collection.appending([CollectionOperator.count.rawValue]), op, .constant(.integer(0)), []))
    }

    fileprivate func text(
        _ op: ComparisonOperator, _ text: some PredicateExpression, _ part: some PredicateExpression,
        _ expression: some PredicateExpression, isText: Bool
    ) throws(UnreadablePredicateError) -> PredicatePart {
        guard isText else { throw unreadable(expression, "only text can be searched for a part") }
        return .condition(.comparison(try value(text), op, try value(part), []))
    }
}

extension PredicateExpressions.CollectionContainsCollection: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        try reader.text(.contains, base, other, self, isText: Base.Output.self == String.self)
    }
}

extension PredicateExpressions.SequenceStartsWith: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        try reader.text(.beginsWith, base, prefix, self, isText: Base.Output.self == String.self)
    }
}

extension PredicateExpressions.SequenceContains: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        let collection = try reader.value(sequence)
        let element = try reader.value(element)
        guard case .constant = collection.node else {
            return .condition(.comparison(collection, .contains, element, []))
        }
        return .condition(.comparison(element, .isIn, collection, []))
    }
}

extension PredicateExpressions.SequenceContainsWhere: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        PredicateReader.count(try reader.subquery(sequence, variable, test), .greater)
    }
}

extension PredicateExpressions.SequenceAllSatisfy: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        PredicateReader.count(try reader.subquery(sequence, variable, test, isNegated: true), .equal)
    }
}

extension PredicateExpressions.Filter: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        .value(try reader.subquery(sequence, variable, filter))
    }
}

extension PredicateExpressions.SequenceMaximum: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        .value(.function(.maximum, [try reader.value(elements)]))
    }
}

extension PredicateExpressions.SequenceMinimum: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        .value(.function(.minimum, [try reader.value(elements)]))
    }
}

extension PredicateExpressions.CollectionIndexSubscript: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        .value(.index(try reader.value(wrapped), .at(try reader.value(index))))
    }
}

// MARK: Ranges

extension PredicateExpressions.ClosedRange: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        .range(try reader.value(lower), try reader.value(upper), isClosed: true)
    }
}

extension PredicateExpressions.Range: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        .range(try reader.value(lower), try reader.value(upper), isClosed: false)
    }
}

extension PredicateExpressions.RangeExpressionContains: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        guard case .range(let lower, let upper, let isClosed) = try reader.part(range) else {
            throw reader.unreadable(self, "only a...b and a..<b have two bounds")
        }
        let value = try reader.value(element)
        if isClosed, case .constant(let low) = lower.node, case .constant(let high) = upper.node {
            return .condition(.comparison(value, .between, .constant(.list([low, high])), []))
        }
        if isClosed { return .condition(.comparison(value, .between, .aggregate([lower, upper]), [])) }
        return .condition(
            .and([.comparison(value, .greaterOrEqual, lower, []), .comparison(value, .less, upper, [])]))
    }
}
