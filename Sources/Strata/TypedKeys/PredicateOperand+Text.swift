/// Text. Without options it is compared by its bytes; `[.caseInsensitive]` and `[.diacriticInsensitive]` are `[c]` and
/// `[d]` of the format language. Nil satisfies none of these.
extension PredicateOperand where Operand: ComparableAttribute, Operand.Wrapped == String {
    private func compare(_ op: ComparisonOperator, _ text: String, _ options: ComparisonOptions) -> FetchPredicate {
        .comparison(expression, op, .constant(.string(text)), options)
    }

    /// Begins with a text.
    public func hasPrefix(_ text: String, _ options: ComparisonOptions = []) -> FetchPredicate {
        compare(.beginsWith, text, options)
    }
    /// Ends with a text.
    public func hasSuffix(_ text: String, _ options: ComparisonOptions = []) -> FetchPredicate {
        compare(.endsWith, text, options)
    }
    /// Contains a text.
    public func contains(_ text: String, _ options: ComparisonOptions = []) -> FetchPredicate {
        compare(.contains, text, options)
    }
    /// Equal as far as the options look.
    public func equals(_ text: String, _ options: ComparisonOptions) -> FetchPredicate {
        compare(.equal, text, options)
    }
    /// Has the form of a pattern, in which `?` stands for one character and `*` for any number of them.
    public func like(_ pattern: String, _ options: ComparisonOptions = []) -> FetchPredicate {
        compare(.like, pattern, options)
    }
    /// Matches a regular expression as a whole. An invalid pattern is an error of the fetch.
    public func matches(_ pattern: String, _ options: ComparisonOptions = []) -> FetchPredicate {
        compare(.matches, pattern, options)
    }
    /// Has the words of a query; see `TextQuery`. The attribute needs a full-text index.
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
