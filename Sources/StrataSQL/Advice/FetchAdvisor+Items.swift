import StrataStore

extension FetchAdvice {
    /// A part of a condition as an advisor sees it.
    package struct Item {
        /// Why it cannot be looked up; nil if it can.
        package var reason: FetchAdvice.Reason?
        /// What the model may lack.
        package var change: FetchAdvice.ModelChange?
        /// Another condition in place of this part, and what is different about it.
        package var rewrite: (from: FetchPredicate, to: FetchPredicate, note: String?)?
        /// The property of the fetched entity that the part compares, and whether with single values, for indexes of several
        /// properties.
        package var column: (name: String, isEquality: Bool)?

        package init(_ code: FetchAdvice.Reason.Code, _ part: FetchPredicate, _ explanation: String) {
            reason = FetchAdvice.Reason(code: code, expression: part.description, explanation: explanation)
        }

        /// A part that is looked up.
        package init(column: (name: String, isEquality: Bool)?) { self.column = column }
    }
}

extension FetchAdvisor {
    /// What there is to say about the parts of the condition, in their order.
    package func conditionItems() -> [FetchAdvice.Item] {
        condition.map { items($0, negated: false) } ?? []
    }

    private func items(_ predicate: FetchPredicate, negated: Bool) -> [FetchAdvice.Item] {
        switch predicate.node {
        case .constant, .tooDeep: []
        case .and(let parts), .or(let parts): parts.flatMap { items($0, negated: negated) }
        case .not(let part): items(part, negated: !negated)
        case .quantified(let quantifier, let left, _, _, _):
            [FetchAdvice.Item(.collection, predicate, Self.anew("\(quantifier.rawValue) \(left)"))]
        case .geo(let condition): [item(condition, predicate, negated: negated)]
        case .comparison(let left, let op, let right, let options):
            [item(left, op, right, options, predicate, negated: negated)]
        }
    }

    private static func anew(_ what: String) -> String { "\(what) is computed again for each object" }

    // MARK: Comparisons

    private func item(
        _ left: FetchExpression, _ op: ComparisonOperator, _ right: FetchExpression, _ options: ComparisonOptions,
        _ part: FetchPredicate, negated: Bool
    ) -> FetchAdvice.Item {
        if left.isFixed, !right.isFixed, op.mirrored != op || op == .equal || op == .notEqual {
            return item(right, op.mirrored, left, options, part, negated: negated)
        }
        let sides = left.keyPaths + right.keyPaths
        if sides.contains(where: leadsToMany) { return FetchAdvice.Item(.collection, part, Self.anew("\(part)")) }
        if !left.isFixed, !right.isFixed {
            return FetchAdvice.Item(
                .twoProperties, part, "both sides depend on the object, so nothing can be looked up")
        }
        if op == .matchesText { return matchesText(left, part, negated: negated) }
        guard case .keyPath(let path) = left.node, let place = place(of: path) else {
            return FetchAdvice.Item(
                .function, part,
                "an index has the values of properties, not what a function, arithmetic or a cast makes of them")
        }
        guard place.slot.isStored else {
            return FetchAdvice.Item(.function, part, "\(place.name) is computed from other objects when it is read")
        }
        let isDifferent = negated ? op == .equal : op == .notEqual
        if isDifferent { return FetchAdvice.Item(.inequality, part, "nearly all objects differ from a value") }
        let isSame = op == .equal || op == .notEqual
        if negated, !isSame {
            return FetchAdvice.Item(.inequality, part, "a NOT asks for all that an index does not find")
        }
        switch op {
        case .contains, .endsWith: return insideText(place, op, right, options, part)
        case .like: return like(place, right, options, part)
        case .matches: return FetchAdvice.Item(.pattern, part, "a regular expression is tried on each value")
        default: break
        }
        if !place.converts(right) {
            return FetchAdvice.Item(
                .function, part, "\(place.name) holds no decimal numbers and is converted to compare with one")
        }
        if !options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive, .locale]),
            !options.contains(.normalized), place.slot.type == .string
        {
            return folded(place, options, part)
        }
        let isEquality = isSame || op == .isIn
        let column = place.isOwn ? (place.slot.name, isEquality) : nil
        if place.slot.relationshipIndex != nil || place.leadsIndex { return FetchAdvice.Item(column: column) }
        var item = FetchAdvice.Item(.noIndex, part, "\(place.name) has no index")
        item.change = place.indexed()
        item.column = column
        return item
    }

    /// Text without case and accents: an index of the canonical form serves.
    private func folded(_ place: Place, _ options: ComparisonOptions, _ part: FetchPredicate) -> FetchAdvice.Item {
        guard options == [.caseInsensitive, .diacriticInsensitive] else {
            return FetchAdvice.Item(
                .textOptions, part,
                "\(options.suffix) is worked out for each value; [cd] can have an index of the text in canonical form")
        }
        if let canonical = place.canonical {
            if canonical.leadsIndex { return FetchAdvice.Item(column: nil) }
            var item = FetchAdvice.Item(
                .noIndex, part, "\(canonical.name), the canonical form of \(place.name), has no index")
            item.change = canonical.indexed()
            return item
        }
        var item = FetchAdvice.Item(
            .textOptions, part, "[cd] is worked out for each value, since the model keeps no canonical form")
        item.change = place.canonicalAttribute()
        return item
    }

    private func insideText(
        _ place: Place, _ op: ComparisonOperator, _ right: FetchExpression, _ options: ComparisonOptions,
        _ part: FetchPredicate
    ) -> FetchAdvice.Item {
        var item = FetchAdvice.Item(
            .insideText, part,
            "an index finds text by its beginning, and \(op.rawValue) looks \(op == .contains ? "inside" : "at the end")"
        )
        if op == .contains, case .constant(.string(let text)) = right.node { search(place, for: text, part, &item) }
        return item
    }

    private func like(
        _ place: Place, _ right: FetchExpression, _ options: ComparisonOptions, _ part: FetchPredicate
    ) -> FetchAdvice.Item {
        guard case .constant(.string(let pattern)) = right.node else {
            return FetchAdvice.Item(.pattern, part, "a pattern is tried on each value")
        }
        let isWildcard = { (scalar: UnicodeScalar) in scalar == "*" || scalar == "?" }
        let start = String(String.UnicodeScalarView(pattern.unicodeScalars.prefix { !isWildcard($0) }))
        if start.isEmpty {
            var item = FetchAdvice.Item(
                .leadingWildcard, part, "a pattern that begins with a wildcard may stand for any beginning")
            let middle = pattern.unicodeScalars.drop { $0 == "*" }.reversed().drop { $0 == "*" }.reversed()
            let words = String(String.UnicodeScalarView(middle))
            if !words.unicodeScalars.contains(where: isWildcard) { search(place, for: words, part, &item) }
            return item
        }
        var item = FetchAdvice.Item(
            .pattern, part, "a pattern is tried on each value; BEGINSWITH can look up the beginning")
        let beginning = FetchPredicate.comparison(
            .keyPath(place.path), .beginsWith, .constant(.string(start)), options)
        // What only ends in a star is a beginning; everything else is one and more.
        item.rewrite = (part, pattern == start + "*" ? beginning : beginning && part, nil)
        if options.isEmpty, !place.leadsIndex { item.change = place.indexed() }
        if options == [.caseInsensitive, .diacriticInsensitive] {
            item.change = folded(place, options, part).change
        }
        return item
    }

    // MARK: Words

    /// Text that is looked for anywhere is mostly words.
    private func search(_ place: Place, for text: String, _ part: FetchPredicate, _ item: inout FetchAdvice.Item) {
        guard place.slot.type == .string, !TextQuery.words(of: text).isEmpty else { return }
        item.rewrite = (
            part, .comparison(.keyPath(place.path), .matchesText, .constant(.string(text)), []),
            "MATCHESTEXT finds words, in any case and with any accents, not parts of words: the answer may differ"
        )
        if !place.hasFullTextIndex { item.change = place.index(.fullText) }
    }

    private func matchesText(_ left: FetchExpression, _ part: FetchPredicate, negated: Bool) -> FetchAdvice.Item {
        if negated { return FetchAdvice.Item(.inequality, part, "a NOT asks for all that an index does not find") }
        guard case .keyPath(let path) = left.node, let place = place(of: path), place.slot.isStored else {
            // SELF without an index is refused before.
            return left == .evaluatedObject
                ? FetchAdvice.Item(column: nil)
                : FetchAdvice.Item(.function, part, "an index has the words of attributes")
        }
        if place.hasFullTextIndex { return FetchAdvice.Item(column: nil) }
        var item = FetchAdvice.Item(.noFullTextIndex, part, "\(place.name) is in no full-text index")
        item.change = place.index(.fullText)
        return item
    }

    // MARK: Places

    private func item(_ condition: GeoCondition, _ part: FetchPredicate, negated: Bool) -> FetchAdvice.Item {
        let point: FetchExpression
        let fixed: [FetchExpression]
        switch condition {
        case .near:
            return FetchAdvice.Item(
                .nearest, part,
                "all points are ordered by their distance; with a limit, no other order and a spatial index of the"
                    + " point only the nearest are read, and withinKilometers as well would leave few")
        case .within(let place, let center, let distance, _, _): (point, fixed) = (place, [center, distance])
        case .box(let place, let southWest, let northEast): (point, fixed) = (place, [southWest, northEast])
        }
        if negated { return FetchAdvice.Item(.inequality, part, "a NOT asks for all that an index does not find") }
        guard fixed.allSatisfy(\.isFixed) else {
            return FetchAdvice.Item(.twoProperties, part, "the area depends on the object, so nothing can be looked up")
        }
        guard case .keyPath(let path) = point.node, let place = place(of: path), place.slot.isStored else {
            return FetchAdvice.Item(.function, part, "a spatial index has the points of attributes")
        }
        if place.has(.spatial) { return FetchAdvice.Item(column: nil) }
        var item = FetchAdvice.Item(.noSpatialIndex, part, "\(place.name) has no spatial index")
        item.change = place.index(.spatial)
        return item
    }
}

extension FetchExpression {
    /// Whether the value is the same for all objects.
    fileprivate var isFixed: Bool {
        switch node {
        case .constant: true
        case .keyPath, .evaluatedObject, .variable, .path, .index, .subquery, .ternary, .tooDeep: false
        case .aggregate(let parts), .function(_, let parts): parts.allSatisfy(\.isFixed)
        case .cast(let value, _): value.isFixed
        case .method(let receiver, _, let parts): receiver.isFixed && parts.allSatisfy(\.isFixed)
        case .distance(let a, let b, _): a.isFixed && b.isFixed
        }
    }
}
