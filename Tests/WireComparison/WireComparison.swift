import StrataWire

/// Compares what a case expects with what was answered, by the rules of the vectors: bodies as JSON values, parameters
/// and headers as sets of which those listed count, paths with their parameters in any order.
package struct WireComparison {
    /// What differs, in words; empty if the answer is as expected.
    package private(set) var differences: [String] = []

    package init(expect: JSONValue, actual: JSONValue) {
        guard let members = expect.members else {
            differences = ["the case expects nothing"]
            return
        }
        for (name, value) in members.sorted(by: { $0.name < $1.name }) { compare(name, value, actual) }
        let expectsError = members.names.contains {
            ["error", "errorKind", "exception", "code", "domain"].contains($0)
        }
        if !expectsError, let error = actual["error"] { differences.append("failed with \(error)") }
    }

    private mutating func compare(_ name: String, _ expected: JSONValue, _ actual: JSONValue) {
        switch name {
        case "headers", "requestHeaders":
            for (header, value) in expected.members ?? [:] where actual[name]?[header] != value {
                differ("\(name).\(header)", value, actual[name]?[header])
            }
        case "absentHeaders": absent(expected, in: actual["headers"], name)
        case "absentKeys": absent(expected, in: actual["body"], name)
        case "presentKeys":
            for key in expected.elements ?? [] where actual["body"]?[key.string ?? ""] == nil { differ(name, key, nil) }
        case "path", "url", "encoded":
            if Self.address(expected.string) != Self.address(actual[name]?.string) {
                differ(name, expected, actual[name])
            }
        case "params" where expected.elements != nil:
            // Pairs as they are sent, in any order.
            if !Self.areSameSet(expected, actual[name]) { differ(name, expected, actual[name]) }
        case "requests":
            guard let wanted = expected.elements, let sent = actual[name]?.elements, wanted.count == sent.count else {
                return differ(name, expected, actual[name])
            }
            for (number, (request, other)) in zip(wanted, sent).enumerated() {
                if request.members != nil {
                    differences += WireComparison(expect: request, actual: other).differences.map {
                        "request \(number): \($0)"
                    }
                } else if !Self.areSameSet(request, other) {
                    differ("request \(number)", request, other)
                }
            }
        case "relations":
            guard let pairs = expected.elements, actual[name]?.elements.map(Set.init) == Set(pairs) else {
                return differ(name, expected, actual[name])
            }
        default:
            guard let value = actual[name], Self.areSame(expected, value) else {
                return differ(name, expected, actual[name])
            }
        }
    }

    private mutating func absent(_ names: JSONValue, in object: JSONValue?, _ list: String) {
        for name in names.elements ?? [] {
            if let value = object?[name.string ?? ""] { differ("\(list) \(name)", .null, value) }
        }
    }

    private mutating func differ(_ name: String, _ expected: JSONValue, _ actual: JSONValue?) {
        differences.append("\(name): expected \(expected), not \(actual?.description ?? "nothing")")
    }

    /// An address without its parameters, and the parameters in order.
    private static func address(_ text: String?) -> [String] {
        if let text, !text.contains("/"), text.contains("=") {
            return text.split(separator: "&").map(String.init).sorted()
        }
        let parts = (text ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let parameters = parts.count > 1 ? parts[1].split(separator: "&").map(String.init) : []
        return [parts[0]] + parameters.sorted()
    }

    /// Whether two arrays have the same texts in any order.
    private static func areSameSet(_ a: JSONValue, _ b: JSONValue?) -> Bool {
        guard let a = a.elements?.map(\.description), let b = b?.elements?.map(\.description) else { return false }
        return a.sorted() == b.sorted()
    }

    /// Whether two values are the same; `1` is `1.0`, and not `true`.
    private static func areSame(_ a: JSONValue, _ b: JSONValue) -> Bool {
        switch (a, b) {
        case (.array(let x), .array(let y)): x.count == y.count && zip(x, y).allSatisfy(areSame)
        case (.object(let x), .object(let y)):
            x.count == y.count
                && x.allSatisfy { name, value in
                    y[name].map { name == "$or" ? areAlternatives(value, $0) : areSame(value, $0) } ?? false
                }
        default: a == b || a.double != nil && a.double == b.double
        }
    }

    /// Whether two groups of alternatives are the same; their order is free.
    private static func areAlternatives(_ a: JSONValue, _ b: JSONValue) -> Bool {
        guard let list = a.elements, var rest = b.elements, list.count == rest.count else { return areSame(a, b) }
        return list.allSatisfy { one in
            guard let place = rest.firstIndex(where: { areSame(one, $0) }) else { return false }
            rest.remove(at: place)
            return true
        }
    }
}
