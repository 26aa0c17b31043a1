/// How many columns of a terminal a text takes.
///
/// The rules are those of the terminals' `wcwidth`: East Asian wide and full-width characters (Unicode Standard Annex
/// 11) and emoji take two columns, combining marks and invisible characters none, all others one.
enum DisplayWidth {
    /// The columns of a text.
    static func of(_ text: String) -> Int {
        // Most names are ASCII, where each byte is a column.
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// The columns of what a reader sees as one character.
    static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        let joins = scalars.contains { $0.value == 0xFE0F || $0.value == 0x200D }
        if scalars.count > 1, first.properties.isEmoji, joins || isRegionalIndicator(first) { return 2 }
        return scalars.reduce(0) { $0 + of($1) }
    }

    /// The text with control characters shown as `�`, so that a name from a file cannot steer the terminal.
    static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(isControl(scalar) ? "\u{FFFD}" : scalar) }
        return String(result)
    }

    /// The text in at most `columns` columns; what does not fit gives way to `…`.
    static func truncate(_ text: String, to columns: Int) -> String {
        if of(text) <= columns { return text }
        if columns < 1 { return "" }
        var result = ""
        var used = 1
        for character in text {
            let width = of(character)
            if used + width > columns { break }
            result.append(character)
            used += width
        }
        return result + "…"
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        // The vowels and finals of a Hangul syllable stand within the column of its first letter.
        if (0x1160...0x11FF).contains(scalar.value) { return 0 }
        if scalar.properties.isEmojiPresentation { return 2 }
        return isWide(scalar.value) ? 2 : 1
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F1E6...0x1F1FF).contains(scalar.value)
    }

    /// Whether a code point is wide or full-width by Annex 11, taken by blocks.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
            0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
