import Foundation
import StrataWire
import Testing

/// What is JSON by RFC 8259, and what is not.
@Suite struct JSONGrammarTests {
    @Test(
        "Every form of JSON is read",
        arguments: [
            "null", "true", "false", " null ", "\t\r\n1\n", "0", "-0", "-1", "10", "0.5", "-0.0", "1e5", "1E5", "1e+5",
            "1e-5", "0e0", "0E+1", "1.5e3", "123456789012345678901234567890", "[]", "{}", "[ ]", "{ }", "[1]",
            "[1,2]", "[ 1 , 2 ]", "[[]]", "[{}]", "[null,true,false]", "{\"a\":1}", "{ \"a\" : 1 , \"b\" : 2 }",
            "{\"\":0}", "{\"a\":{\"a\":{\"a\":[]}}}", "{\"a\":1,\"a\":2}", "{\"a\\u0000b\":1}", "\"\"", "\"a\"",
            "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u0041\"", "\"\\u00e9\\u00E9\"", "\"\\ud83d\\ude00\"",
            "\"\\uD834\\uDD1E\"",
            "\"\\u0000\"", "\"\\uffff\"", "\"\\ufdd0\"", "\"\u{7F}\"", "\"\u{80}\"", "\"\u{2028}\"", "\"\u{10FFFF}\"",
            "\"\u{FEFF}\"", "\"/\"", "\"// no comment\"", "\"é\"", "\"e\u{301}\"",
        ]) func isRead(text: String) throws
    {
        let value = try JSONValue(parsing: text)
        #expect(try JSONValue(parsing: Data(text.utf8)) == value)
        #expect(try JSONValue(parsing: value.text()) == value)
    }

    @Test(arguments: [
        // Nothing, and too much.
        "", " ", "\n", "1 2", "[] []", "{} null", "1,", ",1", "null null", "[1]x", "\"a\"\"b\"", "\u{FEFF}1", "\u{0}",
        "1\u{0}", "\u{A0}1", "\u{C}1", "\u{B}1",
        // Words.
        "n", "nul", "nulll", "NULL", "Null", "True", "truE", "tru", "fals", "undefined", "NaN", "nan", "Infinity",
        "-Infinity", "inf", "a", "'a'",
        // Numbers.
        "01", "00", "-01", "-00", "1.", "-1.", ".5", "-.5", "0.e1", "1.e1", "1e", "1e+", "1e-", "1E", "+1", "-", "--1",
        "-+1", "1+", "1-", "1.2.3", "1e2e3", "1e2.5", "0x10", "1_000", "1,000", "1a", "- 1", "1 .5", "１", "1e٣",
        // Arrays and objects.
        "[", "]", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[1:2]", "[1}", "(1)", "{", "}", "{\"a\"",
        "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,\"a\":1}", "{\"a\" 1}", "{\"a\",1}", "{\"a\"::1}", "{a:1}",
        "{1:1}", "{null:1}", "{'a':1}", "{\"a\":1 \"b\":2}", "{\"a\":1;\"b\":2}", "{\"a\":}", "{:1}", "{\"a\":1]",
        "{[]:1}",
        "[\"a\":1]", "{\"a\"}", "[1] // comment", "/* comment */ 1",
        // Strings.
        "\"", "\"a", "\"\\", "\"\\\"", "\"a\nb\"", "\"\t\"", "\"\u{1F}\"", "\"\u{0}\"", "\"\\a\"", "\"\\x41\"",
        "\"\\'\"",
        "\"\\0\"", "\"\\U0041\"", "\"\\\n\"", "\"\\é\"", "\"\\u\"", "\"\\u1\"", "\"\\u12\"", "\"\\u123\"", "\"\\u123",
        "\"\\u123g\"", "\"\\u 041\"", "\"\\u+041\"", "\"\\u-041\"", "\"\\u00\\u0041\"", "\"\\u００41\"", "\"\\u{41}\"",
        // Halves of surrogate pairs.
        "\"\\ud800\"", "\"\\udfff\"", "\"\\ude00\\ud83d\"", "\"\\ud83d\\ud83d\"", "\"\\ud83dx\"", "\"\\ud83d\\n\"",
        "\"\\ud83d\\u0041\"", "\"\\ud83d\\u12\"", "\"\\ud83d\\ude0\"",
    ]) func isNotRead(text: String) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: Data(text.utf8)) }
        #expect((0...text.utf8.count).contains(error?.offset ?? -1))
    }

    @Test(
        arguments: [
            [0xFF], [0xC0, 0x80], [0xC3], [0xE2, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80],
            [0x80], [0xE2, 0x28, 0xA1], [0xF0, 0x80, 0x80, 0x80],
        ] as [[UInt8]]) func bytesThatAreNotUTF8AreRefusedWithTheirPlace(bytes: [UInt8])
    {
        let plain = Data("[\"äb".utf8) + bytes + Data("\"]".utf8)
        #expect(throws: JSONError.self) { try JSONValue(parsing: plain) }
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: plain) }
        #expect(error?.offset == 5)
        #expect(error?.column == 5)
        let escaped = Data("\"\\n".utf8) + bytes + Data("\"".utf8)
        #expect(#expect(throws: JSONError.self) { try JSONValue(parsing: escaped) }?.offset == 3)
        let name = Data("{\"".utf8) + bytes + Data("\":1}".utf8)
        #expect(#expect(throws: JSONError.self) { try JSONValue(parsing: name) }?.offset == 2)
        #expect(throws: JSONError.self) { try JSONValue(parsing: Data(bytes)) }
    }

    @Test func otherEncodingsAreRefused() {
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .isoLatin1] {
            #expect(throws: JSONError.self) { try JSONValue(parsing: #require("\"é\"".data(using: encoding))) }
        }
    }

    @Test func anErrorSaysWhereAndWhy() throws {
        let text = "{\n  \"Größe\": 1,\n  \"Länge\": 01\n}"
        let error = try #require(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error.line == 3)
        #expect(error.column == 13)
        #expect(Array(text.utf8)[error.offset] == UInt8(ascii: "1"))
        #expect(
            error.description
                == "invalid JSON at line 3, column 13 (byte \(error.offset)): a number must not begin with 0")
        let end = try #require(throws: JSONError.self) { try JSONValue(parsing: "[1,\n") }
        #expect(end.offset == 4)
        #expect(end.line == 2)
        #expect(end.column == 1)
        let half = try #require(throws: JSONError.self) { try JSONValue(parsing: #"["😀\ud83d"]"#) }
        #expect(half.offset == 6)
        #expect(half.column == 4)
    }

    @Test func depthIsLimited() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[{\"a\":", count: depth / 2) + "1" + String(repeating: "}]", count: depth / 2)
        }
        #expect(try JSONValue(parsing: nested(128)).elements?.count == 1)
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: nested(130)) }
        #expect(error?.reason == "nested more than 128 levels deep")
        #expect(try JSONValue(parsing: nested(4), maximumDepth: 4).elements?.count == 1)
        #expect(throws: JSONError.self) { try JSONValue(parsing: nested(6), maximumDepth: 5) }
        #expect(try JSONValue(parsing: "1", maximumDepth: 0) == 1)
        #expect(throws: JSONError.self) { try JSONValue(parsing: String(repeating: "[{\"a\":", count: 1_000_000)) }
        // Elements side by side are not nesting.
        let wide = "[" + Array(repeating: "[[]]", count: 1000).joined(separator: ",") + "]"
        #expect(try JSONValue(parsing: wide, maximumDepth: 3).elements?.count == 1000)
    }
}
