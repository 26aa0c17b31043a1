import Foundation
import StrataWire
import Testing

@Suite struct JSONNumberTests {
    @Test(
        arguments: [
            ("0", .integer(0)), ("-0", .integer(0)), ("7", .integer(7)), ("-7", .integer(-7)),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("999999999999999999", .integer(999_999_999_999_999_999)),
            ("1.5", .double(1.5)), ("1.50", .double(1.5)), ("-0.0", .double(-0.0)), ("2.0", .double(2)),
            ("1e2", .double(100)),
            ("0.1", .double(0.1)), ("123456789.012345", .double(123_456_789.012345)), ("1e-7", .double(1e-7)),
            ("0.30000000000000004", .double(0.1 + 0.2)), ("52.520006599999995", .double(52.520006599999995)),
            ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)), ("5e-324", .double(.leastNonzeroMagnitude)),
            ("2.2250738585072014e-308", .double(.leastNormalMagnitude)), ("1e22", .double(1e22)),
            ("1e23", .double(1e23)),
            ("0e999999999999999999999", .double(0)), ("0.000e-400", .double(0)), ("1E+2", .double(100)),
            ("9007199254740993.0", .integer(9_007_199_254_740_993)),
            ("8101954308099737e+1", .integer(81_019_543_080_997_370)),
        ] as [(String, JSONValue)]) func becomesTheFirstCaseThatHoldsIt(text: String, value: JSONValue) throws
    {
        #expect(try JSONValue(parsing: text) == value)
        #expect(try JSONValue(parsing: "[\(text) ]").elements == [value])
    }

    @Test(arguments: [
        "9223372036854775808", "-9223372036854775809", "18446744073709551615", "12345678901234567890123456789012345678",
        "0.1234567890123456789", "3.1415926535897932384626433832795028841", "-98765432109876543210.123456789",
        "0.10000000000000001", "1.0000000000000000000000000000000000001",
    ]) func keepsAllDigitsOfADecimal(text: String) throws {
        let value = try JSONValue(parsing: text)
        guard case .decimal(let number) = value else { return #expect(Bool(false), "\(text) is \(value)") }
        #expect(number == Decimal(string: text))
        #expect(try JSONValue(parsing: value.text()) == value)
        #expect(value.decimal == number)
        #expect(value.double == Double(text))
    }

    /// Not all programs print the shortest digits that tell a double from others.
    @Test(arguments: ["4.9e-324", "4.9406564584124654E-324", "1.2345678901234567e-200", "9.9999999999999997e+299"])
    func seventeenDigitsBeyondTheRangeOfDecimalsAreTheNearestDouble(text: String) throws {
        #expect(try JSONValue(parsing: text) == .double(#require(Double(text))))
    }

    @Test(arguments: [
        "1e309", "-1e999", "1e-400", "1e9223372036854775808", "1e-9223372036854775808", "1.2345678901234567890e-200",
        "1234567890123456789012345678901234567890123", "0.1000000000000000055511151231257827021181583404541015625",
    ]) func isRefusedRatherThanRounded(text: String) throws {
        let error = try #require(throws: JSONError.self) { try JSONValue(parsing: "[1, \(text)]") }
        #expect(error.offset == 4)
        #expect(error.reason.contains(text.prefix(60)))
    }

    @Test func aWholeNumberOfManyZerosIsExact() throws {
        let text = "1" + String(repeating: "0", count: 100)
        #expect(try JSONValue(parsing: text).decimal == Decimal(string: "1e100"))
        let tooLong = "1" + String(repeating: "0", count: 200)
        #expect(try JSONValue(parsing: tooLong) == .double(1e200))
    }

    @Test func accessorsConvertOnlyWhatIsExact() {
        #expect(JSONValue.double(2).integer == 2)
        #expect(JSONValue.double(2.5).integer == nil)
        #expect(JSONValue.double(1e300).integer == nil)
        #expect(JSONValue.double(.nan).integer == nil)
        #expect(JSONValue.decimal(Decimal(3)).integer == 3)
        #expect(JSONValue.decimal(Decimal(UInt64.max)).integer == nil)
        #expect(JSONValue.integer(.max).double == 9.223372036854775807e18)
        #expect(JSONValue.integer(.min).decimal == Decimal(Int64.min))
        #expect(JSONValue.double(0.1).decimal == Decimal(string: "0.1"))
        #expect(JSONValue.double(1e300).decimal == nil)
        #expect(JSONValue.double(.infinity).decimal == nil)
        #expect(JSONValue.string("1").integer == nil)
        #expect(JSONValue.boolean(true).integer == nil)
        #expect(JSONValue.null.double == nil)
    }

    @Test(
        arguments: [
            (.double(.nan), "$"), (.double(.infinity), "$"), (.decimal(.nan), "$"),
            (["a": [1, ["b": .double(-.infinity)]]], "$.a[1].b"),
        ] as [(JSONValue, String)]) func numbersThatJSONDoesNotHaveAreNotWritten(value: JSONValue, path: String) throws
    {
        let error = try #require(throws: JSONWritingError.self) { try value.data() }
        #expect(error.path == path)
        #expect(error.description.hasPrefix("no JSON for \(path): "))
        #expect(throws: JSONWritingError.self) { try value.text(sortingNames: true) }
        #expect(value.description.contains("no JSON for"))
    }
}
