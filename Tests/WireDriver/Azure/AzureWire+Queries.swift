import Foundation
import StrataAzure

extension AzureWire {
    static func predicate(_ input: WireCase) throws -> JSONValue {
        let (predicate, variables) = try condition(input)
        return ["filter": .string(try dialect(input).filterText(predicate, variables: variables))]
    }

    static func query(_ input: WireCase) throws -> JSONValue {
        let pairs = try dialect(input).parameters(of: try query(of: input))
        return ["params": .array(pairs.map(JSONValue.string)), "query": .string(pairs.joined(separator: "&"))]
    }

    /// The query that a case describes.
    static func query(of input: WireCase) throws -> AzureQuery {
        let inner = try WireCase(input["query"] ?? [:])
        var query = AzureQuery()
        if inner.text("predicate") != nil {
            let (predicate, variables) = try condition(inner)
            query.filter = .predicate(predicate, variables)
        }
        for element in inner.elements("orderBy") ?? [] {
            guard let parts = element.elements, let column = parts.first?.string else {
                throw WireFault("\(element.description.prefix(80)) is not an order")
            }
            query.order(column, ascending: parts.dropFirst().first?.string?.lowercased().hasPrefix("desc") != true)
        }
        // A limit or an offset below 0 is ignored in these cases.
        query.top = inner.whole("fetchLimit").flatMap { $0 < 0 ? nil : $0 }
        query.skip = inner.whole("fetchOffset").flatMap { $0 < 0 ? nil : $0 }
        query.columns = inner.texts("selectFields")
        query.includesTotalCount = inner.flag("includeTotalCount") ?? false
        query.includesDeleted = inner.flag("includeDeleted") ?? false
        query.parameters = object(inner["parameters"])
        return query
    }

    /// The condition of a case. Arguments with a type keep it as values of variables, which are in their places.
    private static func condition(_ input: WireCase) throws -> (FetchPredicate, [String: AzureLiteral]) {
        var variables: [String: AzureLiteral] = [:]
        for (name, json) in object(input["variables"]) { variables[name] = try literal(json) }
        let (format, rest) = try withVariables(
            input.argument("predicate"), input.elements("args") ?? [], into: &variables)
        do {
            return (try FetchPredicate(format: format, arguments: try WireValues.values(rest)), variables)
        } catch let error as PredicateParseError {
            // A predicate that cannot be expressed here is not one that the service could have.
            throw AzureError.predicateNotSupported.error(
                underlying: [RemoteError(.unsupported, domain: "Wire", message: error.description)])
        }
    }

    /// Puts a variable in place of each `%@` outside of quotes.
    private static func withVariables(
        _ format: String, _ arguments: [JSONValue], into variables: inout [String: AzureLiteral]
    ) throws -> (format: String, rest: [JSONValue]) {
        var text = ""
        var rest: [JSONValue] = []
        var quote: Character?
        var next = 0
        let characters = Array(format)
        var place = 0
        while place < characters.count {
            let character = characters[place]
            place += 1
            text.append(character)
            if let open = quote {
                if character == "\\", place < characters.count {
                    text.append(characters[place])
                    place += 1
                } else if character == open {
                    quote = nil
                }
                continue
            }
            if character == "'" || character == "\"" { quote = character }
            guard character == "%", place < characters.count, next < arguments.count else { continue }
            if characters[place] == "@" {
                text.removeLast()
                let name = "wireArgument\(next)"
                variables[name] = try literal(arguments[next])
                text += "$\(name)"
                place += 1
                next += 1
            } else if characters[place] == "%" {
                text.append("%")
                place += 1
            } else {
                rest.append(arguments[next])
                next += 1
            }
        }
        return (text, rest + arguments.dropFirst(next))
    }

    /// A typed value as it appears in a filter.
    private static func literal(_ json: JSONValue) throws -> AzureLiteral {
        if let elements = json.elements { return .list(try elements.map(literal)) }
        guard let members = json.members, members.count == 1, let (name, content) = members.first else {
            return .value(try WireValues.value(json))
        }
        switch name {
        case "$int32", "$int16":
            if let number = content.integer.flatMap({ Int32(exactly: $0) }) { return .int32(number) }
        case "$int64": if let number = content.integer { return .int64(number) }
        case "$float": if let number = content.double { return .float(Float(number)) }
        case "$dateOffset":
            if let date = content.string.flatMap(AzureDate.date) { return .dateOffset(date) }
        case "$set", "$list", "$array": if let elements = content.elements { return .list(try elements.map(literal)) }
        default: break
        }
        return .value(try WireValues.value(json))
    }

    static func url(_ input: WireCase) throws -> JSONValue {
        let dialect = try dialect(input)
        let parameters = object(input["parameters"])
        if let api = input.text("api") { return ["url": .string(try dialect.url(api: api, parameters: parameters))] }
        return [
            "url": .string(
                try dialect.url(
                    table: input.argument("table"), id: input.text("itemId"), parameters: parameters,
                    query: input.text("rawQuery")))
        ]
    }
}
