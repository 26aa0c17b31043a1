import Foundation

/// A number of one of three kinds. Whole numbers stay whole, decimal ones exact; a floating-point operand makes the
/// result one. An undefined result is nil.
enum NumberOperation {
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)

    /// The number that a value is; truth values count as 1 and 0.
    init?(_ value: Value) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .boolean(let flag): self = .integer(flag ? 1 : 0)
        case .double(let number): self = .double(number)
        case .decimal(let number): self = .decimal(number)
        default: return nil
        }
    }

    var asDouble: Double {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): NSDecimalNumber(decimal: number).doubleValue
        }
    }

    /// The whole number, if it is one.
    var asInteger: Int64? {
        switch self {
        case .integer(let number): number
        case .double(let number): Int64(exactly: number)
        case .decimal(let number): Int64(number.description)
        }
    }

    private var asDecimal: Decimal? {
        switch self {
        case .integer(let number): Decimal(number)
        case .decimal(let number): number
        case .double: nil
        }
    }

    /// A function of two numbers.
    static func apply(_ function: FetchFunction, _ a: NumberOperation, _ b: NumberOperation) -> Value {
        switch function {
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift:
            guard let x = a.asInteger, let y = b.asInteger else { return .null }
            return switch function {
            case .bitwiseAnd: .integer(x & y)
            case .bitwiseOr: .integer(x | y)
            case .bitwiseXor: .integer(x ^ y)
            case .leftShift: .integer(x << y)
            default: .integer(x >> y)
            }
        default: break
        }
        if case .integer(let x) = a, case .integer(let y) = b { return integers(function, x, y) }
        if let x = a.asDecimal, let y = b.asDecimal, function != .power, function != .modulus {
            return decimals(function, x, y)
        }
        return doubles(function, a.asDouble, b.asDouble)
    }

    private static func integers(_ function: FetchFunction, _ x: Int64, _ y: Int64) -> Value {
        let (result, overflow): (Int64, Bool)
        switch function {
        case .add: (result, overflow) = x.addingReportingOverflow(y)
        case .subtract: (result, overflow) = x.subtractingReportingOverflow(y)
        case .multiply: (result, overflow) = x.multipliedReportingOverflow(by: y)
        case .divide: (result, overflow) = x.dividedReportingOverflow(by: y)
        case .modulus:
            // The remainder of the smallest number by -1 is 0, though the quotient does not fit.
            (result, overflow) = y == -1 ? (0, false) : x.remainderReportingOverflow(dividingBy: y)
        default:
            if y < 0 { return doubles(.power, Double(x), Double(y)) }
            (result, overflow) = power(x, y)
        }
        return overflow ? .null : .integer(result)
    }

    private static func power(_ x: Int64, _ y: Int64) -> (Int64, Bool) {
        var base = x
        var exponent = y
        var result: Int64 = 1
        while true {
            if exponent & 1 == 1 {
                let (product, overflow) = result.multipliedReportingOverflow(by: base)
                if overflow { return (0, true) }
                result = product
            }
            exponent >>= 1
            if exponent == 0 { return (result, false) }
            let (square, overflow) = base.multipliedReportingOverflow(by: base)
            if overflow { return (0, true) }
            base = square
        }
    }

    private static func decimals(_ function: FetchFunction, _ x: Decimal, _ y: Decimal) -> Value {
        if function == .divide, y == 0 { return .null }
        let result: Decimal =
            switch function {
            case .add: x + y
            case .subtract: x - y
            case .multiply: x * y
            default: x / y
            }
        return result.isNaN ? .null : .decimal(result)
    }

    private static func doubles(_ function: FetchFunction, _ x: Double, _ y: Double) -> Value {
        switch function {
        case .add: number(x + y)
        case .subtract: number(x - y)
        case .multiply: number(x * y)
        case .divide: y == 0 ? .null : number(x / y)
        case .modulus: y == 0 ? .null : number(x.truncatingRemainder(dividingBy: y))
        default: number(pow(x, y))
        }
    }

    /// A function of one number.
    static func apply(_ function: FetchFunction, _ a: NumberOperation) -> Value {
        switch (function, a) {
        case (.absolute, .integer(let x)): x == .min ? .null : .integer(Swift.abs(x))
        case (.absolute, .decimal(let x)): .decimal(x < 0 ? -x : x)
        case (.absolute, .double(let x)): number(Swift.abs(x))
        case (.onesComplement, _): a.asInteger.map { .integer(~$0) } ?? .null
        case (.floor, .integer), (.ceiling, .integer), (.truncate, .integer): a.value
        case (.floor, .decimal(let x)): .decimal(rounded(x, .down))
        case (.ceiling, .decimal(let x)): .decimal(rounded(x, .up))
        case (.truncate, .decimal(let x)): .decimal(rounded(x, x < 0 ? .up : .down))
        case (.floor, .double(let x)): number(x.rounded(.down))
        case (.ceiling, .double(let x)): number(x.rounded(.up))
        case (.truncate, .double(let x)): number(x.rounded(.towardZero))
        case (.squareRoot, _): number(a.asDouble.squareRoot())
        case (.logarithm, _): a.asDouble > 0 ? number(log10(a.asDouble)) : .null
        case (.naturalLogarithm, _): a.asDouble > 0 ? number(Foundation.log(a.asDouble)) : .null
        default: number(Foundation.exp(a.asDouble))
        }
    }

    private static func rounded(_ number: Decimal, _ mode: NSDecimalNumber.RoundingMode) -> Decimal {
        var result = Decimal()
        var number = number
        NSDecimalRound(&result, &number, 0, mode)
        return result
    }

    /// Nil for what is not a number.
    private static func number(_ number: Double) -> Value { number.isNaN ? .null : .double(number) }

    /// The number as a value.
    var value: Value {
        switch self {
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        case .decimal(let number): .decimal(number)
        }
    }

    /// The sum of numbers. Whole ones are added without loss, and the sum is held at the ends of 64 bits.
    static func sum(_ numbers: [NumberOperation]) -> NumberOperation {
        var whole: Int128 = 0
        var exact: Decimal = 0
        var real = 0.0
        var hasReal = false
        var hasDecimal = false
        for number in numbers {
            switch number {
            case .integer(let number): whole += Int128(number)
            case .decimal(let number):
                exact += number
                hasDecimal = true
            case .double(let number):
                real += number
                hasReal = true
            }
        }
        let clamped = Int64(clamping: whole)
        if hasReal { return .double(real + Double(whole) + NSDecimalNumber(decimal: exact).doubleValue) }
        return hasDecimal ? .decimal(exact + Decimal(clamped)) : .integer(clamped)
    }

    /// The mean; nil of nothing. Decimal numbers give a decimal one, all others a floating-point one.
    static func average(_ numbers: [NumberOperation]) -> Value {
        guard !numbers.isEmpty else { return .null }
        let isExact = numbers.allSatisfy { $0.asDecimal != nil }
        let hasDecimal = numbers.contains { if case .decimal = $0 { true } else { false } }
        if isExact, hasDecimal {
            let sum = numbers.reduce(Decimal(0)) { $0 + ($1.asDecimal ?? 0) }
            return .decimal(sum / Decimal(numbers.count))
        }
        if isExact {
            let sum = numbers.reduce(Int128(0)) { $0 + Int128($1.asInteger ?? 0) }
            return .double(Double(sum) / Double(numbers.count))
        }
        return number(sum(numbers).asDouble / Double(numbers.count))
    }
}
