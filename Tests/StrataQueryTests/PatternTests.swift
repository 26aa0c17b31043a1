import Foundation
import SmallThread
import StrataQuery
import Testing

/// What `MATCHES` understands, against ICU and by itself.
@Suite struct PatternTests {
    static func matches(_ text: String, _ pattern: String, _ options: ComparisonOptions = []) throws -> Bool {
        try RegularExpressions.shared.matches(text, pattern, options)
    }

    /// The usual run is the same each time: of rare patterns ICU says what neither its documentation nor other engines do,
    /// for instance if a comment follows a repeated group. STRATA_SEED makes another one.
    private static let usualSeed: UInt64 = 20_261_121

    /// Random patterns say of random texts what ICU says.
    @Test func agreesWithICU() throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["STRATA_SEED"].flatMap(UInt64.init) ?? Self.usualSeed
        let cases = environment["STRATA_PATTERN_CASES"].flatMap(Int.init) ?? 3000
        print("agreesWithICU: seed \(seed), \(cases) patterns")
        var random = RandomPatterns(seed: seed)
        var matched = 0
        var differences = 0
        for number in 1...cases where differences < 5 {
            let pattern = random.pattern()
            guard let inner = try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: []) else { continue }
            for _ in 0..<8 {
                let text = random.text()
                let expected = inner.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
                let found = try Self.matches(text, pattern)
                if expected { matched += 1 }
                if found != expected {
                    differences += 1
                    Issue.record(
                        "seed \(seed), pattern \(number): \(pattern.debugDescription) on \(text.debugDescription): \(found), ICU \(expected)"
                    )
                }
            }
        }
        // Nothing would be tested if nothing matched.
        #expect(matched > cases / 10, "\(matched) of \(cases) patterns")
    }

    /// A text that ICU refuses is not a pattern, and the other way round.
    @Test func agreesWithICUAboutSyntax() throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["STRATA_SEED"].flatMap(UInt64.init) ?? Self.usualSeed
        let cases = environment["STRATA_PATTERN_CASES"].flatMap(Int.init) ?? 3000
        print("agreesWithICUAboutSyntax: seed \(seed), \(cases) patterns")
        var random = RandomPatterns(seed: seed)
        var valid = 0
        var differences = 0
        for number in 1...cases where differences < 5 {
            let pattern = random.garbage()
            let isValid = (try? NSRegularExpression(pattern: pattern, options: [])) != nil
            var isOurs = true
            do throws(PredicateEvaluationError) {
                try RegularExpressions.shared.check(pattern, [])
            } catch {
                isOurs = false
                guard case .invalidPattern(_, let position, let reason) = error else {
                    Issue.record("\(pattern.debugDescription): \(error)")
                    continue
                }
                #expect(position <= pattern.unicodeScalars.count)
                // The named differences.
                if isValid, reason.contains("not supported") || reason.contains("\\X") { continue }
            }
            if isValid { valid += 1 }
            if isOurs != isValid {
                differences += 1
                Issue.record("seed \(seed), pattern \(number): \(pattern.debugDescription): \(isOurs), ICU \(isValid)")
            }
        }
        #expect(valid > cases / 20, "\(valid) of \(cases) patterns")
    }

    @Test(arguments: [
        ("(a+)+$", 30_000), ("(a|aa)+$", 30_000), ("(a|a?)+b", 30_000), ("(.*)(.*)(.*)(.*)(.*)[^a!é]", 10_000),
        ("((a*)*)*b", 30_000), ("(?:a?){60}a{60}b", 2_000), ("(x+x+)+y|(a+a+)+b", 10_000), ("(?=(a+)+$)a*b", 10_000),
    ])
    func repetitionInsideOfRepetitionDoesNotHang(_ pattern: String, _ length: Int) throws {
        let text = String(repeating: "a", count: length)
        #expect(try Self.matches(text + "!", pattern) == false)
        #expect(try Self.matches(text + "é", pattern, [.caseInsensitive, .diacriticInsensitive]) == false)
    }

    /// What depends on the way stops at the limit, and says which pattern it was.
    @Test(arguments: ["(a*)*\\1c", "(?:(a+)\\1?)+c", "(?:(?=a*b).)*c"])
    func whatCannotBeBoundedIsAnError(_ pattern: String) throws {
        let text = String(repeating: "a", count: 2_998) + "ba"
        #expect(throws: PredicateEvaluationError.costlyPattern(pattern: pattern, length: 3_000)) {
            try Self.matches(text, pattern)
        }
        let predicate = FetchPredicate.comparison(
            .keyPath(["a"]), .matches, .constant(.string(pattern)), [])
        #expect(throws: PredicateEvaluationError.costlyPattern(pattern: pattern, length: 3_000)) {
            try predicate.evaluate(on: Value.composite(["a": .string(text)]))
        }
        #expect(try Self.matches("aaaa", pattern) == false)
    }

    @Test(arguments: [
        ("(", 0), ("a)", 1), ("ab[c", 2), ("a**", 2), ("x{2,1}", 1), ("a\\u12", 1), ("a\\", 1), ("(?<a>b)\\k<c>", 7),
        ("(?<=a*)b", 0), ("\\p{Nonsense}", 0), ("a{100001}", 2), ("(a{1000}){1000}", 0), ("a(?w)b", 3), ("\\X", 0),
        ("(?:){100000}{9}", 12),
    ])
    func faultsHaveAPlace(_ pattern: String, _ place: Int) {
        let error = #expect(throws: PredicateEvaluationError.self) {
            try RegularExpressions.shared.check(pattern, [])
        }
        guard case .invalidPattern(let named, let position, _) = error else {
            Issue.record("\(pattern): \(String(describing: error))")
            return
        }
        #expect(named == pattern && position == place, "\(pattern): \(String(describing: error))")
    }

    @Test func deepPatternsFitSmallStacks() throws {
        try SmallThread.run {
            for (open, close) in [("(", ")*"), ("(?:", ")"), ("(?>", ")+"), ("(?=", ")"), ("(a|", ")?"), ("[", "]")] {
                let deep = LimitTests.nested(open, "a", close, 39)
                _ = try Self.matches("aaaa", deep)
                let deeper = LimitTests.nested(open, "a", close, 100_000)
                #expect(throws: PredicateEvaluationError.self) { try RegularExpressions.shared.check(deeper, []) }
            }
        }
    }

    @Test(arguments: [("a", true), ("aba", true), ("ababbaa", true), ("ab", false), ("abb", false), ("b", false)])
    func aGroupMayReferToWhatItHeldBefore(_ text: String, _ matches: Bool) throws {
        #expect(try Self.matches(text, "(a|b\\1)+") == matches)
    }

    @Test(arguments: [
        ("Straße", "str.SSE", false), ("STRASSE", "straße", false), ("ΣΊΣΥΦΟΣ", "σίσυφος", true),
        ("K", "\\u212a", true),
        ("İ", "i", false), ("ı", "I", false), ("ÄÖ", "[ä-ö]+", true), ("Ü", "\\p{Ll}", true),
    ])
    func caseIsFoldedSignBySign(_ text: String, _ pattern: String, _ matches: Bool) throws {
        #expect(try Self.matches(text, pattern, [.caseInsensitive]) == matches)
        #expect(try Self.matches(text, "(?i)\(pattern)") == matches)
    }
}

/// Patterns and texts out of few signs, so that they often match.
struct RandomPatterns {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    private mutating func number(_ count: Int) -> Int {
        // SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((z ^ (z >> 31)) % UInt64(count))
    }

    private mutating func pick<T>(_ list: [T]) -> T { list[number(list.count)] }

    mutating func text() -> String {
        let signs = [
            "a", "a", "a", "b", "b", "c", "A", "1", "_", " ", "\n", "\r", "\r\n", "e\u{301}", "é", "😀", "\u{2028}",
        ]
        return (0..<number(8)).map { _ in pick(signs) }.joined()
    }

    mutating func pattern() -> String {
        groups = 0
        return pick(["", "", "", "(?i)", "(?m)", "(?s)", "(?x)"]) + alternatives(3)
    }

    private var groups = 0

    private mutating func alternatives(_ depth: Int) -> String {
        (0...(number(3) / 2)).map { _ in sequence(depth) }.joined(separator: "|")
    }

    private mutating func sequence(_ depth: Int) -> String {
        // ICU itself is not sure of repeated groups that are empty.
        (0...number(3)).map { _ in part(depth) }.joined()
    }

    private mutating func part(_ depth: Int) -> String {
        if number(9) == 0 { return pick(["^", "$", "\\b", "\\B", "\\A", "\\z", "\\Z", "\\G"]) }
        let atom = atom(depth)
        guard number(2) == 0 else { return atom }
        // Where a part that may be empty is repeated possessively, ICU finds no match at all.
        let isSimple = !atom.hasPrefix("(") && !(atom.hasPrefix("\\") && atom.dropFirst().allSatisfy(\.isNumber))
        return atom + pick(["*", "+", "?", "{2}", "{1,}", "{0,2}", "{1,3}"])
            + pick(["", "", "", "?", isSimple ? "+" : ""])
    }

    private mutating func atom(_ depth: Int) -> String {
        if depth == 0 || number(2) == 0 {
            if groups > 0, number(6) == 0 { return "\\\(1 + number(groups))" }
            return pick([
                "a", "a", "b", "c", "A", "1", "é", ".", ".", "\\n", "\\d", "\\w", "\\W", "\\s", "\\S", "\\D", "\\R",
                "\\h", "\\v", "[ab]", "[^a]", "[a-c]", "[[:alpha:]]", "[\\w&&[^b]]", "[a-c--b]", "\\p{L}", "\\P{Lu}",
                "\\x61", "\\u0062", "\\Qa\\E", "😀", "[]a]", "\\p{Latin}", "\\x{1F600}", "\\0141",
            ])
        }
        let open = pick([
            "(", "(?:", "(?>", "(?=", "(?!", "(?<=", "(?<!", "(?i:", "(?s:", "(?-i:", "(?<n\(number(1 << 40))>",
        ])
        if open == "(" || open.hasPrefix("(?<n") {
            let inner = alternatives(depth - 1)
            // Only a group that is complete is referred to.
            groups += 1
            return open + inner + ")"
        }
        if open.hasPrefix("(?<") {
            return open + pick(["a", "b", "ab", "a|b", "a?", ".{1,2}", "\\n", "(?:a|ab)"]) + ")"
        }
        return open + alternatives(depth - 1) + ")"
    }

    /// What may or may not be a pattern.
    mutating func garbage() -> String {
        let signs = [
            "a", "b", "(", ")", ")", "[", "]", "]", "{", "}", "*", "+", "?", "|", "^", "$", ".", "\\", "\\d", ",", "1",
            "2",
            "-", "&", ":", "<", "=", "!", ">", "x", "#", "(?:a", "(?i)", "\\1", "\\Q", "\\E", "{1}", "[^", " ",
        ]
        return (0..<(1 + number(7))).map { _ in pick(signs) }.joined()
    }
}
