import Foundation

/// The patterns of `MATCHES`, compiled once for many comparisons. SQL uses this function, too, so that memory and store
/// agree.
public final class RegularExpressions: Sendable {
    /// Those that predicates use.
    public static let shared = RegularExpressions()

    private struct Key: Hashable {
        let pattern: [UInt8]
        let ignoresCase: Bool
    }

    private static let capacity = 256

    // The lock guards the table. Compiled expressions may be used by several threads at once, says Foundation.
    nonisolated(unsafe) private var compiled: [Key: NSRegularExpression] = [:]
    private let lock = NSLock()

    private init() {}

    /// Whether the whole text matches a pattern in the syntax of ICU. `[c]` makes the pattern ignore case; `[d]` and
    /// `[l]` bring text and pattern to the form in which ``TextComparison/fold(_:_:)`` compares.
    /// - Throws: ``PredicateEvaluationError/invalidPattern(pattern:reason:)``.
    public func matches(
        _ text: String, _ pattern: String, _ options: ComparisonOptions
    ) throws(PredicateEvaluationError) -> Bool {
        let expression = try expression(pattern, options)
        let text = TextComparison.fold(text, options.subtracting(.caseInsensitive))
        return expression.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
    }

    /// Checks a pattern before there is a text to compare.
    /// - Throws: ``PredicateEvaluationError/invalidPattern(pattern:reason:)``.
    public func check(_ pattern: String, _ options: ComparisonOptions) throws(PredicateEvaluationError) {
        _ = try expression(pattern, options)
    }

    private func expression(
        _ pattern: String, _ options: ComparisonOptions
    ) throws(PredicateEvaluationError) -> NSRegularExpression {
        let folded = TextComparison.fold(pattern, options.subtracting(.caseInsensitive))
        let ignoresCase = options.contains(.caseInsensitive) && !options.contains(.normalized)
        let key = Key(pattern: Array(folded.utf8), ignoresCase: ignoresCase)
        if let known = lock.withLock({ compiled[key] }) { return known }
        let flags: NSRegularExpression.Options = ignoresCase ? .caseInsensitive : []
        let expression: NSRegularExpression
        do {
            // The pattern must be sound by itself: `a)(b` would be so only inside the parentheses that anchor it.
            _ = try NSRegularExpression(pattern: folded, options: flags)
            expression =
                try (try? NSRegularExpression(pattern: "\\A(?:\(folded))\\z", options: flags))
                // A comment at its end would swallow the parenthesis.
                ?? NSRegularExpression(pattern: "\\A(?:\(folded)\n)\\z", options: flags)
        } catch {
            throw .invalidPattern(pattern: pattern, reason: "it is not in the syntax of ICU")
        }
        lock.withLock {
            if compiled.count >= Self.capacity { compiled.removeAll() }
            compiled[key] = expression
        }
        return expression
    }
}
