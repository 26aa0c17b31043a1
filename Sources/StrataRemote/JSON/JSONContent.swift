import StrataModel

extension JSONValue {
    /// The JSON of a value of an attribute that is kept as JSON.
    /// - Returns: nil for what JSON has no form for: dates, bytes, numbers that are not finite.
    package init?(content: StrataModel.Value) {
        switch content {
        case .null: self = .null
        case .boolean(let flag): self = .boolean(flag)
        case .integer(let number): self = .integer(number)
        case .double(let number) where number.isFinite: self = .double(number)
        case .decimal(let number) where !number.isNaN: self = .decimal(number)
        case .string(let text): self = .string(text)
        case .list(let values):
            let elements = values.compactMap(JSONValue.init(content:))
            guard elements.count == values.count else { return nil }
            self = .array(elements)
        case .composite(let values):
            var members: JSONObject = [:]
            // The same value has the same bytes when it is sent again.
            for (name, value) in values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                guard let member = JSONValue(content: value) else { return nil }
                members[name] = member
            }
            self = .object(members)
        default: return nil
        }
    }

    /// The value that an attribute that is kept as JSON takes from an answer.
    package var content: StrataModel.Value {
        switch self {
        case .null: .null
        case .boolean(let flag): .boolean(flag)
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        case .decimal(let number): .decimal(number)
        case .string(let text): .string(text)
        case .array(let elements): .list(elements.map(\.content))
        case .object(let members):
            .composite(Dictionary(members.map { ($0.0, $0.1.content) }, uniquingKeysWith: { first, _ in first }))
        }
    }

    /// The content if it is an array whose elements are of a type; nil for everything else.
    package func list(of element: AttributeType) -> StrataModel.Value? {
        guard case .list(let values) = content, element.firstMisfit(in: values) == nil else { return nil }
        return .list(values)
    }
}
