import Foundation

extension JSONReader {
    /// Reads a number, whose sign or first digit is next. ``JSONValue`` says what becomes of it.
    mutating func number() throws(JSONError) -> JSONValue {
        var scan = NumberScan(start: place)
        if next == UInt8(ascii: "-") {
            scan.isNegative = true
            place += 1
        }
        if next == UInt8(ascii: "0") {
            place += 1
            if let byte = next, Self.isDigit(byte) { throw fault("a number must not begin with 0") }
        } else {
            try digits(&scan, "expected a digit")
        }
        if next == UInt8(ascii: ".") {
            place += 1
            scan.isWhole = false
            let start = place
            try digits(&scan, "expected a digit after the decimal point")
            scan.exponent -= place - start
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            place += 1
            scan.isWhole = false
            try exponent(&scan)
        }
        if let value = scan.shortValue { return value }
        let text = String(decoding: bytes[scan.start..<place], as: UTF8.self)
        guard let value = JSONDigits.value(text, isWhole: scan.isWhole) else {
            throw fault(
                "\(text.prefix(60)) fits neither 64 bits nor a decimal of 38 digits; send it as a string",
                at: scan.start)
        }
        return value
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    private mutating func digits(_ scan: inout NumberScan, _ expectation: String) throws(JSONError) {
        let start = place
        while let byte = next, Self.isDigit(byte) {
            scan.append(byte &- 0x30)
            place += 1
        }
        guard place > start else { throw fault(expectation) }
    }

    private mutating func exponent(_ scan: inout NumberScan) throws(JSONError) {
        var isNegative = false
        if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") {
            isNegative = next == UInt8(ascii: "-")
            place += 1
        }
        let start = place
        var exponent = 0
        while let byte = next, Self.isDigit(byte) {
            // A larger exponent is beyond every number, and must not overflow.
            exponent = min(exponent * 10 + Int(byte &- 0x30), 1_000_000)
            place += 1
        }
        guard place > start else { throw fault("expected a digit in the exponent") }
        scan.exponent += isNegative ? -exponent : exponent
    }
}

/// What is known of a number while its digits go by.
private struct NumberScan {
    let start: Int
    var isNegative = false
    /// Whether it has neither fraction nor exponent.
    var isWhole = true
    /// The digits as a number, as long as there are no more than 18 of them.
    var digits: UInt64 = 0
    /// How many digits there are from the first that is not 0.
    var count = 0
    /// The power of ten of the last digit.
    var exponent = 0

    init(start: Int) { self.start = start }

    mutating func append(_ digit: UInt8) {
        if count > 0 || digit > 0 { count += 1 }
        if count <= 18 { digits = digits * 10 + UInt64(digit) }
    }

    /// The value of a number with few digits, which is that of most numbers; nil for all others.
    var shortValue: JSONValue? {
        if isWhole { return count <= 18 ? .integer(isNegative ? -Int64(digits) : Int64(digits)) : nil }
        guard count <= 15, (-22...22).contains(exponent) else { return nil }
        // Both are exact in a double, so that their product or quotient is rounded correctly.
        let power = Self.powersOfTen[abs(exponent)]
        let number = exponent < 0 ? Double(digits) / power : Double(digits) * power
        return .double(isNegative ? -number : number)
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}
