import Foundation

/// The patterns of `MATCHES`, compiled once for many comparisons. SQL uses this function, too, so that memory and store
/// agree.
///
///     print(try RegularExpressions.shared.matches("Lima", "[a-z]+", [.caseInsensitive]))  // true
///     try RegularExpressions.shared.check("[a-z]{2,}", [])
///
/// The syntax is ICU's except for `\X`, the flags `w` and `d`, and case: case-insensitive matching compares character
/// by character, so `ß` does not match `ss`. A match takes time in proportion to the length of the text times that of
/// the pattern: no pattern and no text hang a process. Back references, look-around and atomic groups may take more, up
/// to ``steps`` and ``stepsPerScalar`` for each scalar of the text; a match that needs more is an error.
///
/// Call ``check(_:_:)`` to test a pattern that a user enters. All threads can use ``shared``, which keeps up to 256
/// compiled patterns.
public final class RegularExpressions: Sendable {
    /// Those that predicates use.
    public static let shared = RegularExpressions()
    /// How many steps a comparison may take, however short the text.
    public static let steps = TextPattern.steps
    /// How many more steps it may take for each Unicode scalar of the text.
    public static let stepsPerScalar = TextPattern.stepsPerScalar

    private struct Key: Hashable {
        let pattern: [UInt8]
        let ignoresCase: Bool
    }

    private static let capacity = 256

    // The lock guards the table.
    nonisolated(unsafe) private var patterns: [Key: TextPattern] = [:]
    private let lock = NSLock()

    private init() {}

    /// Whether the whole text matches a pattern. `[c]` makes the pattern ignore case; `[d]` and `[l]` bring text and
    /// pattern to the form in which ``TextComparison/fold(_:_:)`` compares.
    /// - Throws: ``PredicateEvaluationError/invalidPattern(pattern:position:reason:)`` and
    ///   ``PredicateEvaluationError/costlyPattern(pattern:length:)``.
    public func matches(
        _ text: String, _ pattern: String, _ options: ComparisonOptions
    ) throws(PredicateEvaluationError) -> Bool {
        let program = try compiled(pattern, options)
        do throws(PatternTooCostly) {
            return try program.matches(TextComparison.fold(text, options.subtracting(.caseInsensitive)))
        } catch {
            throw .costlyPattern(pattern: pattern, length: error.length)
        }
    }

    /// Checks a pattern before there is a text to compare.
    /// - Throws: ``PredicateEvaluationError/invalidPattern(pattern:position:reason:)``.
    public func check(_ pattern: String, _ options: ComparisonOptions) throws(PredicateEvaluationError) {
        _ = try compiled(pattern, options)
    }

    private func compiled(
        _ pattern: String, _ options: ComparisonOptions
    ) throws(PredicateEvaluationError) -> TextPattern {
        let folded = TextComparison.fold(pattern, options.subtracting(.caseInsensitive))
        let ignoresCase = options.contains(.caseInsensitive) && !options.contains(.normalized)
        let key = Key(pattern: Array(folded.utf8), ignoresCase: ignoresCase)
        if let known = lock.withLock({ patterns[key] }) { return known }
        let program: TextPattern
        do throws(PatternFault) {
            program = try TextPattern(folded, ignoresCase: ignoresCase)
        } catch {
            throw .invalidPattern(pattern: pattern, position: error.position, reason: error.reason)
        }
        lock.withLock {
            if patterns.count >= Self.capacity { patterns.removeAll() }
            patterns[key] = program
        }
        return program
    }
}
