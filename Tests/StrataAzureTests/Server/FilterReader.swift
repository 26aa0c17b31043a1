import Foundation
import StrataAzure

/// Decides the filters of these services for rows in JSON, only by their grammar, with nothing of the dialect's own
/// code.
struct FilterReader {
    struct Fault: Error {
        let text: String
    }

    private let tokens: [String]
    private var place = 0
    private let row: JSONObject

    /// Whether a row meets a filter.
    static func holds(_ filter: String, _ row: JSONObject) throws -> Bool {
        var reader = FilterReader(tokens: try tokens(of: filter), row: row)
        let value = try reader.disjunction()
        guard reader.place == reader.tokens.count else { throw Fault(text: filter) }
        return value == .boolean(true)
    }

    private init(tokens: [String], row: JSONObject) {
        self.tokens = tokens
        self.row = row
    }

    private static func tokens(of text: String) throws -> [String] {
        var result: [String] = []
        var rest = text[...]
        while let first = rest.first {
            if first == " " {
                rest.removeFirst()
            } else if "(),".contains(first) {
                result.append(String(rest.removeFirst()))
            } else if first == "'" {
                result.append(try quoted(&rest))
            } else {
                let word = rest.prefix { !"(), '".contains($0) }
                rest = rest.dropFirst(word.count)
                // A type stands right before its text.
                result.append(rest.first == "'" ? try quoted(&rest) : String(word))
            }
        }
        return result
    }

    private static func quoted(_ rest: inout Substring) throws -> String {
        var text = "'"
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
        throw Fault(text: text)
    }

    private mutating func take(_ token: String) -> Bool {
        guard place < tokens.count, tokens[place] == token else { return false }
        place += 1
        return true
    }

    private mutating func expect(_ token: String) throws {
        guard take(token) else { throw Fault(text: "\(tokens) at \(place): expected \(token)") }
    }

    private mutating func disjunction() throws -> JSONValue {
        var value = try conjunction()
        while take("or") {
            let other = try conjunction()
            value = .boolean(value == true || other == true)
        }
        return value
    }

    private mutating func conjunction() throws -> JSONValue {
        var value = try comparison()
        while take("and") {
            let other = try comparison()
            value = .boolean(value == true && other == true)
        }
        return value
    }

    private mutating func comparison() throws -> JSONValue {
        let left = try operand()
        guard place < tokens.count, ["eq", "ne", "lt", "le", "gt", "ge"].contains(tokens[place]) else { return left }
        let word = tokens[place]
        place += 1
        let right = try operand()
        // As databases have it: null is equal to null where it is named, and to nothing else.
        if left.isNull || right.isNull {
            switch word {
            case "eq": return .boolean(left.isNull && right.isNull)
            case "ne": return .boolean(left.isNull != right.isNull && tokens[place - 1] == "null")
            default: return false
            }
        }
        switch word {
        case "eq": return .boolean(order(left, right) == 0)
        case "ne": return .boolean(order(left, right) != 0)
        case "lt": return .boolean(order(left, right) < 0)
        case "le": return .boolean(order(left, right) <= 0)
        case "gt": return .boolean(order(left, right) > 0)
        default: return .boolean(order(left, right) >= 0)
        }
    }

    private func order(_ a: JSONValue, _ b: JSONValue) -> Int {
        if let x = a.double, let y = b.double { return x < y ? -1 : x > y ? 1 : 0 }
        let (x, y) = (Self.comparable(a.string ?? a.description), Self.comparable(b.string ?? b.description))
        if x == y { return 0 }
        return x.utf8.lexicographicallyPrecedes(y.utf8) ? -1 : 1
    }

    /// Times with all digits of a fraction, so that their texts are ordered as they are.
    private static func comparable(_ text: String) -> String {
        guard AzureDate.isDate(text) else { return text }
        let parts = text.dropLast().split(separator: ".")
        let fraction = parts.count > 1 ? String(parts[1]) : ""
        return parts[0] + "." + fraction + String(repeating: "0", count: 9 - fraction.count)
    }

    private mutating func operand() throws -> JSONValue {
        guard place < tokens.count else { throw Fault(text: "\(tokens)") }
        let token = tokens[place]
        place += 1
        switch token {
        case "(":
            let value = try disjunction()
            try expect(")")
            return value
        case "not":
            try expect("(")
            let value = try disjunction()
            try expect(")")
            return .boolean(value == false)
        case "null": return .null
        case "true": return true
        case "false": return false
        case "cast":
            try expect("(")
            let text = tokens[place]
            place += 3
            try expect(")")
            return .string(text)
        case "startswith", "endswith", "contains", "substringof", "tolower", "toupper": return try function(token)
        default: break
        }
        if token.first == "'" { return .string(String(token.dropFirst())) }
        if token.first?.isNumber == true || token.first == "-" {
            var digits = token
            while let last = digits.last, "lfdmLFDM".contains(last) { digits.removeLast() }
            return try JSONValue(parsing: digits)
        }
        return row[token] ?? .null
    }

    private mutating func function(_ name: String) throws -> JSONValue {
        try expect("(")
        let first = try operand()
        if name == "tolower" || name == "toupper" {
            try expect(")")
            return first.string.map { .string(name == "tolower" ? $0.lowercased() : $0.uppercased()) } ?? .null
        }
        try expect(",")
        let second = try operand()
        try expect(")")
        guard let a = first.string, let b = second.string else { return .null }
        switch name {
        case "startswith": return .boolean(a.hasPrefix(b))
        case "endswith": return .boolean(a.hasSuffix(b))
        case "contains": return .boolean(b.isEmpty || a.contains(b))
        default: return .boolean(a.isEmpty || b.contains(a))
        }
    }
}
