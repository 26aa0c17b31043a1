#if Server
    import Foundation
    import StrataServer
    import Testing

    /// What somebody tries who means harm, or whose client has gone wrong.
    @Suite struct HostileTests {
        @Test("A signature is known again after a restart")
        func replayAfterRestart() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let time = BenchTime()
            func open() throws -> DataServer {
                var options = ServerOptions()
                options.passwords.cost = PasswordCost(rounds: 16)
                return try DataServer(
                    folder: folder.path, options: options, clock: ServerClock(milliseconds: { time.milliseconds }),
                    logger: silent)
            }
            var server = try open()
            func send(_ request: ServerRequest) async -> ServerResponse { await server.respond(to: request) }
            _ = await send(
                ServerRequest("POST", "/user", body: Data(#"{"username":"ann","password":"long enough"}"#.utf8)))
            let token = await send(
                ServerRequest("POST", "/user/accessToken", body: Data("username=ann&password=long%20enough".utf8)))
            let session = try #require(Session(token.json), "\(token.text)")
            func signed(_ offset: Int64) -> ServerRequest {
                var request = ServerRequest("GET", "/user/loggedInUser", headers: [("Host", "localhost")])
                let seconds = time.milliseconds / 1000 + offset
                request.headers.append(("Authorization", session.authorization(request, seconds: seconds)))
                return request
            }
            let requests = [signed(-200), signed(0), signed(250)]
            for request in requests { #expect(await send(request).status == 200) }
            // Whether the server was told to end or was killed makes no difference to what is in the file.
            server.close()
            server = try open()
            for request in requests { #expect(await send(request).status == 401) }
            #expect(await send(signed(1)).status == 200)
            time.advance(200_000)
            server.close()
            server = try open()
            for request in requests { #expect(await send(request).status == 401) }
            // Half an entry at the end of the file is one that was never answered for.
            server.close()
            let file = try FileHandle(forWritingTo: folder.appending(path: "signatures"))
            try file.seekToEnd()
            try file.write(contentsOf: Data([1, 2, 3]))
            try file.close()
            server = try open()
            #expect(await send(requests[2]).status == 401)
            #expect(await send(signed(2)).status == 200)
            server.close()
        }

        @Test("The same code in another spelling is the same signature")
        func spelling() async throws {
            let bench = try Bench()
            let session = try await bench.signUp("ann")
            var request = ServerRequest("GET", "/user/loggedInUser", headers: [("Host", "localhost")])
            let header = session.authorization(request, seconds: bench.time.milliseconds / 1000)
            request.headers.append(("Authorization", header))
            #expect(await bench.server.respond(to: request).status == 200)
            // The last digit before the padding has two bits that say nothing.
            let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
            let last = try #require(header.dropLast(2).last)
            for other in digits where other != last {
                request.headers[request.headers.count - 1].value = header.dropLast(3) + String(other) + "=\""
                #expect(await bench.server.respond(to: request).status == 401)
            }
        }

        @Test("Accounts whose names look alike are two")
        func lookalikes() async throws {
            let bench = try Bench {
                $0.access.schemas["note"] = .init(read: .owner, create: .loggedIn, update: .owner, delete: .owner)
            }
            // One letter with its accent, and a letter with an accent after it: equal to Swift.
            let (one, two) = (try await bench.signUp("ren%C3%A9".removingPercentEncoding!), "rene%CC%81")
            let created = await bench.send(
                "POST", "/user", ["username": .string(two.removingPercentEncoding!), "password": "secret"])
            #expect(created.status == 201)
            let stranger = try await bench.logIn(two)
            #expect(await bench.send("POST", "/note", ["note_id": "n", "text": "mine"], session: one).status == 201)
            #expect(await bench.send("GET", "/note", session: stranger).json == [])
            #expect(await bench.send("GET", "/note/n", session: stranger).status == 404)
            #expect(await bench.send("PUT", "/note/n", ["text": "stolen"], session: stranger).status == 404)
            #expect(await bench.send("DELETE", "/note/n", session: stranger).status == 404)
            #expect(await bench.send("DELETE", "/user/ren%C3%A9", session: stranger).status == 404)
            // In one request they are two as well.
            let both = await bench.send(
                "POST", "/word",
                .array(["ren%C3%A9", "rene%CC%81"].map { ["word_id": .string($0.removingPercentEncoding!)] }))
            #expect(both.json?["succeeded"]?.elements?.count == 2, "\(both.text)")
        }

        @Test("Who may change an object and not read it is not told what it holds")
        func blindChanges() async throws {
            let bench = try Bench {
                $0.access.schemas["note"] = .init(read: .owner, create: .loggedIn, update: .loggedIn, delete: .owner)
            }
            let (ann, bob) = (try await bench.signUp("ann"), try await bench.signUp("bob"))
            await bench.send("POST", "/note", ["note_id": "n", "text": "secret", "tags": ["secret"]], session: ann)
            let answers = [
                await bench.send("PUT", "/note/n", ["n": 1], session: bob),
                await bench.send("PUT", "/note/n/tags", ["a"], session: bob),
                await bench.send("PUT", "/note/n", ["n": 2], headers: ["If-Match": "\"1\""], session: bob),
            ]
            #expect(answers.map(\.status) == [200, 200, 412])
            for answer in answers {
                #expect(answer.json?["note_id"] == "n" && !answer.text.contains("secret"), "\(answer.text)")
            }
            #expect(await bench.send("PUT", "/note/n", ["n": 3], session: ann).json?["text"] == "secret")
        }

        @Test("Of an array of new objects, one whose unique value is taken fails alone")
        func uniqueInArrays() async throws {
            let model = try ManagedObjectModel(name: "Shop") {
                Entity("Item") {
                    Attribute("itemId", .string)
                    Attribute("code", .string).optional().unique()
                    Attribute("row", .integer64).optional()
                    Attribute("seat", .integer64).optional()
                    Index("row", "seat", kind: .unique)
                }
            }
            let bench = try Bench(model: model)
            await bench.send("POST", "/item", ["item_id": "0", "code": "x", "row": 1, "seat": 1])
            let items = Data(
                """
                [{"item_id":"1","code":"a"}, {"item_id":"2","code":"x"}, {"item_id":"3","code":"a"},
                 {"item_id":"4","row":1,"seat":1}, {"item_id":"5","row":1,"seat":2},
                 {"item_id":"6","row":1}, {"item_id":"7","row":1}, {"item_id":"0"}]
                """.utf8)
            let many = await bench.send("POST", "/item", try JSONValue(parsing: items))
            #expect(many.status == 201)
            #expect(many.json?["succeeded"] == ["1", "5", "6", "7"], "\(many.text)")
            #expect(many.json?["failed"] == ["2", "3", "4", "0"])
            #expect(many.json?["errors"]?["3"] == "Duplicate value for schema item: code \"a\"")
            // A value that is given up is free, in the same request, too.
            let requests = Data(
                """
                [{"method":"PUT","path":"/item/0","body":{"code":"y"}},
                 {"method":"PUT","path":"/item/1","body":{"code":"x"}},
                 {"method":"POST","path":"/item","body":{"item_id":"8","code":"y"}},
                 {"method":"DELETE","path":"/item/0"},
                 {"method":"POST","path":"/item","body":{"item_id":"9","code":"y","row":1,"seat":1}}]
                """.utf8)
            let batch = await bench.send("POST", "/_batch", ["requests": try JSONValue(parsing: requests)])
            #expect(batch.json?.elements?.map { $0["status"] ?? .null } == [200, 200, 409, 200, 201], "\(batch.text)")
        }

        @Test("What one request may do is bounded in all of its parts")
        func bounds() async throws {
            let bench = try Bench {
                $0.limits.requests.objects = 10
                $0.limits.answers.size = 5_000
            }
            let relations = ["X-StackMob-Relations": "children=child"]
            func family(_ children: Int) -> JSONValue {
                ["children": .array((0..<children).map { _ in ["n": 1] })]
            }
            #expect(await bench.send("POST", "/family", family(9), headers: relations).status == 201)
            #expect(await bench.send("POST", "/family", family(10), headers: relations).status == 400)
            let many = await bench.send("POST", "/family", [family(5), family(5)], headers: relations)
            #expect(many.json?["succeeded"]?.elements?.count == 1, "\(many.text)")
            #expect(await bench.send("POST", "/list", ["l": .array((0..<11).map { .integer($0) })]).status == 400)
            #expect(
                await bench.send("POST", "/list", ["list_id": "l", "l": .array((0..<10).map { .integer($0) })]).status
                    == 201)
            #expect(await bench.send("PUT", "/list/l/l", [1]).status == 400)

            let text = JSONValue.string(String(repeating: "x", count: 1_000))
            for number in 0..<20 {
                await bench.send("POST", "/text", ["text_id": .string("\(number)"), "t": text])
            }
            let cut = await bench.send("GET", "/text", headers: ["X-StackMob-OrderBy": "createddate"])
            let count = cut.json?.elements?.count ?? 0
            #expect(cut.status == 206 && (4...6).contains(count), "\(count)")
            #expect(cut.header("Content-Range") == "0-\(count - 1)/20")
            let rest = await bench.send("GET", "/text", headers: ["Range": "objects=\(count)-"])
            #expect(rest.status == 206 && rest.header("Content-Range")?.hasPrefix("\(count)-") == true)
            // Requests of a batch whose answers would be more are not run.
            let requests = (0..<10).map {
                ["method": "PUT", "path": .string("/text/\($0)"), "body": ["n": 1]] as JSONValue
            }
            let batch = await bench.send("POST", "/_batch", ["requests": .array(requests)])
            let statuses = batch.json?.elements?.map { $0["status"] ?? .null } ?? []
            let done = statuses.filter { $0 == 200 }.count
            #expect(statuses.count == 10 && (4...6).contains(done) && statuses.filter { $0 == 503 }.count == 10 - done)
            #expect(await bench.values("/text?n=1", "n").count == done)
        }

        @Test("A request for a whole URL is one for its path")
        func wholeURL() async throws {
            let bench = try Bench()
            await bench.send("POST", "/todo", ["todo_id": "http://x/y"])
            #expect(await bench.send("GET", "http://localhost/todo?todo_id=http://x/y").json?.elements?.count == 1)
            #expect(await bench.send("GET", "http://localhost/todo").status == 200)
            #expect(await bench.send("GET", "/todo/http:%2F%2Fx%2Fy").status == 200)
            #expect(await bench.send("GET", "http://localhost").json?["status"] == "OK")
            #expect(await bench.send("POST", "/user", ["username": "logout", "password": "x"]).status == 400)
        }
    }
#endif
