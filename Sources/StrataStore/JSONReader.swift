/// Walks JSON text once.
struct JSONReader {
    /// Which values are requested of what is read. All of it must be JSON, requested or not.
    enum Selection {
        case none, all
        case member(ArraySlice<JSONStep>)
    }

    let bytes: UnsafeRawBufferPointer
    private var place = 0
    /// Where the member stands that was asked for.
    private(set) var found: Range<Int>?

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func document(_ selection: Selection = .all) -> Value? {
        guard let value = value(depth: 1, selection) else { return nil }
        skipSpace()
        // Not in one expression: the literal nil would be a value, JSON's null.
        guard place == bytes.count else { return nil }
        return value
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { place += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        place += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard place + count <= bytes.count,
            bytes[place..<place + count].elementsEqual(UnsafeRawBufferPointer(start: word.utf8Start, count: count))
        else { return false }
        place += count
        return true
    }

    private mutating func value(depth: Int, _ selection: Selection) -> Value? {
        skipSpace()
        if case .member(let path) = selection, path.isEmpty {
            let start = place
            let value = value(depth: depth, .all)
            found = start..<place
            return value
        }
        switch next {
        case UInt8(ascii: "{"): return depth <= JSONText.depthLimit ? object(depth: depth, selection) : nil
        case UInt8(ascii: "["): return depth <= JSONText.depthLimit ? array(depth: depth, selection) : nil
        case UInt8(ascii: "\""): return scalar(string(isWanted: selection.isAll).map(Value.string), selection)
        case UInt8(ascii: "t"): return scalar(take(word: "true") ? .boolean(true) : nil, selection)
        case UInt8(ascii: "f"): return scalar(take(word: "false") ? .boolean(false) : nil, selection)
        case UInt8(ascii: "n"): return take(word: "null") ? .null : nil
        default: return scalar(number(), selection)
        }
    }

    /// A value without members, unless a member of it is asked for.
    private func scalar(_ value: Value?, _ selection: Selection) -> Value? {
        selection.isAll ? value : value.map { _ in .null }
    }

    private mutating func object(depth: Int, _ selection: Selection) -> Value? {
        place += 1
        var members: [String: Value] = [:]
        var member: Value?
        skipSpace()
        if take(UInt8(ascii: "}")) { return selection.isAll ? .composite(members) : .null }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\""), let key = string(isWanted: !selection.isNone) else { return nil }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { return nil }
            switch selection {
            case .all:
                guard let value = value(depth: depth + 1, .all) else { return nil }
                if members[key] == nil { members[key] = value }
            case .member(let path) where member == nil && path.first == .key(key):
                member = value(depth: depth + 1, .member(path.dropFirst()))
                if member == nil { return nil }
            case .none, .member:
                guard value(depth: depth + 1, .none) != nil else { return nil }
            }
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { return nil }
        return selection.isAll ? .composite(members) : member ?? .null
    }

    private mutating func array(depth: Int, _ selection: Selection) -> Value? {
        place += 1
        var values: [Value] = []
        var member: Value?
        var last: Range<Int>?
        var count = 0
        skipSpace()
        if take(UInt8(ascii: "]")) { return selection.isAll ? .list(values) : .null }
        repeat {
            skipSpace()
            let start = place
            switch selection {
            case .all:
                guard let value = value(depth: depth + 1, .all) else { return nil }
                values.append(value)
            case .member(let path) where path.first == .index(count):
                member = value(depth: depth + 1, .member(path.dropFirst()))
                if member == nil { return nil }
            case .none, .member:
                guard value(depth: depth + 1, .none) != nil else { return nil }
            }
            last = start..<place
            count += 1
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { return nil }
        if case .member(let path) = selection, path.first == .last, let last {
            // Only the end of the array tells which element is the last.
            let end = place
            place = last.lowerBound
            member = value(depth: depth + 1, .member(path.dropFirst()))
            place = end
        }
        return selection.isAll ? .list(values) : member ?? .null
    }

    // MARK: Text

    /// - Returns: The text, which is empty if it is not requested; nil for anything that is not text.
    private mutating func string(isWanted: Bool) -> String? {
        place += 1
        let start = place
        var isASCII: UInt8 = 0
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
            isASCII |= byte
            place += 1
        }
        if next == UInt8(ascii: "\"") {
            let content = bytes[start..<place]
            place += 1
            if !isWanted, isASCII < 0x80 { return "" }
            return String(validating: content, as: UTF8.self)
        }
        var content = Array(bytes[start..<place])
        while let byte = next {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                content.append(contentsOf: String(scalar).utf8)
            case 0..<0x20: return nil
            default: content.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let byte = next else { return nil }
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            guard let first = hexadecimal() else { return nil }
            guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
            // Two escapes make one scalar beyond the first 65,536.
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let second = hexadecimal(),
                (0xDC00..<0xE000).contains(second)
            else { return nil }
            return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        default: return nil
        }
    }

    private mutating func hexadecimal() -> UInt32? {
        guard place + 4 <= bytes.count else { return nil }
        var number: UInt32 = 0
        for _ in 0..<4 {
            let byte = bytes[place]
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            number = number << 4 | UInt32(digit)
            place += 1
        }
        return number
    }

    // MARK: Numbers

    private mutating func digits() -> Int {
        let start = place
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
        return place - start
    }

    private mutating func number() -> Value? {
        let start = place
        _ = take(UInt8(ascii: "-"))
        let isZero = next == UInt8(ascii: "0")
        let whole = digits()
        guard whole > 0, !isZero || whole == 1 else { return nil }
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            if digits() == 0 { return nil }
        }
        if let byte = next, byte | 0x20 == UInt8(ascii: "e") {
            place += 1
            isWhole = false
            if !take(UInt8(ascii: "-")) { _ = take(UInt8(ascii: "+")) }
            if digits() == 0 { return nil }
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if isWhole, let number = Int64(text) { return .integer(number) }
        return Double(text).map(Value.double)
    }
}

extension JSONReader.Selection {
    var isAll: Bool { if case .all = self { true } else { false } }
    var isNone: Bool { if case .none = self { true } else { false } }
}
