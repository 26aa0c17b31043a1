import Foundation

/// Reads XML property lists, with Foundation's parser, within limits of depth and count.
enum XMLPropertyListReader {
    static func read(_ data: Data) throws(PropertyListError) -> PropertyList {
        let document: XMLNode
        do throws(XMLReadingError) {
            document = try XMLTreeReader.read(data, keepsText: true)
        } catch {
            throw .malformed(error.message)
        }
        guard document.name == "plist", let root = document.children.first else { throw .notAPropertyList }
        return try value(root)
    }

    private static func value(_ node: XMLNode) throws(PropertyListError) -> PropertyList {
        let text = node.text
        switch node.name {
        case "string": return .string(text)
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "integer":
            guard let number = Int64(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                throw .malformed("'\(text)' in line \(node.line) is not an integer")
            }
            return .integer(number)
        case "real":
            guard let number = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                throw .malformed("'\(text)' in line \(node.line) is not a number")
            }
            return .real(number)
        case "date":
            guard let date = try? Date(text.trimmingCharacters(in: .whitespacesAndNewlines), strategy: .iso8601) else {
                throw .malformed("'\(text)' in line \(node.line) is not a date")
            }
            return .date(date.timeIntervalSinceReferenceDate)
        case "data":
            guard let bytes = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
                throw .malformed("the data in line \(node.line) is not Base64")
            }
            return .data(bytes)
        case "array":
            var elements: [PropertyList] = []
            for child in node.children { elements.append(try value(child)) }
            return .array(elements)
        case "dict":
            var members: [String: PropertyList] = [:]
            var children = node.children.makeIterator()
            while let key = children.next() {
                guard key.name == "key", let child = children.next() else {
                    throw .malformed(
                        "a dictionary has a key without a value, or a value without a key, in line \(key.line)")
                }
                members[key.text] = try value(child)
            }
            // Keyed archives in XML spell a UID as a dictionary.
            if members.count == 1, case .integer(let uid)? = members["CF$UID"], uid >= 0 { return .uid(Int(uid)) }
            return .dictionary(members)
        default: throw .malformed("the element <\(node.name)> in line \(node.line) is not known")
        }
    }
}
