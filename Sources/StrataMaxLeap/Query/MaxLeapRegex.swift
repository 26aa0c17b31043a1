/// Regular expressions as the servers read them: those of Perl.
///
///     let word = "C++ (2nd edition)"
///     let query = MaxLeapQuery("Book").where("title", .matches("^" + MaxLeapRegex.quoted(word), options: "i"))
///
/// ``quoted(_:)`` makes a text match itself, whatever characters it has. You need it only with
/// ``MaxLeapConstraint/matches(_:options:)``: `contains`, `hasPrefix` and `hasSuffix` quote their text. Quote everything that a
/// user has typed, since it may contain operators.
public enum MaxLeapRegex {
    /// A text as an expression that matches it and nothing else: `\QHello!\E`.
    public static func quoted(_ text: some StringProtocol) -> String {
        var result = "\\Q".unicodeScalars
        var last: Unicode.Scalar?
        // By scalars, since a mark after it would make another character of the letter.
        for scalar in text.unicodeScalars {
            result.append(scalar)
            if last == "\\", scalar == "E" { result.append(contentsOf: "\\\\E\\Q".unicodeScalars) }
            last = scalar
        }
        return String(result) + "\\E"
    }

    /// A pattern in which `?` stands for one scalar and `*` for any number of them, as an expression from the beginning of a text.
    static func like(_ pattern: String) -> String {
        var result = "^"
        var plain = String.UnicodeScalarView()
        func flush() {
            if !plain.isEmpty { result += quoted(String(plain)) }
            plain = String.UnicodeScalarView()
        }
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case "*", "?":
                flush()
                result += scalar == "*" ? ".*" : "."
            default: plain.append(scalar)
            }
        }
        flush()
        return result
    }
}
