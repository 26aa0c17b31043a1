import Foundation

/// A value of a property list, with the `UID` values of keyed archives, which Foundation does not show on every platform.
package indirect enum PropertyList: Sendable, Hashable {
    case string(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    /// Seconds since 2001-01-01 00:00 UTC.
    case date(Double)
    case data(Data)
    case array([PropertyList])
    case dictionary([String: PropertyList])
    /// A reference to an object of a keyed archive.
    case uid(Int)
    case null

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .boolean(let flag): flag ? 1 : 0
        case .real(let number): Int64(exactly: number)
        default: nil
        }
    }
    package var boolean: Bool? { integer.map { $0 != 0 } }
    package var data: Data? { if case .data(let bytes) = self { bytes } else { nil } }
    package var array: [PropertyList]? { if case .array(let elements) = self { elements } else { nil } }
    package var dictionary: [String: PropertyList]? {
        if case .dictionary(let members) = self { members } else { nil }
    }
    package var uid: Int? { if case .uid(let number) = self { number } else { nil } }
}

/// Why bytes are not a property list or keyed archive that can be read.
package enum PropertyListError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The bytes do not begin as a property list does.
    case notAPropertyList
    /// The list ends early, or an offset or a count leads out of it.
    case outOfBounds(String)
    /// A byte says something that the format does not know.
    case malformed(String)
    /// The list is nested too deeply, contains itself, or expands to too many values.
    case tooLarge(String)
    /// A keyed archive lacks what is needed of it.
    case archive(String)

    package var description: String {
        switch self {
        case .notAPropertyList: "this is not a property list"
        case .outOfBounds(let what): "the property list is damaged: \(what) leads out of the file"
        case .malformed(let what): "the property list is damaged: \(what)"
        case .tooLarge(let what): "the property list is refused: \(what)"
        case .archive(let what): "the keyed archive cannot be read: \(what)"
        }
    }
}

extension PropertyList {
    /// How many levels a list may have, and how many values in all. Models need some dozen levels and some ten thousand
    /// values; a damaged list can contain itself, or double in size with every level.
    static let maximumDepth = 128
    static let maximumCount = 2_000_000

    /// Reads a binary or XML property list.
    package init(data: Data) throws(PropertyListError) {
        if data.starts(with: Array("bplist".utf8)) {
            var reader = try BinaryPropertyListReader([UInt8](data))
            self = try reader.root()
        } else {
            self = try XMLPropertyListReader.read(data)
        }
    }
}
