import Foundation

extension PropertyList {
    /// The value as a binary property list. Equal strings are written once; keys are in alphabetical order.
    package func binary() -> Data {
        var writer = BinaryPropertyListWriter()
        return writer.write(self)
    }

    /// The value as an XML property list.
    package func xml() -> String {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        appendXML(to: &text, indent: "")
        return text + "</plist>\n"
    }

    private func appendXML(to text: inout String, indent: String) {
        switch self {
        case .string(let string): text += "\(indent)<string>\(XMLText.escaped(string))</string>\n"
        case .integer(let number): text += "\(indent)<integer>\(number)</integer>\n"
        case .real(let number): text += "\(indent)<real>\(number)</real>\n"
        case .boolean(let flag): text += "\(indent)<\(flag ? "true" : "false")/>\n"
        case .date(let seconds):
            text += "\(indent)<date>\(Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601))</date>\n"
        case .data(let bytes): text += "\(indent)<data>\(bytes.base64EncodedString())</data>\n"
        case .uid(let uid):
            text +=
                "\(indent)<dict>\n\(indent)\t<key>CF$UID</key>\n\(indent)\t<integer>\(uid)</integer>\n\(indent)</dict>\n"
        case .null: text += "\(indent)<string>$null</string>\n"
        case .array(let elements):
            text += "\(indent)<array>\n"
            for element in elements { element.appendXML(to: &text, indent: indent + "\t") }
            text += "\(indent)</array>\n"
        case .dictionary(let members):
            text += "\(indent)<dict>\n"
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                text += "\(indent)\t<key>\(XMLText.escaped(key))</key>\n"
                value.appendXML(to: &text, indent: indent + "\t")
            }
            text += "\(indent)</dict>\n"
        }
    }
}

/// Writes binary property lists.
private struct BinaryPropertyListWriter {
    private enum Flat {
        case leaf([UInt8])
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    private var objects: [Flat] = []
    private var indexes: [PropertyList: Int] = [:]

    mutating func write(_ list: PropertyList) -> Data {
        let top = add(list)
        let referenceSize = Self.size(of: objects.count)
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            switch object {
            case .leaf(let content): bytes += content
            case .array(let references):
                bytes += Self.header(0xA0, count: references.count)
                for index in references { bytes += Self.number(index, size: referenceSize) }
            case .dictionary(let keys, let values):
                bytes += Self.header(0xD0, count: keys.count)
                for index in keys + values { bytes += Self.number(index, size: referenceSize) }
            }
        }
        let table = bytes.count
        let offsetSize = Self.size(of: table)
        for offset in offsets { bytes += Self.number(offset, size: offsetSize) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for number in [objects.count, top, table] { bytes += Self.number(number, size: 8) }
        return Data(bytes)
    }

    private mutating func add(_ value: PropertyList) -> Int {
        switch value {
        case .array(let elements):
            let index = objects.count
            objects.append(.array([]))
            let references = elements.map { add($0) }
            objects[index] = .array(references)
            return index
        case .dictionary(let members):
            let index = objects.count
            objects.append(.array([]))
            let sorted = members.sorted { $0.key < $1.key }
            let keys = sorted.map { add(.string($0.key)) }
            let values = sorted.map { add($0.value) }
            objects[index] = .dictionary(keys: keys, values: values)
            return index
        default:
            if let known = indexes[value] { return known }
            let index = objects.count
            objects.append(.leaf(Self.leaf(value)))
            indexes[value] = index
            return index
        }
    }

    private static func leaf(_ value: PropertyList) -> [UInt8] {
        switch value {
        case .string(let text):
            if text.utf8.allSatisfy({ $0 < 128 }) { return header(0x50, count: text.utf8.count) + Array(text.utf8) }
            let units = Array(text.utf16)
            return header(0x60, count: units.count) + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        case .integer(let number): return integer(number)
        case .real(let number): return [0x23] + bits(number.bitPattern)
        case .boolean(let flag): return [flag ? 9 : 8]
        case .date(let seconds): return [0x33] + bits(seconds.bitPattern)
        case .data(let data): return header(0x40, count: data.count) + [UInt8](data)
        case .uid(let uid):
            let width = size(of: uid)
            return [0x80 | UInt8(width - 1)] + number(uid, size: width)
        case .null, .array, .dictionary: return [0]
        }
    }

    private static func bits(_ pattern: UInt64) -> [UInt8] { (0..<8).map { UInt8(pattern >> (56 - 8 * $0) & 255) } }

    private static func integer(_ value: Int64) -> [UInt8] {
        guard value >= 0 else { return [0x13] + bits(UInt64(bitPattern: value)) }
        let width = size(of: Int(value))
        return [0x10 | UInt8(width.trailingZeroBitCount)] + number(Int(value), size: width)
    }

    private static func header(_ kind: UInt8, count: Int) -> [UInt8] {
        count < 15 ? [kind | UInt8(count)] : [kind | 15] + integer(Int64(count))
    }

    private static func size(of number: Int) -> Int {
        number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }

    private static func number(_ value: Int, size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - $0))) }
    }
}
