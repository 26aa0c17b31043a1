import Foundation
import SeededRandom
import StrataWire

/// Random values and texts.
struct RandomJSON {
    var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// A value in the form that the reader gives it.
    mutating func value(depth: Int = 4) -> JSONValue {
        switch random.below(depth > 0 ? 10 : 7) {
        case 0: return .null
        case 1: return .boolean(random.oneIn(2))
        case 2: return .integer(integer())
        case 3: return .double(double())
        case 4: return decimal()
        case 5, 6: return .string(text())
        case 7: return .array((0..<random.below(6)).map { _ in value(depth: depth - 1) })
        default:
            let count = random.oneIn(8) ? random.below(60) : random.below(6)
            var object = JSONObject()
            for _ in 0..<count { object[text()] = value(depth: depth - 1) }
            return .object(object)
        }
    }

    mutating func integer() -> Int64 {
        let bits = Int64(bitPattern: random.next())
        return random.pick([bits, bits >> 32, bits >> 50, .min, .max, 0])!
    }

    mutating func double() -> Double {
        let parts = (Double(random.below(2_000_000) - 1_000_000), Double(random.below(1000) + 1))
        let any = Double(bitPattern: random.next())
        return random.pick([parts.0 / parts.1, parts.0, any.isFinite ? any : 0, parts.0 / 100, -0.0])!
    }

    /// A number that neither an integer nor a double holds.
    mutating func decimal() -> JSONValue {
        var digits = String(1 + random.below(9))
        for _ in 0..<(20 + random.below(17)) { digits += String(random.below(10)) }
        digits += String(1 + random.below(9))
        let point = random.below(digits.count)
        if point > 0 { digits.insert(".", at: digits.index(digits.startIndex, offsetBy: point)) }
        return .decimal(Decimal(string: (random.oneIn(2) ? "-" : "") + digits)!)
    }

    mutating func text() -> String {
        let bounds: [UInt32] = [0x20, 0x80, 0x800, 0x3000, 0x1_0000, 0x11_0000]
        var scalars = String.UnicodeScalarView()
        for _ in 0..<random.below(random.oneIn(10) ? 80 : 8) {
            scalars.append(Unicode.Scalar(UInt32(random.below(Int(random.pick(bounds)!)))) ?? "\"")
        }
        return String(scalars)
    }

    /// The value as a text with space, escapes and forms of numbers that the writer does not use.
    mutating func spelling(_ value: JSONValue) -> String {
        let (before, after) = (space(), space())
        let text: String
        switch value {
        case .string(let content): text = quoted(content)
        case .array(let elements):
            text = "[" + (elements.isEmpty ? space() : elements.map { spelling($0) }.joined(separator: ",")) + "]"
        case .object(let members):
            text =
                "{"
                + (members.isEmpty
                    ? space()
                    : members.map { space() + quoted($0.name) + space() + ":" + spelling($0.value) }
                        .joined(separator: ","))
                + "}"
        case .double(let number) where random.oneIn(3) && !number.description.contains("e"):
            text = number.description + random.pick(["0", "e0", "E+00", "00e-0"])!
        default: text = value.description
        }
        return before + text + after
    }

    private mutating func space() -> String { random.pick(["", "", "", " ", "\n", "\t \r\n"])! }

    private mutating func quoted(_ text: String) -> String {
        var result = "\""
        for unit in text.unicodeScalars {
            if unit.value < 0x20 || unit == "\"" || unit == "\\" || random.oneIn(8) {
                for code in String(unit).utf16 {
                    let digits = String(code, radix: 16, uppercase: random.oneIn(2))
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                result.unicodeScalars.append(unit)
            }
        }
        return result + "\""
    }

    /// Bytes with one small change: a byte changed, inserted or removed, a part twice or gone.
    mutating func mutation(of bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        let alphabet = Array("[]{}\",:\\/u0123456789eE+-.truefalsn \n\t\u{0}\u{1F}\u{E9}\u{2028}😀".utf8) + [0xFF, 0xC0]
        let place = random.below(bytes.count + 1)
        let end = min(bytes.count, place + random.below(12))
        switch random.below(5) {
        case 0: result.insert(random.pick(alphabet)!, at: place)
        case 1: if place < end { result[place] = random.pick(alphabet)! }
        case 2: result.removeSubrange(place..<end)
        case 3: result.insert(contentsOf: bytes[place..<end], at: random.below(bytes.count + 1))
        default: result.removeLast(bytes.count - place)
        }
        return result
    }
}
