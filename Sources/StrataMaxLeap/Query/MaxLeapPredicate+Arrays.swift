/// Conditions on array attributes, whose fields are compared by their elements: an equality means that an array has such an
/// element. Only what means the same in a store is expressed so.
extension MaxLeapPredicate {
    /// ANY, ALL or NONE before a comparison of elements.
    func quantified(
        _ quantifier: ComparisonQuantifier, _ left: FetchExpression, _ comparison: ComparisonOperator,
        _ right: FetchExpression, _ options: ComparisonOptions, _ whole: FetchPredicate, _ isNegated: Bool
    ) throws(RemoteError) -> MaxLeapNormalForm {
        guard schema != nil, let path = path(left), path.count == 1 else {
            throw unsupported(whole, "ANY, SOME, ALL and NONE")
        }
        let target = try self.target(path, whole)
        guard let element = target.element else {
            throw unsupported(whole, "ANY, SOME, ALL and NONE of anything but an array attribute")
        }
        guard options.isEmpty else { throw unsupported(whole, "\(quantifier.rawValue) with options such as [c]") }
        switch (quantifier, comparison) {
        case (.any, .equal): return try holds(target, element, right, whole, isNegated)
        case (.none, .equal), (.all, .notEqual): return try holds(target, element, right, whole, !isNegated)
        case (.any, .isIn): return try holdsOne(target, element, right, whole, isNegated)
        case (.none, .isIn): return try holdsOne(target, element, right, whole, !isNegated)
        default: throw unsupported(whole, "\(quantifier.rawValue) with \(comparison.rawValue)")
        }
    }

    /// A comparison of an array attribute itself.
    func array(
        _ target: Target, _ element: AttributeType, _ comparison: ComparisonOperator, _ right: FetchExpression,
        _ options: ComparisonOptions, _ whole: FetchPredicate, _ isNegated: Bool
    ) throws(RemoteError) -> MaxLeapNormalForm {
        switch comparison {
        case .equal where options.isEmpty && right == .constant(.null):
            return MaxLeapNormalForm(try leaf(target, .equal(.null), whole, isNegated))
        case .notEqual where options.isEmpty && right == .constant(.null):
            return MaxLeapNormalForm(try leaf(target, .notEqual(.null), whole, isNegated))
        case .contains where options.isEmpty: return try holds(target, element, right, whole, isNegated)
        default:
            throw unsupported(
                whole,
                "\(comparison.rawValue)\(options.suffix) of an array; CONTAINS asks for an element, as do ANY with == or IN"
            )
        }
    }

    /// A condition on the number of elements: `tags.@count == 2`. nil for conditions on anything else.
    func size(
        _ left: FetchExpression, _ comparison: ComparisonOperator, _ right: FetchExpression, _ whole: FetchPredicate,
        _ isNegated: Bool
    ) throws(RemoteError) -> MaxLeapNormalForm? {
        guard schema != nil else { return nil }
        let (counted, number) = counted(left) == nil ? (counted(right), left) : (counted(left), right)
        guard let counted else { return nil }
        let target = try self.target([counted], whole)
        guard target.element != nil else {
            throw unsupported(whole, "the number of members of anything but an array attribute")
        }
        guard comparison == .equal, case .constant(.integer(let count)) = number.node, !isNegated else {
            throw unsupported(whole, "a number of elements other than by == and a whole number, or NOT around it")
        }
        guard count >= 0, let size = Int(exactly: count) else { return .never }
        return MaxLeapNormalForm(.key(target.field, .size(size)))
    }

    private func counted(_ expression: FetchExpression) -> String? {
        guard case .keyPath(let names) = expression.node, names.count == 2,
            names[1] == CollectionOperator.count.rawValue
        else { return nil }
        return names[0]
    }

    /// That an array has an element.
    private func holds(
        _ target: Target, _ element: AttributeType, _ right: FetchExpression, _ whole: FetchPredicate,
        _ isNegated: Bool
    ) throws(RemoteError) -> MaxLeapNormalForm {
        let value = try value(right, element, whole)
        // Elements are never nil. There the comparison would find objects without an array.
        guard value != .null else { return isNegated ? .always : .never }
        return MaxLeapNormalForm(try leaf(target, .equal(value), whole, isNegated))
    }

    /// That an array has one of several elements.
    private func holdsOne(
        _ target: Target, _ element: AttributeType, _ right: FetchExpression, _ whole: FetchPredicate,
        _ isNegated: Bool
    ) throws(RemoteError) -> MaxLeapNormalForm {
        let elements: [Value]
        switch right.node {
        case .constant(.list(let list)): elements = list
        case .constant(.set(let set)): elements = set.members
        default: throw unsupported(whole, "a right side of IN that is not a list of fixed values")
        }
        var values: [MaxLeapValue] = []
        for item in elements where item != .null { values.append(try value(.constant(item), element, whole)) }
        return MaxLeapNormalForm(try leaf(target, .isIn(values), whole, isNegated))
    }

    /// A fixed value that elements of a type may be equal to.
    private func value(
        _ expression: FetchExpression, _ element: AttributeType, _ whole: FetchPredicate
    ) throws(RemoteError) -> MaxLeapValue {
        guard case .constant(let value) = expression.node else {
            throw unsupported(whole, "a right side that is not a fixed value")
        }
        switch (element, value) {
        case (_, .null): return .null
        case (.string, .string(let text)): return .string(text)
        case (.boolean, .boolean(let flag)): return .boolean(flag)
        // Numbers and truth values are equal in a store, and not there.
        case (.boolean, .integer(let number)) where number == 0 || number == 1: return .boolean(number == 1)
        case (_, .boolean(let flag)) where element.isNumeric: return .integer(flag ? 1 : 0)
        case (_, .integer(let number)) where element.isNumeric: return .integer(number)
        case (_, .double(let number)) where element.isNumeric: return .double(number)
        case (_, .decimal(let number)) where element.isNumeric: return .decimal(number)
        default: throw unsupported(whole, "an element of type \(element.name) compared with another kind of value")
        }
    }
}
