/// Reads formats: one walk over the tokens, without going back. A parenthesis may hold a condition or a value, so one
/// function reads both and says which it found.
///
/// Functions that call themselves in a circle do little else, because without optimization every local of a function
/// costs stack in each round; what reads a leaf is separate.
struct PredicateParser {
    /// A part of a format with the depth of its tree.
    struct Node {
        enum Content {
            case predicate(FetchPredicate)
            case expression(FetchExpression)
        }

        let content: Content
        let height: Int
        /// Where it begins.
        let start: Int
        /// Whether it is in parentheses of its own, which keep it from being joined with what stands around it.
        var isGuarded = false
    }

    private(set) var scanner: PredicateScanner
    private(set) var token = FormatToken.end
    private(set) var start = 0
    private let arguments: [Value]
    private var used = 0
    var depth = 0

    init(_ format: String, _ arguments: [Value]) {
        scanner = PredicateScanner(format)
        self.arguments = arguments
    }

    // MARK: Whole formats

    mutating func predicate() throws(FormatFault) -> FetchPredicate {
        try advance()
        let node = try parse(.or)
        try finish()
        return try condition(node)
    }

    mutating func expression() throws(FormatFault) -> FetchExpression {
        try advance()
        let node = try parse(.set)
        try finish()
        return try value(node)
    }

    private func finish() throws(FormatFault) {
        switch token {
        case .end: break
        case .word("NOT"): throw fault("NOT stands in front of a whole comparison, as in NOT a IN {1}")
        case .identifier(let name) where name.lowercased() == "is":
            throw fault("expected an operator; write == nil or != nil instead of IS")
        case .sign("="), .sign("=="): throw fault("a comparison cannot be compared again")
        default: throw fault("expected the end, or AND, OR or another operator")
        }
        guard used == arguments.count else {
            throw fault("\(arguments.count) arguments are given for \(used) specifiers", found: "no specifier")
        }
    }

    // MARK: Tokens

    mutating func advance() throws(FormatFault) {
        start = scanner.skipSpace()
        token = try scanner.next()
    }

    mutating func take(_ sign: String) throws(FormatFault) -> Bool {
        guard token == .sign(sign) else { return false }
        try advance()
        return true
    }

    mutating func expect(_ sign: String, _ why: String) throws(FormatFault) {
        guard try take(sign) else { throw fault("expected \(sign) \(why)") }
    }

    func fault(_ expected: String, at offset: Int? = nil, found: String? = nil) -> FormatFault {
        FormatFault(offset: offset ?? start, expected: expected, found: found)
    }

    /// The argument that the next specifier takes; null if there is none.
    func peekArgument() -> Value { used < arguments.count ? arguments[used] : .null }

    /// The next argument, for a specifier that begins at the present token.
    mutating func argument(for specifier: UInt8) throws(FormatFault) -> Value {
        guard used < arguments.count else {
            throw fault("there is no argument left for this specifier, only \(arguments.count) in all")
        }
        used += 1
        let value = arguments[used - 1]
        switch (specifier, value) {
        case (UInt8(ascii: "@"), _), (UInt8(ascii: "K"), .string): return value
        case (UInt8(ascii: "K"), _): throw fault("argument \(used) must be a key path as text, not \(value.kind)")
        case (UInt8(ascii: "f"), _), (UInt8(ascii: "g"), _), (UInt8(ascii: "e"), _):
            guard let number = NumberOperation(value)?.asDouble else {
                throw fault("argument \(used) must be a number, not \(value.kind)")
            }
            return .double(number)
        case (_, .integer): return value
        case (_, .boolean(let flag)): return .integer(flag ? 1 : 0)
        default: throw fault("argument \(used) must be a whole number, not \(value.kind)")
        }
    }

    // MARK: Nodes

    func condition(_ node: Node) throws(FormatFault) -> FetchPredicate {
        guard case .predicate(let predicate) = node.content else {
            throw fault("expected a comparison; this is a value only, an operator must follow", at: start)
        }
        return predicate
    }

    func value(_ node: Node) throws(FormatFault) -> FetchExpression {
        guard case .expression(let expression) = node.content else {
            throw fault("expected a value; this is a condition", at: node.start)
        }
        return expression
    }

    func node(_ content: Node.Content, over height: Int, from start: Int) throws(FormatFault) -> Node {
        guard height < PredicateLimits.nesting else { throw tooDeep() }
        return Node(content: content, height: height + 1, start: start)
    }

    private func tooDeep() -> FormatFault {
        fault("the format is nested more than \(PredicateLimits.nesting) levels deep, which is the limit")
    }

    // MARK: Operators

    /// Reads a part whose operators bind at least as tightly as `least`.
    mutating func parse(_ least: FormatPrecedence) throws(FormatFault) -> Node {
        depth += 1
        defer { depth -= 1 }
        guard depth <= PredicateLimits.nesting else { throw tooDeep() }
        var left = try operand(least)
        while try extend(&left, least) {}
        return left
    }

    /// Takes one operator and what is on its right, if it binds tightly enough.
    private mutating func extend(_ left: inout Node, _ least: FormatPrecedence) throws(FormatFault) -> Bool {
        if let (precedence, isOr) = logicalSign, precedence >= least {
            left = try chain(left, precedence, isOr: isOr)
        } else if let (function, precedence) = valueSign, precedence >= least {
            left = try apply(function, precedence, to: left)
        } else if least <= .comparison, let op = comparisonSign {
            left = try compare(left, op, nil, from: left.start)
        } else {
            return false
        }
        return true
    }

    private var logicalSign: (FormatPrecedence, Bool)? {
        switch token {
        case .word("OR"), .sign("||"): (.or, true)
        case .word("AND"), .sign("&&"): (.and, false)
        default: nil
        }
    }

    private var valueSign: (FetchFunction, FormatPrecedence)? {
        switch token {
        case .sign("+"): (.add, .sum)
        case .sign("-"): (.subtract, .sum)
        case .sign("*"): (.multiply, .product)
        case .sign("/"): (.divide, .product)
        case .sign("%%"): (.modulus, .product)
        case .sign("**"): (.power, .power)
        case .word("UNION"): (.union, .set)
        case .word("INTERSECT"): (.intersect, .set)
        case .word("MINUS"): (.minus, .set)
        default: nil
        }
    }

    var comparisonSign: ComparisonOperator? {
        switch token {
        case .sign("="), .sign("=="): .equal
        case .sign("!="), .sign("<>"): .notEqual
        case .sign("<"): .less
        case .sign(">"): .greater
        case .sign("<="), .sign("=<"): .lessOrEqual
        case .sign(">="), .sign("=>"): .greaterOrEqual
        case .word("IN"): .isIn
        case .word("BETWEEN"): .between
        case .word("BEGINSWITH"): .beginsWith
        case .word("ENDSWITH"): .endsWith
        case .word("CONTAINS"): .contains
        case .word("LIKE"): .like
        case .word("MATCHES"): .matches
        case .identifier(let name) where name.uppercased() == ComparisonOperator.matchesText.rawValue: .matchesText
        default: nil
        }
    }

    /// A chain of AND or OR, as one list of any length.
    private mutating func chain(_ first: Node, _ precedence: FormatPrecedence, isOr: Bool) throws(FormatFault) -> Node {
        var parts = [try condition(first)]
        var height = first.height
        while let sign = logicalSign, sign.1 == isOr {
            try advance()
            let part = try parse(precedence.tighter)
            height = max(height, part.height)
            parts.append(try condition(part))
        }
        return try node(.predicate(isOr ? .or(parts) : .and(parts)), over: height, from: first.start)
    }

    private mutating func apply(
        _ function: FetchFunction, _ precedence: FormatPrecedence, to left: Node
    ) throws(FormatFault) -> Node {
        let first = try value(left)
        try advance()
        let right = try parse(precedence.tighter)
        return try node(
            .expression(.function(function, [first, try value(right)])), over: max(left.height, right.height),
            from: left.start)
    }

    mutating func compare(
        _ left: Node, _ op: ComparisonOperator, _ quantifier: ComparisonQuantifier?, from start: Int
    ) throws(FormatFault) -> Node {
        guard case .expression(let first) = left.content else { throw fault("a comparison cannot be compared again") }
        try advance()
        let options = try self.options()
        let right = try parse(.set)
        let second = try value(right)
        let predicate: FetchPredicate =
            quantifier.map { .quantified($0, first, op, second, options) } ?? .comparison(first, op, second, options)
        return try node(.predicate(predicate), over: max(left.height, right.height), from: start)
    }

    private mutating func options() throws(FormatFault) -> ComparisonOptions {
        guard try take("[") else { return [] }
        var options: ComparisonOptions = []
        let letters: String
        switch token {
        case .identifier(let name): letters = name
        default: throw fault("expected the letters c, d, n or l of an option")
        }
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": options.insert(.normalized)
            case "l": options.insert(.locale)
            default: throw fault("expected the letters c, d, n or l of an option")
            }
        }
        try advance()
        try expect("]", "after the options")
        return options
    }
}
