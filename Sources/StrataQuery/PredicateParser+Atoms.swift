import Foundation

extension PredicateParser {
    /// A literal, a key path, a call, or what stands in parentheses.
    mutating func atom() throws(FormatFault) -> Node {
        let begin = start
        switch token {
        case .integer(let number): return try constant(.integer(number))
        case .double(let number): return try constant(.double(number))
        case .oneOverMaximum: throw fault("the whole number does not fit 64 bits")
        case .string(let text): return try constant(.string(text))
        case .word("TRUE"), .word("YES"): return try constant(.boolean(true))
        case .word("FALSE"), .word("NO"): return try constant(.boolean(false))
        case .word("NULL"), .word("NIL"): return try constant(.null)
        case .word("SELF"):
            try advance()
            let names = try pathBehind()
            return leaf(names.isEmpty ? .evaluatedObject : .keyPath(names), begin)
        case .argument(UInt8(ascii: "K")):
            guard case .string("SELF") = peekArgument() else {
                return leaf(.keyPath(try argumentKeys() + pathBehind()), begin)
            }
            _ = try argument(for: UInt8(ascii: "@"))
            try advance()
            let names = try pathBehind()
            return leaf(names.isEmpty ? .evaluatedObject : .keyPath(names), begin)
        case .argument(let specifier): return try constant(try argument(for: specifier))
        case .variable(let name):
            try advance()
            return leaf(.variable(name), begin)
        case .identifier(let name):
            try advance()
            if token == .sign("(") { return try call(name, from: begin) }
            return leaf(.keyPath([name] + (try pathBehind())), begin)
        case .selector(let name):
            try advance()
            guard token == .sign("(") else { throw fault("expected ( behind the function \(name)") }
            return try call(name, from: begin)
        case .escapedKey, .operatorKey:
            let first = try key()
            return leaf(.keyPath(first + (try pathBehind())), begin)
        case .sign("("): return try parenthesis()
        case .sign("{"): return try aggregate()
        case .sign("-"): return try negative()
        case .word(let word): return try special(word)
        case .end: throw fault("expected a value or a condition")
        default: throw fault("expected a value or a condition")
        }
    }

    private func leaf(_ expression: FetchExpression, _ start: Int) -> Node {
        Node(content: .expression(expression), height: 1, start: start)
    }

    private mutating func constant(_ value: Value) throws(FormatFault) -> Node {
        let begin = start
        try advance()
        return leaf(.constant(value), begin)
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
        switch token {
        case .integer(let number): return try constant(.integer(-number), from: begin)
        case .double(let number): return try constant(.double(-number), from: begin)
        case .oneOverMaximum: return try constant(.integer(.min), from: begin)
        default:
            let part = try parse(.power)
            return try node(
                .expression(.function(.subtract, [.constant(.integer(0)), try value(part)])), over: part.height,
                from: begin)
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
        var expressions: [FetchExpression] = []
        var constants: [Value] = []
        for part in parts {
            let expression = try value(part)
            expressions.append(expression)
            if case .constant(let value) = expression, !part.isGuarded { constants.append(value) }
        }
        if constants.count == parts.count { return leaf(.constant(.list(constants)), begin) }
        return try node(.expression(.aggregate(expressions)), over: parts.map(\.height).max() ?? 0, from: begin)
    }

    // MARK: Paths

    /// What follows an atom: keys and indexes.
    mutating func postfixes(of atom: Node) throws(FormatFault) -> Node {
        var node = atom
        while true {
            if token == .sign(".") {
                let names = try pathBehind()
                guard !names.isEmpty else { continue }
                node = try self.node(
                    .expression(.path(try value(node), names)), over: node.height, from: node.start)
            } else if try take("[") {
                let (index, height) = try self.index()
                node = try self.node(
                    .expression(.index(try value(node), index)), over: max(node.height, height), from: node.start)
            } else {
                return node
            }
        }
    }

    private mutating func index() throws(FormatFault) -> (FetchIndex, Int) {
        let index: FetchIndex
        var height = 0
        switch token {
        case .word("FIRST"): index = .first
        case .word("LAST"): index = .last
        case .word("SIZE"): index = .size
        default:
            let position = try parse(.set)
            height = position.height
            index = .at(try value(position))
        }
        if case .at = index {} else { try advance() }
        try expect("]", "behind the index")
        return (index, height)
    }

    /// The keys behind dots, as many as follow.
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
                "\(name) is no collection operator; expected "
                    + CollectionOperator.allCases.map(\.rawValue).joined(separator: ", "))
        }
    }

    private mutating func argumentKeys() throws(FormatFault) -> [String] {
        guard case .string(let path) = try argument(for: UInt8(ascii: "K")) else { return [] }
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        for name in names {
            guard !name.isEmpty else { throw fault("the key path \"\(path)\" has an empty key") }
            if name.utf8.first == UInt8(ascii: "@") { try check(name) }
        }
        try advance()
        return names
    }

    // MARK: Calls

    private mutating func arguments(_ name: String, _ count: ClosedRange<Int>) throws(FormatFault) -> [Node] {
        let begin = start
        try expect("(", "behind \(name)")
        var nodes: [Node] = []
        if try !take(")") {
            repeat { nodes.append(try parse(.set)) } while try take(",")
            try expect(")", "or a comma in the arguments of \(name)")
        }
        guard count.contains(nodes.count) else {
            let wanted = count.lowerBound == count.upperBound ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
            throw fault("\(name) takes \(wanted) arguments, not \(nodes.count)", at: begin)
        }
        return nodes
    }

    private func values(_ nodes: some Sequence<Node>) throws(FormatFault) -> [FetchExpression] {
        var values: [FetchExpression] = []
        for node in nodes { values.append(try value(node)) }
        return values
    }

    private mutating func call(_ name: String, from begin: Int) throws(FormatFault) -> Node {
        func height(_ nodes: [Node]) -> Int { nodes.map(\.height).max() ?? 0 }
        if let function = FetchFunction.named(name) {
            let nodes = try arguments(name, function.arity)
            return try node(.expression(.function(function, try values(nodes))), over: height(nodes), from: begin)
        }
        let nodes: [Node]
        let content: Node.Content
        switch name {
        case "distance":
            nodes = try arguments(name, 2...3)
            let parts = try values(nodes)
            content = .expression(.distance(parts[0], parts[1], earthRadius: try radius(nodes.dropFirst(2).first)))
        case "near":
            nodes = try arguments(name, 2...3)
            let parts = try values(nodes)
            content = .predicate(.geo(.near(parts[0], parts[1], earthRadius: try radius(nodes.dropFirst(2).first))))
        case "withinBox":
            nodes = try arguments(name, 3...3)
            let parts = try values(nodes)
            content = .predicate(.geo(.box(parts[0], southWest: parts[1], northEast: parts[2])))
        default:
            guard let unit = GeoUnit(rawValue: name) else {
                throw fault("there is no function \(name)", at: begin)
            }
            nodes = try arguments(name, 3...4)
            let parts = try values(nodes)
            let radius = try radius(nodes.dropFirst(3).first)
            content = .predicate(
                .geo(.within(parts[0], parts[1], distance: parts[2], unit, earthRadius: radius)))
        }
        return try node(content, over: height(nodes), from: begin)
    }

    private func radius(_ node: Node?) throws(FormatFault) -> Double {
        guard let node else { return GeoCondition.meanEarthRadius }
        guard case .expression(.constant(let value)) = node.content, let radius = NumberOperation(value)?.asDouble else {
            throw fault("the radius of the earth must be a number", at: node.start)
        }
        return radius
    }

    private mutating func special(_ word: String) throws(FormatFault) -> Node {
        let begin = start
        switch word {
        case "SUBQUERY":
            try open(word)
            let collection = try parse(.set)
            try expect(",", "behind the collection of a SUBQUERY")
            guard case .variable(let name) = token else { throw fault("expected the variable of a SUBQUERY, such as $x") }
            try advance()
            try expect(",", "behind the variable of a SUBQUERY")
            let condition = try parse(.or)
            let expression = FetchExpression.subquery(try value(collection), name, try self.condition(condition))
            try expect(")", "behind the condition of a SUBQUERY")
            return try node(.expression(expression), over: max(collection.height, condition.height), from: begin)
        case "TERNARY":
            try open(word)
            let condition = try parse(.or)
            let test = try self.condition(condition)
            try expect(",", "behind the condition of a TERNARY")
            let first = try parse(.set)
            try expect(",", "between the two values of a TERNARY")
            let second = try parse(.set)
            try expect(")", "behind the values of a TERNARY")
            return try node(
                .expression(.ternary(test, try value(first), try value(second))),
                over: max(condition.height, first.height, second.height), from: begin)
        case "CAST":
            try open(word)
            let operand = try parse(.set)
            try expect(",", "behind the value of a CAST")
            guard case .string(let name) = token, let type = CastType(named: name) else {
                throw fault(
                    "expected the type of a CAST in quotes: "
                        + CastType.allCases.map(\.rawValue).joined(separator: ", "))
            }
            try advance()
            try expect(")", "behind the type of a CAST")
            let expression = try value(operand)
            if !operand.isGuarded, case .constant(let value) = expression, let constant = type.constant(of: value) {
                return leaf(.constant(constant), begin)
            }
            return try node(.expression(.cast(expression, type)), over: operand.height, from: begin)
        case "FUNCTION":
            try open(word)
            let receiver = try parse(.set)
            try expect(",", "behind the receiver of a FUNCTION")
            guard case .string(let name) = token, let method = FetchMethod(rawValue: name) else {
                throw fault(
                    "expected one of the methods "
                        + FetchMethod.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", "))
            }
            try advance()
            var nodes: [Node] = []
            while try take(",") { nodes.append(try parse(.set)) }
            try expect(")", "or a comma in the arguments of a FUNCTION")
            guard nodes.count == method.arity else {
                throw fault("\(name) takes \(method.arity) arguments, not \(nodes.count)", at: begin)
            }
            return try node(
                .expression(.method(try value(receiver), method, try values(nodes))),
                over: max(receiver.height, nodes.map(\.height).max() ?? 0), from: begin)
        case "FETCH": throw fault("FETCH is not supported")
        default: throw fault("\(word) is a reserved word; write # in front of it if it is a key")
        }
    }

    private mutating func open(_ word: String) throws(FormatFault) {
        try advance()
        try expect("(", "behind \(word)")
    }
}
