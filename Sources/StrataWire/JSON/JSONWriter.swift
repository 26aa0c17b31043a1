import Foundation

extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON in UTF-8, with the members of objects in their order.
    /// - Parameter sortingNames: Whether members are sorted by name instead, so that equal values have equal bytes.
    /// - Throws: ``JSONWritingError`` for a number that is not finite, and for values nested more deeply than
    ///   ``maximumDepth``.
    public func data(sortingNames: Bool = false) throws(JSONWritingError) -> Data {
        var writer = JSONWriter(sortsNames: sortingNames)
        writer.bytes.reserveCapacity(512)
        try writer.write(self)
        return Data(writer.bytes)
    }

    /// The value as compact JSON. See ``data(sortingNames:)``.
    /// - Parameter sortingNames: Whether members are sorted by name.
    /// - Throws: ``JSONWritingError`` for a number that is not finite, and for values nested more deeply than
    ///   ``maximumDepth``.
    public func text(sortingNames: Bool = false) throws(JSONWritingError) -> String {
        var writer = JSONWriter(sortsNames: sortingNames)
        try writer.write(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Adds the value to bytes, as ``data(sortingNames:)`` writes it.
    /// - Throws: ``JSONWritingError``; then part of the value may have been added.
    package func append(to bytes: inout [UInt8]) throws(JSONWritingError) {
        var writer = JSONWriter(sortsNames: false)
        swap(&writer.bytes, &bytes)
        defer { swap(&writer.bytes, &bytes) }
        try writer.write(self)
    }

    /// The value for a message: compact JSON, or why there is none. Use ``text(sortingNames:)`` for what others read.
    public var description: String {
        do throws(JSONWritingError) { return try text() } catch { return "(\(error))" }
    }
}

/// Writes JSON in which a line break within a value is always an escape, whatever counts as one for the reader: control
/// characters and the separators of lines and paragraphs are escaped.
struct JSONWriter {
    fileprivate var bytes: [UInt8] = []
    private var depth = 0
    private let sortsNames: Bool

    init(sortsNames: Bool) { self.sortsNames = sortsNames }

    mutating func write(_ value: JSONValue) throws(JSONWritingError) {
        switch value {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .boolean(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .integer(let number): write(number)
        case .double(let number):
            guard number.isFinite else { throw Self.fault("\(number) is not a number of JSON") }
            bytes.append(contentsOf: number.description.utf8)
        case .decimal(let number):
            guard number.isFinite else { throw Self.fault("\(number) is not a number of JSON") }
            bytes.append(contentsOf: number.description.utf8)
        case .string(let text): write(text)
        case .array(let elements): try write(elements)
        case .object(let members): try write(members)
        }
    }

    private static func fault(_ reason: String) -> JSONWritingError { JSONWritingError(path: "$", reason: reason) }

    private mutating func enter(_ bracket: Unicode.Scalar) throws(JSONWritingError) {
        guard depth < JSONValue.maximumDepth else {
            throw Self.fault("nested more than \(JSONValue.maximumDepth) levels deep")
        }
        depth += 1
        bytes.append(UInt8(ascii: bracket))
    }

    private mutating func leave(_ bracket: Unicode.Scalar) {
        depth -= 1
        bytes.append(UInt8(ascii: bracket))
    }

    private mutating func write(_ elements: [JSONValue]) throws(JSONWritingError) {
        try enter("[")
        for (place, element) in elements.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            do throws(JSONWritingError) { try write(element) } catch { throw error.within("[\(place)]") }
        }
        leave("]")
    }

    private mutating func write(_ members: JSONObject) throws(JSONWritingError) {
        try enter("{")
        if sortsNames {
            try write(members: members.sorted { $0.name < $1.name })
        } else {
            try write(members: members)
        }
        leave("}")
    }

    private mutating func write(members: some Sequence<JSONObject.Member>) throws(JSONWritingError) {
        var isFirst = true
        for (name, value) in members {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            write(name)
            bytes.append(UInt8(ascii: ":"))
            do throws(JSONWritingError) { try write(value) } catch { throw error.within(".\(name.prefix(80))") }
        }
    }

    private mutating func write(_ number: Int64) {
        bytes.append(contentsOf: String(number).utf8)
    }
}

extension JSONWritingError {
    /// The error of a value within another.
    fileprivate func within(_ step: String) -> JSONWritingError {
        var copy = self
        copy.path = "$" + step + path.dropFirst()
        return copy
    }
}

extension JSONWriter {
    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { write($0) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func write(_ text: UnsafeBufferPointer<UInt8>) {
        var start = 0
        var place = 0
        while place < text.count {
            let length = Self.escapedLength(text, place)
            if length == 0 {
                place += 1
                continue
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<place]))
            escape(text, place, length)
            place += length
            start = place
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
    }

    /// How many bytes at a place are a character that is escaped; 0 if there is none.
    private static func escapedLength(_ text: UnsafeBufferPointer<UInt8>, _ place: Int) -> Int {
        switch text[place] {
        case 0..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x7F: 1
        // U+0080 to U+009F.
        case 0xC2 where text[place + 1] < 0xA0: 2
        // U+2028 and U+2029.
        case 0xE2 where text[place + 1] == 0x80 && text[place + 2] | 1 == 0xA9: 3
        default: 0
        }
    }

    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>, _ place: Int, _ length: Int) {
        bytes.append(UInt8(ascii: "\\"))
        switch text[place] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(text[place])
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        default:
            bytes.append(contentsOf: length == 3 ? "u20".utf8 : "u00".utf8)
            bytes.append(
                contentsOf: Hexadecimal.digits(of: length == 3 ? text[place + 2] & 0x2F : text[place + length - 1]))
        }
    }
}
