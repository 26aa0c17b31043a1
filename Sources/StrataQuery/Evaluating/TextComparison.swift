import Foundation

/// Text as comparisons see it: by its bytes, after the differences that the options ignore are taken out.
///
///     let options: ComparisonOptions = [.caseInsensitive, .diacriticInsensitive]
///     print(TextComparison.fold("São Paulo", options))  // sao paulo
///     print(TextComparison.isEqual("é", "e\u{301}"))    // false
///
/// SQL uses these functions, too, so that memory and store agree. Use ``fold(_:_:)`` to compute a text for searching,
/// as a ``Derivation/canonical(_:)`` attribute has it, or to group names in Swift as a fetch does. All other functions
/// compare UTF-8 bytes or Unicode scalars as they are: fold both sides first. Swift's `==` differs, because it treats
/// canonically equivalent texts as equal.
public enum TextComparison {
    /// The text with the differences that the options ignore taken out. Without options, and with
    /// ``ComparisonOptions/normalized``, it stays as it is.
    ///
    /// Accents are dropped as nonspacing marks after canonical decomposition. Case is dropped scalar by scalar: each is
    /// replaced by the full lower case of its full upper case, so that `ß` equals `ss` and a final sigma equals every
    /// other sigma; only the dotless `ı` differs from `i`. The locale of the machine does not matter.
    public static func fold(_ text: String, _ options: ComparisonOptions) -> String {
        if options.isEmpty || options.contains(.normalized) { return text }
        let isPlain = text.utf8.allSatisfy { $0 < 0x80 }
        if isPlain { return options.contains(.caseInsensitive) ? text.lowercased() : text }
        var result = text
        if !options.isDisjoint(with: [.diacriticInsensitive, .locale]) {
            result = result.decomposedStringWithCanonicalMapping
        }
        if options.contains(.diacriticInsensitive) {
            result = String(
                String.UnicodeScalarView(
                    result.unicodeScalars.filter { $0.properties.generalCategory != .nonspacingMark }))
        }
        if options.contains(.caseInsensitive) {
            var folded = String.UnicodeScalarView()
            for scalar in result.unicodeScalars {
                if scalar == "\u{131}" {
                    folded.append(scalar)
                } else {
                    for upper in scalar.properties.uppercaseMapping.unicodeScalars {
                        folded.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
                    }
                }
            }
            result = String(folded)
        }
        return result
    }

    /// Whether `a` sorts before `b`: by UTF-8 bytes.
    public static func isLess(_ a: String, _ b: String) -> Bool {
        a.utf8.lexicographicallyPrecedes(b.utf8)
    }

    /// Whether two texts are the same bytes. Swift's `==` would also treat canonically equivalent texts as equal.
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

    /// Whether the whole text has the form of a pattern, where `?` stands for one Unicode scalar and `*` for any number
    /// of them. Takes time in proportion to the product of the lengths at worst, and no stack.
    public static func isLike(_ text: String, _ pattern: String) -> Bool {
        let text = Array(text.unicodeScalars)
        let pattern = Array(pattern.unicodeScalars)
        var place = 0
        var step = 0
        // Where to go on after the last star if the rest does not fit: the star then stands for one more scalar.
        var retry: (place: Int, step: Int)?
        while place < text.count {
            if step < pattern.count, pattern[step] == "*" {
                retry = (place, step)
                step += 1
            } else if step < pattern.count, pattern[step] == "?" || pattern[step] == text[place] {
                place += 1
                step += 1
            } else if let last = retry {
                retry = (last.place + 1, last.step)
                place = last.place + 1
                step = last.step + 1
            } else {
                return false
            }
        }
        return pattern[step...].allSatisfy { $0 == "*" }
    }
}
