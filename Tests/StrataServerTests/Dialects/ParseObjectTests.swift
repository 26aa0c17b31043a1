#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct ParseObjectTests {
        @Test("Objects are made, read, changed and deleted, with the answers of either dialect")
        func lifecycle() async throws {
            let bench = try Bench.withDialects()
            let made = await bench.parse("POST", "classes/Post", ["title": "Hello", "likes": 1])
            #expect(made.status == 201)
            let id = try #require(made.json?["objectId"]?.string)
            #expect(made.header("Location") == "/parse/classes/Post/\(id)")
            #expect(made.json?["createdAt"]?.string?.hasSuffix("Z") == true)
            let read = await bench.parse("GET", "classes/Post/\(id)")
            #expect(read.json?["title"] == "Hello")
            #expect(read.json?["likes"] == 1)
            #expect(read.json?["objectId"] == .string(id))

            bench.advance(seconds: 1)
            let changed = await bench.parse("PUT", "classes/Post/\(id)", ["title": "Bye"])
            #expect(changed.status == 200)
            #expect(changed.json?.members?.names == ["updatedAt"])
            let other = await bench.maxLeap("PUT", "classes/Post/\(id)", ["likes": 2.5])
            #expect(other.json?["number"] == 1)
            #expect(await bench.maxLeap("GET", "classes/Post/\(id)").json?["likes"] == 2.5)

            #expect(await bench.parse("DELETE", "classes/Post/\(id)").json == [:])
            let gone = await bench.parse("GET", "classes/Post/\(id)")
            #expect(gone.status == 404)
            #expect(gone.json?["code"] == 101)
            let maxLeap = await bench.maxLeap("POST", "classes/Post?new=true", ["title": "New"])
            #expect(maxLeap.status == 200)
            #expect(maxLeap.json?["title"] == "New")
            let second = try #require(maxLeap.json?["objectId"]?.string)
            #expect(await bench.maxLeap("DELETE", "classes/Post/\(second)").json == ["number": 1])
        }

        @Test("Values of all types come back as they were sent")
        func types() async throws {
            let bench = try Bench.withDialects()
            let values: JSONObject = [
                "text": "ü", "number": 1.5, "flag": true, "list": ["a", "b"], "mixed": [1, "a", ["x": nil]],
                "map": ["a": ["b": 1]], "at": ["__type": "Date", "iso": "2015-06-21T18:02:52.249Z"],
                "bytes": ["__type": "Bytes", "base64": "AQID"],
                "place": ["__type": "GeoPoint", "latitude": 40, "longitude": -30],
                "author": ["__type": "Pointer", "className": "Author", "objectId": "a1"],
                "readers": [["__type": "Pointer", "className": "Author", "objectId": "a2"]],
            ]
            let made = await bench.parse("POST", "classes/Sample", .object(values))
            let id = try #require(made.json?["objectId"]?.string, "\(made.text)")
            let read = try #require(await bench.parse("GET", "classes/Sample/\(id)").json)
            for (name, value) in values { #expect(read[name] == value, "\(name)") }
            // A field that another object has is null here, so that a client sees that it has no value.
            await bench.parse("POST", "classes/Sample", ["more": 1])
            #expect(await bench.parse("GET", "classes/Sample/\(id)").json?["more"] == .null)
            let wrong = await bench.parse("PUT", "classes/Sample/\(id)", ["number": "one"])
            #expect(wrong.status == 400)
            #expect(wrong.json?["code"] == 111)
        }

        @Test("Operations are computed by the server, and their results told")
        func operations() async throws {
            let bench = try Bench.withDialects()
            let made = await bench.parse("POST", "classes/Post", ["likes": 1, "tags": ["red"], "note": "x"])
            let path = "classes/Post/" + (made.json?["objectId"]?.string ?? "")
            func change(_ body: JSONValue) async -> JSONValue? { await bench.parse("PUT", path, body).json }
            #expect(await change(["likes": ["__op": "Increment", "amount": 2]])?["likes"] == 3)
            #expect(await change(["likes": ["__op": "Increment", "amount": -4]])?["likes"] == -1)
            #expect(
                await change(["tags": ["__op": "Add", "objects": ["red", "blue"]]])?["tags"] == ["red", "red", "blue"])
            #expect(
                await change(["tags": ["__op": "AddUnique", "objects": ["blue", "green"]]])?["tags"]
                    == ["red", "red", "blue", "green"])
            #expect(await change(["tags": ["__op": "Remove", "objects": ["red"]]])?["tags"] == ["blue", "green"])
            _ = await change(["note": ["__op": "Delete"]])
            let read = await bench.parse("GET", path).json
            #expect(read?["note"] == .null)
            let fresh = await bench.parse("POST", "classes/Post", ["visits": ["__op": "Increment", "amount": 5]])
            let id = fresh.json?["objectId"]?.string ?? ""
            #expect(await bench.parse("GET", "classes/Post/\(id)").json?["visits"] == 5)
            #expect(await change(["tags": ["__op": "Twist"]])?["code"] == 111)
            #expect(await change(["note": ["__op": "Increment", "amount": 1]])?["code"] != nil)
        }

        @Test("Relations have members, which are asked for by either end")
        func relations() async throws {
            let bench = try Bench.withDialects()
            for id in ["a", "b", "c"] { await bench.parse("POST", "classes/Reader", ["objectId": .string(id)]) }
            func pointer(_ id: String) -> JSONValue {
                ["__type": "Pointer", "className": "Reader", "objectId": .string(id)]
            }
            await bench.parse(
                "POST", "classes/Post",
                ["objectId": "p", "readers": ["__op": "AddRelation", "objects": [pointer("a"), pointer("b")]]])
            let read = await bench.parse("GET", "classes/Post/p").json
            #expect(read?["readers"] == ["__type": "Relation", "className": "Reader"])
            await bench.parse(
                "PUT", "classes/Post/p",
                [
                    "readers": [
                        "__op": "Batch",
                        "ops": [
                            ["__op": "AddRelation", "objects": [pointer("c")]],
                            ["__op": "RemoveRelation", "objects": [pointer("a")]],
                        ],
                    ]
                ])
            let related = escaped(
                #"{"$relatedTo":{"object":{"__type":"Pointer","className":"Post","objectId":"p"},"key":"readers"}}"#)
            let found = await bench.parse("GET", "classes/Reader?order=objectId&where=\(related)").json
            #expect(found?["results"]?.elements?.map { $0["objectId"] } == ["b", "c"])
            let holding = escaped(JSONValue.object(["readers": pointer("c")]).description)
            let posts = await bench.parse("GET", "classes/Post?where=\(holding)").json
            #expect(posts?["results"]?.elements?.count == 1)
        }

        @Test("A batch does its requests in order, each for itself")
        func batches() async throws {
            let bench = try Bench.withDialects()
            let requests: JSONValue = [
                "requests": [
                    ["method": "POST", "path": "/parse/classes/Post", "body": ["objectId": "a", "title": "A"]],
                    ["method": "PUT", "path": "/1/classes/Post/none", "body": ["title": "B"]],
                    ["method": "PUT", "path": "/parse/classes/Post/a", "body": ["title": "C"]],
                ]
            ]
            let answer = try #require(await bench.parse("POST", "batch", requests).json?.elements)
            #expect(answer[0]["success"]?["objectId"] == "a")
            #expect(answer[1]["error"]?["code"] == 101)
            #expect(answer[2]["success"]?["updatedAt"] != nil)
            #expect(await bench.parse("GET", "classes/Post/a").json?["title"] == "C")
            let bare = await bench.maxLeap(
                "POST", "batch", ["requests": [["method": "delete", "path": "classes/Post/a"]]])
            #expect(bare.json == [["number": 1]])
        }

        @Test("Scripts send everything as a POST of text, and name what they mean in the body")
        func scripts() async throws {
            let bench = try Bench.withDialects()
            let made = await bench.script("POST", "classes/GameScore", ["score": 1337, "playerName": "Sean"])
            #expect(made.status == 201, "\(made.text)")
            let id = try #require(made.json?["objectId"]?.string)
            let found = await bench.script(
                "GET", "classes/GameScore", ["where": ["score": ["$gt": 1000]], "limit": 10, "keys": "playerName"])
            #expect(found.json?["results"]?.elements?.first?["playerName"] == "Sean")
            #expect(found.json?["results"]?.elements?.first?["score"] == nil)
            let changed = await bench.script("PUT", "classes/GameScore/\(id)", ["score": 1])
            #expect(changed.status == 200)
            #expect(await bench.script("DELETE", "classes/GameScore/\(id)").status == 200)
            let unknown = await bench.script("PATCH", "classes/GameScore/\(id)")
            #expect(unknown.json?["code"] == 108)
        }

        @Test("MaxLeap changes and deletes under a condition, and tells how many objects met it")
        func conditionalWrites() async throws {
            let bench = try Bench.withDialects()
            await bench.maxLeap("POST", "classes/Post", ["objectId": "a", "likes": 1])
            let no = escaped(#"{"likes":2}"#)
            #expect(await bench.maxLeap("PUT", "classes/Post/a?where=\(no)", ["likes": 3]).json == ["number": 0])
            let yes = escaped(#"{"likes":1}"#)
            #expect(await bench.maxLeap("PUT", "classes/Post/a?where=\(yes)", ["likes": 3]).json?["number"] == 1)
            #expect(await bench.maxLeap("DELETE", "classes/Post/a?where=\(yes)").json == ["number": 0])
        }

        @Test("Files are uploaded as bytes or as JSON, held by objects, and deleted with the master key")
        func files() async throws {
            let bench = try Bench.withDialects()
            let request = ServerRequest(
                "POST", "/parse/files/a.txt",
                headers: [("X-Parse-Application-Id", "app"), ("Content-Type", "text/plain"), ("Host", "localhost")],
                body: Data("hello".utf8))
            let uploaded = await bench.server.respond(to: request)
            #expect(uploaded.status == 201, "\(uploaded.text)")
            let url = try #require(uploaded.json?["url"]?.string)
            let path = String(url.dropFirst("http://localhost".count))
            #expect(await bench.send("GET", path).text == "hello")
            let made = await bench.parse(
                "POST", "classes/Post",
                ["file": ["__type": "File", "name": uploaded.json?["name"] ?? .null, "url": .string(url)]])
            let id = made.json?["objectId"]?.string ?? ""
            let file = await bench.parse("GET", "classes/Post/\(id)").json?["file"]
            #expect(file?["url"]?.string == url)
            #expect(file?["name"] == uploaded.json?["name"])
            let script = await bench.script("POST", "files/b.bin", ["base64": "AQI=", "_ContentType": "image/png"])
            #expect(script.status == 201, "\(script.text)")
            let name = escaped(uploaded.json?["name"]?.string ?? "")
            #expect(await bench.parse("DELETE", "files/\(name)").status == 403)
            #expect(await bench.parse("DELETE", "files/\(name)", master: true).status == 200)
            #expect(await bench.send("GET", path).status == 404)
        }

        @Test("Functions are custom code, whose result Parse wraps and MaxLeap does not")
        func functions() async throws {
            let bench = try Bench.withDialects(methods: [
                "double": { call throws(ServerError) in
                    let number = (try? JSONValue(parsing: call.request.body))?["number"]?.integer ?? 0
                    return ServerResponse(json: .integer(number * 2))
                },
                "fail": { _ throws(ServerError) in throw ServerError(400, "no luck") },
            ])
            #expect(await bench.parse("POST", "functions/double", ["number": 4]).json == ["result": 8])
            #expect(await bench.maxLeap("POST", "functions/double", ["number": 4]).json == 8)
            #expect(await bench.parse("POST", "functions/fail", [:]).json == ["code": 141, "error": "no luck"])
            #expect(await bench.parse("POST", "functions/none", [:]).json?["code"] == 143)
        }
    }
#endif
