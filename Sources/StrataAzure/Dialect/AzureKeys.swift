import StrataStore

/// The ids of a table.
enum AzureKeys: Sendable, Hashable {
    /// Texts, which clients may choose.
    case text
    /// Whole numbers from 1 on, which only the server assigns. Rows of such a table have no columns of the server's own:
    /// neither a version nor the time of the last change.
    case integers

    /// The ids for primary keys of a type; nil if no table has such ids.
    init?(_ type: AttributeType?, _ version: AzureVersion) {
        switch (type, version) {
        case (.string?, _): self = .text
        case (.integer64?, .mobileServices): self = .integers
        default: return nil
        }
    }

    /// An id as JSON; nil for a number that no server has assigned, such as that of a new object, and for a text in its place.
    func json(_ id: String) -> JSONValue? {
        switch self {
        case .text: .string(id)
        case .integers: Int64(id).flatMap { $0 > 0 ? .integer($0) : nil }
        }
    }

    /// The id in an answer; nil if there is none. The number 0 stands for none.
    func id(_ json: JSONValue?) -> String? {
        switch (self, json) {
        case (.text, .string(let text)?): text.isEmpty ? nil : text
        case (.text, .integer(let number)?): String(number)
        case (.integers, let json?): json.integer.flatMap { $0 == 0 ? nil : String($0) }
        default: nil
        }
    }

    /// The value of the primary key.
    func value(_ id: String) -> Value {
        self == .integers ? Int64(id).map(Value.integer) ?? .null : .string(id)
    }

    /// Whether a row may have an id, so that it can be part of an address.
    func isValid(_ id: String) -> Bool { self == .text ? AzureID.isValid(id) : json(id) != nil }

    /// What is compared with the column of an id in a filter; nil if no row has such an id.
    func literal(_ id: String) -> AzureLiteral? {
        self == .integers ? Int64(id).map { .value(.integer($0)) } : .value(.string(id))
    }
}
