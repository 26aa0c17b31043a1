#if Server && AsyncHTTP
    import Foundation
    import StrataServer
    import StrataStore
    import Testing

    /// The events of live queries.
    @Suite struct LiveEventTests {
        @Test("Without conditions, objects are created, changed and deleted")
        func everything() async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                try await bench.make("Post", "old", ["title": "before"])
                var client = try await LiveClient.connected(port: port)
                try await client.subscribe(1, "Post")
                try await bench.make("Post", "a", ["title": "one"])
                let created = try await client.next()
                #expect(created["op"] == "create" && created["requestId"] == 1)
                #expect(created["clientId"]?.string?.isEmpty == false)
                let object = try #require(created["object"])
                #expect(object["className"] == "Post" && object["objectId"] == "a" && object["title"] == "one")
                #expect(object["createdAt"]?.string != nil && object["updatedAt"]?.string != nil)
                try await bench.change("Post", "a", ["title": "two"])
                let updated = try await client.next()
                #expect(updated["op"] == "update" && updated["object"]?["title"] == "two")
                try await bench.change("Post", "old", ["title": "after"])
                #expect(try await client.event() == "update old")
                try await bench.remove("Post", "a")
                #expect(try await client.event() == "delete a")
                // Other classes are not of concern, and objects may come back.
                try await bench.make("Comment", "c")
                try await bench.make("Post", "a")
                #expect(try await client.event() == "create a")
                client.end()
            }
        }

        @Test("With a condition, objects enter and leave, too")
        func conditions() async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                for (id, count) in [("low", 1), ("high", 9)] as [(String, Int64)] {
                    try await bench.make("Post", id, ["count": .integer(count)])
                }
                var client = try await LiveClient.connected(port: port)
                try await client.subscribe(7, "Post", ["count": ["$gt": 5]])
                try await bench.change("Post", "low", ["count": 2])
                try await bench.change("Post", "low", ["count": 6])
                let entered = try await client.next()
                #expect(entered["op"] == "enter" && entered["object"]?["count"] == 6 && entered["requestId"] == 7)
                try await bench.change("Post", "low", ["count": 7])
                #expect(try await client.event() == "update low")
                try await bench.change("Post", "low", ["count": 3])
                let left = try await client.next()
                #expect(left["op"] == "leave" && left["object"]?["count"] == 3)
                try await bench.make("Post", "few", ["count": 0])
                try await bench.make("Post", "many", ["count": 10])
                #expect(try await client.event() == "create many")
                try await bench.remove("Post", "few")
                try await bench.remove("Post", "low")
                try await bench.remove("Post", "high")
                #expect(try await client.event() == "delete high")
                client.end()
            }
        }

        @Test("A subscription is changed and ended, and there may be several")
        func subscriptions() async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                var client = try await LiveClient.connected(port: port)
                try await client.subscribe(1, "Post", ["kind": "a"])
                try await client.subscribe(2, "Post", ["kind": "b"])
                try await bench.make("Post", "1", ["kind": "b"])
                let first = try await client.next()
                #expect(first["requestId"] == 2 && first["op"] == "create")
                try await client.ask(2, "Post", ["kind": "c"], operation: "update")
                #expect(try await client.next()["op"] == "subscribed")
                try await bench.change("Post", "1", ["more": true])
                try await bench.make("Post", "2", ["kind": "c"])
                let second = try await client.next()
                #expect(second["requestId"] == 2 && second["object"]?["objectId"] == "2")
                try await client.say(["op": "unsubscribe", "requestId": 2])
                let ended = try await client.next()
                #expect(ended["op"] == "unsubscribed" && ended["requestId"] == 2)
                try await bench.make("Post", "3", ["kind": "c"])
                try await bench.make("Post", "4", ["kind": "a"])
                let third = try await client.next()
                #expect(third["requestId"] == 1 && third["object"]?["objectId"] == "4")
                client.end()
            }
        }

        @Test("Only the fields that are asked for are sent, and only watched ones are told of")
        func fields() async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                try await bench.make("Post", "a", ["title": "t", "secret": "s", "views": 0])
                var client = try await LiveClient.connected(port: port)
                try await client.subscribe(1, "Post", ["views": ["$gte": 0]], adding: ["keys": ["title"]])
                try await client.subscribe(
                    2, "Post", ["views": ["$gte": 0]], adding: ["fields": ["views"], "watch": ["title"]])
                try await bench.change("Post", "a", ["title": "u"])
                for id in [1, 2] as [Int64] {
                    let event = try await client.next()
                    #expect(event["op"] == "update" && event["requestId"] == .integer(id))
                    let object = try #require(event["object"])
                    #expect(object["secret"] == nil && object["objectId"] == "a" && object["className"] == "Post")
                    #expect((object["title"] != nil) == (id == 1) && (object["views"] != nil) == (id == 2))
                }
                try await bench.change("Post", "a", ["views": 5])
                #expect(try await client.next()["requestId"] == 1)
                try await bench.change("Post", "a", ["title": "v"])
                #expect(try await client.next()["requestId"] == 1)
                #expect(try await client.next()["object"]?["views"] == 5)
                client.end()
            }
        }

        @Test("A subscription tells what it finds now")
        func results() async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                for number in 0..<5 { try await bench.make("Post", "p\(number)", ["n": .integer(Int64(number))]) }
                var client = try await LiveClient.connected(port: port)
                try await client.subscribe(1, "Post", ["n": ["$gte": 3]], adding: ["keys": ["n"]])
                try await client.say(["op": "query", "requestId": 1])
                let answer = try await client.next()
                #expect(answer["op"] == "result" && answer["requestId"] == 1)
                let results = answer["results"]?.elements ?? []
                #expect(Set(results.compactMap { $0["objectId"]?.string }) == ["p3", "p4"])
                #expect(results.allSatisfy { $0["className"] == "Post" && $0["n"] != nil })
                try await client.say(["op": "query", "requestId": 2])
                #expect(try await client.next()["code"] == 101)
                client.end()
            }
        }

        @Test("Changes by other dialects are told, in Parse's words")
        func otherDialects() async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                var client = try await LiveClient.connected(port: port)
                try await client.subscribe(1, "todo")
                let made = await bench.send("POST", "/todo", ["todo_id": "x", "title": "milk"])
                #expect(made.status == 201)
                let event = try await client.next()
                #expect(event["op"] == "create" && event["object"]?["title"] == "milk")
                #expect(event["object"]?["objectId"] == "x")
                client.end()
            }
        }

        @Test("What one request changes of many objects is all told, in order")
        func many() async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                var client = try await LiveClient.connected(port: port)
                try await client.subscribe(1, "Post", ["n": ["$gte": 10]])
                let requests = (0..<200).map { number -> JSONValue in
                    [
                        "method": "POST", "path": "/parse/classes/Post",
                        "body": ["objectId": .string("p\(number)"), "n": .integer(number)],
                    ]
                }
                #expect(await bench.parse("POST", "batch", ["requests": .array(requests)]).status == 200)
                for number in 10..<200 { #expect(try await client.event() == "create p\(number)") }
                client.end()
            }
        }

        @Test("Mistakes are answered, and the connection goes on")
        func mistakes() async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                try await bench.make("A", "z", ["x": 1])
                var client = try await LiveClient(port: port)
                func refused(_ message: String, _ code: Int64, id: JSONValue? = nil) async throws {
                    try await client.connection.send(message)
                    let answer = try await client.next()
                    #expect(answer["op"] == "error" && answer["code"] == .integer(code), "\(message): \(answer)")
                    #expect(answer["error"]?.string?.isEmpty == false && answer["reconnect"] == false)
                    #expect(answer["requestId"] == id)
                }
                try await refused(#"{"op":"subscribe","requestId":1,"query":{"className":"A"}}"#, 108, id: 1)
                try await refused("no JSON", 107)
                try await refused("[]", 107)
                try await refused(String(repeating: "[", count: 5_000), 107)
                try await client.connect()
                try await refused(#"{"op":"connect","applicationId":"app"}"#, 108)
                try await refused(#"{"op":"dance"}"#, 108)
                try await refused(#"{"requestId":3}"#, 108, id: 3)
                try await refused(#"{"op":"subscribe","query":{"className":"A"}}"#, 102)
                try await refused(#"{"op":"subscribe","requestId":1}"#, 102, id: 1)
                try await refused(#"{"op":"subscribe","requestId":1,"query":{"className":"a b"}}"#, 103, id: 1)
                try await refused(#"{"op":"subscribe","requestId":1,"query":{"className":"_Session"}}"#, 119, id: 1)
                try await refused(
                    #"{"op":"subscribe","requestId":1,"query":{"className":"A","where":{"x":{"$no":1}}}}"#, 102, id: 1)
                try await refused(#"{"op":"subscribe","requestId":1,"query":{"className":"A","where":[]}}"#, 102, id: 1)
                try await refused(#"{"op":"subscribe","requestId":1,"query":{"className":"A","keys":[1]}}"#, 102, id: 1)
                try await refused(#"{"op":"unsubscribe","requestId":1}"#, 101, id: 1)
                try await refused(#"{"op":"update","requestId":1,"query":{"className":"A"}}"#, 101, id: 1)
                try await client.subscribe(1, "A")
                try await refused(#"{"op":"subscribe","requestId":1,"query":{"className":"A"}}"#, 102, id: 1)
                try await bench.make("A", "a")
                #expect(try await client.event() == "create a")
                client.end()
            }
        }

        @Test(
            "Who names another application or key is refused for good",
            arguments: [
                #"{"op":"connect"}"#, #"{"op":"connect","applicationId":"other"}"#,
                #"{"op":"connect","applicationId":"app","masterKey":"guess"}"#,
                #"{"op":"connect","applicationId":"app","javascriptKey":"guess"}"#,
                #"{"op":"connect","applicationId":"app"}"#,
                #"{"op":"connect","applicationId":"app","clientKey":"key","sessionToken":"r:guess"}"#,
            ])
        func keys(message: String) async throws {
            let bench = try Bench.withDialects {
                $0.dialects = [DialectMount(.parse, path: "/parse", applicationID: "app", clientKey: "key")]
            }
            try await bench.serving { port in
                var client = try await LiveClient(port: port)
                try await client.connection.send(message)
                let answer = try await client.next()
                #expect(answer["op"] == "error" && answer["reconnect"] == false, "\(answer)")
                #expect(await client.isEnded())
                for name in ["restAPIKey", "javascriptKey", "clientKey"] {
                    var client = try await LiveClient(port: port)
                    var hello: JSONObject = ["op": "connect", "applicationId": "app"]
                    hello[name] = "key"
                    try await client.say(.object(hello))
                    #expect(try await client.next()["op"] == "connected")
                    client.end()
                }
            }
        }
    }
#endif
