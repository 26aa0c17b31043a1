#if Server
    import Crypto
    import Foundation
    import StrataServer
    import Testing

    @Suite struct FileTests {
        private let content = """
            Content-Type: image/jpeg
            Content-Disposition: attachment; filename=goat.jpeg
            Content-Transfer-Encoding: base64

            aGVsbG8=
            """

        @Test("A file is kept by its content and served under the URL of the answer")
        func files() async throws {
            let bench = try Bench()
            let created = await bench.send("POST", "/photo", ["photo_id": "1", "image": .string(content)])
            let url = try #require(created.json?["image"]?.string)
            let digest = SHA256.hash(data: Data("hello".utf8)).map {
                String($0, radix: 16).count == 1 ? "0" + String($0, radix: 16) : String($0, radix: 16)
            }.joined()
            #expect(url == "http://localhost/_development_files/\(digest)/goat.jpeg")
            let file = await bench.send("GET", String(url.dropFirst("http://localhost".count)))
            #expect(file.text == "hello" && file.header("Content-Type") == "image/jpeg")
            #expect(file.header("X-Content-Type-Options") == "nosniff")
            // The URL comes back as it is, and the same content is kept once.
            #expect(await bench.send("PUT", "/photo/1", ["image": .string(url)]).json?["image"] == .string(url))
            await bench.send("POST", "/photo", ["image": .string(content.replacing("goat", with: "../../etc/x\u{1}y"))])
            let kept = FileManager.default.enumerator(
                at: bench.folder.appending(path: "development/files"), includingPropertiesForKeys: nil)?
                .compactMap { ($0 as? URL)?.lastPathComponent }
            #expect(kept?.filter { $0.count == 64 } == [digest])
            #expect(
                await bench.values("/photo?photo_id[ne]=1", "image") == [
                    .string("http://localhost/_development_files/\(digest)/xy.jpeg")
                ])
            #expect(await bench.send("POST", "/photo", ["image": .string(content + "%%%")]).status == 400)
            #expect(await bench.send("GET", "/_development_files/\(digest)/other.jpeg").status == 404)
            #expect(
                await bench.send("POST", "/photo", ["image": "Content-Type: is a text"]).json?["image"]
                    == "Content-Type: is a text")
        }
    }

    @Suite struct FileRemovalTests {
        private func content(_ text: String, name: String = "a.txt") -> JSONValue {
            .string(
                "Content-Type: text/plain\nContent-Disposition: attachment; filename=\(name)\n"
                    + "Content-Transfer-Encoding: base64\n\n\(Data(text.utf8).base64EncodedString())")
        }

        private func files(_ bench: Bench) -> Int {
            FileManager.default.enumerator(
                at: bench.folder.appending(path: "development/files"), includingPropertiesForKeys: nil)?
                .compactMap { ($0 as? URL)?.lastPathComponent }.filter { $0.count >= 64 }.count ?? 0
        }

        @Test("A file goes with the last field that names it")
        func lastName() async throws {
            let bench = try Bench()
            let first = await bench.send("POST", "/photo", ["photo_id": "1", "image": content("a")])
            let url = try #require(first.json?["image"])
            let path = try #require(url.string?.replacing("http://localhost", with: ""))
            await bench.send("POST", "/photo", ["photo_id": "2", "image": content("a")])
            // A URL that was copied counts as well, whatever the address before it.
            await bench.send("POST", "/photo", ["photo_id": "3", "image": .string("https://other" + path)])
            await bench.send("PUT", "/photo/1", ["image": url, "n": 1])
            #expect(files(bench) == 1)
            await bench.send("PUT", "/photo/1", ["image": content("b")])
            #expect(files(bench) == 2)
            await bench.send("PUT", "/photo/1", ["image": content("c")])
            #expect(files(bench) == 2, "b has no name any more")
            await bench.send("DELETE", "/photo/1")
            await bench.send("PUT", "/photo/2", ["image": .null])
            #expect(files(bench) == 1)
            #expect(await bench.send("GET", path).text == "a")
            await bench.send("DELETE", "/photo/3")
            #expect(files(bench) == 0)
            #expect(await bench.send("GET", path).status == 404)
            // It can come back.
            await bench.send("POST", "/photo", ["photo_id": "4", "image": content("a")])
            #expect(await bench.send("GET", path).text == "a")
            // Under another name it is another file to clients, and the same on the disk.
            await bench.send("POST", "/photo", ["photo_id": "5", "image": content("a", name: "b.txt")])
            await bench.send("DELETE", "/photo/4")
            #expect(files(bench) == 1)
            #expect(await bench.send("GET", path).status == 404)
        }

        @Test("A write that fails leaves no file, in an array or a batch neither")
        func failures() async throws {
            let bench = try Bench()
            await bench.send("POST", "/photo", ["photo_id": "1", "image": content("a"), "n": 1])
            #expect(await bench.send("POST", "/photo", ["image": content("b"), "n": "x"]).status == 400)
            #expect(files(bench) == 1)
            let many = await bench.send(
                "POST", "/photo",
                [["image": content("b"), "n": "x"], ["image": content("a")], ["image": content("c")]])
            #expect(many.json?["succeeded"]?.elements?.count == 2)
            #expect(files(bench) == 2)
            await bench.send("DELETE", "/photo/1")
            #expect(files(bench) == 2)
            #expect(await bench.send("PUT", "/photo/2", ["image": content("d")]).status == 404)
            #expect(files(bench) == 2)
        }

        @Test("What a crash has left goes with the next start")
        func sweep() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let first = try DataServer(folder: folder.path, logger: silent)
            let body: JSONValue = ["photo_id": "1", "image": content("a")]
            _ = await first.respond(to: ServerRequest("POST", "/photo", body: try body.data()))
            first.close()
            let digest = String(repeating: "ab", count: 32)
            let part = folder.appending(path: "development/files/ab")
            try FileManager.default.createDirectory(at: part, withIntermediateDirectories: true)
            for name in [digest, digest + "." + UUID().uuidString] {
                try Data("x".utf8).write(to: part.appending(path: name))
            }
            let second = try DataServer(folder: folder.path, logger: silent)
            defer { second.close() }
            #expect(try FileManager.default.contentsOfDirectory(atPath: part.path).isEmpty)
            let url = await second.respond(to: ServerRequest("GET", "/photo/1")).json?["image"]?.string
            #expect(await second.respond(to: ServerRequest("GET", try #require(url))).text == "a")
        }
    }

    @Suite struct PushTests {
        private func send(
            _ bench: Bench, _ method: String, _ target: String, _ body: JSONValue? = nil, key: String = "private",
            form: OAuth1Request.QueryForm = .asSent, nonce: String = UUID().uuidString, bodyHash: String? = nil
        ) async -> ServerResponse {
            var request = ServerRequest(
                method, target, headers: [("Host", "push.stackmob.com")], body: Data((body?.description ?? "").utf8))
            var authorization = OAuth1Authorization(
                consumerKey: "public", timestamp: String(bench.time.milliseconds / 1000), nonce: nonce, realm: "")
            authorization["oauth_body_hash"] = bodyHash
            let signed = OAuth1Request(method: method, scheme: "http", authority: "push.stackmob.com", target: target)
            authorization["oauth_signature"] = OAuth1Secrets(consumer: key)
                .signature(of: signed, authorization, queryForm: form)
            request.headers.append(("Authorization", authorization.header))
            return await bench.server.respond(to: request)
        }

        @Test(
            "Signatures are taken as libraries for OAuth 1 make them: with reserved characters, and of the query's values"
        )
        func standardSignatures() async throws {
            let bench = try Bench {
                $0.publicKey = "public"
                $0.privateKey = "private"
            }
            let target = "/get_tokens_for_users_universal?userIds=Ted%20Jr,Mary&x[y]=1"
            for form in OAuth1Request.QueryForm.allCases {
                let answer = await send(
                    bench, "GET", target, form: form, nonce: "q+/=\(form)", bodyHash: "kd6rp3Sl61XPu5be2IJqiqDAL4M=")
                #expect(answer.status == 200, "\(form): \(answer.text)")
                #expect(answer.json?["tokens"]?.members?.names == ["Ted Jr", "Mary"])
            }
            #expect(await send(bench, "GET", target, key: "guess", form: .decoded).status == 401)
        }

        @Test("Tokens are registered, messages recorded, and both listed, for the holder of the private key alone")
        func push() async throws {
            let bench = try Bench {
                $0.publicKey = "public"
                $0.privateKey = "private"
            }
            let token = String(repeating: "ab", count: 32)
            func register(_ user: String, overwrite: Bool = true) async -> Int {
                await send(
                    bench, "POST", "/register_device_token_universal",
                    [
                        "userId": .string(user), "token": ["token": .string(token), "type": "ios"],
                        "overwrite": .boolean(overwrite),
                    ]
                ).status
            }
            #expect(await register("Ted") == 200)
            #expect(await register("Mary", overwrite: false) == 409)
            #expect(await register("Mary") == 200)
            let tokens = await send(bench, "GET", "/get_tokens_for_users_universal?userIds=Ted,Mary")
            #expect(
                tokens.json == [
                    "tokens": [
                        "Ted": [],
                        "Mary": [
                            ["token": .string(token), "type": "ios", "registered_milliseconds": 1_700_000_000_000]
                        ],
                    ]
                ])
            let alert: JSONValue = ["alert": "hi", "badge": 1]
            #expect(await send(bench, "POST", "/push_broadcast_universal", ["kvPairs": alert]).status == 200)
            #expect(
                await send(bench, "POST", "/push_users_universal", ["kvPairs": alert, "userIds": ["Mary"]]).status
                    == 200)
            #expect(
                await send(
                    bench, "POST", "/push_tokens_universal",
                    ["payload": ["kvPairs": alert], "tokens": [["token": .string(token), "type": "ios"]]]
                ).status == 200)
            let long: JSONValue = [
                "kvPairs": ["alert": .string(String(repeating: "x", count: 256))], "userIds": ["Mary"],
            ]
            #expect(await send(bench, "POST", "/push_users_universal", long).status == 400)
            let listed = await send(bench, "GET", "/_push/messages").json?.elements
            #expect(listed?.map { $0["audience"]?.members?.names.first } == ["broadcast", "users", "tokens"])
            #expect(listed?.allSatisfy { $0["payload"] == alert } == true)
            #expect(try await bench.server.pushMessages(apiVersion: 0).count == 3)
            bench.advance(seconds: 1)
            #expect(await send(bench, "POST", "/push_broadcast_universal", ["kvPairs": alert]).status == 200)
            let since = await send(bench, "GET", "/_push/messages?since=1700000000000")
            #expect(since.json?.elements?.count == 1)
            let larger: JSONValue = [
                "kvPairs": ["alert": .string(String(repeating: "x", count: 5_000))], "userIds": [],
            ]
            #expect(await send(bench, "POST", "/push_users_universal", larger).status == 400)
            #expect(
                await send(bench, "POST", "/remove_token_universal", ["token": .string(token), "type": "ios"]).status
                    == 200)
            // As clients do before they register one.
            #expect(
                await send(bench, "POST", "/remove_token_universal", ["token": .string(token), "type": "iOS"]).status
                    == 200)

            #expect(await send(bench, "GET", "/_push/messages", key: "guess").status == 401)
            #expect(await bench.send("GET", "/_push/messages").status == 401)
            #expect(await bench.send("POST", "/push_broadcast_universal", ["kvPairs": alert]).status == 401)
        }
    }

    @Suite struct ModelTests {
        private func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "Shop") {
                Entity("Thing", abstract: true) { Attribute("createdBy", .string).optional() }
                Entity("BlogPost", inherits: "Thing") {
                    Attribute("blogpostId", .string)
                    Attribute("yearBorn", .integer32, default: .value(0)).range(0...3000).indexed()
                    Attribute("myURL", .string).optional().unique()
                    Attribute("place", .geoPoint).optional()
                    Attribute("published", .date).optional()
                    Relationship("author", to: "Author", inverse: "posts")
                }
                Entity("Author") {
                    Attribute("author_id", .string)
                    Relationship("posts", to: "BlogPost", .toMany, inverse: "author")
                }
            }
        }

        @Test("A model's entities are schemas by the dialect's names, with its rules and unique values")
        func schemas() async throws {
            let bench = try Bench(model: model()) { $0.isDevelopment = false }
            let created = await bench.send(
                "POST", "/blogpost",
                [
                    "blogpost_id": "1", "year_born": 1999, "my_u_r_l": "x", "place": ["lat": 1, "lon": 2],
                    "created_by": "a", "author": "u",
                ])
            #expect(created.status == 201, "\(created.text)")
            #expect(created.json?["published"] == .null && created.json?["year_born"] == 1999)
            #expect(await bench.send("POST", "/author", ["author_id": "u", "posts": ["1"]]).status == 201)
            #expect(await bench.values("/author?posts=1", "author_id") == ["u"])
            #expect(
                await bench.send("GET", "/blogpost/1", headers: ["X-StackMob-Expand": "1"]).json?["author"]?["posts"]
                    == ["1"])
            #expect(await bench.send("PUT", "/blogpost/1", ["year_born": 5000]).status == 400)
            #expect(await bench.send("POST", "/blogpost", ["my_u_r_l": "x"]).status == 409)
            #expect(await bench.send("PUT", "/blogpost/1", ["other": 1]).status == 400)
            #expect(await bench.send("POST", "/thing", ["a": 1]).status == 404)
            #expect(await bench.send("GET", "/nothing").status == 404)
            #expect(await bench.values("/blogpost?place[within]=1,2,0.001", "blogpost_id") == ["1"])
        }

        @Test("Writes that share a transaction fail each for itself")
        func uniqueAtOnce() async throws {
            let bench = try Bench(model: model())
            let statuses = await withTaskGroup(of: Int.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        await bench.send("POST", "/blogpost", ["my_u_r_l": .string("u\(number % 10)")]).status
                    }
                }
                return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [201: 10, 409: 10])
        }

        @Test("What the dialect cannot carry is refused at the start, by name")
        func unsupported() throws {
            let model = try ManagedObjectModel(name: "M") {
                Entity("A") { Attribute("tags", .transformable("[String]")).optional() }
            }
            let error = #expect(throws: ServerSetupError.self) { try Bench(model: model) }
            #expect(error?.description.contains("A.tags") == true)
        }

        @Test("A file grows with its model, and refuses one that would lose something")
        func growing() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            func open(_ attributes: [Attribute]) throws -> DataServer {
                var entity = Entity(name: "Todo", location: nil)
                entity.attributes = [Attribute("todoId", .string)] + attributes
                return try DataServer(
                    folder: folder.path, model: try ManagedObjectModel(name: "M", entities: [entity]), logger: silent)
            }
            let first = try open([Attribute("count", .integer64, optional: true)])
            _ = await first.respond(to: ServerRequest("POST", "/todo", body: Data(#"{"todo_id":"1","count":1}"#.utf8)))
            first.close()
            let second = try open([
                Attribute("count", .integer64, optional: true), Attribute("name", .string, optional: true),
            ])
            let answer = await second.respond(to: ServerRequest("PUT", "/todo/1", body: Data(#"{"name":"x"}"#.utf8)))
            #expect(answer.json?["count"] == 1 && answer.json?["name"] == "x")
            second.close()
        }
    }
#endif
