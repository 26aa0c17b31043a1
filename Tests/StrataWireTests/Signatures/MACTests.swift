#if Remote
    import StrataWire
    import Testing

    @Suite struct MACTests {
        private func isValid(
            signedURI: String, sentTarget: String, authority: String = "api.example.com", scheme: String = "https",
            port: String = "443"
        ) -> Bool {
            let signed = MACTarget(
                method: "GET", requestURI: Array(signedURI.utf8), host: "api.example.com", port: port)
            let header = MACAuthorization(signing: signed, id: "token", key: "key", timestamp: "1343427512", nonce: "n")
            return header.isValid(
                for: MACTarget.candidates(
                    method: "GET", target: sentTarget, authority: authority, scheme: scheme), key: "key")
        }

        @Test func theMessageOfAKnownRequestHasAKnownCode() {
            let target = MACTarget(method: "POST", requestURI: Array("hello".utf8), host: "host", port: "443")
            let message = target.message(timestamp: "1337", nonce: "noncenonce")
            #expect(message == Array("1337\nnoncenonce\nPOST\nhello\nhost\n443\n\n".utf8))
            #expect(HMACSHA1.code(of: message, key: "macKey").base64EncodedString() == "ZpsJivPXcc4cTc6I50bC5XpQfEU=")
        }

        /// The second and third case of RFC 2202.
        @Test func codesAreThoseOfTheStandard() {
            let code = HMACSHA1.code(of: Array("what do ya want for nothing?".utf8), key: "Jefe")
            #expect(Hexadecimal.text(code) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
            #expect(HMACSHA1.isCode(code, of: Array("what do ya want for nothing?".utf8), key: "Jefe"))
            #expect(!HMACSHA1.isCode(code, of: Array("what do ya want for nothing!".utf8), key: "Jefe"))
            #expect(!HMACSHA1.isCode(code.dropLast(), of: Array("what do ya want for nothing?".utf8), key: "Jefe"))
            #expect(!HMACSHA1.isCode(code, of: Array("what do ya want for nothing?".utf8), key: "jefe"))
        }

        @Test func theQueryIsSignedWithBracketsPlainAndSpacesEscaped() {
            let target = MACTarget(
                method: "GET", target: "/user%2E/x?age%5Bgt%5D=21&name=a%20b%C3%BC", authority: "[::1]:8443",
                scheme: "https")
            #expect(String(decoding: target.requestURI, as: UTF8.self) == "/user%2E/x?age[gt]=21&name=a%20bü")
            #expect(target.host == "[::1]")
            #expect(target.port == "8443")
        }

        @Test func theSchemeGivesThePortThatIsMissing() {
            for (scheme, port) in [("http", "80"), ("https", "443"), ("HTTPS", "443")] {
                let target = MACTarget(method: "GET", target: "", authority: "a", scheme: scheme)
                #expect(target.port == port)
                #expect(target.requestURI == [UInt8(ascii: "/")])
            }
        }

        @Test(arguments: [
            ("/a?b=c", "/a?b=c"), ("/a b", "/a%20b"), ("/a%20b", "/a%20b"), ("/a?x[in]=1,2", "/a?x%5Bin%5D=1%2C2"),
            ("/a?x%5Bin%5D=1%2C2", "/a?x%5Bin%5D=1%2C2"), ("/a?name[in]=plain%2Cd'e", "/a?name[in]=plain%2Cd%27e"),
            ("/a?q=%3F(x)!*~", "/a?q=%3F%28x%29%21%2A~"), ("/a", "/a?"),
        ]) func clientsMaySignARequestInSeveralForms(signed: String, sent: String) {
            #expect(isValid(signedURI: signed, sentTarget: sent))
        }

        @Test func anotherRequestIsNotTheSignedOne() {
            #expect(isValid(signedURI: "/a?b=c", sentTarget: "/a?b=c"))
            #expect(!isValid(signedURI: "/a?b=c", sentTarget: "/a?b=d"))
            #expect(!isValid(signedURI: "/a?b=c", sentTarget: "/a"))
            #expect(!isValid(signedURI: "/a", sentTarget: "/b"))
            #expect(!isValid(signedURI: "/a", sentTarget: "/a", authority: "other.example.com"))
            #expect(!isValid(signedURI: "/a", sentTarget: "/a", scheme: "http"))
            #expect(isValid(signedURI: "/a", sentTarget: "/a", authority: "api.example.com:80", port: "80"))
        }

        @Test func headersAreReadAsTheyAreWritten() throws {
            let header = MACAuthorization(id: "a", timestamp: "1", nonce: "n", mac: "bWFj=")
            #expect(header.header == #"MAC id="a",ts="1",nonce="n",mac="bWFj=""#)
            #expect(MACAuthorization(header: header.header) == header)
            #expect(MACAuthorization(header: #"mac  nonce="n" , mac="bWFj=",id = "a",ts="1",x="y" "#) == header)
            let strange = MACAuthorization(id: #"a"b\c,d=e"#, timestamp: "1", nonce: "ü", mac: "m")
            #expect(MACAuthorization(header: strange.header) == strange)
        }

        @Test(arguments: [
            "", "MAC", "MAC ", "Bearer id=\"a\"", "MACid=\"a\",ts=\"1\",nonce=\"n\",mac=\"m\"",
            "MAC id=\"a\",ts=\"1\",nonce=\"n\"", "MAC id=\"\",ts=\"1\",nonce=\"n\",mac=\"m\"",
            "MAC id=\"a\",id=\"a\",ts=\"1\",nonce=\"n\",mac=\"m\"", "MAC id=a,ts=\"1\",nonce=\"n\",mac=\"m\"",
            "MAC id=\"a\",ts=\"1\",nonce=\"n\",mac=\"m", "MAC id=\"a\",ts=\"1\",nonce=\"n\",mac=\"m\",",
            "MAC id=\"a\" ts=\"1\",nonce=\"n\",mac=\"m\"", "MAC id=\"a\",ts=\"1\",nonce=\"n\",mac=\"m\"x",
            "MAC id=\"a\",ts=\"1\",nonce=\"n\",mac=\"m\\", "MAC =\"a\",id=\"a\",ts=\"1\",nonce=\"n\",mac=\"m\"",
            "MAC id=\"a\",ts=\"1\",nonce=\"n\",mac=\"" + String(repeating: "m", count: 513) + "\"",
            "MAC id=\"a\",ts=\"1\",nonce=\"n\",mac=\"m\",x=\"" + String(repeating: "x", count: 8192) + "\"",
        ]) func otherHeadersAreRefused(header: String) {
            #expect(MACAuthorization(header: header) == nil)
        }
    }
#endif
