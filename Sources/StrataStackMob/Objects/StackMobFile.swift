import Foundation

/// A file on its way to a binary field: the field takes a text with type, name and content, and holds an address once
/// the server has stored the file.
public struct StackMobFile: Sendable, Hashable {
    /// The name of the file.
    public var name: String
    /// The MIME type.
    public var contentType: String
    /// The content.
    public var data: Data

    /// Describes a file.
    public init(name: String, contentType: String, data: Data) {
        self.name = name
        self.contentType = contentType
        self.data = data
    }

    /// The text that the field takes.
    public var fieldValue: String {
        "Content-Type: \(contentType)\nContent-Disposition: attachment; filename=\(name)\n"
            + "Content-Transfer-Encoding: base64\n\n\(data.base64EncodedString())"
    }

    /// Reads the text that a field takes.
    /// - Throws: ``RemoteError`` if it is the address of a stored file, or anything else.
    public init(fieldValue: String) throws(RemoteError) {
        data = try Self.data(fieldValue: fieldValue)
        func header(_ name: String) -> String? {
            fieldValue.split(separator: "\n").first { $0.hasPrefix(name + ": ") }.map {
                String($0.dropFirst(name.count + 2))
            }
        }
        contentType = header("Content-Type") ?? "application/octet-stream"
        let disposition = header("Content-Disposition") ?? ""
        name = disposition.range(of: "filename=").map { String(disposition[$0.upperBound...]) } ?? ""
    }

    /// The content in the text that a field takes.
    /// - Throws: ``RemoteError`` if it is the address of a stored file, or anything else.
    public static func data(fieldValue: String) throws(RemoteError) -> Data {
        let parts = fieldValue.components(separatedBy: "base64")
        guard parts.count == 2, let data = Data(base64Encoded: parts[1].trimmingCharacters(in: .whitespacesAndNewlines))
        else {
            throw StackMobError.incompatible(
                "a file that is not stored yet is a text with its content in base64, not \"\(fieldValue.prefix(80))\"")
        }
        return data
    }

    /// Whether a field holds the address of a stored file, and not the text of one that is still to be stored.
    public static func isAddress(_ fieldValue: String) -> Bool { !fieldValue.contains("Content-Type") }
}
