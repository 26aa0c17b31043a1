import Foundation
import Strata
import Testing

/// Nil, text, dates and numbers mean the same in memory and in SQL.
@Suite struct NilLogicTests {
    private let text = AttributeKey<String?>(["text"])
    private let decimal = AttributeKey<Decimal?>(["decimal"])

    private func filled(_ context: ManagedObjectContext) {
        for (label, value) in [("a", "x"), ("b", "y"), ("c", nil), ("d", "É"), ("e", "é"), ("f", "e"), ("g", "")]
            as [(String, String?)]
        {
            Sample(context, label).text = value
        }
    }

    private func labels(_ context: ManagedObjectContext, _ predicate: FetchPredicate) throws -> String {
        let found = try context.fetch(FetchRequest<Sample>(where: predicate, sortedBy: [FetchSort("label")]))
        #expect(try context.count(FetchRequest<Sample>(where: predicate)) == found.count)
        #expect(
            try context.fetchIDs(FetchRequest<Sample>(where: predicate, sortedBy: [FetchSort("label")]))
                == found.map(\.objectID))
        return found.map(\.label).joined()
    }

    private var cases: [(FetchPredicate, String)] {
        [
            (text != "x", "bcdefg"),
            (!(text == "x"), "bcdefg"),
            (text == nil, "c"),
            (text != nil, "abdefg"),
            (text.isIn(["x", "y"]), "ab"),
            (!text.isIn(["x", "y"]), "cdefg"),
            (.comparison(text.expression, .isIn, .constant(.list([.null, "x"])), []), "a"),
            (text.hasPrefix(""), "abdefg"),
            (!text.hasPrefix("x"), "bcdefg"),
            (!text.contains("y"), "acdefg"),
            (text.equals("É", [.caseInsensitive]), "de"),
            (text.equals("E", [.caseInsensitive, .diacriticInsensitive]), "def"),
            (text < "y", "afg"),
            (!(text < "y"), "bcde"),
            (text.isBetween("e"..."x"), "af"),
            (.and([]), "abcdefg"),
            (.or([]), ""),
            (.not(.and([text == nil, text != nil])), "abcdefg"),
        ]
    }

    @Test("Nil is an ordinary value in SQL and in memory, even under NOT, IN and text operators")
    func nilInBothLayers() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        filled(context)
        for (predicate, expected) in cases {
            #expect(try labels(context, predicate) == expected, "unsaved: \(predicate)")
        }
        try context.save()
        for (predicate, expected) in cases {
            #expect(try labels(context, predicate) == expected, "saved: \(predicate)")
        }
        // A pending change of one object makes memory judge it and SQL the others.
        let one = try #require(
            try context.fetchFirst(FetchRequest<Sample>(where: AttributeKey<String>(["label"]) == "c")))
        one.small = 1
        for (predicate, expected) in cases {
            #expect(try labels(context, predicate) == expected, "mixed: \(predicate)")
        }
    }

    @Test("Text sorts by the same bytes in SQL and in memory, whatever the letters")
    func textOrder() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let words = [
            "z", "Z", "a", "ä", "Ä", "a\u{308}", "ß", "ss", "SS", "İ", "i", "ı", "I", "東京", "\u{1F600}", "\u{FFFD}", "",
            "é", "e\u{301}",
        ]
        for word in words { Sample(context, word).text = word }
        let expected = words.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        func sorted(_ options: ComparisonOptions) throws -> [String] {
            try context.fetch(FetchRequest<Sample>(sortedBy: [text.ascending(options), FetchSort("label")])).map(
                \.label)
        }
        let memory = try sorted([])
        let folded = try sorted([.caseInsensitive, .diacriticInsensitive])
        #expect(memory.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        try context.save()
        #expect(try sorted([]).map { Array($0.utf8) } == memory.map { Array($0.utf8) })
        #expect(
            try sorted([.caseInsensitive, .diacriticInsensitive]).map { Array($0.utf8) }
                == folded.map { Array($0.utf8) })
        // Canonically equivalent, yet other bytes: two values.
        #expect(try context.count(FetchRequest<Sample>(where: text == "ä")) == 1)
        #expect(
            try context.count(
                FetchRequest<Sample>(where: text.equals("A", [.caseInsensitive, .diacriticInsensitive]))) == 4)
    }

    @Test("Dates and decimals come back exactly, and compare as numbers")
    func datesAndDecimals() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let date = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_7)
        let next = Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.nextUp)
        let exact = try #require(Decimal(string: "12345678901234567890.123456789"))
        let tenth = try #require(Decimal(string: "0.1"))
        for (label, decimal) in [("a", exact), ("b", tenth), ("c", 9), ("d", 10), ("e", -3)] {
            let sample = Sample(context, label)
            sample.decimal = decimal
            sample.date = label == "a" ? date : next
            sample.double = label == "a" ? 0.1 + 0.2 : -0.0
        }
        try context.save()
        let other = file.container.newContext()
        let found = try other.fetch(FetchRequest<Sample>(sortedBy: [decimal.ascending]))
        #expect(found.map(\.label) == ["e", "b", "c", "d", "a"])
        let a = try #require(found.last)
        #expect(a.decimal == exact)
        #expect(a.date == date && a.date != next)
        #expect(a.double == 0.1 + 0.2)
        #expect(try other.count(FetchRequest<Sample>(where: AttributeKey<Date?>(["date"]) == date)) == 1)
        #expect(try other.count(FetchRequest<Sample>(where: decimal == tenth)) == 1)
        #expect(try other.count(FetchRequest<Sample>(where: decimal >= 9)) == 3)
        // Writing back what was read is not a change.
        for sample in found {
            sample.decimal = sample.decimal
            sample.date = sample.date
            sample.double = sample.double
        }
        #expect(found.allSatisfy { $0.changedValues().isEmpty })
        #expect(try file.count { try other.save() }.writes == 0)
    }
}
