#if Server
    import Strata

    /// Conditions on the elements of collections.
    enum CollectionMatch {
        /// Objects whose collection holds one of some values.
        static func holding(_ texts: [Value], numbers: [Double] = [], in field: SchemaField) -> FetchPredicate {
            var match = FetchPredicate.comparison(
                .keyPath(["text"]), .isIn, .constant(.list(texts)), [])
            if !numbers.isEmpty {
                match =
                    match
                    || .comparison(.keyPath(["number"]), .isIn, .constant(.list(numbers.map(Value.double))), [])
            }
            return .comparison(
                .path(
                    .subquery(
                        .keyPath(["sm_elements"]), "element",
                        onElement(.and([DataScope.equal("field", .string(field.name)), match]))),
                    ["@count"]), .greater, .constant(.integer(0)), [])
        }

        /// Rewrites a condition on an element's own attributes for the variable of a subquery.
        private static func onElement(_ predicate: FetchPredicate) -> FetchPredicate {
            switch predicate.node {
            case .and(let parts): .and(parts.map(onElement))
            case .or(let parts): .or(parts.map(onElement))
            case .comparison(let left, let comparison, let right, let options):
                if case .keyPath(let path) = left.node {
                    .comparison(.path(.variable("element"), path), comparison, right, options)
                } else {
                    predicate
                }
            default: predicate
            }
        }
    }
#endif
