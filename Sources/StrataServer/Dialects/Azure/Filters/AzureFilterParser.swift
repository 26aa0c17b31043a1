#if Server
    import Foundation

    /// A part of a `$filter`.
    indirect enum AzureNode: Sendable {
        case null
        case flag(Bool)
        case whole(Int64)
        case number(Double)
        case text(String)
        /// Milliseconds since 1970.
        case time(Int64)
        case column(String)
        case call(String, [AzureNode])
        case binary(String, AzureNode, AzureNode)
        case not(AzureNode)
        case negative(AzureNode)
    }

    /// Reads `$filter`, by the grammar of OData 3 and, where it is another, that of OData 4.
    struct AzureFilterParser {
        private enum Token: Equatable {
            case word(String)
            case quoted(String)
            /// A type with its text: `datetime'…'`.
            case typed(String, String)
            case mark(Character)
        }

        private let tokens: [Token]
        private var place = 0
        private var rest: Int
        /// How deep brackets may be in brackets.
        private static let deepest = 50

        /// - Parameter limit: How many parts there may be.
        static func parse(_ text: String, limit: Int) throws(ServerError) -> AzureNode {
            var parser = AzureFilterParser(tokens: try tokens(of: text), rest: limit * 4)
            let node = try parser.disjunction(0)
            guard parser.place == parser.tokens.count else { throw parser.fault("there is text after the end") }
            return node
        }

        private init(tokens: [Token], rest: Int) {
            self.tokens = tokens
            self.rest = rest
        }

        private func fault(_ message: String) -> ServerError {
            .badRequest("$filter: \(message), at part \(place + 1).")
        }

        // MARK: Tokens

        private static func tokens(of text: String) throws(ServerError) -> [Token] {
            var tokens: [Token] = []
            var rest = text[...]
            while let first = rest.first {
                if first.isWhitespace {
                    rest.removeFirst()
                } else if "(),".contains(first) {
                    tokens.append(.mark(rest.removeFirst()))
                } else if first == "'" {
                    tokens.append(.quoted(try quoted(&rest)))
                } else {
                    let word = String(rest.prefix { !"(),'".contains($0) && !$0.isWhitespace })
                    rest = rest.dropFirst(word.count)
                    // A type stands right before its text.
                    tokens.append(rest.first == "'" ? .typed(word.lowercased(), try quoted(&rest)) : .word(word))
                }
                guard tokens.count <= 100_000 else { throw .badRequest("$filter has too many parts.") }
            }
            return tokens
        }

        private static func quoted(_ rest: inout Substring) throws(ServerError) -> String {
            var text = ""
            rest.removeFirst()
            while let next = rest.popFirst() {
                if next != "'" {
                    text.append(next)
                } else if rest.first == "'" {
                    text.append(rest.removeFirst())
                } else {
                    return text
                }
            }
            throw .badRequest("$filter: a text has no end.")
        }

        private mutating func take(_ mark: Character) -> Bool {
            guard place < tokens.count, tokens[place] == .mark(mark) else { return false }
            place += 1
            return true
        }

        private mutating func take(word words: String...) -> String? {
            guard place < tokens.count, case .word(let word) = tokens[place], words.contains(word.lowercased()) else {
                return nil
            }
            place += 1
            return word.lowercased()
        }

        private mutating func expect(_ mark: Character) throws(ServerError) {
            guard take(mark) else { throw fault("\(mark) is missing") }
        }

        // MARK: Grammar

        private mutating func disjunction(_ depth: Int) throws(ServerError) -> AzureNode {
            var node = try conjunction(depth)
            while take(word: "or") != nil { node = .binary("or", node, try conjunction(depth)) }
            return node
        }

        private mutating func conjunction(_ depth: Int) throws(ServerError) -> AzureNode {
            var node = try comparison(depth)
            while take(word: "and") != nil { node = .binary("and", node, try comparison(depth)) }
            return node
        }

        private mutating func comparison(_ depth: Int) throws(ServerError) -> AzureNode {
            let node = try sum(depth)
            if let word = take(word: "eq", "ne", "lt", "le", "gt", "ge") { return .binary(word, node, try sum(depth)) }
            guard take(word: "in") != nil else { return node }
            try expect("(")
            var found: AzureNode?
            repeat {
                let equal = AzureNode.binary("eq", node, try sum(depth))
                found = found.map { .binary("or", $0, equal) } ?? equal
            } while take(",")
            try expect(")")
            return found ?? .flag(false)
        }

        private mutating func sum(_ depth: Int) throws(ServerError) -> AzureNode {
            var node = try product(depth)
            while let word = take(word: "add", "sub") { node = .binary(word, node, try product(depth)) }
            return node
        }

        private mutating func product(_ depth: Int) throws(ServerError) -> AzureNode {
            var node = try unary(depth)
            while let word = take(word: "mul", "div", "mod") { node = .binary(word, node, try unary(depth)) }
            return node
        }

        private mutating func unary(_ depth: Int) throws(ServerError) -> AzureNode {
            guard depth < Self.deepest else { throw fault("brackets stand too deep") }
            rest -= 1
            guard rest >= 0 else { throw fault("there are too many parts") }
            if take(word: "not") != nil { return .not(try unary(depth + 1)) }
            if take(word: "-") != nil { return .negative(try unary(depth + 1)) }
            if take("(") {
                let node = try disjunction(depth + 1)
                try expect(")")
                return node
            }
            return try operand(depth)
        }

        private mutating func operand(_ depth: Int) throws(ServerError) -> AzureNode {
            guard place < tokens.count else { throw fault("it ends too early") }
            let token = tokens[place]
            place += 1
            switch token {
            case .quoted(let text): return .text(text)
            case .typed(let type, let text): return try typed(type, text)
            case .mark(let mark): throw fault("\(mark) is out of place")
            case .word(let word):
                if take("(") { return try call(word.lowercased(), depth) }
                switch word.lowercased() {
                case "null": return .null
                case "true": return .flag(true)
                case "false": return .flag(false)
                default:
                    if let literal = try literal(word) { return literal }
                    return try column(word)
                }
            }
        }

        private func typed(_ type: String, _ text: String) throws(ServerError) -> AzureNode {
            switch type {
            case "datetime", "datetimeoffset":
                // Times of the first version have no zone, and mean UTC.
                guard let time = WireTime.milliseconds(text) ?? WireTime.milliseconds(text + "Z") else {
                    throw fault("\(text.prefix(60)) is not a time")
                }
                return .time(time)
            case "guid": return .text(text)
            case "binary", "x": throw fault("bytes are not compared")
            default: throw fault("\(type.prefix(40)) is not a type")
            }
        }

        private func literal(_ word: String) throws(ServerError) -> AzureNode? {
            guard let first = word.utf8.first, (0x30...0x39).contains(first) || "+-.".utf8.contains(first) else {
                return nil
            }
            var text = word
            if let last = word.last, "lLmMfFdD".contains(last) { text.removeLast() }
            if let number = Int64(text) { return .whole(number) }
            if let number = Double(text), number.isFinite { return .number(number) }
            // Times stand without quotes in OData 4.
            if let time = WireTime.milliseconds(word) { return .time(time) }
            throw fault("\(word.prefix(60)) is not a number")
        }

        private func column(_ word: String) throws(ServerError) -> AzureNode {
            let name = word.utf8
            let isName =
                name.count <= 128
                && name.allSatisfy {
                    (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F
                }
            guard isName else { throw fault("\(word.prefix(60)) is not a column") }
            return .column(word)
        }

        private mutating func call(_ name: String, _ depth: Int) throws(ServerError) -> AzureNode {
            if name == "not" {
                let node = try disjunction(depth + 1)
                try expect(")")
                return .not(node)
            }
            if name == "cast" {
                // The value stands without quotes: `cast(2012-05-21T00:00:29.300Z,Edm.DateTimeOffset)`.
                guard place < tokens.count else { throw fault("cast is incomplete") }
                let token = tokens[place]
                place += 1
                try expect(",")
                guard place < tokens.count, case .word(let type) = tokens[place] else {
                    throw fault("cast lacks a type")
                }
                place += 1
                try expect(")")
                let text: String
                switch token {
                case .word(let word): text = word
                case .quoted(let quoted): text = quoted
                default: throw fault("cast takes a value")
                }
                switch type.lowercased() {
                case "edm.datetimeoffset": return try typed("datetimeoffset", text)
                case "edm.guid", "edm.string": return .text(text)
                default: return try literal(text) ?? AzureNode.text(text)
                }
            }
            var arguments: [AzureNode] = []
            if !take(")") {
                repeat { arguments.append(try disjunction(depth + 1)) } while take(",")
                try expect(")")
            }
            return .call(name, arguments)
        }
    }
#endif
