import Foundation

/// A decimal number without rounding: its significant digits, and the power of ten of the last. Two texts of one number
/// are equal.
struct JSONDigits: Equatable {
    private var isNegative = false
    private var digits: [UInt8] = []
    private var exponent = 0

    /// Reads what JSON, `Double` and `Decimal` print as a finite number.
    init(_ text: String) {
        var isFraction = false
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "-") {
            isNegative = true
            rest = rest.dropFirst()
        }
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: ".") {
                isFraction = true
            } else if byte | 0x20 == UInt8(ascii: "e") {
                // What Int does not hold is beyond every number: no two of these are compared.
                let sign = rest.first == UInt8(ascii: "-") ? -1 : 1
                exponent += Int(Substring(rest)) ?? sign * (Int.max >> 1)
                break
            } else {
                if isFraction { exponent -= 1 }
                if byte != UInt8(ascii: "0") || !digits.isEmpty { digits.append(byte) }
            }
        }
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        if digits.isEmpty {
            exponent = 0
            isNegative = false
        }
    }

    /// The value of a number's text by the rules of ``JSONValue``; nil if none holds it.
    static func value(_ text: String, isWhole: Bool) -> JSONValue? {
        if isWhole, let number = Int64(text) { return .integer(number) }
        let double = Double(text).flatMap { $0.isFinite ? $0 : nil }
        // Most doubles come in the very form that they are printed in.
        if !isWhole, let double, double.description == text { return .double(double) }
        let exact = JSONDigits(text)
        if !isWhole, let double, JSONDigits(double.description) == exact { return .double(double) }
        if let decimal = decimal(text, exact) { return Int64("\(decimal)").map(JSONValue.integer) ?? .decimal(decimal) }
        guard let double, exact.digits.count <= 17, double != 0 || exact.digits.isEmpty else { return nil }
        return .double(double)
    }

    /// The decimal of a text; nil if it does not hold it exactly.
    static func decimal(_ text: String) -> Decimal? { decimal(text, JSONDigits(text)) }

    private static func decimal(_ text: String, _ exact: JSONDigits) -> Decimal? {
        guard exact.digits.count <= 38, let decimal = Decimal(string: text), !decimal.isNaN,
            JSONDigits("\(decimal)") == exact
        else { return nil }
        return decimal
    }
}
