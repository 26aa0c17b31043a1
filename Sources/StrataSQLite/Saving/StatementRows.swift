import StrataStore

/// Many rows by one statement: how a list is divided so that few statements serve any length, and how their rows are in
/// SQL. Each size is a statement of its own that stays prepared, so there are few sizes.
package enum StatementRows {
    /// How many rows one statement takes at most.
    private static let most = 150
    /// How many parameters one statement takes at most; far below SQLite's own limit, since statements stay in memory.
    private static let mostParameters = 4000

    /// What an insert of many rows begins with. By default, SQLite copies each page before such a statement changes it, so that
    /// it can take back the rows before one that violates a constraint; that costs more than the rows. All transactions
    /// of this package end there, or go on after the rows that were written.
    package static let insert = "INSERT OR FAIL INTO"
    /// The same for updates. Only for those whose failure ends the transaction: it is not known which rows were
    /// written.
    package static let update = "UPDATE OR FAIL"

    /// The parts of a list: large ones first, and what is left in parts of few sizes.
    /// - Parameter columns: How many parameters each row has.
    package static func parts<T>(_ list: ArraySlice<T>, columns: Int) -> [ArraySlice<T>] {
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
}
