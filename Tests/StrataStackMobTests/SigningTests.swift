import Foundation
import StrataStackMob
import Testing

@Suite struct SigningTests {
    @Test func aRequestIsSignedByItsPartsAsTheyAreSent() {
        let head = HTTPRequest(
            method: .get, scheme: "https", authority: "[::1]:8443", path: "/user%2E/x?age%5Bgt%5D=21&name=a%20b%C3%BC")
        let target = MACTarget(WireRequest(head))
        #expect(String(decoding: target.requestURI, as: UTF8.self) == "/user%2E/x?age[gt]=21&name=a%20bü")
        #expect(target.host == "[::1]")
        #expect(target.port == "8443")
        let signed = MACCredentials(accessToken: "accessToken", key: "macKey")
            .signing(WireRequest(head), seconds: 1337, nonce: "n")
        let header = signed.head.headerFields[.authorization].flatMap(MACAuthorization.init(header:))
        #expect(header?.id == "accessToken")
        #expect(header?.isValid(for: [target], key: "macKey") == true)
    }

    @Test func aPushRequestIsSignedWithItsQueryAsItIsSent() throws {
        let head = HTTPRequest(
            method: .get, scheme: "HTTP", authority: "Push.example.com:80", path: "/tokens?userIds=Ted,Mary")
        let signed = OAuth1Credentials(consumerKey: "public+", consumerSecret: "private")
            .signing(WireRequest(head), seconds: "1337", nonce: "n")
        let header = try #require(signed.head.headerFields[.authorization].flatMap(OAuth1Authorization.init(header:)))
        #expect(header.realm == "http://push.example.com/tokens")
        #expect(header["oauth_consumer_key"] == "public+")
        let secrets = OAuth1Secrets(consumer: "private")
        let request = OAuth1Request(WireRequest(head))
        #expect(header["oauth_signature"] == secrets.signature(of: request, header, queryForm: .asSent))
        #expect(secrets.areValid(for: request, header))
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
