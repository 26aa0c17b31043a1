import Foundation

/// A file on its way to a binary field of StackMob: the field takes a text with type, name and content, and holds an
/// address once the server has stored the file.
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

    /// Why a text is not that of a file.
    public enum Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// It has not the headers of a file: it is an address, or any other text.
        case noHeaders
        /// The content is not base64.
        case noBase64

        /// What is wrong.
        public var description: String {
            switch self {
            case .noHeaders: InlineFile.Fault.noHeaders.description
            case .noBase64: InlineFile.Fault.noBase64.description
            }
        }
    }

    /// The text that the field takes: three headers, an empty line, and the content in base64. Line breaks in name and
    /// type, which would begin another header, are left out.
    public var fieldValue: String { InlineFile(name: name, contentType: contentType, data: data).fieldValue }

    /// Reads the text that a field takes. The type is `application/octet-stream` and the name is empty where the
    /// headers do not tell them.
    /// - Throws: ``Fault``.
    public init(fieldValue: String) throws(Fault) {
        do throws(InlineFile.Fault) {
            let file = try InlineFile(fieldValue: fieldValue)
            self.init(name: file.name, contentType: file.contentType, data: file.data)
        } catch {
            throw error == .noHeaders ? .noHeaders : .noBase64
        }
    }

    /// Whether a field holds the address of a stored file, and not the text of one that is still to be stored.
    public static func isAddress(_ fieldValue: String) -> Bool { InlineFile.isAddress(fieldValue) }

    /// The content in the text that a field takes, as the libraries for StackMob read it: the word `base64` marks where
    /// it begins, so that a file with this word in its name cannot be read.
    /// - Throws: ``RemoteError`` if it is the address of a stored file, or anything else.
    public static func data(fieldValue: String) throws(RemoteError) -> Data {
        guard fieldValue.ranges(of: "base64").count == 1, let file = try? StackMobFile(fieldValue: fieldValue) else {
            throw StackMobError.incompatible(
                "a file that is not stored yet is a text with its content in base64, not \"\(fieldValue.prefix(80))\"")
        }
        return file.data
    }
}
