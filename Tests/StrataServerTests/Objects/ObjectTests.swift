#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct ObjectTests {
        @Test("Objects are created, read, changed and deleted, with the dates that the server keeps")
        func lifeOfAnObject() async throws {
            let bench = try Bench()
            let created = await bench.send("POST", "/todo", ["title": "Milk", "done": false])
            #expect(created.status == 201)
            let id = try #require(created.json?["todo_id"]?.string)
            #expect(id.count == 32 && id.allSatisfy { $0.isHexDigit && !$0.isUppercase })
            #expect(created.json?["createddate"] == 1_700_000_000_000)
            #expect(await bench.send("GET", "/todo/\(id)").json == created.json)

            let changed = await bench.send("PUT", "/todo/\(id)", ["done": true])
            #expect(changed.status == 200)
            #expect(changed.json?["title"] == "Milk" && changed.json?["done"] == true)
            // The clock stands still, and the time of the object grows all the same.
            #expect(changed.json?["lastmoddate"] == 1_700_000_000_001)
            #expect(changed.json?["createddate"] == 1_700_000_000_000)
            #expect(await bench.send("PUT", "/todo/\(id)", ["title": nil]).json?["title"] == .null)

            #expect(await bench.send("DELETE", "/todo/\(id)").json == ["status": "OK"])
            for method in ["GET", "PUT", "DELETE"] {
                let answer = await bench.send(method, "/todo/\(id)", method == "PUT" ? ["done": true] : nil)
                #expect(answer.status == 404 && answer.json?["error"]?.string?.isEmpty == false, "\(method)")
            }
        }

        @Test("Types are inferred from the first values, and hold from then on")
        func types() async throws {
            let bench = try Bench()
            let whole: JSONValue = [
                "text": "a", "flag": true, "count": 5, "share": 0.5, "list": ["a", nil, "b"],
                "place": ["lat": 47.5, "lon": -179.99], "when": 1_368_489_600_123, "thing_id": "t",
            ]
            let created = await bench.send("POST", "/thing", whole)
            #expect(created.status == 201)
            for (name, value) in whole.members ?? [:] { #expect(created.json?[name] == value, "\(name)") }
            for (name, value) in [
                ("text", 1), ("count", 1.5), ("list", [1]), ("list", ["a", true]), ("list", [["a"]]), ("flag", 1),
                ("flag", "true"), ("count", "5"), ("share", "x"), ("list", "x"),
                ("place", [1, 2]),
                ("place", ["lat": 91, "lon": 0]), ("place", ["lat": 0, "lon": 180]), ("unknown", nil), ("Title", "x"),
                ("sm_x", 1), ("text", ["a": 1]), ("second", ["lat": 1, "lon": 1]), ("nested", ["a": 1]),
            ] as [(String, JSONValue)] {
                let answer = await bench.send("PUT", "/thing/t", .object([name: value]))
                #expect(answer.status == 400, "\(name) \(value): \(answer.text)")
            }
            #expect(await bench.send("GET", "/thing/t").json == created.json)
        }

        @Test("Schemas grow in development alone")
        func production() async throws {
            let bench = try Bench()
            let production = ["Accept": "application/vnd.stackmob+json; version=1"]
            #expect(await bench.send("POST", "/todo", ["a": 1], headers: production).status == 404)
            #expect(await bench.send("GET", "/todo", headers: production).status == 404)
            #expect(await bench.send("GET", "/todo").json == [])
            #expect(await bench.send("POST", "/todo", ["a": 1, "todo_id": "1"]).status == 201)
            // Production learns of a schema when it is deployed, and of no objects.
            #expect(await bench.send("POST", "/todo", ["a": 2], headers: production).status == 404)
            try await bench.server.deploySchemas()
            #expect(await bench.send("GET", "/todo", headers: production).json == [])
            #expect(await bench.send("POST", "/todo", ["a": 2], headers: production).status == 201)
            #expect(await bench.send("POST", "/todo", ["b": 2], headers: production).status == 400)
            #expect(await bench.send("GET", "/todo?b=2", headers: production).status == 400)
            #expect(await bench.send("GET", "/todo?b=2").json == [])
            #expect(await bench.send("GET", "/todo?b[null]=true").json?.elements?.count == 1)
            #expect(await bench.send("GET", "/todo", headers: production).json?.elements?.count == 1)
        }

        @Test("Creating many answers by id, and one that fails leaves the others be")
        func many() async throws {
            let bench = try Bench()
            await bench.send("POST", "/todo", ["todo_id": "b", "n": 0])
            let answer = await bench.send(
                "POST", "/todo",
                [
                    ["todo_id": "a", "n": 1], ["todo_id": "b", "n": 2], ["todo_id": "c", "n": "x"],
                    ["todo_id": "d", "n": 4],
                ])
            #expect(answer.status == 201)
            #expect(answer.json?["succeeded"] == ["a", "d"])
            #expect(answer.json?["failed"] == ["b", "c"])
            #expect(answer.json?["errors"]?["b"] == "Duplicate key for schema todo: \"b\"")
            #expect(await bench.values("/todo", "n", headers: ["X-StackMob-OrderBy": "todo_id:asc"]) == [1, 0, 4])
            #expect(await bench.send("POST", "/todo", [["todo_id": "e"], 5]).status == 400)
        }

        @Test("A taken key is a conflict")
        func duplicate() async throws {
            let bench = try Bench()
            await bench.send("POST", "/todo", ["todo_id": "a"])
            let answer = await bench.send("POST", "/todo", ["todo_id": "a"])
            #expect(answer.status == 409)
            #expect(answer.json == ["error": "Duplicate key for schema todo: \"a\""])
        }

        @Test("Numbers are counted up and down in one step")
        func increments() async throws {
            let bench = try Bench()
            await bench.send("POST", "/post", ["post_id": "p", "likes": 1, "score": 0.5])
            #expect(await bench.send("PUT", "/post/p", ["likes[inc]": 2]).json?["likes"] == 3)
            #expect(await bench.send("PUT", "/post/p", ["likes[inc]": -5]).json?["likes"] == -2)
            #expect(await bench.send("PUT", "/post/p", ["likes[inc]": 0]).json?["likes"] == -2)
            #expect(await bench.send("PUT", "/post/p", ["score[inc]": 1]).json?["score"] == 1.5)
            #expect(await bench.send("PUT", "/post/p", ["new[inc]": 7]).json?["new"] == 7)
            #expect(await bench.send("PUT", "/post/p", ["likes[inc]": "x"]).status == 400)
            #expect(await bench.send("PUT", "/post/p", ["likes[inc]": 9_223_372_036_854_775_807]).status == 200)
            #expect(await bench.send("PUT", "/post/p", ["likes[inc]": 9_223_372_036_854_775_807]).status == 400)
            await withTaskGroup { group in
                for _ in 0..<50 { group.addTask { await bench.send("PUT", "/post/p", ["new[inc]": 1]) } }
            }
            #expect(await bench.send("GET", "/post/p").json?["new"] == 57)
        }

        @Test("Methods are overridden, keys are escaped, and deletes come in both forms")
        func forms() async throws {
            let bench = try Bench()
            await bench.send("POST", "/todo", ["todo_id": "john@x.com/ü", "n": 1])
            #expect(await bench.send("GET", "/todo/john%40x%2Ecom%2F%C3%BC").json?["n"] == 1)
            let put = await bench.send(
                "POST", "/todo/john%40x%2Ecom%2F%C3%BC", ["n": 2], headers: ["X-HTTP-Method-Override": "PUT"])
            #expect(put.status == 200 && put.json?["n"] == 2)
            let head = await bench.send("GET", "/todo", headers: ["X-HTTP-Method-Override": "HEAD"])
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(await bench.send("GET", "/todo", headers: ["X-HTTP-Method-Override": "PUT"]).status == 400)
            #expect(await bench.send("DELETE", "/todo").status == 400)
            #expect(await bench.send("DELETE", "/todo?todo_id=john%40x.com%2F%C3%BC").status == 200)
            await bench.send("POST", "/todo", ["todo_id": "x"])
            let deleted = await bench.send("GET", "/todo/x", headers: ["X-HTTP-Method-Override": "DELETE"])
            #expect(deleted.status == 200)
            #expect(await bench.send("GET", "/todo").json == [])
        }

        @Test(
            "Bad requests are answered with what is wrong",
            arguments: [
                ("POST", "/todo", "{", 400), ("POST", "/todo", "", 400), ("POST", "/todo", "5", 400),
                ("POST", "/todo", "[[]]", 400),
                ("PATCH", "/todo/a", "{}", 405), ("POST", "/todo/a", "{}", 405), ("PUT", "/todo", "{}", 405),
                ("GET", "/_x", "", 404),
                ("GET", "/to%20do", "", 404), ("GET", "/%FF", "", 400), ("POST", "/todo", #"{"todo_id":""}"#, 400),
                ("POST", "/todo", #"{"todo_id":{}}"#, 400), ("GET", "/a/b/c/d/e/f", "", 405),
                ("POST", "/_batch", "{}", 400),
                ("GET", "/_files/../strata.sqlite", "", 404), ("GET", "/_files/%2e%2e/x/y", "", 404),
            ])
        func badRequests(method: String, target: String, body: String, status: Int) async throws {
            let bench = try Bench()
            let answer = await bench.server.respond(to: ServerRequest(method, target, body: Data(body.utf8)))
            #expect(answer.status == status, "\(answer.text)")
            #expect(answer.json?["error"]?.string?.isEmpty == false)
            #expect(answer.header("X-StackMob-Time-MS") == "1700000000000")
        }

        @Test("All of it is there again after a restart")
        func restart() async throws {
            let bench = try Bench()
            let account = try await bench.signUp("ann")
            await bench.send("POST", "/todo", ["todo_id": "a", "tags": ["x"], "n": 1.5], session: account)
            bench.server.close()
            let again = try DataServer(
                folder: bench.folder.path, clock: ServerClock(milliseconds: { 1_700_000_001_000 }), logger: silent)
            let answer = await again.respond(to: ServerRequest("GET", "/todo?tags=x"))
            #expect(answer.json?.elements?.first?["sm_owner"] == "user/ann")
            var request = ServerRequest("GET", "/user/loggedInUser", headers: [("Host", "localhost")])
            request.headers.append(("Authorization", account.authorization(request, seconds: 1_700_000_001)))
            #expect(await again.respond(to: request).json?["username"] == "ann")
            again.close()
        }
    }
#endif
