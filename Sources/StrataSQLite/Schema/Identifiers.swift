import StrataCSQLite

/// Names in SQL text.
package enum Identifiers {
    /// The name as it may stand in SQL: as it is where that is possible, else in double quotes.
    package static func quote(_ name: String) -> String {
        let plain = name.utf8.allSatisfy {
            $0 == UInt8(ascii: "_") || (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
        }
        let startsWell = name.utf8.first.map { !(48...57).contains($0) } ?? false
        if plain, startsWell, sqlite3_keyword_check(name, Int32(name.utf8.count)) == 0 { return name }
        return "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// The name that ``quote(_:)`` gave as it was.
    static func unquoted(_ name: some StringProtocol) -> String {
        guard name.hasPrefix("\""), name.count >= 2 else { return String(name) }
        return String(name.dropFirst().dropLast()).replacing("\"\"", with: "\"")
    }

    /// The text as a literal.
    package static func literal(_ text: String) -> String {
        "'" + text.replacing("'", with: "''") + "'"
    }
}

/// Gives out names that are unlike each other as SQLite sees them, which does not tell upper from lower case.
struct NamePool {
    private var taken: Set<String> = []

    /// The name, with underscores behind it if it is taken.
    mutating func take(_ wanted: String) -> String {
        var name = wanted
        while !taken.insert(name.lowercased()).inserted { name += "_" }
        return name
    }
}
