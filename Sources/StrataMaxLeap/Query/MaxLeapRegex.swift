/// Regular expressions as servers read them: those of Perl.
public enum MaxLeapRegex {
    /// A text as an expression that matches it and nothing else: `\QHello!\E`.
    public static func quoted(_ text: some StringProtocol) -> String {
        "\\Q" + String(text).replacing("\\E", with: "\\E\\\\E\\Q") + "\\E"
    }

    /// A pattern in which `?` stands for one character and `*` for any number of them, as an expression for whole texts.
    static func like(_ pattern: String) -> String {
        var result = "^"
        var plain = ""
        func flush() {
            if !plain.isEmpty { result += quoted(plain) }
            plain = ""
        }
        for character in pattern {
            switch character {
            case "*", "?":
                flush()
                result += character == "*" ? ".*" : "."
            default: plain.append(character)
            }
        }
        flush()
        return result + "$"
    }
}
