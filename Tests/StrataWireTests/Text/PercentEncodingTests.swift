import SeededRandom
import StrataWire
import Testing

@Suite struct PercentEncodingTests {
    @Test(arguments: [
        ("", ""), ("abcXYZ019-._~", "abcXYZ019-._~"), (" ", "%20"), ("+&=%", "%2B%26%3D%25"),
        ("ü€😀", "%C3%BC%E2%82%AC%F0%9F%98%80"),
        ("!*'()", "%21%2A%27%28%29"), ("/?#[]@", "%2F%3F%23%5B%5D%40"), ("\u{0}\u{7F}", "%00%7F"),
    ]) func encodesAllButTheUnreservedCharacters(text: String, encoded: String) {
        #expect(PercentEncoding.encode(text) == encoded)
        #expect(PercentEncoding.decode(encoded) == text)
    }

    @Test func otherCharactersMayBeKept() {
        let kept = PercentEncoding.Characters.alphanumerics.union("[]/é")
        #expect(PercentEncoding.encode("a[1]/é.b", keeping: kept) == "a[1]/%C3%A9%2Eb")
        #expect(!kept.contains(UInt8(ascii: ".")))
        #expect(!kept.contains(0xC3))
    }

    @Test(arguments: [
        ("%", "%"), ("%4", "%4"), ("%4g", "%4g"), ("%zz%41", "%zzA"), ("100%", "100%"), ("%%41", "%A"), ("a+b", "a+b"),
        ("%c3%BC", "ü"), ("%+4", "%+4"),
    ]) func whatIsNotAnEscapeStays(text: String, decoded: String) {
        #expect(PercentEncoding.decode(text) == decoded)
    }

    @Test func whatIsNotUTF8IsNoText() {
        #expect(PercentEncoding.decode("%FF") == nil)
        #expect(PercentEncoding.decode("%C3x") == nil)
    }

    @Test func randomTextComesBack() {
        let seed = RunSeed.value()
        var make = RandomJSON(seed: seed)
        for _ in 0..<2_000 {
            let text = make.text()
            let encoded = PercentEncoding.encode(text)
            #expect(PercentEncoding.decode(encoded) == text, "seed \(seed)")
            #expect(
                encoded.utf8.allSatisfy {
                    $0 == UInt8(ascii: "%") || PercentEncoding.Characters.unreserved.contains($0)
                })
        }
    }

    @Test(
        arguments: [
            ("", [:], false), ("a=1&b=2", ["a": "1", "b": "2"], false), ("a", ["a": ""], false),
            ("a=", ["a": ""], false),
            ("=b", ["": "b"], false), ("a=b=c", ["a": "b=c"], false), ("&&a=1&", ["a": "1"], false),
            ("a%20b=c%26d", ["a b": "c&d"], false), ("a+b=c+d", ["a+b": "c+d"], false),
            ("a+b=c+d%2B", ["a b": "c d+"], true),
        ] as [(String, [String: String], Bool)]) func parametersAreRead(
            text: String, parameters: [String: String], isForm: Bool
        ) throws
    {
        let read = try #require(QueryParameters.read(text, isForm: isForm))
        #expect(Dictionary(uniqueKeysWithValues: read.map { ($0.name, $0.value) }) == parameters)
    }

    @Test func parametersKeepOrderAndRepetitions() throws {
        let read = try #require(QueryParameters.read("b=2&a=1&b=1"))
        #expect(read.map(\.name) == ["b", "a", "b"])
        #expect(read.map(\.value) == ["2", "1", "1"])
        #expect(QueryParameters.read("a=%FF") == nil)
        #expect(QueryParameters.read("%FF=a") == nil)
    }

    @Test func bytesBecomeDigits() {
        #expect(Hexadecimal.text([0x00, 0x0F, 0xA5, 0xFF]) == "000fa5ff")
        #expect(Hexadecimal.text([]) == "")
        #expect(Hexadecimal.isLowercase("0123456789abcdef"))
        #expect(!Hexadecimal.isLowercase("A"))
        #expect(!Hexadecimal.isLowercase("g"))
    }
}
