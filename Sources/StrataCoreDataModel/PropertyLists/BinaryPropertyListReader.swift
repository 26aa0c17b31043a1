import Foundation

/// Reads Apple's binary property lists (`bplist00`): a table of objects, an offset table, and a trailer of 32 bytes.
struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let offsetTable: Int
    private let top: Int
    private var visited = 0

    init(_ bytes: [UInt8]) throws(PropertyListError) {
        guard bytes.starts(with: Array("bplist0".utf8)) else { throw .notAPropertyList }
        guard bytes.count >= 40 else { throw .outOfBounds("the trailer") }
        self.bytes = bytes
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw .malformed("offsets of \(offsetSize) and references of \(referenceSize) bytes")
        }
        func number(_ at: Int) -> UInt64 { bytes[at..<at + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        guard let count = Int(exactly: number(trailer + 8)), let top = Int(exactly: number(trailer + 16)),
            let table = Int(exactly: number(trailer + 24))
        else { throw .outOfBounds("the trailer") }
        guard table >= 8, table <= trailer, count <= (trailer - table) / offsetSize else {
            throw .outOfBounds("the offset table")
        }
        guard top < count else { throw .outOfBounds("the top object") }
        self.count = count
        self.top = top
        self.offsetTable = table
    }

    mutating func root() throws(PropertyListError) -> PropertyList { try object(top, depth: 0) }

    private func number(at offset: Int, size: Int) throws(PropertyListError) -> UInt64 {
        guard offset >= 0, size <= 8, offset <= offsetTable - size else { throw .outOfBounds("a number") }
        return bytes[offset..<offset + size].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func reference(at offset: Int) throws(PropertyListError) -> Int {
        guard let index = Int(exactly: try number(at: offset, size: referenceSize)), index < count else {
            throw .outOfBounds("a reference")
        }
        return index
    }

    private mutating func object(_ index: Int, depth: Int) throws(PropertyListError) -> PropertyList {
        guard depth <= PropertyList.maximumDepth else { throw .tooLarge("it is nested too deeply or contains itself") }
        visited += 1
        guard visited <= PropertyList.maximumCount else { throw .tooLarge("it has too many values") }
        let entry = offsetTable + index * offsetSize
        let wide = bytes[entry..<entry + offsetSize].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let offset = Int(exactly: wide), offset >= 8, offset < offsetTable else {
            throw .outOfBounds("an offset")
        }
        let marker = bytes[offset]
        let low = Int(marker & 15)
        switch marker >> 4 {
        case 0:
            switch marker {
            case 0: return .null
            case 8: return .boolean(false)
            case 9: return .boolean(true)
            default: throw .malformed("an object of the unknown kind \(marker)")
            }
        case 1: return .integer(try integer(at: offset + 1, sizeExponent: low))
        case 2:
            switch low {
            case 2: return .real(Double(Float(bitPattern: UInt32(try number(at: offset + 1, size: 4)))))
            case 3: return .real(Double(bitPattern: try number(at: offset + 1, size: 8)))
            default: throw .malformed("a real of the unknown size \(low)")
            }
        case 3:
            guard low == 3 else { throw .malformed("a date of the unknown size \(low)") }
            return .date(Double(bitPattern: try number(at: offset + 1, size: 8)))
        case 4:
            let (start, length) = try extent(offset, low, unit: 1)
            return .data(Data(bytes[start..<start + length]))
        case 5, 7:
            let (start, length) = try extent(offset, low, unit: 1)
            return .string(String(decoding: bytes[start..<start + length], as: UTF8.self))
        case 6:
            let (start, length) = try extent(offset, low, unit: 2)
            let units = (0..<length).map { UInt16(bytes[start + 2 * $0]) << 8 | UInt16(bytes[start + 2 * $0 + 1]) }
            return .string(String(decoding: units, as: UTF16.self))
        case 8:
            guard let uid = Int(exactly: try number(at: offset + 1, size: min(low + 1, 9) > 8 ? 8 : low + 1)) else {
                throw .malformed("a UID is too large")
            }
            return .uid(uid)
        case 10, 11, 12:
            let (start, length) = try extent(offset, low, unit: referenceSize)
            var elements: [PropertyList] = []
            for position in 0..<length {
                elements.append(try object(reference(at: start + position * referenceSize), depth: depth + 1))
            }
            return .array(elements)
        case 13:
            let (start, length) = try extent(offset, low, unit: 2 * referenceSize)
            var members: [String: PropertyList] = [:]
            for position in 0..<length {
                let key = try object(reference(at: start + position * referenceSize), depth: depth + 1)
                guard case .string(let name) = key else { throw .malformed("a key is not a string") }
                members[name] = try object(
                    reference(at: start + (length + position) * referenceSize), depth: depth + 1)
            }
            return .dictionary(members)
        default: throw .malformed("an object of the unknown kind \(marker)")
        }
    }

    /// Integers of 1, 2 and 4 bytes have no sign, those of 8 have one, and of 16 bytes the lower half counts.
    private func integer(at offset: Int, sizeExponent: Int) throws(PropertyListError) -> Int64 {
        switch sizeExponent {
        case 0...3: return Int64(bitPattern: try number(at: offset, size: 1 << sizeExponent))
        case 4:
            let value = try number(at: offset + 8, size: 8)
            return Int64(exactly: value) ?? Int64.max
        default: throw .malformed("an integer of the unknown size \(sizeExponent)")
        }
    }

    /// Where the content of an object with a length begins, and its length in units of this many bytes.
    private func extent(_ offset: Int, _ low: Int, unit: Int) throws(PropertyListError) -> (Int, Int) {
        var start = offset + 1
        var length = low
        if low == 15 {
            guard start < offsetTable, bytes[start] >> 4 == 1 else { throw .malformed("a length is not an integer") }
            let exponent = Int(bytes[start] & 15)
            guard exponent <= 3, let wide = Int(exactly: try number(at: start + 1, size: 1 << exponent)) else {
                throw .malformed("a length is too large")
            }
            length = wide
            start += 1 + (1 << exponent)
        }
        guard start <= offsetTable, length <= (offsetTable - start) / unit else { throw .outOfBounds("a length") }
        return (start, length)
    }
}
