import Foundation

/// A set of Unicode scalars as a regular expression writes it: `[a-z&&[^q]]`, `\w`, `\p{Greek}`.
///
/// ICU says which scalars belong to it, 256 at a time and only once, so that all its properties and set operations are
/// supported. The expressions that ICU evaluates have no repetition and never backtrack.
final class ScalarClass: Sendable {
    private typealias Page = SIMD4<UInt64>

    private let expression: NSRegularExpression
    private let firstPage: Page
    // The lock guards the table. Compiled expressions may be used by several threads at once, says Foundation.
    nonisolated(unsafe) private var pages: [UInt32: Page] = [:]
    private let lock = NSLock()

    /// Creates a class from its text.
    /// - Returns: nil if ICU does not know such a class.
    private init?(_ text: String, ignoresCase: Bool, isSpaced: Bool) {
        var options: NSRegularExpression.Options = ignoresCase ? .caseInsensitive : []
        if isSpaced { options.insert(.allowCommentsAndWhitespace) }
        guard let expression = try? NSRegularExpression(pattern: text, options: options) else { return nil }
        self.expression = expression
        firstPage = Self.page(0, expression)
    }

    func contains(_ scalar: UInt32) -> Bool {
        let number = scalar >> 8
        let page = number == 0 ? firstPage : page(number)
        return page[Int(scalar >> 6 & 3)] >> UInt64(scalar & 63) & 1 == 1
    }

    private func page(_ number: UInt32) -> Page {
        lock.withLock {
            if let known = pages[number] { return known }
            let page = Self.page(number, expression)
            pages[number] = page
            return page
        }
    }

    /// The members among the 256 scalars of a page, one bit each.
    private static func page(_ number: UInt32, _ expression: NSRegularExpression) -> Page {
        let scalars = (0..<256).compactMap { Unicode.Scalar(number << 8 | UInt32($0)) }
        let text = String(String.UnicodeScalarView(scalars))
        let width = number > 0xFF ? 2 : 1
        var page = Page.zero
        for match in expression.matches(in: text, range: NSRange(location: 0, length: scalars.count * width)) {
            let index = match.range.location / width
            page[index >> 6] |= 1 << UInt64(index & 63)
        }
        return page
    }

    // MARK: Known classes

    private struct Key: Hashable {
        let text: [UInt8]
        let ignoresCase: Bool
        let isSpaced: Bool
    }

    private static let capacity = 1024
    private static let tableLock = NSLock()
    // The lock guards the table.
    nonisolated(unsafe) private static var table: [Key: ScalarClass] = [:]

    /// The class of a text, made once.
    static func named(_ text: String, ignoresCase: Bool = false, isSpaced: Bool = false) -> ScalarClass? {
        let key = Key(text: Array(text.utf8), ignoresCase: ignoresCase, isSpaced: isSpaced)
        if let known = tableLock.withLock({ table[key] }) { return known }
        guard let made = ScalarClass(text, ignoresCase: ignoresCase, isSpaced: isSpaced) else { return nil }
        tableLock.withLock {
            if table.count >= capacity { table.removeAll() }
            table[key] = made
        }
        return made
    }

    private static func builtIn(_ text: String) -> ScalarClass {
        guard let made = named(text) else { fatalError("ICU does not know \(text); it is older than Strata can use.") }
        return made
    }

    static let word = builtIn("\\w")
    /// What is on the letter before it and does not end a word.
    static let extending = builtIn("[\\p{Grapheme_Extend}\\p{Cf}]")
}

/// Scalars without case, one for one.
enum ScalarCase {
    static func fold(_ scalar: UInt32) -> UInt32 {
        guard scalar != 0x131, let start = Unicode.Scalar(scalar) else { return scalar }
        let upper = start.properties.uppercaseMapping.unicodeScalars
        guard upper.count == 1, let capital = upper.first else { return scalar }
        let lower = capital.properties.lowercaseMapping.unicodeScalars
        guard lower.count == 1, let small = lower.first else { return scalar }
        return small.value
    }
}
