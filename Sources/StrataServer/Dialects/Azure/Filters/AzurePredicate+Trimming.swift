#if Server
    import Strata

    // `trim`. Expressions have no such function. But whether a text without the spaces around it is equal to another, begins or
    // ends with it, or contains it is a condition on the whole text, which a pattern expresses.
    extension AzurePredicate {
        /// The comparison of `trim` with a fixed text; nil for all other comparisons.
        /// - Parameter answer: Whether the comparison must be true, or false.
        func trimmed(
            _ asked: ComparisonOperator, _ left: AzureNode, _ right: AzureNode, _ answer: Bool
        ) throws(ServerError) -> FetchPredicate? {
            for (call, other) in [(left, right), (right, left)] {
                guard case .call("trim", let arguments) = call else { continue }
                guard case .text(let text) = other, asked == .equal || asked == .notEqual else { throw Self.untrimmed }
                return try trimmed(arguments, { Self.equal(text) }, answer == (asked == .equal))
            }
            return nil
        }

        /// The condition that `trim` begins or ends with a fixed text, or contains it; nil for all other conditions.
        func trimmed(
            _ name: String, _ whole: AzureNode, _ part: AzureNode, _ answer: Bool
        ) throws(ServerError) -> FetchPredicate? {
            guard case .call("trim", let arguments) = whole else { return nil }
            guard case .text(let text) = part else { throw Self.untrimmed }
            return try trimmed(arguments, { Self.pattern(name, text) }, answer)
        }

        static var untrimmed: ServerError {
            fault(
                "trim can only be compared with a text by eq and ne, or be in startswith, endswith, substringof and contains with one, as in trim(name) eq 'x'"
            )
        }

        /// - Parameter pattern: The pattern of the whole text; nil if no text meets the condition.
        private func trimmed(
            _ arguments: [AzureNode], _ pattern: () -> String?, _ answer: Bool
        ) throws(ServerError) -> FetchPredicate {
            guard arguments.count == 1 else { throw Self.fault("trim takes another number of values") }
            let whole = try text(arguments[0])
            if whole.isUnknown { return .constant(true) }
            if case .null? = whole.constant { return .constant(false) }
            let found =
                pattern().map {
                    FetchPredicate.comparison(whole.expression, .matches, .constant(.string("(?s:\($0))")), [])
                } ?? .constant(false)
            return .and([answer ? found : .not(found)] + isThere(whole))
        }

        /// The text between spaces.
        private static func equal(_ text: String) -> String? {
            isSpace(text.first) || isSpace(text.last) ? nil : #"\s*\#(quoted(text))\s*"#
        }

        /// Spaces at an end of the part are only found where something else is next to them.
        private static func pattern(_ name: String, _ part: String) -> String? {
            let before = isSpace(part.first) ? #".*\S.*"# : ".*"
            let after = isSpace(part.last) ? #".*\S.*"# : ".*"
            switch name {
            case "startswith": return isSpace(part.first) ? nil : #"\s*\#(quoted(part))\#(after)"#
            case "endswith": return isSpace(part.last) ? nil : #"\#(before)\#(quoted(part))\s*"#
            default: return before + quoted(part) + after
            }
        }

        private static func isSpace(_ character: Character?) -> Bool { character?.isWhitespace ?? false }

        /// A text in which no character has a meaning of its own.
        private static func quoted(_ text: String) -> String {
            text.isEmpty ? "" : #"\Q\#(text.replacing(#"\E"#, with: #"\E\\E\Q"#))\E"#
        }
    }
#endif
