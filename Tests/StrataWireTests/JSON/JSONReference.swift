/// Tells what is JSON in another way than a reader does: words become letters, and the smallest arrays and objects become
/// values until one is left.
enum JSONReference {
    static func isJSON(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self), var letters = letters(of: text) else { return false }
        while letters.count > 1 {
            let before = letters.count
            for (pattern, letter) in reductions { letters.replace(pattern, with: letter) }
            if letters.count == before { return false }
        }
        return letters == "v" || letters == "s"
    }

    /// A letter for each word: `s` for a string, `v` for all other values.
    private static func letters(of text: String) -> String? {
        var rest = Substring(text)
        var letters = ""
        while let first = rest.unicodeScalars.first {
            if " \n\r\t".unicodeScalars.contains(first) {
                rest.unicodeScalars.removeFirst()
            } else if "[]{}:,".unicodeScalars.contains(first) {
                letters.unicodeScalars.append(rest.unicodeScalars.removeFirst())
            } else if let match = rest.prefixMatch(of: string) {
                letters += "s"
                rest = rest[match.range.upperBound...]
            } else if let match = rest.prefixMatch(of: word) {
                letters += "v"
                rest = rest[match.range.upperBound...]
            } else {
                return nil
            }
        }
        return letters
    }

    nonisolated(unsafe) private static let string = try! Regex(
        #"""
        "([^\x{00}-\x{1F}"\\]|\\["\\/bfnrt]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4})*"
        """#
    ).matchingSemantics(.unicodeScalar)
    nonisolated(unsafe) private static let word = try! Regex(
        #"(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?)(?![-+.0-9a-zA-Z])"#
    ).matchingSemantics(.unicodeScalar)
    nonisolated(unsafe) private static let reductions = [
        (try! Regex(#"\[([vs](,[vs])*)?\]"#), "v"), (try! Regex(#"\{(s:[vs](,s:[vs])*)?\}"#), "v"),
    ]
}
