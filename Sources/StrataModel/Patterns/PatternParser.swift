/// Reads a regular expression in the syntax of ICU.
struct PatternParser {
    struct Flags {
        var ignoresCase = false
        var anchorsMatchLines = false
        var dotCrossesLines = false
        var isSpaced = false
    }

    /// Deeper groups are refused, so that no pattern is too deep for the stack.
    static let nesting = 40
    /// The maximum number in braces.
    static let countLimit = 100_000

    let scalars: [Unicode.Scalar]
    var offset = 0
    var flags: Flags
    var groupCount = 0
    var names: [String: Int] = [:]
    var usesBackReferences = false
    /// References to groups that must still come, and where they stand.
    var forwardReferences: [(number: Int, position: Int)] = []
    private var isQuoted = false
    private var depth = 0

    init(_ pattern: String, ignoresCase: Bool) {
        scalars = Array(pattern.unicodeScalars)
        flags = Flags(ignoresCase: ignoresCase)
    }

    /// The tree of the whole pattern.
    mutating func parse() throws(PatternFault) -> PatternNode {
        let node = try alternatives()
        if peek() != nil { throw fault(offset, "a closing parenthesis without an opening one") }
        for (number, position) in forwardReferences where number > groupCount {
            throw fault(position, "there is no group \(number)")
        }
        return node
    }

    func fault(_ position: Int, _ reason: String) -> PatternFault { PatternFault(position: position, reason: reason) }

    func scalar(at offset: Int) -> Unicode.Scalar? { offset < scalars.count ? scalars[offset] : nil }

    // MARK: Reading

    /// The next scalar of the pattern, after what does not count.
    private mutating func peek() -> Unicode.Scalar? {
        while let next = scalar(at: offset) {
            if next == "\\", scalar(at: offset + 1) == (isQuoted ? "E" : "Q") {
                isQuoted.toggle()
                offset += 2
            } else if !isQuoted, flags.isSpaced, next.properties.isPatternWhitespace {
                offset += 1
            } else if !isQuoted, flags.isSpaced, next == "#" {
                while let skipped = scalar(at: offset), !Self.isLineEnd(skipped) { offset += 1 }
            } else {
                return next
            }
        }
        return nil
    }

    private static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool { PatternText.isLineEnd(scalar.value) }

    private mutating func takeSign(_ scalar: Unicode.Scalar) -> Bool {
        guard peek() == scalar, !isQuoted else { return false }
        offset += 1
        return true
    }

    /// Whether a text comes next, as it is.
    private mutating func take(_ text: String) -> Bool {
        let wanted = Array(text.unicodeScalars)
        guard scalars[offset...].starts(with: wanted) else { return false }
        offset += wanted.count
        return true
    }

    // MARK: Structure

    private mutating func alternatives() throws(PatternFault) -> PatternNode {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.nesting { throw fault(offset, "more than \(Self.nesting) groups inside of each other") }
        var branches = [try sequence()]
        while takeSign("|") { branches.append(try sequence()) }
        return branches.count == 1 ? branches[0] : .choice(branches)
    }

    private mutating func sequence() throws(PatternFault) -> PatternNode {
        var parts: [PatternNode] = []
        while let next = peek(), isQuoted || (next != "|" && next != ")") {
            guard let (part, isRepeatable) = try atom() else { continue }
            parts.append(isRepeatable ? try repeated(part) : part)
        }
        return parts.count == 1 ? parts[0] : .sequence(parts)
    }

    private mutating func repeated(_ part: PatternNode) throws(PatternFault) -> PatternNode {
        guard let next = peek(), !isQuoted else { return part }
        let start = offset
        var range: (Int, Int?)
        switch next {
        case "*": range = (0, nil)
        case "+": range = (1, nil)
        case "?": range = (0, 1)
        case "{":
            offset += 1
            let low = try count()
            range = (low, low)
            if takeSign(",") { range.1 = peek() == "}" ? nil : try count() }
            guard peek() == "}" else { throw fault(offset, "expected } after the numbers") }
            if let high = range.1, high < low { throw fault(start, "the second number is less than the first") }
        default: return part
        }
        offset += 1
        let kind: PatternRepetition.Kind = takeSign("?") ? .lazy : takeSign("+") ? .possessive : .greedy
        return .repetition(part, PatternRepetition(minimum: range.0, maximum: range.1, kind: kind))
    }

    private mutating func count() throws(PatternFault) -> Int {
        let start = offset
        var number: Int?
        while let next = peek(), let digit = next.properties.numericType == .decimal ? Int(String(next)) : nil {
            number = (number ?? 0) * 10 + digit
            offset += 1
            if let number, number > Self.countLimit { throw fault(start, "a number over \(Self.countLimit)") }
        }
        guard let number else { throw fault(start, "expected a number") }
        return number
    }

    // MARK: Atoms

    /// The next part, and whether it may be repeated; nil for something that is not a part, such as a comment.
    private mutating func atom() throws(PatternFault) -> (PatternNode, Bool)? {
        let start = offset
        let next = scalars[offset]
        offset += 1
        if isQuoted { return (try literal(next.value), true) }
        switch next {
        case "(": return try group(start)
        case "[": return (try set(start), true)
        case "\\": return try escape(start)
        case ".": return (.any(crossesLines: flags.dotCrossesLines), true)
        case "^": return (.assertion(flags.anchorsMatchLines ? .lineStart : .textStart), true)
        case "$": return (.assertion(flags.anchorsMatchLines ? .lineEnd : .lastLineEnd), true)
        case "*", "+", "?", "{": throw fault(start, "\(next) has nothing before it to repeat")
        case "}": throw fault(start, "} without a {; as a sign of the text it is \\}")
        default: return (try literal(next.value), true)
        }
    }

    func literal(_ scalar: UInt32) throws(PatternFault) -> PatternNode {
        guard flags.ignoresCase, let sign = Unicode.Scalar(scalar), sign.properties.isCased || sign.value > 0x7F,
            let cases = ScalarClass.named("[\\x{\(String(scalar, radix: 16))}]", ignoresCase: true)
        else { return .scalar(scalar) }
        return .scalars(cases)
    }

    private mutating func group(_ start: Int) throws(PatternFault) -> (PatternNode, Bool)? {
        let outer = flags
        guard take("?") else {
            groupCount += 1
            let number = groupCount
            return (.capture(try rest(of: start, outer), number), true)
        }
        if take("#") {
            while let next = scalar(at: offset), next != ")" { offset += 1 }
            guard takeSign(")") else { throw fault(start, "the comment has no end") }
            return nil
        }
        if take(":") { return (try rest(of: start, outer), true) }
        if take(">") { return (.atomic(try rest(of: start, outer)), true) }
        for (text, isBehind, isNegative) in [
            ("=", false, false), ("!", false, true), ("<=", true, false), ("<!", true, true),
        ] where take(text) {
            let part = try rest(of: start, outer)
            if isBehind, part.length.upperBound > Double(Self.countLimit) {
                throw fault(start, "a look-behind needs a maximum length")
            }
            return (.look(part, isBehind: isBehind, isNegative: isNegative), true)
        }
        if take("<") {
            let name = try name()
            guard names[name] == nil else { throw fault(start, "there is another group \(name)") }
            groupCount += 1
            let number = groupCount
            names[name] = number
            return (.capture(try rest(of: start, outer), number), true)
        }
        try readFlags()
        if take(":") { return (try rest(of: start, outer), true) }
        // The flags hold to the end of the group.
        guard takeSign(")") else { throw fault(offset, "expected : or ) after the flags") }
        return nil
    }

    /// What is in a group up to its end.
    private mutating func rest(of start: Int, _ outer: Flags) throws(PatternFault) -> PatternNode {
        let node = try alternatives()
        guard takeSign(")") else { throw fault(start, "the group has no closing parenthesis") }
        flags = outer
        return node
    }

    private mutating func readFlags() throws(PatternFault) {
        var isOn = true
        let start = offset
        while let next = scalar(at: offset), next != ")", next != ":" {
            switch next {
            case "i": flags.ignoresCase = isOn
            case "m": flags.anchorsMatchLines = isOn
            case "s": flags.dotCrossesLines = isOn
            case "x": flags.isSpaced = isOn
            case "-" where isOn: isOn = false
            default: throw fault(offset, "(?\(next) is not supported")
            }
            offset += 1
        }
        if offset == start { throw fault(start, "expected flags, or what kind of group it is") }
    }

    /// The name of a group, up to the `>` after it.
    mutating func name() throws(PatternFault) -> String {
        let start = offset
        var name = String.UnicodeScalarView()
        while let next = scalar(at: offset), next != ">" {
            guard next.isASCII, next.properties.isAlphabetic || (!name.isEmpty && "0"..."9" ~= next) else { break }
            name.append(next)
            offset += 1
        }
        guard !name.isEmpty, scalar(at: offset) == ">" else {
            throw fault(start, "a name is ASCII letters and digits between < and >")
        }
        offset += 1
        return String(name)
    }
}
