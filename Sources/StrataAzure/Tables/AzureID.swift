import Foundation

/// What may be the id of a row.
enum AzureID {
    private static let forbidden: Set<Unicode.Scalar> = ["+", "?", "`", "\"", "/", "\\"]

    /// Whether a text may be an id: 1 to 255 characters, not only white space, neither `.` nor `..`, without control
    /// characters and without any of ``forbidden``.
    static func isValid(_ text: String) -> Bool {
        guard (1...255).contains(text.utf16.count), text != ".", text != "..",
            text.contains(where: { !$0.isWhitespace })
        else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            scalar.value > 0x1F && !(0x7F...0x9F).contains(scalar.value) && !forbidden.contains(scalar)
        }
    }
}

extension AzureDialect {
    /// The id as it appears in an address.
    /// - Throws: ``RemoteError`` of code ``AzureError/expectedItemID`` without one, and ``AzureError/invalidItemID``
    ///   for an invalid one: not text or a whole number, 0, or text against the rules.
    public func id(_ id: JSONValue?) throws(RemoteError) -> String {
        guard let id, !id.isNull else { throw error(.expectedItemID) }
        switch id {
        case .string(let text) where AzureID.isValid(text): return text
        case .integer, .double, .decimal:
            if let number = id.integer, number != 0 { return String(number) }
        default: break
        }
        throw error(.invalidItemID)
    }

    /// The id of an item, in its member `id`.
    /// - Throws: As ``id(_:)``; ``AzureError/missingItemID`` if there is no such member.
    public func id(of item: JSONObject) throws(RemoteError) -> String {
        guard let id = item["id"] else { throw error(.missingItemID) }
        return try self.id(id)
    }

    /// Refuses a new item whose id is invalid, or that has a member which differs from `id` only in case.
    func checkNew(_ item: JSONObject) throws(RemoteError) {
        for (name, value) in item where name.lowercased() == "id" {
            switch value {
            case .null, .string(""): continue
            case .string(let text):
                guard name == "id", AzureID.isValid(text) else { throw error(.invalidItemID) }
            case .integer, .double, .decimal:
                guard value.double == 0 else { throw error(.existingItemID) }
            default: throw error(.invalidItemID)
            }
        }
    }
}
