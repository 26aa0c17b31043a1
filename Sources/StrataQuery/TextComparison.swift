import Foundation

/// Text as comparisons see it. SQL uses these functions, too, so that memory and store agree.
public enum TextComparison {
    /// The text with the differences that the options ignore taken out. Without options it stays as it is.
    ///
    /// Case is folded with Unicode's full lower-casing, accents by dropping nonspacing marks after canonical
    /// decomposition.
    public static func fold(_ text: String, _ options: ComparisonOptions) -> String {
        var result = text
        if options.contains(.diacriticInsensitive) {
            result = String(
                String.UnicodeScalarView(
                    result.decomposedStringWithCanonicalMapping.unicodeScalars.filter {
                        $0.properties.generalCategory != .nonspacingMark
                    }))
        }
        if options.contains(.caseInsensitive) { result = result.lowercased() }
        return result
    }

    /// Whether `a` sorts before `b`: by UTF-8 bytes.
    public static func isLess(_ a: String, _ b: String) -> Bool {
        a.utf8.lexicographicallyPrecedes(b.utf8)
    }

    /// Whether two texts are the same bytes. Swift's `==` would also take canonically equivalent texts for the same.
    public static func isEqual(_ a: String, _ b: String) -> Bool {
        a.utf8.elementsEqual(b.utf8)
    }

    /// Whether `text` begins with `part`.
    public static func begins(_ text: String, with part: String) -> Bool { text.utf8.starts(with: part.utf8) }

    /// Whether `text` ends with `part`.
    public static func ends(_ text: String, with part: String) -> Bool {
        text.utf8.reversed().starts(with: part.utf8.reversed())
    }

    /// Whether `part` stands somewhere in `text`.
    public static func contains(_ text: String, _ part: String) -> Bool {
        let haystack = Array(text.utf8)
        let needle = Array(part.utf8)
        guard !needle.isEmpty else { return true }
        guard needle.count <= haystack.count else { return false }
        for start in 0...(haystack.count - needle.count)
        where haystack[start] == needle[0] && haystack[start..<(start + needle.count)].elementsEqual(needle) {
            return true
        }
        return false
    }
}
