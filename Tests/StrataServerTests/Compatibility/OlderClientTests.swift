#if Server
    import Foundation
    import StrataServer
    import Testing

    /// What StackMob's own clients send and expect.
    @Suite struct OlderClientTests {
        @Test("Expansion is asked for by a parameter, too, of one object and of many")
        func expansion() async throws {
            let bench = try Bench()
            let relations = ["X-StackMob-Relations": "friend=person"]
            let body: JSONValue = ["person_id": "a", "friend": ["person_id": "b", "n": 1]]
            #expect(await bench.send("POST", "/person", body, headers: relations).status == 201)
            #expect(await bench.send("GET", "/person/a?_expand=1").json?["friend"]?["n"] == 1)
            let many = await bench.send("GET", "/person?person_id=a&_expand=2")
            #expect(many.json?.elements?.first?["friend"]?["n"] == 1)
            #expect(await bench.send("GET", "/person/a").json?["friend"] == "b")
            for target in ["/person/a?_expand=4", "/person?_expand=x"] {
                #expect(await bench.send("GET", target).status == 400)
            }
            // A parameter that means nothing here is a mistake that somebody should hear about.
            #expect(await bench.send("GET", "/person/a?expand=1").status == 400)
            let ann = try await bench.signUp("ann")
            #expect(await bench.send("GET", "/person/a?_expand=1", session: ann).json?["friend"]?["n"] == 1)
        }

        @Test("All that meets conditions is deleted by one request, and nothing that the sender may not delete")
        func deleting() async throws {
            let bench = try Bench {
                $0.limits.requests.objects = 4
                $0.access.schemas["note"] = .init(read: .anyone, create: .loggedIn, update: .owner, delete: .owner)
            }
            let all = JSONValue.array((0..<4).map { ["todo_id": .string("\($0)"), "n": .integer($0 % 2)] })
            #expect(await bench.send("POST", "/todo", all).status == 201)
            #expect(await bench.send("DELETE", "/todo?n=0&[or1].todo_id=0&[or1].todo_id=1").status == 200)
            #expect(await bench.values("/todo", "todo_id") == ["1", "2", "3"])
            #expect(await bench.send("DELETE", "/todo?n[gte]=0").status == 200)
            #expect(await bench.send("GET", "/todo").json == [])
            #expect(await bench.send("DELETE", "/todo").status == 400)
            #expect(await bench.send("DELETE", "/todo?todo_id=1").json?["error"] == "This object does not exist")
            let (ann, bob) = (try await bench.signUp("ann"), try await bench.signUp("bob"))
            for (session, id) in [(ann, "a"), (bob, "b")] {
                await bench.send("POST", "/note", ["note_id": .string(id), "n": 1], session: session)
            }
            #expect(await bench.send("DELETE", "/note?n=1").status == 401)
            #expect(await bench.send("DELETE", "/note?n=1", session: ann).status == 200)
            #expect(await bench.values("/note", "note_id") == ["b"])
            // Deletions are reported to clients that keep a copy.
            #expect(await bench.send("GET", "/_changes/todo").json?["deleted"]?.elements?.count == 4)
            for _ in 0..<2 { await bench.send("POST", "/todo", [["n": 7], ["n": 7], ["n": 7]]) }
            #expect(await bench.send("DELETE", "/todo?n=7").status == 400)
            #expect(await bench.send("GET", "/todo?n=7").json?.elements?.count == 6)
        }

        @Test("A relationship is made by using it: by the name of the field, or as the header says")
        func inference() async throws {
            let bench = try Bench()
            await bench.send("POST", "/user", ["username": "ann", "password": "secret"])
            let ann = try await bench.logIn("ann")
            let messages: JSONValue = [["content": "one"], ["content": "two"]]
            let first = await bench.send("POST", "/user/ann/messages", messages, session: ann)
            #expect(first.json?["succeeded"]?.elements?.count == 2, "\(first.text)")
            let shown = await bench.send("GET", "/user/ann?_expand=1", session: ann)
            #expect(shown.json?["messages"]?.elements?.allSatisfy { $0["messages_id"]?.string != nil } == true)
            let named = await bench.send(
                "POST", "/user/ann/notes", [["text": "x"]], headers: ["X-StackMob-Relations": "notes=note"],
                session: ann)
            #expect(named.status == 201, "\(named.text)")
            #expect(await bench.send("GET", "/note").json?.elements?.count == 1)
            #expect(await bench.send("POST", "/user/nobody/messages", messages, session: ann).status == 404)
            // Production knows what is declared or deployed.
            let production = ["Accept": "application/vnd.stackmob+json; version=1"]
            #expect(await bench.send("POST", "/user/ann/others", messages, headers: production).status != 201)
        }

        @Test("A to-one relationship that the header names is one, whether its value is an id or an object")
        func toOne() async throws {
            let bench = try Bench()
            let relations = ["X-StackMob-Relations": "owner=person"]
            #expect(await bench.send("POST", "/person", ["person_id": "p", "n": 1]).status == 201)
            #expect(await bench.send("POST", "/dog", ["dog_id": "d", "owner": "p"], headers: relations).status == 201)
            #expect(await bench.send("GET", "/dog/d?_expand=1").json?["owner"]?["n"] == 1)
            // A field that was a text becomes one.
            #expect(await bench.send("POST", "/cat", ["cat_id": "c", "owner": "p"]).status == 201)
            #expect(await bench.send("PUT", "/cat/c", ["owner": "p"], headers: relations).status == 200)
            #expect(await bench.send("GET", "/cat/c?_expand=1").json?["owner"]?["n"] == 1)
        }

        @Test("Several schemas hold accounts, each with names of its own, and none shows a password")
        func severalUserSchemas() async throws {
            let bench = try Bench {
                $0.accountSchemas = [
                    AccountSchema(), AccountSchema(name: "driver", keyField: "badge", passwordField: "pin"),
                ]
            }
            let created = await bench.send("POST", "/driver", ["badge": "d1", "pin": "secret", "car": "red"])
            #expect(created.status == 201 && !created.text.contains("secret"))
            let token = await bench.server.respond(
                to: ServerRequest("POST", "/driver/accessToken", body: Data("badge=d1&pin=secret".utf8)))
            let driver = try #require(Session(token.json), "\(token.text)")
            #expect(token.json?["stackmob"]?["user"]?["badge"] == "d1")
            #expect(await bench.send("GET", "/driver/loggedInUser", session: driver).json?["car"] == "red")
            #expect(
                await bench.send("POST", "/todo", ["todo_id": "t"], session: driver).json?["sm_owner"] == "driver/d1")
            // The same name elsewhere is somebody else.
            let user = try await bench.signUp("d1")
            #expect(await bench.send("GET", "/driver/d1", session: user).status == 404)
            #expect(await bench.send("PUT", "/driver/d1", ["car": "blue"], session: user).status == 404)
            let wrong = await bench.server.respond(
                to: ServerRequest("POST", "/user/accessToken", body: Data("username=d1&password=wrong".utf8)))
            #expect(wrong.status == 401)
            // A schema of no accounts keeps no passwords.
            for body in [["username": "x", "password": "secret"], ["pin": "1234"]] as [JSONValue] {
                #expect(await bench.send("POST", "/user_locked", body).status == 400)
            }
            #expect(await bench.send("GET", "/user_locked").json == [])
            let yaml = "users: [{schema: user}, {schema: driver, key: badge, password: pin}]"
            #expect(
                try ServerConfiguration(yaml: yaml, path: "c").options.accountSchemas
                    == bench.server.options.accountSchemas)
            let model = try ManagedObjectModel(name: "M") {
                Entity("Member") {
                    Attribute("memberId", .string).unique()
                    Attribute("password", .string).optional()
                }
            }
            let error = #expect(throws: ServerSetupError.self) { try Bench(model: model) }
            #expect(error?.description.contains("Member.password") == true)
        }

        @Test("Requests with the private key do everything, whatever the rules say, with nonces and hashes of any form")
        func privateKey() async throws {
            let bench = try Bench {
                $0.publicKey = "public"
                $0.privateKey = "private"
                $0.access = .closed
            }
            let body: JSONValue = ["todo_id": "a", "t": "x"]
            let created = await bench.privateKey("POST", "/todo", body, bodyHash: "kd6rp3Sl61XPu5be2IJqiqDAL4M=")
            #expect(created.status == 201, "\(created.text)")
            #expect(await bench.privateKey("GET", "/todo?t=x").json?.elements?.count == 1)
            #expect(await bench.privateKey("GET", "/todo?t[in]=a%2Cb,x").json?.elements?.count == 1)
            #expect(await bench.privateKey("PUT", "/todo/a", ["t": "y"]).json?["t"] == "y")
            #expect(await bench.privateKey("DELETE", "/todo/a").status == 200)
            let people: JSONValue = [
                ["username": "a", "password": "one"], ["username": "b", "password": "two"],
            ]
            #expect(await bench.privateKey("POST", "/user", people).json?["succeeded"] == ["a", "b"])
            #expect(await bench.privateKey("GET", "/user").json?.elements?.count == 2)
            // An account that a server of the application makes has no password, and lets nobody in.
            #expect(await bench.privateKey("POST", "/user", ["username": "456", "name": "Test"]).status == 201)
            for password in ["", "x", "456"] {
                let token = await bench.server.respond(
                    to: ServerRequest(
                        "POST", "/user/accessToken", headers: [("X-StackMob-API-Key", "public")],
                        body: Data("username=456&password=\(password)".utf8)))
                #expect(token.status == 401, "\(token.text)")
            }
            let key = ["X-StackMob-API-Key": "public"]
            #expect(await bench.send("GET", "/user", headers: key).status == 405)
            // Without a private key no signature with one is right.
            let none = try Bench { $0.publicKey = "public" }
            #expect(await none.privateKey("GET", "/user").status == 401)
        }

        /// What stackmob-ruby sent: method, path, body, hash of the body, nonce and signature. It signs before Net::HTTP calls the
        /// body a form.
        private static let rubyRequests = [
            (
                "POST", "/api/0/test/user", #"{"username":"456","name":"StackMob Test"}"#,
                "oyYMLMKV%2BAh0%2B%2F8oM4Pl%2BxlsWYQ%3D", "zlJ97dO1G01xRgl70KcsbOZC4BalWOjqFZPCh1vk",
                "9%2FxxCkWHvpiPGG%2BRtY0mREtcPJ8%3D"
            ),
            (
                "PUT", "/api/0/test/user/456", #"{"name":"updated name"}"#, "hH1yd9jhX%2BzmNnJsSURS4e6MM9A%3D",
                "CDzPoVfAkhjebXaO7JfCPmAbSsKlDucrvRBpsgA9so", "giZtGyxkHbcrB19DZj%2BZpfakwdw%3D"
            ),
            (
                "POST", "/push/0/test/remove_token_universal",
                #"{"type":"iOS","token":"1b9cc1e947889c47f83bab981f0b5349a38903578c40cca519b1c22796c5eadf"}"#,
                "kd6rp3Sl61XPu5be2IJqiqDAL4M%3D", "2pPqeV12xDVL1NbzxI3mluSKuoum09yu9VrVAs10U",
                "RlfS8S4vRCLhB4GMCO%2FD0fq0Tic%3D"
            ),
        ]

        @Test("Requests as Ruby's client sent them are answered, JSON that is called a form among them")
        func ruby() async throws {
            let key = "b0b4b19e-2901-4b3b-b8a7-67338d2b5cb3"
            let bench = try Bench {
                $0.publicKey = key
                $0.privateKey = "b3764a11-cdcb-4750-9aad-cee0b6201d0c"
            }
            let seconds: Int64 = 1_795_393_873
            bench.advance(seconds: seconds - bench.time.milliseconds / 1000)
            for (method, path, body, hash, nonce, signature) in Self.rubyRequests {
                let authorization =
                    "OAuth oauth_body_hash=\"\(hash)\", oauth_consumer_key=\"\(key)\", oauth_nonce=\"\(nonce)\", "
                    + "oauth_signature=\"\(signature)\", oauth_signature_method=\"HMAC-SHA1\", "
                    + "oauth_timestamp=\"\(seconds)\", oauth_version=\"1.0\""
                let answer = await bench.server.respond(
                    to: ServerRequest(
                        method, path,
                        headers: [
                            ("Host", "127.0.0.1:18911"), ("Authorization", authorization),
                            ("Content-Type", "application/x-www-form-urlencoded"),
                        ], body: Data(body.utf8)))
                #expect((200...201).contains(answer.status), "\(method) \(path) \(answer.text)")
            }
            // A client that may list the schemas is told about one that does not exist; in an app it may be there
            // tomorrow.
            let listing = try Bench {
                $0.publicKey = "public"
                $0.privateKey = "private"
            }
            #expect(await listing.privateKey("GET", "/api/0/test/dne").status == 404)
            #expect(await listing.send("GET", "/dne", headers: ["X-StackMob-API-Key": "public"]).json == [])
        }

        @Test("Older paths name version and application, and requests without objects are answered")
        func paths() async throws {
            let bench = try Bench {
                $0.publicKey = "public"
                $0.privateKey = "private"
            }
            #expect(
                await bench.privateKey("POST", "/api/0/ruby_test/todo", ["todo_id": "a", "tags": ["x"]]).status == 201)
            #expect(await bench.privateKey("GET", "/api/0/ruby_test/todo/a").json?["todo_id"] == "a")
            #expect(await bench.privateKey("GET", "/todo/a").json?["todo_id"] == "a")
            #expect(await bench.privateKey("GET", "/api/1/ruby_test/todo/a").status == 404)
            let listing = await bench.privateKey("GET", "/api/0/ruby_test/listapi")
            #expect(listing.json?["todo"]?["properties"]?["tags"]?["type"] == "array", "\(listing.text)")
            #expect(await bench.privateKey("POST", "/api/0/ruby_test/startsession").status == 200)
            let key = ["X-StackMob-API-Key": "public"]
            #expect(await bench.send("GET", "/listapi", headers: key).status == 401)
            // Without the private key, these are schemas like others.
            #expect(await bench.send("POST", "/notifications", ["n": 1], headers: key).status == 201)
            #expect(await bench.send("POST", "/tokens", ["tokens_id": "t", "list": ["a"]], headers: key).status == 201)
            #expect(await bench.send("PUT", "/tokens/t/list", ["b"], headers: key).status == 200)
            let token = String(repeating: "ab", count: 32)
            let registration: JSONValue = ["userId": "u", "token": ["token": .string(token), "type": "iOS"]]
            let registered = await bench.privateKey(
                "POST", "/push/0/ruby_test/register_device_token_universal", registration)
            #expect(registered.status == 200, "\(registered.text)")
            let tokens = await bench.privateKey("GET", "/push/0/ruby_test/get_tokens_for_users_universal?userIds=u")
            #expect(tokens.json?["tokens"]?["u"]?.elements?.first?["type"] == "ios")
        }

        @Test("Values of another type, and another key, are refused in StackMob's words")
        func texts() async throws {
            let bench = try Bench { $0.access.accounts.levels[.update] = .anyone }
            let user: JSONValue = [
                "username": "test0", "password": "secret", "age": 25, "vegetarian": true, "colors": ["red"],
                "numbers": [1, 2], "money": 1.5,
            ]
            #expect(await bench.send("POST", "/user", user).status == 201)
            for (name, value) in [
                ("age", 18.71), ("colors", [1, 3]), ("numbers", ["1"]), ("numbers", [1, 3.33, true, "7"]),
                ("vegetarian", [true]), ("vegetarian", 10.32), ("numbers", [["a": 1]]), ("numbers", [[1]]),
            ] as [(String, JSONValue)] {
                let answer = await bench.send("PUT", "/user/test0", .object([name: value]))
                #expect(answer.status == 400, "\(name) \(value)")
                #expect(answer.json?["error"]?.string?.contains("has invalid type, please check your schema") == true)
                #expect(answer.json?["error_description"]?.string?.contains("user.\(name) takes") == true)
            }
            let created = await bench.send("POST", "/user", ["username": "x", "password": "secret", "age": 13.5])
            #expect(created.status == 400)
            #expect(
                created.json?["error"]?.string?.contains("an incompatible type, please check your schema") == true)
            #expect(await bench.send("PUT", "/user/test0", ["money": 2]).status == 200, "a number may be whole")
            let moved = await bench.send("PUT", "/user/13.53552", ["username": 13.53552])
            #expect(moved.status == 400 && moved.json?["error"] == "unable to update primary key")
            let missing = await bench.send("PUT", "/user/other", ["username": "other"])
            #expect(missing.status == 404 && missing.json?["error"] == "object instance does not exist")
        }

        @Test("An apostrophe that the browser escapes after signing does not make the signature wrong")
        func apostrophe() async throws {
            let bench = try Bench()
            let ann = try await bench.signUp("ann")
            for (sent, signed) in [
                ("/todo?t[in]=plain%2Cd%27e", "/todo?t[in]=plain%2Cd'e"), ("/todo?t=%28x%29%21", "/todo?t=(x)!"),
            ] {
                var request = ServerRequest("GET", sent, headers: [("Host", "localhost")])
                let seconds = bench.time.milliseconds / 1000
                request.headers.append(
                    ("Authorization", ann.authorization(ServerRequest("GET", signed), seconds: seconds)))
                #expect(await bench.server.respond(to: request).status == 200, "\(sent)")
            }
        }

        @Test("Values that any type may hold are served as they are, and refused where nothing can be asked of them")
        func json() async throws {
            let model = try ManagedObjectModel(name: "M") {
                Entity("Page") {
                    Attribute("pageId", .string).unique()
                    Attribute("layout", .json(JSONType("Layout"))).optional()
                }
            }
            let bench = try Bench(model: model)
            for (id, value) in [
                ("a", ["x": [1, "b", nil], "y": ["z": 1.5]]), ("b", [1, 2]), ("c", "text"), ("d", nil),
            ]
                as [(String, JSONValue)]
            {
                #expect(await bench.send("POST", "/page", ["page_id": .string(id), "layout": value]).status == 201)
                #expect(await bench.send("GET", "/page/\(id)").json?["layout"] == value)
            }
            #expect(await bench.values("/page?layout[null]=true", "page_id") == ["d"])
            #expect(await bench.send("GET", "/page?layout=1").status == 400)
            #expect(await bench.send("GET", "/page", headers: ["X-StackMob-OrderBy": "layout"]).status == 400)
        }
    }
#endif
