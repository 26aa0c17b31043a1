#if Server
    import Foundation
    import StrataAzure
    import StrataServer
    import StrataStackMob
    import Testing

    @Suite struct CrossDialectTests {
        private static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "Shared") {
                Entity("User", user: true) { Attribute("username", .string) }
                Entity("BlogPost") {
                    Attribute("postId", .string)
                    Attribute("pageTitle", .string, optional: true)
                    Attribute("likes", .integer64, optional: true)
                    Attribute("dueDate", .date, optional: true)
                    Attribute("isDone", .boolean, optional: true)
                    Attribute("photo", .binary, optional: true)
                    Attribute("place", .geoPoint, optional: true)
                    Relationship("author", to: "User", .optionalToOne)
                }
            }
        }

        @Test("An object that a StackMob client makes is read by the others, each in its own types")
        func reading() async throws {
            let bench = try Bench.withDialects(model: try Self.model())
            let file = StackMobFile(name: "a.bin", contentType: "image/png", data: Data([1, 2, 3])).fieldValue
            let made = await bench.send(
                "POST", "/blogpost",
                [
                    "blogpost_id": "p1", "page_title": "Hello", "likes": 3, "due_date": 1_600_000_000_123,
                    "is_done": true, "photo": .string(file), "place": ["lat": 48.5, "lon": 2], "author": "ann",
                ])
            try #require(made.status == 201, "\(made.text)")
            let parse = try #require(await bench.parse("GET", "classes/BlogPost/p1").json)
            #expect(parse["pageTitle"] == "Hello")
            #expect(parse["likes"] == 3)
            #expect(parse["dueDate"] == ["__type": "Date", "iso": "2020-09-13T12:26:40.123Z"])
            #expect(parse["photo"] == ["__type": "Bytes", "base64": "AQID"])
            #expect(parse["place"]?["latitude"] == 48.5)
            #expect(parse["author"] == ["__type": "Pointer", "className": "_User", "objectId": "ann"])
            #expect(await bench.maxLeap("GET", "classes/BlogPost/p1").json == parse)
            let azure = try #require(await bench.azure(.mobileApps, "GET", "tables/BlogPost/p1").json)
            #expect(azure["pageTitle"] == "Hello")
            #expect(azure["dueDate"] == "2020-09-13T12:26:40.123Z")
            #expect(azure["photo"] == "AQID")
            #expect(azure["author"] == "ann")
            #expect(azure["updatedAt"] == parse["updatedAt"])

            bench.advance(seconds: 1)
            let changed = await bench.azure(
                .mobileApps, "PATCH", "tables/BlogPost/p1", ["dueDate": "2021-01-01T00:00:00.000Z", "photo": "BAU="])
            #expect(changed.status == 200, "\(changed.text)")
            _ = await bench.parse("PUT", "classes/BlogPost/p1", ["likes": ["__op": "Increment", "amount": 2]])
            let back = await bench.send("GET", "/blogpost/p1").json
            #expect(back?["due_date"] == 1_609_459_200_000)
            #expect(back?["likes"] == 5)
            let url = back?["photo"]?.string ?? ""
            #expect(await bench.send("GET", String(url.dropFirst("http://localhost".count))).body == Data([4, 5]))
            // Writes of all of them are told to clients that keep a copy.
            let changes = await bench.send("GET", "/_changes/blogpost")
            #expect(changes.json?["objects"]?.elements?.count == 1)
        }

        @Test("Classes and columns that one dialect makes in development have their names in the others")
        func development() async throws {
            let bench = try Bench.withDialects()
            await bench.parse("POST", "classes/BlogPost", ["objectId": "a", "pageTitle": "A", "likes": 1])
            #expect(await bench.send("GET", "/blogpost/a").json?["page_title"] == "A")
            #expect(await bench.azure(.mobileApps, "GET", "tables/BlogPost/a").json?["pageTitle"] == "A")
            await bench.azure(.mobileApps, "POST", "tables/TodoItem", ["id": "t", "DueOn": "2020-01-01T00:00:00.000Z"])
            #expect(await bench.parse("GET", "classes/TodoItem/t").json?["DueOn"]?["__type"] == "Date")
            #expect(await bench.send("GET", "/todoitem/t").status == 200)
            await bench.send("POST", "/note", ["note_id": "n", "year_born": 1990])
            #expect(await bench.parse("GET", "classes/Note/n").json?["yearBorn"] == 1990)
            // Names that would be one in the core are refused, and not mixed up.
            let alike = await bench.parse("PUT", "classes/BlogPost/a", ["page_title": "B"])
            #expect(alike.json?["code"] == 105)
        }

        @Test("One account logs in through each dialect, and owns what it makes in any of them")
        func accounts() async throws {
            let bench = try Bench.withDialects {
                $0.access.standard = AccessRules.Rule(read: .owner, create: .loggedIn, update: .owner, delete: .owner)
            }
            let session = try await bench.signUp("ann")
            let parse = await bench.parse("POST", "login", ["username": "ann", "password": "secret"])
            let maxLeap = await bench.maxLeap("GET", "login?username=ann&password=secret")
            let azure = await bench.azure(
                .mobileServices, "POST", "login/custom", ["username": "ann", "password": "secret"])
            let tokens = [
                parse.json?["sessionToken"], maxLeap.json?["sessionToken"], azure.json?["authenticationToken"],
            ]
            .compactMap { $0?.string }
            try #require(tokens.count == 3)
            let made = await bench.parse("POST", "classes/Note", ["objectId": "n", "text": "mine"], token: tokens[0])
            try #require(made.status == 201, "\(made.text)")
            #expect(await bench.maxLeap("GET", "classes/Note/n", token: tokens[1]).json?["text"] == "mine")
            #expect(await bench.azure(.mobileApps, "GET", "tables/Note/n", token: tokens[2]).json?["text"] == "mine")
            #expect(await bench.send("GET", "/note/n", session: session).json?["text"] == "mine")
            // A user of Parse logs in by StackMob's dialect.
            await bench.parse("POST", "users", ["username": "eve", "password": "secret"])
            let eve = try await bench.logIn("eve")
            #expect(await bench.send("GET", "/note/n", session: eve).status == 404)
            let stranger = await bench.parse("POST", "login", ["username": "eve", "password": "secret"])
            let token = stranger.json?["sessionToken"]?.string
            for answer in [
                await bench.parse("GET", "classes/Note/n", token: token),
                await bench.maxLeap("PUT", "classes/Note/n", ["text": "x"], token: token),
                await bench.parse("DELETE", "classes/Note/n", token: token),
                await bench.azure(.mobileApps, "GET", "tables/Note/n", token: token),
                await bench.azure(.mobileApps, "PATCH", "tables/Note/n", ["text": "x"], token: token),
                await bench.azure(.datasync, "DELETE", "tables/Note/n", token: token),
            ] {
                #expect(answer.status == 404, "\(answer.text)")
            }
            for answer in [
                await bench.parse("GET", "classes/Note?count=1", token: token).json?["count"],
                await bench.azure(.mobileApps, "GET", "tables/Note?$inlinecount=allpages", token: token).json?["count"],
            ] {
                #expect(answer == 0)
            }
            // Without a log-in the door is closed in each.
            #expect(await bench.parse("GET", "classes/Note").json?["code"] == 119)
            #expect(await bench.maxLeap("POST", "classes/Note", ["text": "x"]).json?["code"] == 119)
            #expect(await bench.azure(.mobileApps, "GET", "tables/Note").status == 401)
            #expect(await bench.parse("GET", "classes/Note/n", master: true).status == 200)
            // A deletion is reported only to its owner.
            await bench.azure(.mobileApps, "DELETE", "tables/Note/n", token: tokens[2])
            func deleted(_ token: String?) async -> Int? {
                await bench.azure(.mobileApps, "GET", "tables/Note?__includeDeleted=true", token: token).json?.elements?
                    .count
            }
            #expect(await deleted(tokens[2]) == 1)
            #expect(await deleted(token) == 0)
        }

        @Test("A sub-query, a pointer that comes along and a relation tell nothing that may not be read")
        func leaks() async throws {
            let bench = try Bench.withDialects {
                $0.access.schemas["secret"] = AccessRules.Rule(
                    read: .nobody, create: .anyone, update: .nobody, delete: .nobody)
            }
            await bench.parse("POST", "classes/Secret", ["objectId": "s", "word": "x"])
            await bench.parse(
                "POST", "classes/Post",
                ["objectId": "p", "secret": ["__type": "Pointer", "className": "Secret", "objectId": "s"]])
            let included = await bench.parse("GET", "classes/Post/p?include=secret").json?["secret"]
            #expect(included?["__type"] == "Pointer")
            let query = escaped(#"{"secret":{"$inQuery":{"className":"Secret","where":{"word":"x"}}}}"#)
            #expect(await bench.parse("GET", "classes/Post?where=\(query)").json?["code"] == 119)
        }

        @Test("Bodies that are too large or broken are refused in the words of each dialect")
        func bodies() async throws {
            let bench = try Bench.withDialects { $0.limits.requests.bodySize = 1000 }
            let large: JSONValue = ["text": .string(String(repeating: "x", count: 2000))]
            let parse = await bench.parse("POST", "classes/Post", large)
            #expect(parse.status == 413)
            #expect(parse.json?["code"] == 116)
            let azure = await bench.azure(.mobileServices, "POST", "tables/Post", large)
            #expect(azure.status == 413)
            #expect(azure.json?["code"] == 413)
            for body in ["{", "[", "\"x\"", "{\"a\":1}}", "\u{0}", "{\"a\":1e400}"] {
                let answer = await bench.server.respond(
                    to: ServerRequest(
                        "POST", "/parse/classes/Post", headers: [("X-Parse-Application-Id", "app")],
                        body: Data(body.utf8)))
                #expect((400..<500).contains(answer.status) && answer.json?["code"] != nil, "\(body)")
            }
            #expect(await bench.parse("GET", "classes/%FF").status == 400)
        }

        @Test("Scripts of other origins may use each dialect with its methods and headers")
        func origins() async throws {
            let bench = try Bench.withDialects { $0.network.origins = ["https://app.example.org"] }
            func preflight(_ path: String, _ method: String) async -> ServerResponse {
                await bench.send(
                    "OPTIONS", path,
                    headers: [
                        "Origin": "https://app.example.org", "Access-Control-Request-Method": method,
                        "Access-Control-Request-Headers": "x-zumo-auth,content-type",
                    ])
            }
            let azure = await preflight("/azure2/tables/Note/a", "PATCH")
            #expect(azure.status == 204)
            #expect(azure.header("Access-Control-Allow-Methods")?.contains("PATCH") == true)
            #expect(azure.header("Access-Control-Allow-Headers") == "x-zumo-auth,content-type")
            #expect(await preflight("/parse/classes/Post", "PUT").status == 204)
            let answer = await bench.send(
                "GET", "/azure2/tables/Note",
                headers: ["Origin": "https://app.example.org", "ZUMO-API-VERSION": "2.0.0"])
            #expect(answer.header("Access-Control-Allow-Origin") == "https://app.example.org")
            #expect(answer.header("Access-Control-Expose-Headers")?.contains("ETag") == true)
        }

        @Test("A dialect is chosen by the longest path, and by the host before that")
        func places() async throws {
            let bench = try Bench {
                $0.dialects = [
                    DialectMount(.stackMob), DialectMount(.parse, hosts: ["api.parse.example"]),
                    DialectMount(.azureApps, path: "/mobile"),
                ]
            }
            let parse = await bench.server.respond(
                to: ServerRequest("GET", "/classes/Post", headers: [("Host", "API.parse.example:8080")]))
            #expect(parse.json == ["results": []])
            #expect(await bench.send("GET", "/post").json == [])
            #expect(await bench.send("GET", "/mobile/tables/Post", headers: ["ZUMO-API-VERSION": "2.0.0"]).json == [])
            #expect(throws: ServerSetupError.self) {
                try Bench { $0.dialects = [DialectMount(.parse), DialectMount(.maxLeap, path: "")] }
            }
            let alone = try Bench { $0.dialects = [DialectMount(.parse, path: "/parse")] }
            #expect(await alone.send("GET", "/post").status == 404)
        }

        @Test("Times of change never go back, so that who asks for what changed since a time misses nothing")
        func times() async throws {
            let bench = try Bench.withDialects()
            await bench.parse("POST", "classes/Note", ["objectId": "a"])
            var last = ""
            for count in 0..<5 {
                let time =
                    await bench.parse("PUT", "classes/Note/a", ["n": .integer(Int64(count))]).json?["updatedAt"]?.string
                    ?? ""
                #expect(time > last)
                last = time
            }
            // The clock stands still; all the same the next change is not before the last.
            await bench.parse("POST", "classes/Note", ["objectId": "b"])
            let since = escaped(#"{"updatedAt":{"$gte":{"__type":"Date","iso":"\#(last)"}}}"#)
            let found = await bench.parse("GET", "classes/Note?order=objectId&where=\(since)").json
            #expect(found?["results"]?.elements?.map { $0["objectId"] } == ["a", "b"])
        }
    }
#endif
