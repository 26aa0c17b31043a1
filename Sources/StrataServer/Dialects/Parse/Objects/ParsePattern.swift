#if Server
    import Strata

    /// A regular expression that is found somewhere in a text.
    struct ParsePattern {
        private let pattern: String
        private let options: String

        init(_ pattern: JSONValue, _ options: JSONValue?) throws(ServerError) {
            guard let text = pattern.string, text.utf8.count <= 1000 else {
                throw ParseWhere.fault("$regex takes a pattern of up to 1,000 bytes")
            }
            self.pattern = text
            self.options = options?.string ?? ""
            guard self.options.allSatisfy({ "imsxu".contains($0) }) else {
                throw ParseWhere.fault("$options takes letters of i, m, s and x")
            }
        }

        /// The text of a pattern that is nothing but a quoted text; nil for any other.
        static func quoted(_ pattern: Substring) -> String? {
            var (rest, text) = (pattern, "")
            while !rest.isEmpty {
                if rest.hasPrefix("\\Q") {
                    rest = rest.dropFirst(2)
                    guard let end = rest.firstRange(of: "\\E") else { return nil }
                    text += rest[..<end.lowerBound]
                    rest = rest[end.upperBound...]
                } else if rest.hasPrefix("\\\\E") {
                    // An end of quotes that is part of the text is between two quotes.
                    text += "\\E"
                    rest = rest.dropFirst(3)
                } else {
                    return nil
                }
            }
            return text
        }

        /// The condition on a field. Texts that are only quoted need no regular expression, and an index may find their
        /// beginning.
        func predicate(_ path: FetchExpression, _ field: SchemaField) throws(ServerError) -> FetchPredicate {
            guard field.kind == .string || field.kind == .reference, field.format == nil else {
                throw ParseWhere.fault("$regex is for text")
            }
            if options.allSatisfy({ "iu".contains($0) }) {
                let folds: ComparisonOptions = options.contains("i") ? .caseInsensitive : []
                let isFirst = pattern.hasPrefix("^")
                let body = isFirst ? pattern.dropFirst() : pattern[...]
                if let text = Self.quoted(body), !text.isEmpty {
                    return .comparison(path, isFirst ? .beginsWith : .contains, .constant(.string(text)), folds)
                }
                let end = body.hasSuffix("$") ? 1 : body.hasSuffix("\\z") ? 2 : 0
                if isFirst, end > 0, let text = Self.quoted(body.dropLast(end)), !text.isEmpty {
                    return .comparison(path, .equal, .constant(.string(text)), folds)
                }
            }
            let flags = options.filter { $0 != "u" }
            let whole = "(?s:.*)(?\(flags):\(pattern))(?s:.*)"
            do throws(PredicateEvaluationError) {
                try RegularExpressions.shared.check(whole, [])
            } catch {
                throw ParseWhere.fault("\(error)")
            }
            return .comparison(path, .matches, .constant(.string(whole)), [])
        }
    }
#endif
