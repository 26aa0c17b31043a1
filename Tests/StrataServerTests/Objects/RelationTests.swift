#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct RelationTests {
        @Test("Trees are created as deep as three levels, cycles end at the object itself")
        func deepCreate() async throws {
            let bench = try Bench()
            let answer = await bench.send(
                "POST", "/person",
                [
                    "person_id": "1", "name": "Ann",
                    "superpower": ["superpower_id": "s", "level": 3, "person": ["person_id": "1"]],
                    "interests": [["name": "Chess"], ["interest_id": "i", "name": "Go"]],
                ],
                headers: ["X-StackMob-Relations": "superpower=superpower&superpower.person=person&interests=interest"])
            #expect(answer.status == 201, "\(answer.text)")
            #expect(answer.json?["superpower"] == "s")
            #expect(await bench.send("GET", "/superpower/s").json?["person"] == "1")
            #expect(
                await bench.values("/interest", "name", headers: ["X-StackMob-OrderBy": "name:asc"]) == ["Chess", "Go"])
            #expect(answer.json?["interests"]?.elements?.contains("i") == true)

            // A nested body with the key of an object changes that.
            let second = await bench.send(
                "POST", "/person", ["person_id": "2", "superpower": ["superpower_id": "s", "level": 9]],
                headers: ["X-StackMob-Relations": "superpower=superpower"])
            #expect(second.status == 201)
            #expect(await bench.send("GET", "/superpower/s").json?["level"] == 9)
        }

        @Test("A tree that fails in one place leaves nothing behind")
        func allOrNothing() async throws {
            let bench = try Bench()
            await bench.send("POST", "/leaf", ["leaf_id": "l", "n": 1])
            let answer = await bench.send(
                "POST", "/tree",
                ["tree_id": "t", "leaves": [["leaf_id": "new", "n": 1], ["leaf_id": "bad", "n": "x"]]],
                headers: ["X-StackMob-Relations": "leaves=leaf"])
            #expect(answer.status == 400)
            #expect(await bench.values("/leaf", "leaf_id") == ["l"])
            #expect(await bench.send("GET", "/tree/t").status == 404)
        }

        @Test(
            "Relations that are not listed, too deep or misspelled are refused",
            arguments: [
                ("a=x&a.b=x&a.b.c=x&a.b.c.d=x", 400), ("a.b=x", 400), ("a", 400), ("a=", 400), ("=x", 400),
                ("a=X Y", 400),
            ])
        func badHeaders(header: String, status: Int) async throws {
            let bench = try Bench()
            let answer = await bench.send("POST", "/tree", ["n": 1], headers: ["X-StackMob-Relations": header])
            #expect(answer.status == status, "\(answer.text)")
            #expect(await bench.send("POST", "/tree", ["b": ["x": 1]]).status == 400)
        }

        @Test("Values and objects are appended and taken out")
        func collections() async throws {
            let bench = try Bench()
            await bench.send(
                "POST", "/list", ["list_id": "l", "tags": ["a"], "first": ["todo_id": "0", "n": 0]],
                headers: ["X-StackMob-Relations": "first=todo"])
            #expect(await bench.send("PUT", "/list/l/tags", ["a", "b"]).json?["tags"] == ["a", "a", "b"])
            #expect(await bench.values("/list?tags=b", "list_id") == ["l"])
            #expect(await bench.send("DELETE", "/list/l/tags/a,x").status == 200)
            #expect(await bench.send("GET", "/list/l").json?["tags"] == ["b"])
            #expect(await bench.values("/list?tags=a", "list_id") == [])

            // An array that came empty, and so without a relation, turns out to be one.
            await bench.send("PUT", "/list/l", ["todos": []])
            let put = await bench.send(
                "PUT", "/list/l", ["todos": ["1"]], headers: ["X-StackMob-Relations": "todos=todo"])
            #expect(put.json?["todos"] == ["1"])
            #expect(await bench.send("PUT", "/list/l/todos", ["1", "2"]).json?["todos"] == ["1", "2"])
            let created = await bench.send(
                "POST", "/list/l/todos", [["todo_id": "3", "n": 3], ["todo_id": "3"], ["todo_id": "4"]])
            #expect(
                created.status == 201 && created.json?["succeeded"] == ["3", "4"] && created.json?["failed"] == ["3"])
            #expect(await bench.send("GET", "/list/l").json?["todos"] == ["1", "2", "3", "4"])
            #expect(await bench.values("/list?todos=4", "list_id") == ["l"])

            #expect(await bench.send("DELETE", "/list/l/todos/3").status == 200)
            #expect(await bench.send("GET", "/todo/3").status == 200)
            let cascade = await bench.send("DELETE", "/list/l/todos/4,2", headers: ["X-StackMob-CascadeDelete": "true"])
            #expect(cascade.status == 200)
            #expect(await bench.send("GET", "/todo/4").status == 404)
            #expect(await bench.send("GET", "/list/l").json?["todos"] == ["1"])
            await bench.send("DELETE", "/list/l/first/0", headers: ["X-StackMob-CascadeDelete": "false"])
            #expect(await bench.send("GET", "/list/l").json?["first"] == .null)
            #expect(await bench.send("GET", "/todo/0").status == 200)
            for (method, target, body) in [
                ("PUT", "/list/l/tags", ["x": 1]), ("PUT", "/list/l/list_id", ["x"]),
                ("POST", "/list/l/tags", [["a": 1]]),
                ("DELETE", "/list/l/nothing/1", nil),
            ] as [(String, String, JSONValue?)] {
                #expect(await bench.send(method, target, body).status == 400, "\(method) \(target)")
            }
            #expect(await bench.send("PUT", "/list/none/tags", ["x"]).status == 404)
        }
    }
#endif
