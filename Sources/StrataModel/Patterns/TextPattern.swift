/// A regular expression in Strata's own dialect, compiled: what `MATCHES` and the `pattern` of an attribute mean. The guide
/// `Documentation/Predicates.md` describes the dialect.
///
/// A match takes time in proportion to the length of the text times that of the pattern. Back references, look-around and
/// atomic groups may take more, up to ``steps`` and ``stepsPerScalar`` for each scalar of the text; what would take more
/// still is an error.
package struct TextPattern: Sendable {
    /// How many steps a match may take, however short the text.
    package static let steps = PatternMatcher.steps
    /// How many more steps it may take for each Unicode scalar of the text.
    package static let stepsPerScalar = PatternMatcher.stepsPerScalar

    private let program: PatternProgram

    /// Compiles a pattern.
    /// - Throws: The first fault, with its position.
    package init(_ pattern: String, ignoresCase: Bool = false) throws(PatternFault) {
        program = try PatternProgram(pattern, ignoresCase: ignoresCase)
    }

    /// Whether the whole text matches, line breaks at its end included.
    package func matches(_ text: String) throws(PatternTooCostly) -> Bool {
        let text = PatternText(text)
        do throws(PatternTooCostly) {
            var matcher = try PatternMatcher(program, text)
            return try matcher.matches()
        } catch {
            throw PatternTooCostly(length: text.count)
        }
    }
}

/// Why a text is not a pattern, and where.
package struct PatternFault: Error {
    /// How many Unicode scalars come before the place.
    package let position: Int
    /// What is wrong there.
    package let reason: String
}

/// A match took more steps than are allowed.
package struct PatternTooCostly: Error {
    /// The number of Unicode scalars of the text.
    package var length = 0
}
