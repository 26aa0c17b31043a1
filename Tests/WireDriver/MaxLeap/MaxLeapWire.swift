import Foundation
import StrataMaxLeap

/// The driver of `strata-wire --dialect maxleap`.
enum MaxLeapWire: WireDriver {
    static func actual(_ input: WireCase) async throws -> JSONValue {
        try await MaxLeapAreas(input, .maxLeap).actual()
    }
}

/// The driver of `strata-wire --dialect parse`: the same cases in Parse's own dialect.
enum ParseWire: WireDriver {
    static func actual(_ input: WireCase) async throws -> JSONValue {
        try await MaxLeapAreas(input, .parse).actual()
    }
}

/// One case in one of the two dialects.
struct MaxLeapAreas {
    let input: WireCase
    let flavor: MaxLeapFlavor

    /// - Parameter flavor: The dialect, unless the case names one.
    init(_ input: WireCase, _ flavor: MaxLeapFlavor) {
        self.input = input
        let named: [String: MaxLeapFlavor] = ["maxleap": .maxLeap, "parse": .parse]
        self.flavor = input.text("dialect").flatMap { named[WireCase.plain($0)] } ?? flavor
    }

    func actual() async throws -> JSONValue {
        switch input.text("area") {
        case "where": return ["where": .object(try MaxLeapWireQuery.query(input).condition())]
        case "regex-quote": return ["regex": .string(MaxLeapRegex.quoted(input.text("text", "value") ?? ""))]
        case "predicate": return try predicate()
        case "query-params": return try queryParameters()
        case "type-encode": return ["json": try MaxLeapWireValues.value(input["value"] ?? .null).json()]
        case "type-decode": return ["value": MaxLeapWireValues.json(try MaxLeapValue(input["json"] ?? .null))]
        case "op-encode": return ["json": try MaxLeapWireValues.operation(input["op"] ?? .null).json()]
        case "op-merge": return try merge()
        case "request": return try await request()
        case "user": return try await user()
        case "response": return try await response()
        case "error": return try await error()
        case "cache-policy": return try await cachePolicy()
        case "dialect": return dialectHeader()
        case let area?: throw WireFault("there is no area \(area.prefix(40))")
        case nil: throw WireFault("the case has no \"area\"")
        }
    }

    private func queryParameters() throws -> JSONValue {
        var query = try MaxLeapWireQuery.query(WireCase(input["query"] ?? [:]))
        if input["query"]?["count"] == true || input["query"]?["count"] == 1 || input.says("count") {
            query = query.counting
        }
        let parameters = try query.parameters(for: flavor).map { ($0.name, JSONValue.string($0.value)) }
        let encoded = JSONValue.string(try query.encoded(for: flavor))
        return ["params": .object(JSONObject(parameters)), "encoded": encoded, "query": encoded]
    }

    private func merge() throws -> JSONValue {
        let new = try MaxLeapWireValues.operation(input["new"] ?? .null)
        let pending = try input["pending"].flatMap { $0.isNull ? nil : try MaxLeapWireValues.operation($0) }
        do throws(RemoteError) {
            return ["op": MaxLeapWireValues.json(try new.merged(onto: pending))]
        } catch {
            guard let clash = MaxLeapOperation.Clash(error) else { throw error }
            return [
                "error": .string(clash.rawValue), "code": .integer(Int64(error.code)),
                "message": .string(error.message),
            ]
        }
    }

    private func dialectHeader() -> JSONValue {
        let named = input.text("maxleap", "parse", "header", "name") ?? ""
        let header = MaxLeapHeader(named: named)?.name(in: flavor)
        return ["header": header.map(JSONValue.string) ?? .null]
    }

    // MARK: Predicates

    /// A predicate in the format language. Arguments that no predicate can hold – queries, pointers – become variables.
    private func predicate() throws -> JSONValue {
        var values: [String: MaxLeapValue] = [:]
        var queries: [String: MaxLeapQuery] = [:]
        var plain: [Value] = []
        var variables: [Int: String] = [:]
        for (place, argument) in (input.elements("args") ?? []).enumerated() {
            let name = "argument\(place)"
            if let className = argument["$query"]?.string {
                queries[name] = MaxLeapQuery(className)
                variables[place] = name
            } else if let members = argument.members, let first = members.first,
                ["$pointer", "$object", "$file"].contains(first.name)
            {
                values[name] = try MaxLeapWireValues.value(argument)
                variables[place] = name
            } else {
                plain.append(try WireValues.value(argument))
            }
        }
        for (name, json) in input["variables"]?.members ?? [:] { values[name] = try MaxLeapWireValues.value(json) }
        do {
            let format = Self.naming(variables, in: input.argument("predicate", "format"))
            let predicate = try FetchPredicate(format: format, arguments: plain)
            let query = try MaxLeapQuery("Test", predicate: predicate, values: values, queries: queries)
            return ["where": .object(try query.condition())]
        } catch let error as PredicateParseError {
            throw RemoteError(
                .unsupported, domain: MaxLeapError.domain, code: MaxLeapError.invalidQuery.rawValue,
                message: error.description)
        }
    }

    /// The format with variables in the place of some of its arguments.
    private static func naming(_ variables: [Int: String], in format: String) -> String {
        var result = ""
        var quote: Character?
        var place = 0
        var rest = Substring(format)
        while let character = rest.popFirst() {
            if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
            } else if quote == nil, character == "%", let kind = rest.first, kind != "%" {
                rest.removeFirst()
                result += variables[place].map { "$\($0)" } ?? "%\(kind)"
                place += 1
                continue
            }
            result.append(character)
        }
        return result
    }
}
