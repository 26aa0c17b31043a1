import Foundation
import StrataWire
import Testing

@Suite struct JSONWritingTests {
    @Test(
        arguments: [
            (nil, "null"), (true, "true"), (false, "false"), (0, "0"), (.integer(.min), "-9223372036854775808"),
            (2.0, "2.0"), (0.1, "0.1"), (1e300, "1e+300"), (-0.0, "-0.0"), (.decimal(Decimal(string: "1.10")!), "1.1"),
            (.decimal(Decimal(UInt64.max)), "18446744073709551615"), ("", "\"\""), ("a\"b\\c/d", #""a\"b\\c/d""#),
            ("\u{8}\u{9}\u{A}\u{C}\u{D}", #""\b\t\n\f\r""#), ("\u{0}\u{1F}\u{7F}", #""\u0000\u001f\u007f""#),
            ("a\u{85}b\u{9F}c", #""a\u0085b\u009fc""#), ("\u{2028}\u{2029}", #""\u2028\u2029""#),
            ("\u{A0}\u{2027}\u{202A}\u{FEFF}é€😀", "\"\u{A0}\u{2027}\u{202A}\u{FEFF}é€😀\""),
            ([], "[]"), ([:], "{}"), ([1, [], "a"], #"[1,[],"a"]"#), (["a\n": ["b": nil]], #"{"a\n":{"b":null}}"#),
        ] as [(JSONValue, String)]) func isWrittenCompactly(value: JSONValue, text: String) throws
    {
        #expect(try value.text() == text)
        #expect(try value.data() == Data(text.utf8))
        #expect(value.description == text)
    }

    @Test func aValueIsOneLineWhateverEndsALine() throws {
        let value = JSONValue.string(String(String.UnicodeScalarView((1..<0x3000).compactMap(Unicode.Scalar.init))))
        let text = try value.text()
        #expect(text.allSatisfy { !$0.isNewline })
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test func whatCannotBeReadAgainForItsDepthIsNotWritten() throws {
        var value: JSONValue = 1
        for _ in 0..<128 { value = [value] }
        #expect(try JSONValue(parsing: value.text()) == value)
        let error = try #require(throws: JSONWritingError.self) { try JSONValue.array([value]).text() }
        #expect(error.reason == "nested more than 128 levels deep")
    }

    @Test func textThatIsNotContiguousIsWrittenAlike() throws {
        // A string of another library's storage, on systems that have those.
        let text = NSString(string: "Größe \u{2028} \"x\"") as String
        #expect(try JSONValue.string(text).text() == #""Größe \u2028 \"x\"""#)
    }
}
