/// Text. Without options it is compared by its bytes; `[.caseInsensitive]` and `[.diacriticInsensitive]` are `[c]` and
/// `[d]` of the format language. Nil satisfies none of these.
extension PredicateOperand where Operand: ComparableAttribute, Operand.Wrapped == String {
    private func compare(_ op: ComparisonOperator, _ text: String, _ options: ComparisonOptions) -> FetchPredicate {
        .comparison(expression, op, .constant(.string(text)), options)
    }

    /// The text begins with the given one. Without options, an index on the attribute is used.
    ///
    ///     let request = City.where { $0.name.hasPrefix("san ", [.caseInsensitive, .diacriticInsensitive]) }
    public func hasPrefix(_ text: String, _ options: ComparisonOptions = []) -> FetchPredicate {
        compare(.beginsWith, text, options)
    }
    /// The text ends with the given one. Each value is examined; an index does not help.
    public func hasSuffix(_ text: String, _ options: ComparisonOptions = []) -> FetchPredicate {
        compare(.endsWith, text, options)
    }
    /// The text contains the given one. Each value is examined; to find whole words in long texts, use ``matchesText(_:)``.
    ///
    ///     let request = City.where { $0.name.contains("grande", [.caseInsensitive]) }
    public func contains(_ text: String, _ options: ComparisonOptions = []) -> FetchPredicate {
        compare(.contains, text, options)
    }
    /// The text equals the given one, as far as the options compare. Without options, use `==`.
    ///
    ///     let request = City.where { $0.name.equals("sao paulo", [.caseInsensitive, .diacriticInsensitive]) }
    public func equals(_ text: String, _ options: ComparisonOptions) -> FetchPredicate {
        compare(.equal, text, options)
    }
    /// The whole text has the form of a pattern, in which `?` stands for one character and `*` for any number of them.
    ///
    ///     let request = City.where { $0.name.like("San*o") }
    public func like(_ pattern: String, _ options: ComparisonOptions = []) -> FetchPredicate {
        compare(.like, pattern, options)
    }
    /// The whole text matches a regular expression.
    ///
    ///     let codes = Country.where { $0.countryId.matches("[A-Z]{2}") }
    ///
    /// The syntax is that of ICU. An invalid pattern is an error of the fetch, and so is a match that takes too many steps.
    public func matches(_ pattern: String, _ options: ComparisonOptions = []) -> FetchPredicate {
        compare(.matches, pattern, options)
    }
    /// The text has the words of a query, ignoring case and accents; see ``TextQuery``. The attribute needs a full-text index.
    public func matchesText(_ query: String) -> FetchPredicate { compare(.matchesText, query, []) }

    /// Begins with the text of another key.
    public func hasPrefix<B: PredicateOperand>(_ text: B, _ options: ComparisonOptions = []) -> FetchPredicate
    where B.Operand: ComparableAttribute, B.Operand.Wrapped == String {
        .comparison(expression, .beginsWith, text.expression, options)
    }
    /// Ends with the text of another key.
    public func hasSuffix<B: PredicateOperand>(_ text: B, _ options: ComparisonOptions = []) -> FetchPredicate
    where B.Operand: ComparableAttribute, B.Operand.Wrapped == String {
        .comparison(expression, .endsWith, text.expression, options)
    }
    /// Contains the text of another key.
    public func contains<B: PredicateOperand>(_ text: B, _ options: ComparisonOptions = []) -> FetchPredicate
    where B.Operand: ComparableAttribute, B.Operand.Wrapped == String {
        .comparison(expression, .contains, text.expression, options)
    }
    /// Equal to the text of another key as far as the options look.
    public func equals<B: PredicateOperand>(_ text: B, _ options: ComparisonOptions) -> FetchPredicate
    where B.Operand: ComparableAttribute, B.Operand.Wrapped == String {
        .comparison(expression, .equal, text.expression, options)
    }

    /// The text in upper case.
    public func uppercased() -> ValueExpression<Operand> { calculated(.uppercase) }
    /// The text in lower case.
    public func lowercased() -> ValueExpression<Operand> { calculated(.lowercase) }
}
