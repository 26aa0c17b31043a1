import Foundation

/// JSON text as values and back: objects are ``Value/composite(_:)``, arrays ``Value/list(_:)``.
///
/// The reader takes what RFC 8259 allows and nothing else: whole numbers that fit 64 bits are
/// ``Value/integer(_:)``, all others ``Value/double(_:)``; if an object has a key twice, the first counts, as it does
/// for SQLite.
package enum JSONText {
    /// How deeply arrays and objects may be nested. The reader and everybody who walks its values call themselves for
    /// each level.
    package static let depthLimit = 64

    /// Reads a text.
    /// - Returns: nil if it is not JSON, or is nested too deeply.
    package static func value(of bytes: UnsafeRawBufferPointer) -> Value? {
        var reader = JSONReader(bytes: bytes)
        return reader.document()
    }

    /// Reads a text.
    package static func value(of text: String) -> Value? {
        var text = text
        return text.withUTF8 { value(of: UnsafeRawBufferPointer($0)) }
    }

    /// The member of a text at a path: ``Value/null`` where there is none.
    /// - Returns: nil if the text as a whole is not JSON.
    package static func member(of bytes: UnsafeRawBufferPointer, at path: [JSONStep]) -> Value? {
        var reader = JSONReader(bytes: bytes)
        return reader.document(.member(path[...]))
    }

    /// Where the member at a path is in a text.
    /// - Returns: nil if there is none, or if the text as a whole is not JSON.
    package static func place(of path: [JSONStep], in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        var reader = JSONReader(bytes: bytes)
        return reader.document(.member(path[...])) == nil ? nil : reader.found
    }

    /// Writes a value, with the keys of objects in the order of their bytes.
    /// - Returns: nil for what JSON has no form for: dates, bytes, numbers that are not finite.
    package static func text(of value: Value) -> String? {
        var text = ""
        return write(value, to: &text, depth: 1) ? text : nil
    }

    private static func write(_ value: Value, to text: inout String, depth: Int) -> Bool {
        guard depth <= depthLimit else { return false }
        switch value {
        case .null: text += "null"
        case .boolean(let flag): text += flag ? "true" : "false"
        case .integer(let number): text += String(number)
        case .double(let number):
            guard number.isFinite else { return false }
            text += String(number)
        case .decimal(let number):
            guard !number.isNaN else { return false }
            text += number.description
        case .string(let content): quote(content, to: &text)
        case .list(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                guard write(value, to: &text, depth: depth + 1) else { return false }
            }
            text += "]"
        case .composite(let members):
            text += "{"
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, member) in sorted.enumerated() {
                if index > 0 { text += "," }
                quote(member.key, to: &text)
                text += ":"
                guard write(member.value, to: &text, depth: depth + 1) else { return false }
            }
            text += "}"
        case .date, .binary, .uuid, .uri, .geoPoint, .object, .set: return false
        }
        return true
    }

    private static func quote(_ content: String, to text: inout String) {
        text += "\""
        for scalar in content.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20:
                text += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

/// A step of a path into JSON.
package enum JSONStep: Hashable {
    /// A member of an object.
    case key(String)
    /// An element of an array, counted from 0.
    case index(Int)
    /// The last element of an array.
    case last
}
