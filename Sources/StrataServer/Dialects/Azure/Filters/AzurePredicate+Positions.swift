#if Server
    import Strata

    // `indexof`. Expressions have no such function. But whether the first place of a part is at most a given number is a
    // condition: the text does not contain the part, or its beginning of a certain length does.
    extension AzurePredicate {
        private static let mirrored: [ComparisonOperator: ComparisonOperator] = [
            .less: .greater, .lessOrEqual: .greaterOrEqual, .greater: .less, .greaterOrEqual: .lessOrEqual,
        ]

        /// The comparison of `indexof` with a whole number; nil for all other comparisons.
        /// - Parameter answer: Whether the comparison must be true, or false.
        func position(
            _ asked: ComparisonOperator, _ left: AzureNode, _ right: AzureNode, _ answer: Bool
        ) throws(ServerError) -> FetchPredicate? {
            for (call, number, op) in [(left, right, asked), (right, left, Self.mirrored[asked] ?? asked)] {
                guard case .call("indexof", let arguments) = call else { continue }
                return try position(of: arguments, op, number, answer)
            }
            return nil
        }

        private func position(
            of arguments: [AzureNode], _ op: ComparisonOperator, _ number: AzureNode, _ answer: Bool
        ) throws(ServerError) -> FetchPredicate {
            guard arguments.count == 2 else { throw Self.fault("indexof takes another number of values") }
            let (whole, part) = (try text(arguments[0]), try text(arguments[1]))
            guard case .whole(let asked)? = try operand(number).constant else {
                throw Self.fault("indexof can only be compared with a whole number, as in indexof(name,'x') ge 0")
            }
            if whole.isUnknown || part.isUnknown { return .constant(true) }
            for operand in [whole, part] {
                if case .null? = operand.constant { return .constant(false) }
            }
            // No place is outside of these bounds, so that the sums below do not overflow.
            let place = min(max(asked, -2), Int64(Int32.max))
            let isAtMost = first(part, in: whole, isAtMost: place)
            let isBefore = first(part, in: whole, isAtMost: place - 1)
            let found: FetchPredicate =
                switch op {
                case .less: isBefore
                case .lessOrEqual: isAtMost
                case .greater: .not(isAtMost)
                case .greaterOrEqual: .not(isBefore)
                case .notEqual: .or([isBefore, .not(isAtMost)])
                default: .and([isAtMost, .not(isBefore)])
                }
            return .and([answer ? found : .not(found)] + isThere(whole) + isThere(part))
        }

        /// That the first place of a part in a text, counted from 0, is at most a given one. It is -1 if there is no such part.
        private func first(_ part: Operand, in whole: Operand, isAtMost place: Int64) -> FetchPredicate {
            guard place >= -1 else { return .constant(false) }
            let isAbsent = FetchPredicate.not(.comparison(whole.expression, .contains, part.expression, []))
            guard place >= 0 else { return isAbsent }
            let end: FetchExpression =
                if case .text(let text)? = part.constant {
                    .constant(.integer(place + Int64(text.utf16.count)))
                } else {
                    .function(.add, [.constant(.integer(place)), .method(part.expression, .length, [])])
                }
            // A text that is shorter is taken to its end.
            let length = FetchExpression.method(whole.expression, .length, [])
            let limit = FetchExpression.ternary(.comparison(length, .less, end, []), length, end)
            let beginning = FetchExpression.method(whole.expression, .substringToIndex, [limit])
            return .or([isAbsent, .comparison(beginning, .contains, part.expression, [])])
        }
    }
#endif
