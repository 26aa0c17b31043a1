extension FetchPredicate {
    /// Reads a condition in the format language of `NSPredicate`.
    ///
    ///     try FetchPredicate(format: "population > %d AND country.name BEGINSWITH[cd] %@", 100_000, "per")
    ///
    /// The specifiers `%@` (any value), `%K` (a key path), `%d %i %u %x %X` with lengths (whole numbers) and
    /// `%f %g %e` (floating-point numbers) take the arguments in the order of reading. `%%` between two numbers is the
    /// remainder of a division. Variables such as `$limit` are given later by ``withVariables(_:)``.
    ///
    /// Pass values as arguments instead of putting them into the text: an argument is never parsed, so it needs no
    /// quotes and cannot change the condition. Parsing takes time in proportion to the length, on every platform with
    /// the same result. Property names are checked by the fetch.
    /// - Parameters:
    ///   - format: The text. Keywords are case-insensitive, property names are not.
    ///   - arguments: A value for each specifier; nil is a value.
    /// - Throws: A ``PredicateParseError`` with the place of the fault, even if there are too few or too many
    ///   arguments, or if an argument does not fit its specifier.
    public init(format: String, _ arguments: (any PredicateArgument)?...) throws(PredicateParseError) {
        try self.init(format: format, arguments: arguments.map { $0?.predicateArgument ?? .null })
    }

    /// Reads a condition with arguments that are values already; see ``init(format:_:)``. Use it if you collect the
    /// arguments in an array.
    /// - Throws: A ``PredicateParseError``, as ``init(format:_:)``.
    public init(format: String, arguments: [Value]) throws(PredicateParseError) {
        var parser = PredicateParser(format, arguments)
        do throws(FormatFault) {
            self = try parser.predicate()
        } catch {
            throw parser.error(of: error)
        }
    }
}

extension FetchExpression {
    /// Reads one side of a comparison, such as `price * 2` or `lines.@sum.cost`; see
    /// ``FetchPredicate/init(format:_:)``.
    ///
    ///     let density = try FetchExpression(format: "population / areaSquareKilometres")
    /// - Parameters:
    ///   - format: The text of an expression, without a comparison.
    ///   - arguments: A value for each specifier; nil is a value.
    /// - Throws: A ``PredicateParseError`` with the place of the fault.
    public init(format: String, _ arguments: (any PredicateArgument)?...) throws(PredicateParseError) {
        var parser = PredicateParser(format, arguments.map { $0?.predicateArgument ?? .null })
        do throws(FormatFault) {
            self = try parser.expression()
        } catch {
            throw parser.error(of: error)
        }
    }
}

extension PredicateParser {
    /// The fault with its place counted in characters, lines and columns.
    func error(of fault: FormatFault) -> PredicateParseError {
        let bytes = scanner.bytes
        let before = bytes[..<min(fault.offset, bytes.count)]
        // Bytes that do not begin a scalar do not count.
        func scalars(_ part: ArraySlice<UInt8>) -> Int { part.count { $0 & 0xC0 != 0x80 } }
        let line = before.count { $0 == 0x0A } + 1
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return PredicateParseError(
            position: scalars(before), line: line, column: scalars(before[start...]) + 1,
            found: fault.found ?? Self.excerpt(bytes[before.endIndex...]), expected: fault.expected)
    }

    /// The word or the character at the beginning of the bytes, in quotes.
    private static func excerpt(_ rest: ArraySlice<UInt8>) -> String {
        guard let first = rest.first else { return "the end of the format" }
        let isWord = { (byte: UInt8) in
            byte == UInt8(ascii: "_") || byte >= 0x80 || PredicateScanner.isDigit(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        // Not more than a few words of text reach a message, and no half of a character.
        let word = isWord(first) ? rest.prefix(40).prefix(while: isWord) : rest.prefix(1)
        let end = rest[word.endIndex...].firstIndex { $0 & 0xC0 != 0x80 } ?? rest.endIndex
        return "\"" + String(decoding: rest[..<end], as: UTF8.self) + "\""
    }
}
