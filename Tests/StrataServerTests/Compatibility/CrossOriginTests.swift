#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct CrossOriginTests {
        private let page = "http://localhost:14567"

        private func preflight(_ bench: Bench, _ origin: String) async -> ServerResponse {
            await bench.send(
                "OPTIONS", "/user",
                headers: [
                    "Origin": origin, "Access-Control-Request-Method": "POST",
                    "Access-Control-Request-Headers": "content-type,x-stackmob-api-key,x-stackmob-api-key-the-key",
                ])
        }

        @Test("Pages of origins that are listed may send what they ask for, and read the answers")
        func listed() async throws {
            let bench = try Bench {
                $0.network.origins = [page]
                $0.publicKey = "the-key"
            }
            let asked = await preflight(bench, page)
            #expect(asked.status == 204)
            #expect(asked.header("Access-Control-Allow-Origin") == page && asked.header("Vary") == "Origin")
            #expect(asked.header("Access-Control-Allow-Headers")?.hasSuffix("x-stackmob-api-key-the-key") == true)
            for method in ["GET", "POST", "PUT", "DELETE"] {
                #expect(asked.header("Access-Control-Allow-Methods")?.contains(method) == true)
            }
            // Failures, too: the script must be able to read them.
            let failure = await bench.send("GET", "/todo", headers: ["Origin": page])
            #expect(failure.status == 401 && failure.header("Access-Control-Allow-Origin") == page)
            let answer = await bench.send("GET", "/todo", headers: ["Origin": page, "X-StackMob-API-Key": "the-key"])
            #expect(answer.status == 200)
            #expect(answer.header("Access-Control-Expose-Headers")?.contains("Content-Range") == true)
            #expect(answer.header("Access-Control-Expose-Headers")?.contains("Retry-After") == true)
        }

        @Test("Pages of other origins may nothing")
        func others() async throws {
            for origins in [[], [page]] {
                let bench = try Bench { $0.network.origins = origins }
                for origin in ["http://evil.example", "null", page + "0"] {
                    let asked = await preflight(bench, origin)
                    #expect(asked.status == 405 && asked.header("Access-Control-Allow-Origin") == nil)
                    let answer = await bench.send("GET", "/todo", headers: ["Origin": origin])
                    #expect(answer.header("Access-Control-Allow-Origin") == nil)
                }
            }
            for text in ["app.example.org", "https://app.example.org/", "https://a.example/x", "ftp://a.example", ""] {
                #expect(throws: ServerSetupError.self, "\(text)") {
                    try ServerConfiguration(yaml: "origins: ['\(text)']", path: "c")
                }
            }
            #expect(try ServerConfiguration(yaml: "origins: ['*']", path: "c").options.network.origins == ["*"])
        }
    }
#endif
