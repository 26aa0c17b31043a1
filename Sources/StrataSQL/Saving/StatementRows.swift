import StrataStore

/// Many rows by one statement: how a list is divided so that few statements serve any length, and how their rows are in
/// SQL. Each size is a statement of its own that stays prepared, so there are few sizes.
package enum StatementRows {
    /// How many rows one statement takes at most.
    @usableFromInline static let most = 150
    /// How many parameters one statement takes at most; far below SQLite's own limit, since statements stay in memory.
    @usableFromInline static let mostParameters = 4000

    /// The parts of a list: large ones first, and what is left in parts of few sizes.
    /// - Parameter columns: How many parameters each row has.
    @inlinable package static func parts<T>(_ list: ArraySlice<T>, columns: Int) -> [ArraySlice<T>] {
        let largest = max(1, min(most, mostParameters / max(1, columns)))
        var result: [ArraySlice<T>] = []
        var rest = list
        for size in [largest, 50, 20, 5, 1] where size <= largest {
            while rest.count >= size {
                result.append(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
        }
        return result
    }

    /// The same row so many times, as it appears after `VALUES`.
    package static func text(_ row: String, _ count: Int) -> String {
        repeatElement(row, count: count).joined(separator: ", ")
    }

    /// Rows that differ in the numbers of their parameters, as they appear after `VALUES`.
    /// - Parameter row: Writes a row by its position. Where parameters have no numbers, two are asked for at most.
    package static func text(_ count: Int, _ row: (Int) -> String) -> String {
        let first = row(0)
        if count == 1 || row(1) == first { return text(first, count) }
        return (0..<count).map(row).joined(separator: ", ")
    }
}
