import Foundation

/// Why a stream is not one of DEFLATE, or not one that is read.
enum DeflateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The stream ends early.
    case truncated
    /// A code, a length or a distance that the format does not know.
    case malformed
    /// The content is larger than the limit, in bytes.
    case tooLarge(Int)

    var description: String {
        switch self {
        case .truncated: "the compressed data ends early"
        case .malformed: "the compressed data is malformed"
        case .tooLarge(let limit): "the compressed data expands to more than \(limit) bytes"
        }
    }
}

/// Raw DEFLATE streams (RFC 1951), as stores keep their model in.
struct Inflater {
    private let bytes: [UInt8]
    private let limit: Int
    private var position = 0
    private var bits: UInt32 = 0
    private var bitCount = 0
    private var output: [UInt8] = []

    /// The content of a stream.
    /// - Parameter limit: The maximum size of the content in bytes.
    static func inflate(_ data: Data, limit: Int = 64 << 20) throws(DeflateError) -> Data {
        var inflater = Inflater(bytes: [UInt8](data), limit: limit)
        try inflater.run()
        return Data(inflater.output)
    }

    private init(bytes: [UInt8], limit: Int) {
        self.bytes = bytes
        self.limit = limit
    }

    /// A table of canonical Huffman codes: how many codes there are of each length, and their symbols in order.
    private struct Codes {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        init(_ lengths: some Collection<Int>) throws(DeflateError) {
            for length in lengths { counts[length] += 1 }
            var left = 1
            for length in 1..<16 {
                left = left * 2 - counts[length]
                guard left >= 0 else { throw .malformed }
            }
            symbols = lengths.enumerated().filter { $0.element > 0 }
                .sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }.map(\.offset)
            counts[0] = 0
        }
    }

    private mutating func run() throws(DeflateError) {
        var isLast = false
        while !isLast {
            isLast = try take(1) == 1
            switch try take(2) {
            case 0: try copyStored()
            case 1:
                let lengths = (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
                try expand(Codes(lengths), Codes([Int](repeating: 5, count: 30)))
            case 2:
                let (literals, distances) = try readCodes()
                try expand(literals, distances)
            default: throw .malformed
            }
        }
    }

    private mutating func take(_ count: Int) throws(DeflateError) -> Int {
        while bitCount < count {
            guard position < bytes.count else { throw .truncated }
            bits |= UInt32(bytes[position]) << UInt32(bitCount)
            position += 1
            bitCount += 8
        }
        let value = Int(bits & ((1 << UInt32(count)) - 1))
        bits >>= UInt32(count)
        bitCount -= count
        return value
    }

    private mutating func copyStored() throws(DeflateError) {
        bits = 0
        bitCount = 0
        guard position + 4 <= bytes.count else { throw .truncated }
        let length = Int(bytes[position]) | Int(bytes[position + 1]) << 8
        guard length ^ 0xffff == Int(bytes[position + 2]) | Int(bytes[position + 3]) << 8 else { throw .malformed }
        position += 4
        guard position + length <= bytes.count else { throw .truncated }
        guard output.count + length <= limit else { throw .tooLarge(limit) }
        output += bytes[position..<position + length]
        position += length
    }

    private mutating func symbol(_ codes: Codes) throws(DeflateError) -> Int {
        var (code, first, index) = (0, 0, 0)
        for length in 1..<16 {
            code |= try take(1)
            let count = codes.counts[length]
            if code - count < first { return codes.symbols[index + code - first] }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw .malformed
    }

    /// The codes of a block that brings its own.
    private mutating func readCodes() throws(DeflateError) -> (Codes, Codes) {
        let literalCount = try take(5) + 257
        let distanceCount = try take(5) + 1
        let lengthCount = try take(4) + 4
        guard literalCount <= 286, distanceCount <= 30 else { throw .malformed }
        var first = [Int](repeating: 0, count: 19)
        let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
        for index in 0..<lengthCount { first[order[index]] = try take(3) }
        let lengthCodes = try Codes(first)
        var lengths: [Int] = []
        while lengths.count < literalCount + distanceCount {
            let symbol = try symbol(lengthCodes)
            switch symbol {
            case 0..<16: lengths.append(symbol)
            case 16:
                guard let last = lengths.last else { throw .malformed }
                lengths += [Int](repeating: last, count: 3 + (try take(2)))
            case 17: lengths += [Int](repeating: 0, count: 3 + (try take(3)))
            default: lengths += [Int](repeating: 0, count: 11 + (try take(7)))
            }
        }
        guard lengths.count == literalCount + distanceCount, lengths[256] > 0 else { throw .malformed }
        return (try Codes(lengths[..<literalCount]), try Codes(lengths[literalCount...].map(\.self)))
    }

    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145,
        8193, 12289, 16385, 24577,
    ]

    private mutating func expand(_ literals: Codes, _ distances: Codes) throws(DeflateError) {
        while true {
            let symbol = try symbol(literals)
            if symbol == 256 { return }
            if symbol < 256 {
                guard output.count < limit else { throw .tooLarge(limit) }
                output.append(UInt8(symbol))
                continue
            }
            guard symbol - 257 < Self.lengthBases.count else { throw .malformed }
            let length = Self.lengthBases[symbol - 257] + (try take(Self.lengthBits[symbol - 257]))
            let code = try self.symbol(distances)
            guard code < Self.distanceBases.count else { throw .malformed }
            let distance = Self.distanceBases[code] + (try take(max(0, code / 2 - 1)))
            guard distance <= output.count else { throw .malformed }
            guard output.count + length <= limit else { throw .tooLarge(limit) }
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
    }
}
