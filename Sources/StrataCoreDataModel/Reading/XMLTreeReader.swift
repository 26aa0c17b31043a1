import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// An element of an XML document, with the line of its start tag.
struct XMLNode: Sendable, Hashable {
    var name: String
    var attributes: [String: String] = [:]
    var children: [XMLNode] = []
    var text = ""
    var line = 0

    func children(named name: String) -> [XMLNode] { children.filter { $0.name == name } }
}

/// Why an XML document cannot be read.
struct XMLReadingError: Error, Sendable, Hashable {
    var message: String
    var line: Int?
}

/// Reads an XML document into a tree. It resolves no external entities, and refuses documents that declare entities
/// of their own, that are nested too deeply, or that have too many elements.
final class XMLTreeReader: NSObject, XMLParserDelegate {
    static let maximumDepth = 128
    static let maximumElements = 2_000_000
    static let maximumSize = 256 << 20

    private var stack: [XMLNode] = []
    private var root: XMLNode?
    private var elements = 0
    private var fault: XMLReadingError?
    private let keepsText: Bool

    private init(keepsText: Bool) { self.keepsText = keepsText }

    static func read(_ data: Data, keepsText: Bool = false) throws(XMLReadingError) -> XMLNode {
        guard data.count <= maximumSize else { throw XMLReadingError(message: "the file is too large") }
        guard !declaresEntities(data) else {
            throw XMLReadingError(message: "it declares entities; documents with declarations of their own are refused")
        }
        let reader = XMLTreeReader(keepsText: keepsText)
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        parser.delegate = reader
        let isRead = parser.parse()
        if let fault = reader.fault { throw fault }
        guard isRead, let root = reader.root else {
            throw XMLReadingError(message: "this is not well-formed XML", line: max(parser.lineNumber, 1))
        }
        return root
    }

    /// Whether the bytes contain the start of an entity declaration. Foundation's parser on Linux does not report declarations,
    /// so that the bytes are searched; zeros are skipped for documents in UTF-16.
    private static func declaresEntities(_ data: Data) -> Bool {
        let start = Array("<!ENTITY".utf8)
        var matched = 0
        for byte in data where byte != 0 {
            if byte == start[matched] {
                matched += 1
                if matched == start.count { return true }
            } else {
                matched = byte == start[0] ? 1 : 0
            }
        }
        return false
    }

    private func stop(_ parser: XMLParser, _ message: String) {
        if fault == nil { fault = XMLReadingError(message: message, line: parser.lineNumber) }
        parser.abortParsing()
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard fault == nil else { return }
        elements += 1
        if stack.count >= Self.maximumDepth { return stop(parser, "the elements are nested too deeply") }
        if elements > Self.maximumElements { return stop(parser, "there are too many elements") }
        stack.append(XMLNode(name: name, attributes: attributes, line: parser.lineNumber))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard fault == nil, let node = stack.popLast() else { return }
        if stack.isEmpty { root = node } else { stack[stack.count - 1].children.append(node) }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if keepsText, fault == nil, !stack.isEmpty { stack[stack.count - 1].text += text }
    }
}
