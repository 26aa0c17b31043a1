#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct JSONTests {
        @Test(
            "Values are read and written",
            arguments: [
                ("null", "null"), (" true ", "true"), ("-0", "0"), ("9223372036854775807", "9223372036854775807"),
                ("9223372036854775808", "9.223372036854776e+18"), ("1.50", "1.5"), ("2.0", "2"), ("1e2", "100"),
                (#""a\u0041\ud83d\ude00\n""#, "\"aA😀\\n\""), ("[1,[],{}]", "[1,[],{}]"),
                (#"{"b":1,"a":{"c":null}}"#, #"{"a":{"c":null},"b":1}"#), (#"{"a":1,"a":2}"#, #"{"a":2}"#),
            ])
        func reads(text: String, expected: String) throws {
            #expect(try JSONValue(parsing: Data(text.utf8)).text == expected)
        }

        @Test(
            "What is no JSON is an error with its place",
            arguments: [
                "", " ", "tru", "01", "1.", "1e", "-", "+1", "[1,]", "[1 2]", "{\"a\"}", "{a:1}", "{\"a\":1,}", "\"a",
                "\"\\x\"",
                "\"\\ud800\"", "\"\\u00g0\"", "\"\u{1}\"", "1 1", "[", "{\"a\":", "1e999", "nul", "\"\\u+123\"",
            ])
        func refuses(text: String) {
            #expect(throws: JSONError.self) { try JSONValue(parsing: Data(text.utf8)) }
        }

        @Test("Depth is bounded, and invalid UTF-8 refused")
        func bounds() throws {
            let deep = Data((String(repeating: "[", count: 40) + String(repeating: "]", count: 40)).utf8)
            #expect(try JSONValue(parsing: deep, depth: 40).elements?.count == 1)
            #expect(throws: JSONError.self) { try JSONValue(parsing: deep, depth: 39) }
            #expect(throws: JSONError.self) {
                try JSONValue(parsing: Data(String(repeating: "[{\"a\":", count: 1_000_000).utf8))
            }
            #expect(throws: JSONError.self) { try JSONValue(parsing: Data([0x22, 0xFF, 0x22])) }
        }

        @Test("Random bytes never trap, and what is read is written so that it is read again")
        func random() throws {
            let seed = UInt64.random(in: 1...UInt64.max)
            var random = SplitMix(state: seed)
            let alphabet = Array("[]{}\",:\\u0123e+-.truefalsn \u{E9}".utf8)
            for round in 0..<20_000 {
                let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                    alphabet.randomElement(using: &random)!
                }
                guard let value = try? JSONValue(parsing: Data(bytes)) else { continue }
                let again = try JSONValue(parsing: value.data)
                #expect(again.text == value.text, "seed \(seed), round \(round)")
            }
        }
    }
#endif
