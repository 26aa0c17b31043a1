import Foundation
import StrataStackMob
import Testing

@Suite struct SigningTests {
    @Test func macOfAKnownMessage() {
        let target = MACTarget(method: "POST", requestURI: Array("hello".utf8), host: "host", port: "443")
        let credentials = MACCredentials(accessToken: "accessToken", key: "macKey")
        let message = target.message(timestamp: "1337", nonce: "noncenonce")
        #expect(message == Array("1337\nnoncenonce\nPOST\nhello\nhost\n443\n\n".utf8))
        #expect(credentials.signature(of: message) == "ZpsJivPXcc4cTc6I50bC5XpQfEU=")
    }

    @Test func bracketsAreSignedUnescapedAndSpacesEscaped() {
        let head = HTTPRequest(
            method: .get, scheme: "https", authority: "[::1]:8443", path: "/user%2E/x?age%5Bgt%5D=21&name=a%20b%C3%BC")
        let target = MACTarget(WireRequest(head))
        #expect(String(decoding: target.requestURI, as: UTF8.self) == "/user%2E/x?age[gt]=21&name=a%20bü")
        #expect(target.host == "[::1]")
        #expect(target.port == "8443")
    }

    @Test func emptyCredentialsAreRefused() throws {
        let dialect = try StackMobDialect(publicKey: String(repeating: "X", count: 36))
        let error = #expect(throws: RemoteError.self) {
            try dialect.tokenRequest(.password(username: "", password: "x"))
        }
        #expect(error?.code == -100)
        #expect(error?.domain == "SMError")
    }
}
