/// Finds the name that somebody may have meant.
package enum Spelling {
    /// The candidate that is nearest to a word, if it is near enough to be a slip: a third of the letters, at most
    /// three.
    package static func nearest(to word: String, in candidates: some Sequence<String>) -> String? {
        let limit = max(1, min(3, word.count / 3))
        var best: (name: String, distance: Int)?
        for candidate in candidates where candidate != word {
            let found = distance(Array(word.lowercased()), Array(candidate.lowercased()))
            if found <= limit, best.map({ found < $0.distance }) ?? true { best = (candidate, found) }
        }
        return best?.name
    }

    /// `; did you mean 'name'?`, or nothing.
    package static func suggestion(for word: String, in candidates: some Sequence<String>) -> String {
        nearest(to: word, in: candidates).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// The number of letters to insert, remove, change or swap with their neighbour (optimal string alignment
    /// distance).
    static func distance(_ a: [Character], _ b: [Character]) -> Int {
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        var rows = [Array(0...b.count)]
        for i in 1...a.count {
            var row = [i]
            for j in 1...b.count {
                var cost = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { cost = min(cost, rows[i - 2][j - 2] + 1) }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
