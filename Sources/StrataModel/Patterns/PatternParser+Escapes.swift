extension PatternParser {
    // MARK: Sets

    /// A set in brackets, whose inside ICU reads.
    mutating func set(_ start: Int) throws(PatternFault) -> PatternNode {
        var depth = 1
        skipSetStart()
        while depth > 0 {
            guard let next = scalar(at: offset) else { throw fault(start, "the set has no closing bracket") }
            offset += 1
            switch next {
            case "\\": offset += 1
            case "#" where flags.isSpaced: throw fault(offset - 1, "with the flag x, # in a set is written \\#")
            case "]": depth -= 1
            case "[":
                if depth >= Self.nesting { throw fault(start, "more than \(Self.nesting) sets inside of each other") }
                depth += 1
                skipSetStart()
            default: break
            }
        }
        guard offset <= scalars.count else { throw fault(start, "the set has no closing bracket") }
        return try scalarClass(start, "this is not a set of characters")
    }

    /// A bracket that comes first in a set is one of its characters; colons there belong to a name.
    private mutating func skipSetStart() {
        if scalar(at: offset) == ":" {
            while let next = scalar(at: offset), next != "]" { offset += 1 }
            return
        }
        if scalar(at: offset) == "^" { offset += 1 }
        if scalar(at: offset) == "]" { offset += 1 }
    }

    /// The class whose text is between a place and the next scalar.
    private func scalarClass(_ start: Int, _ reason: String) throws(PatternFault) -> PatternNode {
        let text = String(String.UnicodeScalarView(scalars[start..<offset]))
        guard
            let made = ScalarClass.named(text, ignoresCase: flags.ignoresCase, isSpaced: flags.isSpaced)
        else { throw fault(start, reason) }
        return .scalars(made)
    }

    // MARK: Escapes

    /// What a backslash and the characters after it mean, and whether that may be repeated.
    mutating func escape(_ start: Int) throws(PatternFault) -> (PatternNode, Bool)? {
        guard let sign = scalar(at: offset) else { throw fault(start, "nothing follows the backslash") }
        offset += 1
        switch sign {
        case "d", "D", "w", "W", "s", "S", "h", "H", "v", "V":
            return (try scalarClass(start, "\\\(sign) is not known"), true)
        case "p", "P", "N":
            guard scalar(at: offset) == "{" else { throw fault(offset, "expected { after \\\(sign)") }
            while let next = scalar(at: offset), next != "}" { offset += 1 }
            offset += 1
            guard offset <= scalars.count else { throw fault(start, "expected } after the name") }
            return (try scalarClass(start, "ICU knows no such property or name"), true)
        case "R": return (.lineBreak, true)
        case "A", "G": return (.assertion(.textStart), false)
        case "Z": return (.assertion(.lastLineEnd), false)
        case "z": return (.assertion(.textEnd), false)
        case "b": return (.assertion(.wordEdge), false)
        case "B": return (.assertion(.noWordEdge), false)
        case "k":
            guard scalar(at: offset) == "<" else { throw fault(offset, "expected the name of a group in < and >") }
            offset += 1
            let name = try name()
            guard let number = names[name] else { throw fault(start, "there is no group \(name) before") }
            return (backReference(number), true)
        case "1"..."9": return (try numberedReference(start), true)
        default: return (try literal(try value(of: sign, start)), true)
        }
    }

    private mutating func backReference(_ number: Int) -> PatternNode {
        usesBackReferences = true
        return .backReference(number, ignoresCase: flags.ignoresCase)
    }

    private mutating func numberedReference(_ start: Int) throws(PatternFault) -> PatternNode {
        offset -= 1
        var number = 0
        // More digits belong to it as long as there are so many groups.
        while let next = scalar(at: offset), "0"..."9" ~= next {
            let longer = number * 10 + Int(next.value - 48)
            if number > 0, longer > groupCount { break }
            number = longer
            offset += 1
        }
        if number > groupCount { forwardReferences.append((number, start)) }
        return backReference(number)
    }

    /// The scalar that an escape stands for.
    private mutating func value(of sign: Unicode.Scalar, _ start: Int) throws(PatternFault) -> UInt32 {
        switch sign {
        case "a": return 0x07
        case "e": return 0x1B
        case "f": return 0x0C
        case "n": return 0x0A
        case "r": return 0x0D
        case "t": return 0x09
        case "c":
            guard let letter = scalar(at: offset), letter.isASCII else { throw fault(start, "expected a letter") }
            offset += 1
            return letter.value & 0x1F
        case "u": return try digits(4...4, radix: 16, start)
        case "U": return try digits(8...8, radix: 16, start)
        case "0": return try digits(1...3, radix: 8, start)
        case "x":
            guard scalar(at: offset) == "{" else { return try digits(1...2, radix: 16, start) }
            offset += 1
            let value = try digits(1...8, radix: 16, start)
            guard scalar(at: offset) == "}" else { throw fault(start, "expected } after the digits") }
            offset += 1
            return value
        case "X": throw fault(start, "\\X is not supported")
        default: return sign.value
        }
    }

    private mutating func digits(_ count: ClosedRange<Int>, radix: UInt32, _ start: Int) throws(PatternFault) -> UInt32
    {
        var value: UInt32 = 0
        var found = 0
        while found < count.upperBound, let next = scalar(at: offset), next.isASCII,
            let digit = Character(next).hexDigitValue, digit < radix
        {
            // Eight digits are the most, which fit.
            value = value * radix + UInt32(digit)
            offset += 1
            found += 1
        }
        guard count.contains(found) else { throw fault(start, "expected \(count.lowerBound) digits") }
        guard Unicode.Scalar(value) != nil else { throw fault(start, "there is no such character") }
        return value
    }
}
