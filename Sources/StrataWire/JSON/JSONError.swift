/// Why a text is not JSON.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// How many bytes come before the fault.
    public let offset: Int
    /// The line of the fault, counted from 1.
    public let line: Int
    /// The place of the fault in its line in Unicode scalars, counted from 1.
    public let column: Int
    /// What is wrong there.
    public let reason: String

    /// The place, and what is wrong there.
    public var description: String { "invalid JSON at line \(line), column \(column) (byte \(offset)): \(reason)" }

    /// Describes a fault in a text.
    init(_ reason: String, at offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        let before = text.prefix(offset)
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        self.offset = offset
        line = 1 + before.count { $0 == UInt8(ascii: "\n") }
        // Bytes that continue a scalar do not begin another.
        column = 1 + before[start...].count { $0 & 0xC0 != 0x80 }
        self.reason = reason
    }
}

/// Why a value cannot be written as JSON.
public struct JSONWritingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The way to the faulty value from the outermost one: `$.prices[3]`.
    public internal(set) var path: String
    /// What is wrong with it.
    public let reason: String

    /// The way to the value, and what is wrong with it.
    public var description: String { "no JSON for \(path): \(reason)" }
}
