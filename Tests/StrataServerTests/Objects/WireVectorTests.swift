#if Server
    import Foundation
    @testable import StrataServer
    import Testing

    /// Signatures whose results are known from elsewhere.
    @Suite struct WireVectorTests {
        @Test("MAC signatures are those of the reference")
        func mac() {
            for (method, target, isSecure, mac) in [
                ("GET", "/user?age[gt]=21", true, "rKeS9ucHlG/IHByJ/zRAI3FXShU="),
                ("GET", "/user?age%5Bgt%5D=21", true, "rKeS9ucHlG/IHByJ/zRAI3FXShU="),
                ("GET", "/book/1234", false, "yvCP5F5we5/f4BlAGgGMyw1rOA8="),
                ("DELETE", "/user/unlinkUserFromFacebook", true, "hOVHMcYs22/gk9NUc6dp5nkrrEo="),
            ] {
                let header =
                    "MAC id=\"vV6xEfVgQZv4ABJ6VZDHlQfCaqKgFZuN\",ts=\"1343427512\",nonce=\"n2468\",mac=\"\(mac)\""
                let request = ServerRequest(method, target, headers: [("Host", "api.stackmob.com")], isSecure: isSecure)
                let signature = MACAuthorization(header: header)
                #expect(signature?.isValid(for: request, key: "okKXxMWOEhnM78Rie02ZjWjP7eQqpp6V") == true, "\(target)")
                #expect(signature?.isValid(for: request, key: "okKXxMWOEhnM78Rie02ZjWjP7eQqpp6W") == false)
            }
        }

        @Test("OAuth signatures are those of the reference")
        func oauth() {
            var authorization = OAuth1Authorization(
                consumerKey: "public", timestamp: "1343427512", nonce: "0B2F8B6C-1D9E-4F52-9A53-6B6E1B0C7A11",
                realm: "ignored")
            for (method, target, expected) in [
                ("GET", "/get_tokens_for_users_universal?userIds=Ted,Mary", "L1gQ+fthDgqV7syqxjyvs0PGmKk="),
                ("POST", "/register_device_token_universal", "+awRv3ma8ELGtuHbfGr4omU7hE8="),
            ] {
                let request = ServerRequest(method, target, headers: [("Host", "push.stackmob.com")])
                authorization["oauth_signature"] = expected
                let secrets = OAuth1Secrets(consumer: "private")
                #expect(secrets.areValid(for: OAuth1Request(request), authorization))
            }
        }

        @Test(
            "Queries are unescaped as the old client escaped them",
            arguments: [
                ("name=Bruce%20Wayne%20%26%20co", ["name": "Bruce Wayne & co"]),
                ("q=a%3Db%3Bc%3Ad%2Fe%3Ff%23g", ["q": "a=b;c:d/e?f#g"]),
                ("alpha=2&beta=3&Zed=1", ["alpha": "2", "beta": "3", "Zed": "1"]),
                ("city=Z%C3%BCrich", ["city": "Zürich"]),
                ("a=1+1&b=100%", ["a": "1+1", "b": "100%"]),
            ])
        func encoding(query: String, expected: [String: String]) throws {
            let pairs = try #require(QueryParameters.read(query))
            #expect(Dictionary(pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }) == expected)
        }

        @Test("Used signatures are forgotten when their time is over, and never too early")
        func replays() throws {
            let path = FileManager.default.temporaryDirectory.appending(path: "signatures-\(UUID().uuidString)").path
            defer { try? FileManager.default.removeItem(atPath: path) }
            let replays = try ReplayGuard(path: path, capacity: 3, now: 100)
            func admit(_ key: String, time: Int64, now: Int64) throws(ServerError) {
                try replays.admit([key], of: "s", time: time, now: now, window: 10)
            }
            try admit("a", time: 110, now: 100)
            #expect(throws: ServerError.self) { try admit("a", time: 110, now: 120) }
            try admit("a", time: 121, now: 121)
            try admit("b", time: 121, now: 121)
            try admit("c", time: 121, now: 121)
            #expect(throws: ServerError(503, "Too many signed requests.", retryAfter: 1)) {
                try admit("d", time: 121, now: 121)
            }
            try admit("d", time: 142, now: 142)
            // The clock is set back: what was forgotten is not let in again.
            #expect(throws: ServerError.self) { try admit("a", time: 121, now: 121) }
        }

        @Test("The file of used signatures does not grow with their number for good")
        func replayFile() throws {
            let path = FileManager.default.temporaryDirectory.appending(path: "signatures-\(UUID().uuidString)").path
            defer { try? FileManager.default.removeItem(atPath: path) }
            let replays = try ReplayGuard(path: path, capacity: 1_000, now: 0)
            for number in Int64(0)..<50_000 {
                try replays.admit(["\(number)"], of: "s", time: number / 10, now: number / 10, window: 10)
            }
            let size = try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
            #expect(size < 24 * 11_000)
        }
    }
#endif
