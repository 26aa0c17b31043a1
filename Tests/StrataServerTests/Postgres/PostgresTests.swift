#if Server && Postgres
    import Foundation
    import PostgresFixture
    import StrataServer
    import StrataStore
    import Testing

    /// The server with its objects in PostgreSQL: one server, and two that share a database.
    @Suite(.needsPostgres) struct PostgresTests {
        private static func bench(
            _ url: String, _ change: (inout ServerOptions) -> Void = { _ in }
        ) throws -> Bench {
            try Bench {
                $0.storage.database = url
                change(&$0)
            }
        }

        @Test("Objects are created, read, queried, changed and deleted, and accounts log in")
        func objects() async throws {
            let bench = try Self.bench(try PostgresServer.shared.newDatabase())
            let created = await bench.send(
                "POST", "/todo",
                [["todo_id": "a", "title": "Milk", "n": 1], ["todo_id": "b", "title": "Bread", "n": 2]])
            #expect(created.status == 201, "\(created.text)")
            #expect(await bench.send("GET", "/todo/a").json?["title"] == "Milk")
            #expect(await bench.values("/todo?n[gt]=1", "todo_id") == ["b"])
            let changed = await bench.send("PUT", "/todo/a", ["n": 3, "tags": ["x", "y"], "share": 1.5])
            #expect(changed.status == 200, "\(changed.text)")
            #expect(await bench.values("/todo?share[lt]=2", "n") == [3])
            #expect(await bench.values("/todo?tags=y", "todo_id") == ["a"])
            // An array that came empty turns out to be one of references.
            #expect(await bench.send("PUT", "/todo/a", ["parts": []]).status == 200)
            let put = await bench.send(
                "PUT", "/todo/a", ["parts": ["1"]], headers: ["X-StackMob-Relations": "parts=part"])
            #expect(put.status == 200 && put.json?["parts"] == ["1"], "\(put.text)")
            #expect(await bench.send("DELETE", "/todo/b").status == 200)
            #expect(await bench.send("GET", "/todo/b").status == 404)
            let session = try await bench.signUp("ann")
            #expect(await bench.send("GET", "/user/loggedInUser", session: session).json?["username"] == "ann")
            #expect(await bench.form("accessToken", "username=ann&password=wrong").status == 401)
            #expect(await bench.send("GET", "/health").json?["status"] == "ok")
        }

        @Test("A server that starts again has what the last one kept, and takes no signature twice")
        func restart() async throws {
            let url = try PostgresServer.shared.newDatabase()
            let first = try Self.bench(url)
            let session = try await first.signUp("ann")
            #expect(await first.send("POST", "/todo", ["todo_id": "a", "n": 1]).status == 201)
            let request = ServerRequest("GET", "/todo/a", headers: [("Host", "localhost")])
            var signed = request
            signed.headers.append(
                ("Authorization", session.authorization(request, seconds: first.time.milliseconds / 1000)))
            #expect(await first.server.respond(to: signed).status == 200)
            first.server.close()
            let second = try Self.bench(url)
            #expect(await second.send("GET", "/todo/a").json?["n"] == 1)
            #expect(await second.send("GET", "/user/loggedInUser", session: session).status == 200)
            #expect(await second.server.respond(to: signed).status == 401)
        }

        @Test("What one of two servers writes, the other one reads, new schemas and fields included")
        func shared() async throws {
            let url = try PostgresServer.shared.newDatabase()
            let (one, other) = (try Self.bench(url), try Self.bench(url))
            #expect(await one.send("POST", "/todo", ["todo_id": "a", "n": 1]).status == 201)
            #expect(await other.send("GET", "/todo/a").json?["n"] == 1)
            #expect(await other.send("PUT", "/todo/a", ["title": "Milk"]).status == 200)
            #expect(await one.send("GET", "/todo/a").json?["title"] == "Milk")
            #expect(await one.values("/todo?title=Milk", "n") == [1])
            // Both extend the schemas at the same moment, again and again.
            await withTaskGroup(of: Void.self) { group in
                for (place, bench) in [one, other].enumerated() {
                    group.addTask {
                        for number in 0..<5 {
                            let answer = await bench.send(
                                "POST", "/note\(number)",
                                ["note\(number)_id": .string("\(place)"), "field\(place)": .integer(Int64(number))])
                            #expect(answer.status == 201, "\(answer.text)")
                        }
                    }
                }
            }
            for number in 0..<5 {
                for bench in [one, other] {
                    #expect(await bench.send("GET", "/note\(number)/0").json?["field0"] == .integer(Int64(number)))
                    #expect(await bench.send("GET", "/note\(number)/1").json?["field1"] == .integer(Int64(number)))
                }
            }
        }

        @Test("Writes of two servers to one object are all counted")
        func counting() async throws {
            let url = try PostgresServer.shared.newDatabase()
            let (one, other) = (try Self.bench(url), try Self.bench(url))
            #expect(await one.send("POST", "/todo", ["todo_id": "a", "n": 0]).status == 201)
            await withTaskGroup(of: Void.self) { group in
                for bench in [one, other, one, other] {
                    group.addTask {
                        for _ in 0..<25 {
                            let answer = await bench.send("PUT", "/todo/a", ["n[inc]": 1])
                            #expect(answer.status == 200, "\(answer.text)")
                        }
                    }
                }
            }
            for bench in [one, other] { #expect(await bench.send("GET", "/todo/a").json?["n"] == 100) }
        }

        @Test("A session of one server is good at the other, and a signature only at one of them")
        func sessions() async throws {
            let url = try PostgresServer.shared.newDatabase()
            let (one, other) = (try Self.bench(url), try Self.bench(url))
            let session = try await one.signUp("ann")
            #expect(await other.send("GET", "/user/loggedInUser", session: session).json?["username"] == "ann")
            let request = ServerRequest("GET", "/user/loggedInUser", headers: [("Host", "localhost")])
            var signed = request
            signed.headers.append(
                ("Authorization", session.authorization(request, seconds: one.time.milliseconds / 1000)))
            #expect(await one.server.respond(to: signed).status == 200)
            let replayed = await other.server.respond(to: signed)
            #expect(replayed.status == 401 && replayed.text.contains("used before"), "\(replayed.text)")
            // The same refresh token has the same answer, wherever it comes a second time.
            let refreshed = await one.form("refreshToken", "refresh_token=\(session.refresh)&grant_type=refresh_token")
            #expect(refreshed.status == 200, "\(refreshed.text)")
            let again = await other.form("refreshToken", "refresh_token=\(session.refresh)&grant_type=refresh_token")
            #expect(again.status == 200 && again.json == refreshed.json, "\(again.text)")
            let fresh = try #require(Session(refreshed.json))
            #expect(await other.send("GET", "/user/logout", session: fresh).status == 200)
            #expect(await one.send("GET", "/user/loggedInUser", session: fresh).status == 401)
        }

        @Test("A server goes on after its database has ended all connections")
        func failover() async throws {
            let url = try PostgresServer.shared.newDatabase()
            let bench = try Self.bench(url)
            let session = try await bench.signUp("ann")
            #expect(await bench.send("POST", "/todo", ["todo_id": "a", "n": 1], session: session).status == 201)
            try PostgresServer.shared.endSessions(of: url)
            #expect(await bench.send("PUT", "/todo/a", ["n": 2], session: session).status == 200)
            try PostgresServer.shared.endSessions(of: url)
            #expect(await bench.send("GET", "/todo/a", session: session).json?["n"] == 2)
        }

        @Test("Servers of one database share their files, and nobody else gets the folder")
        func files() async throws {
            let url = try PostgresServer.shared.newDatabase()
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            func server(_ database: String?) throws -> DataServer {
                var options = ServerOptions()
                options.storage.database = database
                return try DataServer(folder: folder.path, options: options, logger: silent)
            }
            let one = try server(url)
            defer { one.close() }
            let content =
                "Content-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n"
                + "Content-Transfer-Encoding: base64\n\n" + Data("hello".utf8).base64EncodedString()
            let created = await one.respond(
                to: ServerRequest(
                    "POST", "/doc", headers: [("Host", "localhost")],
                    body: Data((["doc_id": "d", "file": .string(content)] as JSONValue).description.utf8)))
            #expect(created.status == 201, "\(created.text)")
            let other = try server(url)
            defer { other.close() }
            let place = try #require(
                await other.respond(to: ServerRequest("GET", "/doc/d", headers: [("Host", "localhost")]))
                    .json?["file"]?.string.flatMap { URL(string: $0) })
            #expect(await other.respond(to: ServerRequest("GET", place.path)).text == "hello")
            let stranger = try PostgresServer.shared.newDatabase()
            #expect(throws: ServerSetupError.self) { try server(stranger) }
            #expect(throws: ServerSetupError.self) { try server(nil) }
            #expect(await one.respond(to: ServerRequest("GET", place.path)).text == "hello")
        }

        @Test("A server that cannot reach its database says so at its start")
        func unreachable() throws {
            let url = try PostgresServer.shared.url(of: "nowhere")
            #expect(throws: (any Error).self) { try Self.bench(url) }
        }

        @Test("The configuration names the storage")
        func configuration() throws {
            let named = try ServerConfiguration(yaml: "storage: postgres://app@db/app", path: "server.yaml")
            #expect(named.options.storage.database == "postgres://app@db/app")
            #expect(try ServerConfiguration(yaml: "storage: files", path: "s").options.storage.database == nil)
            let error = #expect(throws: ServerSetupError.self) {
                try ServerConfiguration(yaml: "storage: mysql://db", path: "server.yaml")
            }
            #expect(error?.description.contains("postgres://user@host/database") == true)
        }
    }
#endif
