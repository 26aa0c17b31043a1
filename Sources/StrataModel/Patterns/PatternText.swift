/// A text as a pattern sees it.
struct PatternText {
    let scalars: [UInt32]

    init(_ text: String) { scalars = text.unicodeScalars.map(\.value) }

    var count: Int { scalars.count }

    static func isLineEnd(_ scalar: UInt32) -> Bool {
        (0x0A...0x0D).contains(scalar) || scalar == 0x85 || scalar == 0x2028 || scalar == 0x2029
    }

    /// Whether a line feed is at a place that belongs to the carriage return before.
    private func isSecondOfBreak(_ place: Int) -> Bool {
        place > 0 && place < count && scalars[place] == 0x0A && scalars[place - 1] == 0x0D
    }

    /// Where a line break at a place ends; nil if there is none.
    func endOfBreak(_ place: Int) -> Int? {
        guard place < count, Self.isLineEnd(scalars[place]) else { return nil }
        return isSecondOfBreak(place + 1) ? place + 2 : place + 1
    }

    func holds(_ assertion: PatternAssertion, _ place: Int) -> Bool {
        switch assertion {
        case .textStart: place == 0
        case .textEnd: place == count
        case .lineStart: place == 0 || (place < count && Self.isLineEnd(scalars[place - 1]))
        case .lineEnd: place == count || (Self.isLineEnd(scalars[place]) && !isSecondOfBreak(place))
        case .lastLineEnd: place == count || (endOfBreak(place) == count && !isSecondOfBreak(place))
        case .wordEdge: isWordEdge(place)
        case .noWordEdge: !isWordEdge(place)
        }
    }

    /// Whether a word begins or ends at a place, by ICU's simple rule: marks belong to what comes before them.
    private func isWordEdge(_ place: Int) -> Bool {
        if place < count, ScalarClass.extending.contains(scalars[place]) { return false }
        var before = place - 1
        while before >= 0, ScalarClass.extending.contains(scalars[before]) { before -= 1 }
        let isWordBefore = before >= 0 && ScalarClass.word.contains(scalars[before])
        return isWordBefore != (place < count && ScalarClass.word.contains(scalars[place]))
    }

    /// Where a text that is between two places ends if it stands again at a third; nil if it does not.
    func end(of range: Range<Int>, at place: Int, ignoresCase: Bool) -> Int? {
        guard count - place >= range.count else { return nil }
        for (offset, index) in range.enumerated() {
            let a = scalars[index]
            let b = scalars[place + offset]
            if a != b, !ignoresCase || ScalarCase.fold(a) != ScalarCase.fold(b) { return nil }
        }
        return place + range.count
    }
}
