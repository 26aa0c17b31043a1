import Foundation

/// A file as the text of a field: with type, name and content.
public struct InlineFile: Sendable, Hashable {
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
            case .noHeaders: "the text does not begin with the headers of a file with its content in base64"
            case .noBase64: "the content of the file is not base64"
            }
        }
    }

    /// The text that the field takes: three headers, an empty line, and the content in base64. Line breaks in name and
    /// type, which would begin another header, are left out.
    public var fieldValue: String {
        """
        \(Self.contentTypeHeader): \(Self.oneLine(contentType))
        Content-Disposition: attachment; filename=\(Self.oneLine(name))
        Content-Transfer-Encoding: base64


        """ + data.base64EncodedString()
    }

    /// Reads the text that a field takes. The type is `application/octet-stream` and the name is empty where the
    /// headers do not tell them.
    /// - Throws: ``Fault``.
    public init(fieldValue: String) throws(Fault) {
        guard fieldValue.utf8.starts(with: "\(Self.contentTypeHeader):".utf8) else { throw .noHeaders }
        var rest = Substring(fieldValue).utf8
        var headers: [String: String] = [:]
        while let line = Self.line(&rest), !line.isEmpty {
            guard let colon = line.firstIndex(of: ":") else { throw .noHeaders }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...]
                .trimmingCharacters(in: .whitespaces)
        }
        guard headers["content-transfer-encoding"]?.lowercased() == "base64" else { throw .noHeaders }
        let content = rest.filter { $0 != 0x0A && $0 != 0x0D }
        guard let data = Data(base64Encoded: Data(content)) else { throw .noBase64 }
        self.data = data
        contentType = headers["content-type"].flatMap { $0.isEmpty ? nil : $0 } ?? "application/octet-stream"
        let disposition = headers["content-disposition"] ?? ""
        name = disposition.firstRange(of: "filename=").map { String(disposition[$0.upperBound...]) } ?? ""
    }

    /// Whether a field holds the address of a stored file, and not the text of one that is still to be stored.
    public static func isAddress(_ fieldValue: String) -> Bool { !fieldValue.contains(contentTypeHeader) }

    private static let contentTypeHeader = "Content-Type"

    private static func oneLine(_ text: String) -> String { text.filter { !$0.isNewline } }

    /// Takes the next line, without its end; nil at the end of the text.
    private static func line(_ rest: inout Substring.UTF8View) -> Substring? {
        guard !rest.isEmpty else { return nil }
        let line = rest.prefix { $0 != 0x0A }
        rest = rest.dropFirst(line.count + 1)
        return Substring(line.last == 0x0D ? line.dropLast() : line)
    }
}
