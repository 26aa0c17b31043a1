import Foundation
import StrataStore

extension PredicateCompiler {
    /// Two operands compared, as ``ComparisonOperator/evaluate(_:_:_:)`` does.
    package func comparison(
        _ left: SQLOperand, _ op: ComparisonOperator, _ right: SQLOperand, _ options: ComparisonOptions, negated: Bool
    ) throws(StoreError) -> String {
        if case .constant(let a) = left, case .constant(let b) = right {
            // Compared while the SQL is made.
            isReusable = false
            do throws(PredicateEvaluationError) {
                return dialect.constant(try op.evaluate(a.value, b.value, options) != negated)
            } catch {
                throw .invalidPredicate(error)
            }
        }
        if isDecided(left, op, right) {
            return try comparison(ofJSON: left, op, right, options, negated: negated)
        }
        switch op {
        case .equal: return try equality(left, right, options, wants: !negated)
        case .notEqual: return try equality(left, right, options, wants: negated)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            return negate(try order(left, op, right, options), negated)
        case .isIn: return negate(try contains(right, left, options), negated)
        case .contains: return negate(try contains(left, right, options), negated)
        case .between: return negate(try between(left, right, options), negated)
        case .beginsWith, .endsWith: return negate(try text(left, op, right, options), negated)
        case .like: return negate(try like(left, right, options), negated)
        case .matches: return negate(try matches(left, right, options), negated)
        case .matchesText: return negate(try matchesText(left, right), negated)
        }
    }

    // MARK: Equality

    /// - Parameter wants: Whether equality is asked for, or its opposite.
    package func equality(
        _ a: SQLOperand, _ b: SQLOperand, _ options: ComparisonOptions, wants: Bool
    ) throws(StoreError) -> String {
        let differs = dialect.constant(!wants)
        if a.isJSON || b.isJSON { return try comparison(ofJSON: a, .equal, b, options, negated: !wants) }
        switch (a, b) {
        case (.constant(let x), .constant(let y)):
            isReusable = false
            return dialect.constant(ValueComparison.areEqual(x.value, y.value, options) == wants)
        case (.collection(let collection), .constant(let constant)),
            (.constant(let constant), .collection(let collection)):
            if constant.value.isNull { return negate(anyIsNull(collection.guards), !wants) }
            guard constant.elements == nil else { throw unsupported("comparing a collection as a whole") }
            return differs
        case (.composite(let object, _), .constant(let constant)), (.constant(let constant), .composite(let object, _)):
            guard constant.value.isNull else { throw unsupported("comparing a composite as a whole") }
            return negate(anyIsNull(object.isOptional ? [object.key] : []), !wants)
        case (.list(let parts), .constant(let constant)), (.constant(let constant), .list(let parts)):
            guard case .list = constant.value, let elements = constant.elements else { return differs }
            isReusable = false
            return try equality(parts, elements.map(SQLOperand.constant), options, wants: wants)
        case (.list(let x), .list(let y)): return try equality(x, y, options, wants: wants)
        case (.list, .term), (.list, .object), (.term, .list), (.object, .list): return differs
        case (.collection, _), (_, .collection): throw unsupported("comparing a collection as a whole")
        case (.composite, _), (_, .composite): throw unsupported("comparing a composite as a whole")
        case (.constant(let constant), _): return try equality(try term(b), constant, options, wants: wants)
        case (_, .constant(let constant)): return try equality(try term(a), constant, options, wants: wants)
        default: return try equality(try term(a), try term(b), options, wants: wants)
        }
    }

    private func anyIsNull(_ keys: [String]) -> String {
        keys.isEmpty
            ? dialect.constant(false) : "(" + keys.map { $0 + " IS NULL" }.joined(separator: " OR ") + ")"
    }

    private func equality(
        _ a: [SQLOperand], _ b: [SQLOperand], _ options: ComparisonOptions, wants: Bool
    ) throws(StoreError) -> String {
        guard a.count == b.count else { return dialect.constant(!wants) }
        var list: [String] = []
        for (x, y) in zip(a, b) { list.append(try equality(x, y, options, wants: wants)) }
        return list.isEmpty ? dialect.constant(wants) : Self.balanced(list[...], wants ? " AND " : " OR ")
    }

    private func equality(
        _ term: SQLTerm, _ constant: SQLConstant, _ options: ComparisonOptions, wants: Bool
    ) throws(StoreError) -> String {
        if constant.value.isNull { return "\(term.sql) IS \(wants ? "" : "NOT ")NULL" }
        try checkInline(term)
        try checkKinds(term, constant)
        guard let pair = ComparisonPair(term, constant.value, options, dialect) else {
            return dialect.constant(!wants)
        }
        let comparand = try comparand(pair)
        return dialect.equality(
            comparand.sql, constant: bound(constant, term, comparand, .equal, options), wants: wants)
    }

    private func equality(
        _ a: SQLTerm, _ b: SQLTerm, _ options: ComparisonOptions, wants: Bool
    ) throws(StoreError) -> String {
        try checkInline(a)
        try checkInline(b)
        try checkKinds(a, b.kind)
        try checkKinds(b, a.kind)
        guard Self.areComparable(a.kind, b.kind) else {
            // Values of different kinds are unequal, but nil equals nil.
            return wants ? "(\(a.sql) IS NULL AND \(b.sql) IS NULL)" : "(\(a.sql) IS NOT NULL OR \(b.sql) IS NOT NULL)"
        }
        let (left, right) = try comparands(a, b, options)
        guard a.kind.isPlainNumber == b.kind.isPlainNumber, a.kind != .decimal, a.kind != .point else {
            // An infinite number has no decimal form, and a point that is not a number none in bytes, but they are not
            // nil.
            let equal = "((\(a.sql) IS NULL AND \(b.sql) IS NULL) OR \(dialect.coalesced("\(left) = \(right)")))"
            return wants ? equal : "NOT \(equal)"
        }
        return dialect.sameness(left, right, wants: wants)
    }

    /// The column of a pair, which the dialect must be able to compare.
    private func comparand(_ pair: ComparisonPair) throws(StoreError) -> SQLComparand {
        guard let comparand = pair.comparand else { throw unsupported(context.map(\.description) ?? "a comparison") }
        return comparand
    }

    /// Two terms of comparable kinds as they compare.
    private func comparands(
        _ a: SQLTerm, _ b: SQLTerm, _ options: ComparisonOptions
    ) throws(StoreError) -> (String, String) {
        guard let (left, right) = dialect.comparands(a, b, options) else {
            throw unsupported(context.map(\.description) ?? "a comparison")
        }
        return (left, right)
    }

    private static func areComparable(_ a: SQLKind, _ b: SQLKind) -> Bool {
        a == b || (a.isNumber && b.isNumber) || (a.isText && b.isText)
    }

    /// Refuses a number that may be whole or decimal against a floating-point one: an infinite one compares with whole
    /// numbers only.
    private func checkKinds(_ a: SQLTerm, _ b: SQLKind?) throws(StoreError) {
        if a.kind == .decimal, !a.isDecimalText, b == .double || b == .number {
            throw unsupported("comparing a decimal result with a floating-point number")
        }
    }

    private func checkKinds(_ a: SQLTerm, _ constant: SQLConstant) throws(StoreError) {
        if case .double(let number) = constant.value, !number.isFinite { try checkKinds(a, .double) }
    }

    /// Refuses bytes that may be in a file: the database has the name of the file.
    package func checkInline(_ term: SQLTerm) throws(StoreError) {
        if term.kind == .external { throw unsupported("comparing a binary value that may be in an external file") }
    }

    /// Refuses JSON where the database would have to tell equal values by their text.
    package func checkCanonical(_ term: SQLTerm) throws(StoreError) {
        if term.kind == .json { throw unsupported("telling equal members of JSON") }
        if !dialect.tellsEqual(term.kind) { throw unsupported("telling equal values of type \(term.kind.name)") }
    }

    /// Whether the comparison is one of JSON as a whole: not of one that is searched in a collection.
    private func isDecided(_ left: SQLOperand, _ op: ComparisonOperator, _ right: SQLOperand) -> Bool {
        guard left.isJSON || right.isJSON else { return false }
        switch (op, left, right) {
        case (.isIn, _, .list), (.isIn, _, .collection), (.contains, .list, _), (.contains, .collection, _),
            (.between, _, .list):
            return false
        default: return true
        }
    }

    private func bound(
        _ constant: SQLConstant, _ term: SQLTerm, _ comparand: SQLComparand, _ op: ComparisonOperator,
        _ options: ComparisonOptions
    ) -> String {
        let kind = term.kind
        if comparand.rounds {
            return parameters.add(comparand.kind) { [dialect] (constants: [Value]) throws(StoreError) -> SQLValue in
                ComparisonPair.value(kind, constant.value(in: constants), options).map { dialect.rounded($0, for: op) }
                    ?? .null
            } + comparand.suffix
        }
        return parameters.add(comparand.kind) { (constants: [Value]) throws(StoreError) -> SQLValue in
            ComparisonPair.value(kind, constant.value(in: constants), options) ?? .null
        } + comparand.suffix
    }

    // MARK: Order

    private func order(
        _ left: SQLOperand, _ op: ComparisonOperator, _ right: SQLOperand, _ options: ComparisonOptions
    ) throws(StoreError) -> String {
        if left.isNull || right.isNull { return dialect.constant(false) }
        if left.isJSON || right.isJSON { return try comparison(ofJSON: left, op, right, options, negated: false) }
        let incomparable = StoreError.invalidPredicate(
            .incomparable(left: left.kindName, right: right.kindName, context: op.rawValue))
        for side in [left, right] {
            switch side {
            case .collection, .composite, .list: throw incomparable
            case .constant(let constant): if SQLKind(constant.value) == nil { throw incomparable }
            case .term, .object, .json, .choice: break
            }
        }
        if case .constant(let constant) = left {
            if case .constant(let other) = right {
                return try comparison(.constant(constant), op, .constant(other), options, negated: false)
            }
            return try order(right, op.mirrored, left, options)
        }
        let a = try term(left)
        try checkInline(a)
        guard case .constant(let constant) = right else {
            let b = try term(right)
            try checkInline(b)
            try checkKinds(a, b.kind)
            try checkKinds(b, a.kind)
            guard Self.areComparable(a.kind, b.kind), a.kind != .point else { throw incomparable }
            let (left, right) = try comparands(a, b, options)
            return "\(left) \(op.rawValue) \(right)"
        }
        try checkKinds(a, constant)
        guard let pair = ComparisonPair(a, constant.value, options, dialect) else {
            // NaN has a kind but no order.
            if a.kind.isNumber, SQLKind(constant.value)?.isNumber == true { return dialect.constant(false) }
            if a.kind == .date, case .date = constant.value { return dialect.constant(false) }
            throw incomparable
        }
        guard pair.isOrdered else { throw incomparable }
        let comparand = try comparand(pair)
        let sql = "\(comparand.sql) \(op.rawValue) \(bound(constant, a, comparand, op, options))"
        return a.origin?.leadsIndex == true ? dialect.selective(sql) : sql
    }

    private func between(
        _ left: SQLOperand, _ right: SQLOperand, _ options: ComparisonOptions
    ) throws(StoreError) -> String {
        var bounds: [SQLOperand] = []
        switch right {
        case .list(let parts): bounds = parts
        case .constant(let constant):
            if case .list = constant.value { bounds = constant.elements?.map(SQLOperand.constant) ?? [] }
        case .collection: throw unsupported("a relationship as the bounds of BETWEEN")
        default: break
        }
        guard bounds.count == 2 else { throw .invalidPredicate(.invalidBounds(found: right.kindName)) }
        if case .term(let term) = left, case .constant(let low) = bounds[0], case .constant(let high) = bounds[1],
            let a = ComparisonPair(term, low.value, options, dialect),
            let b = ComparisonPair(term, high.value, options, dialect), a.isOrdered, let from = a.comparand,
            let to = b.comparand, from.sql == to.sql
        {
            // The engine takes the column out of the row once, where two comparisons do so twice.
            let least = bound(low, term, from, .greaterOrEqual, options)
            return "\(from.sql) BETWEEN \(least) AND \(bound(high, term, to, .lessOrEqual, options))"
        }
        let low = try order(left, .greaterOrEqual, bounds[0], options)
        let high = try order(left, .lessOrEqual, bounds[1], options)
        return "(\(low) AND \(high))"
    }

    // MARK: Membership

    /// Whether a collection has an element, or a text a part.
    private func contains(
        _ whole: SQLOperand, _ part: SQLOperand, _ options: ComparisonOptions
    ) throws(StoreError) -> String {
        switch whole {
        case .constant(let constant):
            guard let elements = constant.elements else { return try text(whole, .contains, part, options) }
            if case .constant(let other) = part {
                return try comparison(.constant(constant), .contains, .constant(other), options, negated: false)
            }
            return try membership(part, elements, options)
        case .list(let elements):
            if part.isNull { return dialect.constant(false) }
            var list: [String] = []
            for element in elements { list.append(try strictEquality(part, element, options)) }
            return list.isEmpty ? dialect.constant(false) : Self.balanced(list[...], " OR ")
        case .collection(let collection):
            if part.isNull { return dialect.constant(false) }
            scopes.append(collection.scope)
            defer { scopes.removeLast() }
            collection.scope.conditions.append(try strictEquality(part, collection.operand, options))
            return "EXISTS (SELECT 1\(collection.scope.tail))"
        default: return try text(whole, .contains, part, options)
        }
    }

    /// Equality of values that are not nil.
    private func strictEquality(
        _ a: SQLOperand, _ b: SQLOperand, _ options: ComparisonOptions
    ) throws(StoreError) -> String {
        let equal = try equality(a, b, options, wants: true)
        switch a {
        case .choice(let condition, let first, let second):
            let (x, y) = (try strictEquality(first, b, options), try strictEquality(second, b, options))
            return "CASE WHEN \(condition) THEN \(x) ELSE \(y) END"
        case .term, .object, .json: return "(\(try term(a).sql) IS NOT NULL AND \(equal))"
        default: return equal
        }
    }

    /// Whether an operand is one of some constants.
    package func membership(
        _ operand: SQLOperand, _ constants: [SQLConstant], _ options: ComparisonOptions
    ) throws(StoreError) -> String {
        switch operand {
        case .term, .object: break
        default:
            // Collections and composites: they are compared one by one, where that can be said.
            isReusable = false
            var list: [String] = []
            for constant in constants where !constant.value.isNull {
                list.append(try equality(operand, .constant(constant), options, wants: true))
            }
            return list.isEmpty ? dialect.constant(false) : Self.balanced(list[...], " OR ")
        }
        let term = try term(operand)
        let shared = ComparisonPair.shared(term, constants.map(\.value), options, dialect)
        for constant in constants where !constant.value.isNull {
            try checkInline(term)
            try checkKinds(term, constant)
        }
        var list: [String] = []
        for (constant, isShared) in zip(constants, shared.isShared) where !isShared && !constant.value.isNull {
            // A number that must be compared in another way than the rest, or a value of another kind.
            list.append(try equality(term, constant, options, wants: true))
        }
        if let pair = shared.pair {
            let whole = constants.first?.element == nil ? nil : constants.first?.position
            let isSearched = ways.scansLists
            let comparand = try comparand(pair)
            // A list that was written out; one that is bound as a whole is not kept with the statement.
            let written = whole == nil ? constants : []
            // Safe to send: nothing changes a term once its condition has been translated.
            nonisolated(unsafe) let searched = term
            let bound = parameters.addList(of: comparand.kind) {
                [dialect] (values: [Value]) throws(StoreError) -> SQLValue in
                // A list of one kind may have another length the next time.
                let elements =
                    whole.map { SQLConstant.elements(of: values[$0]) ?? [] } ?? written.map { $0.value(in: values) }
                return .list(
                    ValueList(
                        sqlValues: ComparisonPair.shared(searched, elements, options, dialect).values,
                        isSearched: isSearched))
            }
            let suffix = comparand.suffix.isEmpty ? "" : comparand.suffix + "[]"
            list.append(dialect.membership(comparand.sql, bound + suffix, isSearched: isSearched))
        }
        return list.isEmpty ? dialect.constant(false) : Self.balanced(list[...], " OR ")
    }
}
