import Foundation

/// A place in the history of a store: after one transaction, before the next. Keep it wherever you like, in a file for
/// instance; it stays valid until later history is purged.
///
///     let token = try container.currentHistoryToken()
///     let news = try container.history(after: token)
///
/// Tokens of one store are in the order of its transactions. The order of tokens of different stores means nothing.
public struct HistoryToken: Sendable, Hashable, Comparable {
    /// The store.
    package let store: UUID
    /// The row that ends the transaction.
    package let position: Int64
    /// A random number that this row has, by which a restored backup, or another recording, is recognized.
    package let tag: Int64

    package init(store: UUID, position: Int64, tag: Int64) {
        self.store = store
        self.position = position
        self.tag = tag
    }

    /// Whether the place of one token is before that of another.
    public static func < (a: HistoryToken, b: HistoryToken) -> Bool {
        (a.position, a.tag, a.store.uuidString) < (b.position, b.tag, b.store.uuidString)
    }
}

extension HistoryToken: LosslessStringConvertible, Codable {
    /// The token as text, which ``init(_:)`` reads.
    public var description: String { "\(store.uuidString.lowercased())/\(position)/\(tag)" }

    /// Reads what ``description`` gives.
    /// - Returns: nil if it is not the text of a token.
    public init?(_ description: String) {
        let parts = description.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let store = UUID(uuidString: String(parts[0])), let position = Int64(parts[1]),
            position > 0, let tag = Int64(parts[2])
        else { return nil }
        self.init(store: store, position: position, tag: tag)
    }

    /// Reads a token.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let token = HistoryToken(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\(text) is not a history token; start from a current one")
        }
        self = token
    }

    /// Writes the token as one string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
