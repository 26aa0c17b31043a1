import Foundation

/// What an operand begins with.
private enum Opening {
    case leaf, parenthesis, list, minus, not
    case quantifier(ComparisonQuantifier)
    case subquery, ternary, cast, function
}

extension PredicateParser {
    /// A condition or value without an operator of its own, save for those in front of it.
    mutating func operand(_ least: FormatPrecedence) throws(FormatFault) -> Node {
        switch opening {
        case .not: return try negation(least)
        case .quantifier(let quantifier): return try quantified(quantifier, least)
        default: break
        }
        var node = try atom()
        while try extend(&node) {}
        return node
    }

    private var opening: Opening {
        switch token {
        case .sign("("): .parenthesis
        case .sign("{"): .list
        case .sign("-"): .minus
        case .sign("!"), .word("NOT"): .not
        case .word("ANY"), .word("SOME"): .quantifier(.any)
        case .word("ALL"): .quantifier(.all)
        case .word("NONE"): .quantifier(.none)
        case .word("SUBQUERY"): .subquery
        case .word("TERNARY"): .ternary
        case .word("CAST"): .cast
        case .word("FUNCTION"): .function
        default: .leaf
        }
    }

    private mutating func atom() throws(FormatFault) -> Node {
        switch opening {
        case .parenthesis: return try parenthesis()
        case .list: return try aggregate()
        case .minus: return try negative()
        case .subquery: return try subquery()
        case .ternary: return try ternary()
        case .cast: return try cast()
        case .function: return try method()
        default: break
        }
        let begin = start
        guard let name = try callee() else { return try simple() }
        return try call(name, from: begin)
    }

    private mutating func negation(_ least: FormatPrecedence) throws(FormatFault) -> Node {
        guard least <= .comparison else { throw fault("expected a value, not a condition") }
        let begin = start
        try advance()
        let part = try parse(.comparison)
        return try node(.predicate(.not(try condition(part))), over: part.height, from: begin)
    }

    private mutating func quantified(
        _ quantifier: ComparisonQuantifier, _ least: FormatPrecedence
    ) throws(FormatFault) -> Node {
        guard least <= .comparison else { throw fault("a quantifier can only precede a comparison") }
        let begin = start
        try advance()
        let left = try parse(.set)
        _ = try value(left)
        guard let op = comparisonSign else { throw fault("expected a comparison operator") }
        return try compare(left, op, quantifier, from: begin)
    }

    /// Literals, key paths and variables.
    private mutating func simple() throws(FormatFault) -> Node {
        let begin = start
        switch token {
        case .integer(let number): return try constant(.integer(number), from: begin)
        case .double(let number): return try constant(.double(number), from: begin)
        case .oneOverMaximum: throw fault("the whole number does not fit 64 bits")
        case .string(let text): return try constant(.string(text), from: begin)
        case .word("TRUE"), .word("YES"): return try constant(.boolean(true), from: begin)
        case .word("FALSE"), .word("NO"): return try constant(.boolean(false), from: begin)
        case .word("NULL"), .word("NIL"): return try constant(.null, from: begin)
        case .word("TRUEPREDICATE"), .word("FALSEPREDICATE"):
            let flag = token == .word("TRUEPREDICATE")
            try advance()
            return Node(content: .predicate(.constant(flag)), height: 1, start: begin)
        case .word("SELF"):
            try advance()
            let names = try pathBehind()
            return leaf(names.isEmpty ? .evaluatedObject : .keyPath(names), begin)
        case .argument(UInt8(ascii: "K")):
            let isSelf = if case .string("SELF") = peekArgument() { true } else { false }
            let first = try argumentKeys()
            let names = (isSelf ? [] : first) + (try pathBehind())
            return leaf(names.isEmpty ? .evaluatedObject : .keyPath(names), begin)
        case .argument(let specifier): return try constant(try argument(for: specifier), from: begin)
        case .variable(let name):
            try advance()
            return leaf(.variable(name), begin)
        case .identifier, .escapedKey, .operatorKey:
            let first = try key()
            return leaf(.keyPath(first + (try pathBehind())), begin)
        case .word("FETCH"): throw fault("FETCH is not supported")
        case .word(let word): throw fault("\(word) is a reserved word; write # in front of it if it is a key")
        default: throw fault("expected a value or a condition")
        }
    }

    /// The name of a function with a parenthesis after it, which is where the parser stands then.
    private mutating func callee() throws(FormatFault) -> String? {
        switch token {
        case .identifier(let name) where scanner.isBeforeParenthesis:
            try advance()
            return name
        case .selector(let name):
            try advance()
            guard token == .sign("(") else { throw fault("expected ( after the function \(name)") }
            return name
        default: return nil
        }
    }

    private func leaf(_ expression: FetchExpression, _ start: Int) -> Node {
        Node(content: .expression(expression), height: 1, start: start)
    }

    private mutating func parenthesis() throws(FormatFault) -> Node {
        try advance()
        var node = try parse(.or)
        try expect(")", "to close the parenthesis")
        node.isGuarded = true
        return node
    }

    private mutating func negative() throws(FormatFault) -> Node {
        let begin = start
        try advance()
        if let number = negatedNumber { return try constant(number, from: begin) }
        let part = try parse(.power)
        let difference = FetchExpression.function(.subtract, [.constant(.integer(0)), try value(part)])
        return try node(.expression(difference), over: part.height, from: begin)
    }

    private var negatedNumber: Value? {
        switch token {
        case .integer(let number): .integer(-number)
        case .double(let number): .double(-number)
        case .oneOverMaximum: .integer(.min)
        default: nil
        }
    }

    private mutating func constant(_ value: Value, from begin: Int) throws(FormatFault) -> Node {
        try advance()
        return leaf(.constant(value), begin)
    }

    private mutating func aggregate() throws(FormatFault) -> Node {
        let begin = start
        try advance()
        var parts: [Node] = []
        if try !take("}") {
            repeat { parts.append(try parse(.set)) } while try take(",")
            try expect("}", "or a comma in the list")
        }
        return try list(parts, from: begin)
    }

    /// Values as a list; as one constant if all of them are fixed.
    private func list(_ parts: [Node], from begin: Int) throws(FormatFault) -> Node {
        var expressions: [FetchExpression] = []
        var constants: [Value] = []
        for part in parts {
            let expression = try value(part)
            expressions.append(expression)
            if case .constant(let value) = expression.node, !part.isGuarded { constants.append(value) }
        }
        if constants.count == parts.count { return leaf(.constant(.list(constants)), begin) }
        return try node(.expression(.aggregate(expressions)), over: parts.map(\.height).max() ?? 0, from: begin)
    }

    // MARK: Paths

    /// Takes keys or an index after a value.
    private mutating func extend(_ node: inout Node) throws(FormatFault) -> Bool {
        if token == .sign("[") {
            try advance()
            node = try indexed(node)
            return true
        }
        guard token == .sign(".") else { return false }
        let base = try value(node)
        let names = try pathBehind()
        if !names.isEmpty { node = try self.node(.expression(.path(base, names)), over: node.height, from: node.start) }
        return true
    }

    private mutating func indexed(_ base: Node) throws(FormatFault) -> Node {
        let expression = try value(base)
        var height = base.height
        let index: FetchIndex
        if let word = indexWord {
            index = word
            try advance()
        } else {
            let position = try parse(.set)
            height = max(height, position.height)
            index = .at(try value(position))
        }
        try expect("]", "after the index")
        return try node(.expression(.index(expression, index)), over: height, from: base.start)
    }

    private var indexWord: FetchIndex? {
        switch token {
        case .word("FIRST"): .first
        case .word("LAST"): .last
        case .word("SIZE"): .size
        default: nil
        }
    }

    /// The keys after dots, as many as follow.
    private mutating func pathBehind() throws(FormatFault) -> [String] {
        var names: [String] = []
        while try take(".") { names += try key() }
        return names
    }

    /// A component of a path; several of a `%K`, none of a `SELF`.
    private mutating func key() throws(FormatFault) -> [String] {
        switch token {
        case .identifier(let name), .escapedKey(let name):
            try advance()
            return [name]
        case .operatorKey(let name):
            try check(name)
            try advance()
            return [name]
        case .argument(UInt8(ascii: "K")): return try argumentKeys()
        case .word("SELF"):
            try advance()
            return []
        case .word(let word): throw fault("\(word) is a reserved word; write # in front of it if it is a key")
        default: throw fault("expected a key")
        }
    }

    private func check(_ name: String) throws(FormatFault) {
        guard CollectionOperator(rawValue: name) != nil else {
            throw fault(
                "\(name) is not a collection operator; expected "
                    + CollectionOperator.allCases.map(\.rawValue).joined(separator: ", "))
        }
    }

    private mutating func argumentKeys() throws(FormatFault) -> [String] {
        guard case .string(let path) = try argument(for: UInt8(ascii: "K")) else { return [] }
        var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        for name in names {
            guard !name.isEmpty else { throw fault("the key path \"\(path)\" has an empty key") }
            if name.utf8.first == UInt8(ascii: "@") { try check(name) }
        }
        // After a collection operator `self` is the element, as every Objective-C object answers to it.
        if names.count > 1, names.last == "self", names[names.count - 2].utf8.first == UInt8(ascii: "@") {
            names.removeLast()
        }
        try advance()
        return names
    }

    // MARK: Calls

    private mutating func arguments(_ name: String) throws(FormatFault) -> [Node] {
        try expect("(", "after \(name)")
        var nodes: [Node] = []
        if try take(")") { return nodes }
        repeat { nodes.append(try parse(.set)) } while try take(",")
        try expect(")", "or a comma in the arguments of \(name)")
        return nodes
    }

    private mutating func call(_ name: String, from begin: Int) throws(FormatFault) -> Node {
        guard let arity = Self.arity(name) else {
            let known = FetchFunction.allCases.map(\.rawValue) + ["distance", "near", "withinBox"]
            throw fault("there is no function \(name)" + Spelling.suggestion(for: name, in: known), at: begin)
        }
        // What is printed as a sign between operands needs a parenthesis more to be nested.
        let extra = FetchFunction.named(name)?.infix == nil ? 0 : 1
        depth += extra
        let nodes = try arguments(name)
        depth -= extra
        guard arity.contains(nodes.count) else {
            let wanted =
                arity.lowerBound == arity.upperBound
                ? "\(arity.lowerBound)" : "\(arity.lowerBound) to \(arity.upperBound)"
            throw fault("\(name) takes \(wanted) arguments, not \(nodes.count)", at: begin)
        }
        return try node(try content(of: name, nodes), over: Self.height(nodes), from: begin)
    }

    private static func arity(_ name: String) -> ClosedRange<Int>? {
        if let function = FetchFunction.named(name) { return function.arity }
        switch name {
        case "distance", "near": return 2...3
        case "withinBox": return 3...3
        default: return GeoUnit(rawValue: name).map { _ in 3...4 }
        }
    }

    private func content(of name: String, _ nodes: [Node]) throws(FormatFault) -> Node.Content {
        let parts = try values(nodes)
        if let function = FetchFunction.named(name) { return .expression(.function(function, parts)) }
        if let unit = GeoUnit(rawValue: name) {
            let radius = try radius(nodes.dropFirst(3).first)
            return .predicate(.geo(.within(parts[0], parts[1], distance: parts[2], unit, earthRadius: radius)))
        }
        if name == "withinBox" {
            return .predicate(.geo(.box(parts[0], southWest: parts[1], northEast: parts[2])))
        }
        let radius = try radius(nodes.dropFirst(2).first)
        return name == "near"
            ? .predicate(.geo(.near(parts[0], parts[1], earthRadius: radius)))
            : .expression(.distance(parts[0], parts[1], earthRadius: radius))
    }

    private func values(_ nodes: [Node]) throws(FormatFault) -> [FetchExpression] {
        var values: [FetchExpression] = []
        for node in nodes { values.append(try value(node)) }
        return values
    }

    private static func height(_ nodes: [Node]) -> Int { nodes.map(\.height).max() ?? 0 }

    private func radius(_ node: Node?) throws(FormatFault) -> Double {
        guard let node else { return GeoCondition.meanEarthRadius }
        guard case .expression(let expression) = node.content, case .constant(let value) = expression.node,
            let radius = NumberOperation(value)?.asDouble
        else {
            throw fault("the radius of the earth must be a number", at: node.start)
        }
        return radius
    }

    private mutating func open(_ word: String) throws(FormatFault) {
        try advance()
        try expect("(", "after \(word)")
    }

    private mutating func subquery() throws(FormatFault) -> Node {
        let begin = start
        try open("SUBQUERY")
        let collection = try parse(.set)
        _ = try value(collection)
        let name = try boundVariable()
        let condition = try parse(.or)
        let expression = FetchExpression.subquery(try value(collection), name, try self.condition(condition))
        try expect(")", "after the condition of a SUBQUERY")
        return try node(.expression(expression), over: max(collection.height, condition.height), from: begin)
    }

    private mutating func boundVariable() throws(FormatFault) -> String {
        try expect(",", "after the collection of a SUBQUERY")
        guard case .variable(let name) = token else { throw fault("expected the variable of a SUBQUERY, such as $x") }
        try advance()
        try expect(",", "after the variable of a SUBQUERY")
        return name
    }

    private mutating func ternary() throws(FormatFault) -> Node {
        let begin = start
        try open("TERNARY")
        let condition = try parse(.or)
        let test = try self.condition(condition)
        try expect(",", "after the condition of a TERNARY")
        let first = try parse(.set)
        try expect(",", "between the two values of a TERNARY")
        let second = try parse(.set)
        try expect(")", "after the values of a TERNARY")
        return try node(
            .expression(.ternary(test, try value(first), try value(second))),
            over: max(condition.height, first.height, second.height), from: begin)
    }

    private mutating func cast() throws(FormatFault) -> Node {
        let begin = start
        try open("CAST")
        let operand = try parse(.set)
        let type = try castType()
        let expression = try value(operand)
        if !operand.isGuarded, case .constant(let value) = expression.node, let constant = type.constant(of: value) {
            return leaf(.constant(constant), begin)
        }
        return try node(.expression(.cast(expression, type)), over: operand.height, from: begin)
    }

    private mutating func castType() throws(FormatFault) -> CastType {
        try expect(",", "after the value of a CAST")
        guard case .string(let name) = token, let type = CastType(named: name) else {
            throw fault(
                "expected the type of a CAST in quotes: " + CastType.allCases.map(\.rawValue).joined(separator: ", "))
        }
        try advance()
        try expect(")", "after the type of a CAST")
        return type
    }

    private mutating func method() throws(FormatFault) -> Node {
        let begin = start
        try open("FUNCTION")
        let receiver = try parse(.set)
        let method = try methodName()
        var nodes: [Node] = []
        while try take(",") { nodes.append(try parse(.set)) }
        try expect(")", "or a comma in the arguments of a FUNCTION")
        guard nodes.count == method.arity else {
            throw fault("\(method.rawValue) takes \(method.arity) arguments, not \(nodes.count)", at: begin)
        }
        return try node(
            .expression(.method(try value(receiver), method, try values(nodes))),
            over: max(receiver.height, Self.height(nodes)), from: begin)
    }

    private mutating func methodName() throws(FormatFault) -> FetchMethod {
        try expect(",", "after the receiver of a FUNCTION")
        guard case .string(let name) = token, let method = FetchMethod(rawValue: name) else {
            throw fault(
                "expected one of the methods "
                    + FetchMethod.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", "))
        }
        try advance()
        return method
    }
}
