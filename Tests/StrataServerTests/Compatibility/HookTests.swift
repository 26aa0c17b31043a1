#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct HookTests {
        @Test("Custom code that another server answers is sent every method, who calls, and a proof of who asks")
        func hooks() async throws {
            let secret = "shared"
            let other = try Bench(
                methods: [
                    "code": { (call) throws(ServerError) in
                        let request = call.request
                        let account = PercentEncoding.decode(request.header("X-Strata-Account") ?? "") ?? ""
                        let time = request.header("X-Strata-Time").flatMap { Int64($0) } ?? 0
                        let hook = CustomHook(url: URL(filePath: "/"), secret: secret)
                        let expected = hook.signature(
                            time: time, httpMethod: request.method, name: request.header("X-Strata-Method") ?? "",
                            query: request.query, account: account, body: request.body)
                        guard request.header("X-Strata-Signature") == expected else {
                            throw ServerError(403, "The signature is wrong.")
                        }
                        guard call["fail"] == nil else { throw ServerError(503, "Later.", retryAfter: 7) }
                        return ServerResponse(
                            json: [
                                "verb": .string(request.method), "account": .string(account),
                                "body": .string(String(decoding: request.body, as: UTF8.self)),
                                "version": .string(request.header("X-Strata-Version") ?? ""),
                            ], headers: [("Set-Cookie", "a=b")])
                    }
                ])
            try await other.serving { port in
                let url = try #require(URL(string: "http://127.0.0.1:\(port)/code"))
                let closed = try #require(URL(string: "http://127.0.0.1:1/code"))
                let bench = try Bench {
                    $0.hooks = [
                        "hello_world": CustomHook(url: url, secret: secret, timeout: 120),
                        "unknown": CustomHook(url: url, secret: "wrong", timeout: 120),
                        "gone": CustomHook(url: closed, secret: secret, timeout: 120),
                        "private": CustomHook(url: url, secret: secret, timeout: 120),
                    ]
                    $0.access.methods["private"] = .loggedIn
                }
                let ann = try await bench.signUp("änn b")
                for method in ["GET", "POST", "PUT", "DELETE"] {
                    let body: JSONValue? = method == "GET" || method == "DELETE" ? nil : ["a": 1]
                    let answer = await bench.send(method, "/hello_world?a=b%20c&a=1", body, session: ann)
                    #expect(answer.status == 200, "\(answer.text)")
                    #expect(answer.json?["verb"]?.string == method)
                    #expect(answer.json?["account"] == "user/änn b" && answer.json?["version"] == "0")
                    #expect(answer.json?["body"]?.string == body?.description ?? "")
                    #expect(answer.header("Set-Cookie") == nil)
                }
                #expect(await bench.send("GET", "/hello_world").json?["account"] == "")
                let later = await bench.send("GET", "/hello_world?fail=1")
                #expect(later.status == 503 && later.header("Retry-After") == "7")
                #expect(await bench.send("GET", "/unknown").status == 403)
                #expect(await bench.send("GET", "/gone").status == 502)
                #expect(await bench.send("GET", "/private").status == 401)
                #expect(await bench.send("GET", "/private", session: ann).status == 200)
            }
            for name in ["", "a/b", "_batch", "health"] {
                #expect(throws: ServerSetupError.self, "\(name)") {
                    try Bench { $0.hooks = [name: CustomHook(url: URL(filePath: "/"), secret: "s")] }
                }
            }
            for yaml in ["hooks: {a: {url: 'ftp://x', secret: s}}", "hooks: {a: {url: 'https://x.example'}}"] {
                #expect(throws: ServerSetupError.self) { try ServerConfiguration(yaml: yaml, path: "c") }
            }
        }
    }
#endif
