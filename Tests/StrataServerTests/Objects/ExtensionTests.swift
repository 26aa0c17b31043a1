#if Server
    import Foundation
    import StrataAzure
    import StrataServer
    import Testing

    @Suite struct ExtensionTests {
        @Test("A write with an Idempotency-Key is done once, and answered alike each time")
        func idempotency() async throws {
            let bench = try Bench()
            await bench.send("POST", "/post", ["post_id": "p", "likes": 0])
            let key = ["Idempotency-Key": "k1"]
            let first = await bench.send("PUT", "/post/p", ["likes[inc]": 1], headers: key)
            let second = await bench.send("PUT", "/post/p", ["likes[inc]": 1], headers: key)
            #expect(first.json?["likes"] == 1 && second.json == first.json && second.status == first.status)
            #expect(await bench.send("PUT", "/post/p", ["likes[inc]": 2], headers: key).status == 409)
            // The same write is the same in a batch and on its own, in whichever order it names its members.
            let pair = ["Idempotency-Key": "k0"]
            let alone = await bench.send("PUT", "/post/p", ["title": "a", "likes[inc]": 1], headers: pair)
            let batch = await bench.send(
                "POST", "/_batch",
                [
                    "requests": [
                        [
                            "method": "PUT", "path": "/post/p", "headers": ["Idempotency-Key": "k0"],
                            "body": ["likes[inc]": 1, "title": "a"],
                        ]
                    ]
                ])
            #expect(alone.json?["likes"] == 2 && batch.json?.elements?.first?["body"] == alone.json, "\(batch.text)")
            let created = await bench.send("POST", "/post", ["likes": 5], headers: ["Idempotency-Key": "k2"])
            #expect(
                await bench.send("POST", "/post", ["likes": 5], headers: ["Idempotency-Key": "k2"]).json == created.json
            )
            #expect(created.status == 201)
            // What failed may be tried again.
            #expect(
                await bench.send("POST", "/post", ["post_id": "p"], headers: ["Idempotency-Key": "k3"]).status == 409)
            await bench.send("DELETE", "/post/p")
            #expect(
                await bench.send("POST", "/post", ["post_id": "p"], headers: ["Idempotency-Key": "k3"]).status == 201)
            // Keys are each account's own.
            let ann = try await bench.signUp("ann")
            #expect(
                await bench.send("PUT", "/post/p", ["likes[inc]": 7], headers: key, session: ann).json?["likes"] == 7)
            bench.advance(seconds: 24 * 3600 + 1)
            await bench.send("PUT", "/post/p", ["likes": 0], headers: ["Idempotency-Key": "k4"])
            #expect(await bench.send("PUT", "/post/p", ["likes[inc]": 1], headers: key).json?["likes"] == 1)
            #expect(await bench.send("PUT", "/post/p", ["likes": 1], headers: ["Idempotency-Key": ""]).status == 400)
        }

        @Test("A write with an Idempotency-Key is done once in every dialect")
        func idempotencyInEveryDialect() async throws {
            let bench = try Bench.withDialects()
            func key(_ text: String) -> [String: String] { ["Idempotency-Key": text] }
            for dialect in ["parse", "2.0"] {
                let application =
                    dialect == "parse"
                    ? ["X-Parse-Application-Id": "app"] : ["X-ML-AppId": "app", "X-ML-APIKey": "key"]
                func send(_ method: String, _ path: String, _ body: JSONValue? = nil, _ text: String) async
                    -> ServerResponse
                {
                    let headers = application.merging(key(text)) { $1 }
                    return await bench.send(method, "/\(dialect)/\(path)", body, headers: headers)
                }
                let name = dialect == "parse" ? "Post" : "Page"
                let first = await send("POST", "classes/\(name)", ["likes": 0], "\(dialect) a")
                let second = await send("POST", "classes/\(name)", ["likes": 0], "\(dialect) a")
                let id = try #require(first.json?["objectId"]?.string)
                #expect(second.json == first.json && second.status == first.status)
                #expect(second.header("Location") == first.header("Location"))
                #expect(await bench.parse("GET", "classes/\(name)").json?["results"]?.elements?.count == 1)
                let other = await send("POST", "classes/\(name)", ["likes": 1], "\(dialect) a")
                #expect(other.status == 400, "\(other.text)")

                let step: JSONValue = ["likes": ["__op": "Increment", "amount": 1]]
                for _ in 1...2 {
                    #expect(await send("PUT", "classes/\(name)/\(id)", step, "\(dialect) b").status == 200)
                }
                // A batch gives each of its writes a name, whatever its own is.
                let writes = ["b", "c", "d"].map { text in
                    JSONValue.object([
                        "method": "PUT", "path": .string("/1/classes/\(name)/\(id)"), "body": step,
                        "headers": ["Idempotency-Key": .string("\(dialect) \(text)")],
                    ])
                }
                for _ in 1...2 {
                    let batch = await send("POST", "batch", ["requests": .array(writes)], "\(dialect) e")
                    #expect(batch.json?.elements?.count == 3 && !batch.text.contains("error"), "\(batch.text)")
                }
                let object = await bench.parse("GET", "classes/\(name)/\(id)")
                #expect(object.json?["likes"] == 3, "\(object.text)")
                for _ in 1...2 {
                    #expect(await send("DELETE", "classes/\(name)/\(id)", nil, "\(dialect) f").status == 200)
                }
            }
            // A condition that was not met may be met later.
            let page = await bench.maxLeap("POST", "classes/Page", ["likes": 0])
            let id = try #require(page.json?["objectId"]?.string)
            let path = "/2.0/classes/Page/\(id)?where=" + escaped("{\"likes\":1}")
            let headers = ["X-ML-AppId": "app", "X-ML-APIKey": "key", "Idempotency-Key": "g"]
            #expect(await bench.send("PUT", path, ["text": "a"], headers: headers).json?["number"] == 0)
            await bench.maxLeap("PUT", "classes/Page/\(id)", ["likes": 1])
            #expect(await bench.send("PUT", path, ["text": "a"], headers: headers).json?["number"] == 1)

            for version in [AzureVersion.mobileServices, .mobileApps, .datasync] {
                let first = await bench.azure(version, "POST", "tables/row", ["n": 1], headers: key("\(version)"))
                let second = await bench.azure(version, "POST", "tables/row", ["n": 1], headers: key("\(version)"))
                #expect(first.status == 201 && second.status == 201, "\(second.text)")
                #expect(second.json == first.json && second.header("ETag") == first.header("ETag"))
                #expect(second.header("Location") == first.header("Location"))
                let id = try #require(first.json?["id"]?.string)
                #expect(
                    await bench.azure(version, "POST", "tables/row", ["n": 2], headers: key("\(version)")).status == 409
                )
                let removal = ["Idempotency-Key": "\(version) gone"]
                let gone = await bench.azure(version, "DELETE", "tables/row/\(id)", headers: removal)
                let again = await bench.azure(version, "DELETE", "tables/row/\(id)", headers: removal)
                #expect(gone.status == again.status && gone.status / 100 == 2 && again.body == gone.body)
            }
        }

        @Test("Who signs up again with the same Idempotency-Key logs in, and only with the password")
        func signingUpTwice() async throws {
            let bench = try Bench.withDialects()
            func signUp(_ password: String) async -> ServerResponse {
                await bench.send(
                    "POST", "/parse/users", ["username": "ann", "password": .string(password)],
                    headers: ["X-Parse-Application-Id": "app", "Idempotency-Key": "k"])
            }
            let first = await signUp("secret")
            let second = await signUp("secret")
            #expect(first.status == 201 && second.status == 200, "\(second.text)")
            #expect(second.json?["objectId"] == first.json?["objectId"])
            let token = try #require(second.json?["sessionToken"]?.string)
            #expect(token != first.json?["sessionToken"]?.string)
            #expect(await bench.parse("GET", "users/me", token: token).json?["username"] == "ann")
            #expect(await signUp("other").json?["sessionToken"] == nil)
            // Without the key, the name is taken.
            #expect(await bench.parse("POST", "users", ["username": "ann", "password": "secret"]).json?["code"] == 202)
        }

        @Test("Elements of arrays are added and removed by the names of fields")
        func arrays() async throws {
            let bench = try Bench()
            await bench.send("POST", "/post", ["post_id": "p", "tags": ["a", "b"]])
            #expect(
                await bench.send("PUT", "/post/p", ["tags[add]": ["a", "c"]]).json?["tags"] == ["a", "b", "a", "c"])
            #expect(await bench.send("PUT", "/post/p", ["tags[remove]": "a"]).json?["tags"] == ["b", "c"])
            #expect(
                await bench.send("PUT", "/post/p", ["tags[addunique]": ["c", "d", "d"]]).json?["tags"]
                    == ["b", "c", "d"])
            #expect(await bench.send("PUT", "/post/p", ["other[add]": [1, 2]]).json?["other"] == [1, 2])
            #expect(await bench.send("PUT", "/post/p", ["tags[add]": [3]]).status == 400)
            #expect(await bench.send("PUT", "/post/p", ["tags[add]": ["a": 1]]).status == 400)
            await bench.send("PUT", "/post/p", ["likes": 1])
            #expect(await bench.send("PUT", "/post/p", ["likes[add]": [1]]).status == 400)
            #expect(await bench.send("PUT", "/post/p", ["tags[none]": ["x"]]).status == 400)
        }

        @Test("If-Match lets a write through only if nobody was faster")
        func conditions() async throws {
            let bench = try Bench()
            await bench.send("POST", "/post", ["post_id": "p", "n": 0])
            let stale = ["If-Match": "\"1700000000000\""]
            #expect(await bench.send("PUT", "/post/p", ["n": 1], headers: stale).status == 200)
            let refused = await bench.send("PUT", "/post/p", ["n": 2], headers: stale)
            #expect(
                refused.status == 412 && refused.json?["n"] == 1 && refused.json?["lastmoddate"] == 1_700_000_000_001)
            #expect(await bench.send("DELETE", "/post/p", headers: stale).status == 412)
            #expect(await bench.send("PUT", "/post/none", ["n": 2], headers: stale).status == 404)
            #expect(await bench.send("DELETE", "/post/p", headers: ["If-Match": "\"1700000000001\""]).status == 200)
        }

        @Test("Changes come in pages, with what is gone, and each once")
        func changes() async throws {
            let bench = try Bench()
            #expect(
                await bench.send("GET", "/_changes/post?since=0").json
                    == ["objects": [], "deleted": [], "next": "0", "more": false])
            for number in 0..<5 { await bench.send("POST", "/post", ["post_id": .string("p\(number)"), "n": 0]) }
            await bench.send("POST", "/other", ["n": 0])
            await bench.send("PUT", "/post/p0", ["n": 1])
            await bench.send("DELETE", "/post/p1")

            var (cursor, seen, deleted, pages) = ("", [String](), [String](), 0)
            while true {
                let answer = await bench.send("GET", "/_changes/post?since=\(cursor)&limit=2").json
                seen += answer?["objects"]?.elements?.compactMap { $0["post_id"]?.string } ?? []
                deleted += answer?["deleted"]?.elements?.compactMap(\.string) ?? []
                cursor = try #require(answer?["next"]?.string)
                pages += 1
                if answer?["more"] == false { break }
            }
            #expect(seen == ["p2", "p3", "p4", "p0"] && deleted == ["p1"] && pages == 3)
            #expect(await bench.send("GET", "/_changes/post?since=\(cursor)").json?["objects"] == [])
            await bench.send("POST", "/post", ["post_id": "p1", "n": 9])
            let back = await bench.send("GET", "/_changes/post?since=\(cursor)").json
            #expect(back?["deleted"] == [] && back?["objects"]?.elements?.first?["n"] == 9)
            #expect(await bench.send("GET", "/_changes/post").json?["deleted"] == [])
            #expect(await bench.send("GET", "/_changes/post?since=x").status == 410)
            #expect(await bench.send("GET", "/_changes/post?after=1").status == 400)
        }

        @Test("Cursors are never ahead of what is written, over a restart, too, and one that is has to begin anew")
        func cursors() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            var server = try DataServer(folder: folder.path, logger: silent)
            func send(_ method: String, _ target: String, _ body: String = "") async -> ServerResponse {
                await server.respond(to: ServerRequest(method, target, body: Data(body.utf8)))
            }
            #expect(await send("POST", "/x", #"{"x_id":"a","n":1}"#).status == 201)
            for _ in 0..<6 { #expect(await send("POST", "/x", #"{"n":"text"}"#).status == 400) }
            #expect(await send("POST", "/x", #"[{"x_id":"b","n":1},{"n":"text"}]"#).status == 201)
            let cursor = await send("GET", "/_changes/x").json?["next"]?.string ?? ""
            server.close()
            server = try DataServer(folder: folder.path, logger: silent)
            #expect(await send("POST", "/x", #"{"x_id":"c","n":2}"#).status == 201)
            let news = await send("GET", "/_changes/x?since=\(cursor)")
            #expect(news.json?["objects"]?.elements?.map { $0["x_id"] ?? .null } == ["c"], "\(cursor): \(news.text)")
            #expect(await send("GET", "/_changes/x?since=1000").status == 410)
            server.close()
        }

        @Test("Readers that follow the changes miss nothing while many write")
        func changesUnderLoad() async throws {
            let bench = try Bench()
            await bench.send("POST", "/post", ["post_id": "0", "n": 0])
            await withTaskGroup { group in
                for writer in 0..<4 {
                    group.addTask {
                        for number in 0..<50 {
                            await bench.send("POST", "/post", ["post_id": .string("\(writer)-\(number)"), "n": 1])
                        }
                    }
                }
                group.addTask {
                    var (cursor, seen) = ("0", Set<String>())
                    while seen.count < 201 {
                        let answer = await bench.send("GET", "/_changes/post?since=\(cursor)&limit=7").json
                        for object in answer?["objects"]?.elements ?? [] {
                            let isNew = seen.insert(object["post_id"]?.string ?? "").inserted
                            #expect(isNew)
                        }
                        cursor = answer?["next"]?.string ?? cursor
                    }
                }
            }
        }

        @Test("A batch is several requests with one signature, each answered for itself")
        func batch() async throws {
            let bench = try Bench { $0.access.standard.levels[.create] = .loggedIn }
            let requests: JSONValue = [
                "requests": [
                    ["method": "POST", "path": "/post", "body": ["post_id": "a", "n": 1]],
                    ["method": "POST", "path": "/post", "body": ["post_id": "a"]],
                    ["method": "PUT", "path": "/post/a", "body": ["n[inc]": 4], "headers": ["If-Match": "\"1\""]],
                    ["method": "GET", "path": "/post?n=1"],
                    ["method": "POST", "path": "/_batch", "body": ["requests": []]],
                    ["path": "/post"],
                ]
            ]
            let stranger = await bench.send("POST", "/_batch", requests)
            #expect(stranger.json?.elements?.first?["status"] == 401)
            let ann = try await bench.signUp("ann")
            let answer = await bench.send("POST", "/_batch", requests, session: ann)
            #expect(answer.json?.elements?.map { $0["status"] ?? .null } == [201, 409, 412, 200, 400, 400])
            #expect(answer.json?.elements?[3]["body"]?.elements?.first?["sm_owner"] == "user/ann")
        }

        @Test("Reads of a batch see its writes, and one that breaks a unique value fails alone")
        func batchOrder() async throws {
            let model = try ManagedObjectModel(name: "M") {
                Entity("Post") {
                    Attribute("postId", .string)
                    Attribute("slug", .string).optional().unique()
                }
            }
            let bench = try Bench(model: model)
            var requests: [JSONValue] = (0..<600).map {
                [
                    "method": "POST", "path": "/post",
                    "body": ["post_id": .string("p\($0)"), "slug": .string("s\($0 % 599)"), "new": 1],
                ]
            }
            requests.append(["method": "GET", "path": "/post/p598"])
            requests.append(["method": "DELETE", "path": "/post/p1"])
            let answer = await bench.send("POST", "/_batch", ["requests": .array(requests)])
            let statuses = answer.json?.elements?.map { $0["status"]?.integer ?? 0 } ?? []
            #expect(statuses == Array(repeating: 201, count: 599) + [409, 200, 200])
            #expect(answer.json?.elements?[600]["body"]?["slug"] == "s598")
            #expect(await bench.send("GET", "/post").json?.elements?.count == 598)
        }

        @Test("Custom code answers, reads and writes in the name of its caller")
        func customCode() async throws {
            let bench = try Bench(
                methods: [
                    "echo": { (call) throws(ServerError) in
                        let text = call.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
                        return ServerResponse(
                            status: 200, headers: [("Content-Type", "text/plain")],
                            body: Data("\(call.request.method) \(text) \(call.account ?? "-")".utf8) + call.request.body
                        )
                    },
                    "count": { (call) throws(ServerError) in
                        let answer = try await call.respond(to: ServerRequest("GET", "/post"))
                        return ServerResponse(json: .integer(Int64(answer.json?.elements?.count ?? -1)))
                    },
                    "busy": { (_) throws(ServerError) in throw ServerError(503, "Later.", retryAfter: 2) },
                ]
            ) { $0.access.methods["count"] = .loggedIn }
            await bench.send("POST", "/post", ["n": 1])
            let ann = try await bench.signUp("ann")
            #expect(await bench.send("GET", "/echo?a=3&a=1&bob=5%206").text == "GET a=3;a=1;bob=5 6 -")
            #expect(await bench.send("PUT", "/echo", 5, session: ann).text == "PUT  ann5")
            #expect(await bench.send("GET", "/count").status == 401)
            #expect(await bench.send("GET", "/count", session: ann).json == 1)
            let busy = await bench.send("POST", "/busy")
            #expect(busy.status == 503 && busy.header("Retry-After") == "2")
        }
    }
#endif
