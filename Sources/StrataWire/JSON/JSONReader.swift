import Foundation

extension JSONValue {
    /// How many arrays and objects may be nested in each other, unless you choose another limit: no text exhausts a
    /// stack of 512 KiB, not in a debug build either, and all that is written can be read.
    public static let maximumDepth = 128

    /// Reads JSON in UTF-8, in time linear in the number of bytes.
    ///
    /// Only what RFC 8259 allows is read, without a byte order mark. Of several members of one name, the last value
    /// counts. Half of a surrogate pair (`\ud83d` on its own) is an error, because it is not a character.
    /// - Parameter maximumDepth: How many arrays and objects may be nested in each other.
    /// - Throws: ``JSONError`` with the place of the fault.
    public init(parsing data: Data, maximumDepth: Int = maximumDepth) throws(JSONError) {
        self = try data.withUnsafeBytes { bytes in
            Self.parse(bytes.bindMemory(to: UInt8.self), maximumDepth)
        }.get()
    }

    /// Reads JSON, in time linear in the length of the text. See ``init(parsing:maximumDepth:)-(Data,_)``.
    /// - Parameter maximumDepth: How many arrays and objects may be nested in each other.
    /// - Throws: ``JSONError`` with the place of the fault.
    public init(parsing text: String, maximumDepth: Int = maximumDepth) throws(JSONError) {
        var text = text
        self = try text.withUTF8 { Self.parse($0, maximumDepth) }.get()
    }

    private static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>, _ maximumDepth: Int
    ) -> Result<JSONValue, JSONError> {
        Result { () throws(JSONError) in
            var reader = JSONReader(bytes, maximumDepth: maximumDepth)
            return try reader.document()
        }
    }
}

/// Walks once over the bytes of a JSON text. It must not outlive them.
struct JSONReader {
    let bytes: UnsafeBufferPointer<UInt8>
    /// How many bytes have been read.
    var place = 0
    private var depth = 0
    private let maximumDepth: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    /// The next byte; nil at the end.
    var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    /// The error for a fault at the place, or at another one.
    func fault(_ reason: String, at offset: Int? = nil) -> JSONError {
        JSONError(reason, at: offset ?? place, in: bytes)
    }

    mutating func document() throws(JSONError) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw fault("the text begins with a byte order mark") }
        let value = try value()
        skipSpace()
        guard next == nil else { throw fault("there is more text after the value") }
        return value
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
    }

    /// Goes past white space, and past a byte that follows.
    /// - Returns: Whether the byte follows.
    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard next == byte else { return false }
        place += 1
        return true
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        skipSpace()
        switch next {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "t"): return try literal("true", .boolean(true))
        case UInt8(ascii: "f"): return try literal("false", .boolean(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case nil: throw fault("the text ends where a value is expected")
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): return try number()
        default: throw fault("expected a value")
        }
    }

    private mutating func literal(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let end = place + word.utf8CodeUnitCount
        guard end <= bytes.count,
            word.withUTF8Buffer({ $0.elementsEqual(UnsafeBufferPointer(rebasing: bytes[place..<end])) })
        else { throw fault("expected a value") }
        place = end
        return value
    }

    private mutating func enter() throws(JSONError) {
        guard depth < maximumDepth else { throw fault("nested more than \(maximumDepth) levels deep") }
        depth += 1
        place += 1
    }

    private mutating func array() throws(JSONError) -> [JSONValue] {
        try enter()
        var elements: [JSONValue] = []
        if !take(UInt8(ascii: "]")) {
            repeat { elements.append(try value()) } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "]")) else { throw fault("expected , or ]") }
        }
        depth -= 1
        return elements
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        try enter()
        var members = JSONObject()
        if !take(UInt8(ascii: "}")) {
            repeat {
                skipSpace()
                guard next == UInt8(ascii: "\"") else { throw fault("expected a name in quotes") }
                let name = try string()
                guard take(UInt8(ascii: ":")) else { throw fault("expected :") }
                members[name] = try value()
            } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "}")) else { throw fault("expected , or }") }
        }
        depth -= 1
        return members
    }
}
