#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct AccessTests {
        @Test("Owners alone read, change and delete what rules make theirs")
        func owners() async throws {
            let bench = try Bench {
                $0.access.schemas["note"] = .init(read: .owner, create: .loggedIn, update: .owner, delete: .owner)
                $0.access.schemas["log"] = .init(read: .anyone, create: .nobody, update: .nobody, delete: .nobody)
            }
            let (ann, bob) = (try await bench.signUp("ann"), try await bench.signUp("bob"))
            #expect(await bench.send("POST", "/note", ["note_id": "x", "text": "t"]).status == 401)
            #expect(await bench.send("GET", "/note").status == 401)
            #expect(await bench.send("POST", "/note", ["note_id": "a", "text": "Ann's"], session: ann).status == 201)
            #expect(
                await bench.send(
                    "POST", "/note", ["note_id": "b", "text": "Bob's", "sm_owner": "user/ann"], session: bob
                ).status == 201)

            #expect(
                await bench.send("GET", "/note", session: ann).json?.elements?.map { $0["note_id"] ?? .null } == ["a"])
            #expect(await bench.send("GET", "/note?note_id=b", session: ann).json == [])
            #expect(
                await bench.send("GET", "/note?[or1].note_id=b&[or1].note_id=a", session: bob).json?.elements?.count
                    == 1)
            for (method, body) in [("GET", nil), ("PUT", ["text": "mine"]), ("DELETE", nil)] as [(String, JSONValue?)] {
                #expect(await bench.send(method, "/note/b", body).status == 401, "\(method)")
                #expect(await bench.send(method, "/note/b", body, session: ann).status == 404, "\(method)")
            }
            // Neither the count, the changes, an expansion nor a tree get around the rules.
            let count = await bench.send("GET", "/note", headers: ["Range": "objects=0-0"], session: ann)
            #expect(count.status == 200 && count.header("Content-Range") == nil)
            #expect(await bench.send("GET", "/_changes/note", session: ann).json?["objects"]?.elements?.count == 1)
            #expect(await bench.send("GET", "/_changes/note").status == 401)
            let relations = ["X-StackMob-Relations": "note=note"]
            await bench.send("POST", "/page", ["page_id": "p", "note": "b"], headers: relations, session: ann)
            #expect(
                await bench.send("GET", "/page/p", headers: ["X-StackMob-Expand": "1"], session: ann).json?["note"]
                    == "b")
            #expect(
                await bench.send("GET", "/page/p", headers: ["X-StackMob-Expand": "1"], session: bob).json?["note"]?[
                    "text"]
                    == "Bob's")
            let steal = await bench.send(
                "POST", "/page", ["note": ["note_id": "b", "text": "stolen"]], headers: relations, session: ann)
            #expect(steal.status == 404)
            #expect(
                await bench.send(
                    "DELETE", "/page/p/note/b", headers: ["X-StackMob-CascadeDelete": "true"], session: ann
                ).status == 404)
            #expect(await bench.send("GET", "/note/b", session: bob).json?["text"] == "Bob's")
            #expect(await bench.send("GET", "/page/p").json?["note"] == "b")

            #expect(await bench.send("POST", "/log", ["a": 1]).status == 405)
            #expect(await bench.send("GET", "/log").json == [], "a stranger's request makes no schema")
            #expect(await bench.send("PUT", "/user/bob", ["age": 1], session: ann).status == 404)
            #expect(await bench.send("PUT", "/user/ann", ["age": 1], session: ann).status == 200)
            #expect(await bench.send("PUT", "/user/ann", ["sm_password": "x"], session: ann).status == 400)
        }

        @Test("Requests are bounded in size, depth, number and rate")
        func limits() async throws {
            let bench = try Bench {
                $0.limits.requests.bodySize = 1000
                $0.limits.requests.jsonDepth = 5
                $0.limits.requests.objects = 3
                $0.limits.answers.objects = 4
                $0.limits.requests.conditions = 3
                $0.limits.requests.perSecond = 1
                $0.limits.requests.burst = 20
            }
            #expect(await bench.send("POST", "/a", ["t": .string(String(repeating: "x", count: 1000))]).status == 413)
            #expect(await bench.send("POST", "/a", ["t": [[[[[1]]]]]]).status == 400)
            #expect(await bench.send("POST", "/a", [[:], [:], [:], [:]]).status == 400)
            #expect(await bench.send("GET", "/a?a=1&b=1&c=1&d=1").status == 400)
            #expect(await bench.send("GET", "/a?a[in]=1,2,3,4").status == 200, "unknown fields are not looked at")
            for _ in 0..<2 { #expect(await bench.send("POST", "/a", [["n": 1], ["n": 1], ["n": 1]]).status == 201) }
            let cut = await bench.send("GET", "/a")
            #expect(cut.status == 206 && cut.header("Content-Range") == "0-3/6")
            var statuses: [Int] = []
            for _ in 0..<15 { statuses.append(await bench.send("GET", "/health").status) }
            #expect(statuses.first == 200 && statuses.last == 503)
            let refused = await bench.send("GET", "/health")
            #expect(refused.header("Retry-After") == "1")
            bench.advance(seconds: 1)
            #expect(await bench.send("GET", "/health").status == 200)
        }

        @Test("Only clients that name the key of the application are answered")
        func applicationKey() async throws {
            let bench = try Bench { $0.publicKey = "the-key" }
            #expect(await bench.send("GET", "/a").status == 401)
            #expect(await bench.send("GET", "/a", headers: ["X-StackMob-API-Key": "other"]).status == 401)
            #expect(await bench.send("GET", "/a", headers: ["x-stackmob-api-key": "the-key"]).status == 200)
            #expect(await bench.send("GET", "/health").json?["status"] == "ok")
        }

        @Test("Where TLS is required, nothing but the health of the server is answered without it")
        func tls() async throws {
            let bench = try Bench { $0.network.requiresTLS = true }
            await bench.send("POST", "/user", ["username": "ann", "password": "x"])
            func send(_ target: String, _ body: String, isSecure: Bool = true) async -> Int {
                await bench.server.respond(
                    to: ServerRequest("POST", target, body: Data(body.utf8), isSecure: isSecure)
                ).status
            }
            let account = #"{"username":"ann","password":"x"}"#
            for (target, body) in [
                ("/user", account), ("/user/accessToken", "username=ann&password=x"), ("/todo", "{}"),
            ] {
                #expect(await send(target, body, isSecure: false) == 403, "\(target)")
            }
            #expect(await bench.send("GET", "/health").status == 200)
            #expect(await send("/user", account) == 201)
            let request = ServerRequest(
                "POST", "/user/accessToken", body: Data("username=ann&password=x".utf8), isSecure: true)
            #expect(await bench.server.respond(to: request).status == 200)
        }

        @Test("A configuration file sets all of it, and mistakes in it are named with their place")
        func configuration() throws {
            let configuration = try ServerConfiguration(
                yaml: """
                    listen: {host: 0.0.0.0, port: 9000}
                    data: d
                    model: m.yaml
                    development: false
                    keys: {public: p, private: q}
                    users: {schema: dog, key: doggyname}
                    tokens: {lifetime: 60, refreshLifetime: 600}
                    requireTLS: true
                    durability: normal
                    access:
                      standard: {read: loggedIn}
                      schemas: {note: {read: owner, delete: nobody}}
                      methods: {report: loggedIn}
                    limits: {bodySize: 5, requestTimeout: 7}
                    """, path: "c.yaml")
            #expect(configuration.host == "0.0.0.0" && configuration.port == 9000 && configuration.model == "m.yaml")
            #expect(!configuration.options.isDevelopment && configuration.options.accountSchemas.map(\.name) == ["dog"])
            #expect(configuration.options.privateKey == "q" && configuration.options.tokens.lifetime == 60)
            #expect(
                configuration.options.access.schemas["note"]?.levels == [
                    .read: .owner, .create: .nobody, .update: .nobody, .delete: .nobody,
                ])
            #expect(
                configuration.options.limits.requests.timeout == 7
                    && !configuration.options.storage.survivesPowerFailure)
            for (yaml, expected) in [
                ("listen: {port: 99999}", "c.yaml:1:16: listen.port takes a whole number from 0 to 65535"),
                ("development: false\nfoo: 1", "c.yaml:2:6: foo is not known; see Documentation/Server.md"),
                (
                    "access: {standard: {read: me}}",
                    "c.yaml:1:27: access.standard.read takes anyone, loggedIn, owner, relationship:<field>, role:<name>, privateKey, nobody, or several joined by |"
                ),
                (
                    "access: {standard: {write: anyone}}",
                    "c.yaml:1:28: access.standard.write is not known; see Documentation/Server.md"
                ),
                ("tls: {key: k}", "c.yaml:1:6: tls takes certificate and key"),
            ] {
                let error = #expect(throws: ServerSetupError.self) {
                    try ServerConfiguration(yaml: yaml, path: "c.yaml")
                }
                #expect(error?.description == expected)
            }
            #expect(throws: ServerSetupError.self) { try ServerConfiguration(yaml: "a: [", path: "c.yaml") }
        }
    }
#endif
