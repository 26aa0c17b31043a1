/// The words that `MATCHESTEXT` looks for in a text.
///
///     let query = TextQuery("storm* \"high tide\"")
///     print(query.matches("Stormy night, high tide"), query.matches("storm, tide high"))  // true false
///
/// Words are runs of letters, digits and marks; case and accents do not count. The query matches if the text contains
/// each of its words. `storm*` matches every word with that prefix, and words in double quotes must follow each other
/// in this order. A query without a word matches nothing. Every text is a valid query, so you can pass what a user
/// enters.
///
/// Stores index the same words, ``words(of:)``, so that they give the same answer. In a fetch, write
/// ``ComparisonOperator/matchesText``, which reads a full-text ``Index``.
public struct TextQuery: Sendable, Hashable {
    /// Words that must follow each other; mostly one.
    public struct Phrase: Sendable, Hashable {
        /// The words, folded as ``TextQuery/words(of:)`` does.
        public let words: [String]
        /// Whether the last word is only the beginning of one.
        public let isPrefix: Bool
    }

    /// What must all be found.
    public let phrases: [Phrase]

    /// Reads a query.
    public init(_ query: String) {
        var phrases: [Phrase] = []
        func add(_ text: Substring.UnicodeScalarView, isPrefix: Bool) {
            let words = Self.words(of: String(text))
            if !words.isEmpty { phrases.append(Phrase(words: words, isPrefix: isPrefix)) }
        }
        var rest = query[...].unicodeScalars
        while let first = rest.first {
            if first == "\"" {
                let content = rest.dropFirst().prefix { $0 != "\"" }
                rest = rest.dropFirst(content.count + 2)
                let isPrefix = rest.first == "*"
                add(content, isPrefix: isPrefix)
                if isPrefix { rest.removeFirst() }
            } else if Self.isPart(first) {
                let content = rest.prefix { Self.isPart($0) }
                rest = rest.dropFirst(content.count)
                add(content, isPrefix: rest.first == "*")
            } else {
                rest.removeFirst()
            }
        }
        self.phrases = phrases
    }

    /// Whether the text has everything that the query looks for.
    public func matches(_ text: String) -> Bool { matches([text]) }

    /// Whether everything that the query looks for is in some of the texts; words that must follow each other are in
    /// one.
    public func matches(_ texts: [String]) -> Bool {
        guard !phrases.isEmpty else { return false }
        let texts = texts.map(Self.words)
        return phrases.allSatisfy { phrase in texts.contains { Self.stands(phrase, in: $0) } }
    }

    private static func stands(_ phrase: Phrase, in words: [String]) -> Bool {
        let count = phrase.words.count
        guard count <= words.count else { return false }
        return (0...(words.count - count)).contains { start in
            phrase.words.indices.allSatisfy { index in
                let word = words[start + index]
                return phrase.isPrefix && index == count - 1
                    ? TextComparison.begins(word, with: phrase.words[index])
                    : TextComparison.isEqual(word, phrase.words[index])
            }
        }
    }

    /// The words of a text without case and accents. A run of only accents is not a word.
    public static func words(of text: String) -> [String] {
        text.unicodeScalars.split { !isPart($0) }.map {
            TextComparison.fold(String($0), [.caseInsensitive, .diacriticInsensitive])
        }.filter { !$0.isEmpty }
    }

    private static func isPart(_ scalar: UnicodeScalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse, .nonspacingMark:
            true
        default: false
        }
    }
}
