/// A table of text whose columns line up in a terminal, whatever the script.
struct Table {
    /// On which side the texts of a column stand.
    enum Alignment: Sendable {
        /// On the left.
        case leading
        /// On the right, for numbers.
        case trailing
    }

    /// One column.
    struct Column: Sendable {
        /// The heading.
        let title: String
        /// On which side the texts stand.
        let alignment: Alignment

        /// A column with its texts on the left.
        static func text(_ title: String) -> Column { Column(title: title, alignment: .leading) }
        /// A column with its texts on the right.
        static func number(_ title: String) -> Column { Column(title: title, alignment: .trailing) }
    }

    /// The columns.
    let columns: [Column]
    /// The texts, as many in each row as there are columns.
    private(set) var rows: [[String]] = []

    /// Makes an empty table.
    init(_ columns: Column...) {
        self.columns = columns
    }

    /// Adds a row. Missing texts are empty; control characters are made visible.
    mutating func add(_ cells: String...) {
        precondition(
            cells.count <= columns.count, "a row of \(cells.count) cells in a table of \(columns.count) columns")
        rows.append((cells + Array(repeating: "", count: columns.count - cells.count)).map(DisplayWidth.printable))
    }

    /// The lines of the table: headings, a rule, the rows.
    /// - Parameters:
    ///   - terminal: Says whether headings may be styled.
    ///   - indent: The columns left free before each line.
    func lines(for terminal: Terminal, indent: Int) -> [String] {
        let widths = self.widths(within: terminal.width - indent)
        let margin = String(repeating: " ", count: indent)
        let heading = line(columns.map(\.title), widths)
        let rule = widths.map { String(repeating: "─", count: $0) }.joined(separator: "  ")
        return [margin + terminal.styled(heading, .bold), margin + terminal.styled(rule, .dim)]
            + rows.map { margin + line($0, widths) }
    }

    /// The columns' widths. Where the table is too wide, the widest column gives way, but never below the width of a
    /// heading or 8.
    private func widths(within available: Int) -> [Int] {
        var widths = columns.indices.map { column in
            rows.reduce(DisplayWidth.of(columns[column].title)) { max($0, DisplayWidth.of($1[column])) }
        }
        var excess = widths.reduce(0, +) + 2 * (widths.count - 1) - available
        while excess > 0 {
            let flexible = widths.indices.filter { columns[$0].alignment == .leading && widths[$0] > least($0) }
            guard let widest = flexible.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    private func least(_ column: Int) -> Int { max(8, DisplayWidth.of(columns[column].title)) }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let text = DisplayWidth.truncate(cell, to: widths[column])
            let padding = String(repeating: " ", count: max(0, widths[column] - DisplayWidth.of(text)))
            let isLast = column == cells.count - 1
            switch columns[column].alignment {
            case .trailing: line += padding + text
            case .leading: line += isLast ? text : text + padding
            }
            if !isLast { line += "  " }
        }
        return line
    }
}
