/// Names in SQL text.
package enum Identifiers {
    /// The name as it may appear in SQL: as it is where that is possible, otherwise in double quotes.
    /// - Parameters:
    ///   - allowsUppercase: Whether letters of upper case may stand without quotes.
    ///   - isKeyword: Whether a name is a word of the language.
    package static func quote(_ name: String, allowsUppercase: Bool, isKeyword: (String) -> Bool) -> String {
        let plain = name.utf8.allSatisfy {
            $0 == UInt8(ascii: "_") || (48...57).contains($0) || (allowsUppercase && (65...90).contains($0))
                || (97...122).contains($0)
        }
        let startsWell = name.utf8.first.map { !(48...57).contains($0) } ?? false
        if plain, startsWell, !isKeyword(name) { return name }
        return "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// The name that ``quote(_:)`` gave as it was.
    package static func unquoted(_ name: some StringProtocol) -> String {
        guard name.hasPrefix("\""), name.count >= 2 else { return String(name) }
        return String(name.dropFirst().dropLast()).replacing("\"\"", with: "\"")
    }

    /// The text as a literal.
    package static func literal(_ text: String) -> String {
        "'" + text.replacing("'", with: "''") + "'"
    }
}

/// Gives out names that are unlike each other even where upper and lower case are the same.
package struct NamePool {
    private var taken: Set<String> = []
    private let limit: Int?

    /// - Parameter limit: How long names may be, in bytes; nil for no limit.
    package init(limit: Int? = nil) { self.limit = limit }

    /// The name, with underscores after it if it is taken.
    package mutating func take(_ wanted: String) -> String {
        var name = Self.shortened(wanted, to: limit)
        var suffix = ""
        while !taken.insert(name.lowercased()).inserted {
            suffix += "_"
            name = Self.shortened(wanted, to: limit.map { $0 - suffix.utf8.count }) + suffix
        }
        return name
    }

    /// A name that is not too long: its beginning, and a hash of all of it.
    package static func shortened(_ name: String, to limit: Int?) -> String {
        guard let limit, name.utf8.count > limit else { return name }
        // FNV-1a.
        var hash: UInt32 = 0x811c_9dc5
        for byte in name.utf8 { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        let end = "_" + String(hash, radix: 36)
        var start = name
        while start.utf8.count + end.utf8.count > limit { start.removeLast() }
        return start + end
    }
}
