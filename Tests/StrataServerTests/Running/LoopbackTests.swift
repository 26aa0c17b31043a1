#if Server
    import Foundation
    import SeededRandom
    import StrataServer
    import StrataStore
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// The values that a server has acknowledged, by object.
    final class Ledger: Sendable {
        private let values = Guarded<[String: Int64]>([:])
        var entries: [String: Int64] { values.withLock { $0 } }
        func set(_ id: String, _ value: Int64) { values.withLock { $0[id] = value } }
    }

    /// The server on a socket, asked by URLSession and by hand.
    @Suite(.serialized) struct LoopbackTests {
        static func send(
            _ method: String, _ url: String, _ body: Data? = nil, headers: [String: String] = [:]
        ) async throws -> (status: Int, json: JSONValue?, headers: [AnyHashable: Any]) {
            var request = URLRequest(url: try #require(URL(string: url)))
            request.httpMethod = method
            request.httpBody = body
            for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
            let (data, response) = try await URLSession.shared.data(for: request)
            let http = try #require(response as? HTTPURLResponse)
            return (http.statusCode, try? JSONValue(parsing: data), http.allHeaderFields)
        }

        @Test("Objects, ranges and sessions go over HTTP as over the core")
        func http() async throws {
            let bench = try Bench()
            try await bench.serving { port in
                let base = "http://127.0.0.1:\(port)"
                let created = try await Self.send("POST", "\(base)/todo", Data(#"[{"n":1},{"n":2},{"n":3}]"#.utf8))
                #expect(created.status == 201 && created.json?["succeeded"]?.elements?.count == 3)
                let page = try await Self.send(
                    "GET", "\(base)/todo?n%5Bgt%5D=0",
                    headers: ["Range": "objects=0-1", "X-StackMob-OrderBy": "n:desc"])
                #expect(page.status == 206 && page.json?.elements?.map { $0["n"] ?? .null } == [3, 2])
                #expect(page.headers["Content-Range"] as? String == "0-1/3")
                #expect(page.headers["X-StackMob-Time-MS"] as? String == "1700000000000")
                #expect(try await Self.send("HEAD", base).status == 200)

                _ = try await Self.send("POST", "\(base)/user", Data(#"{"username":"ann","password":"x"}"#.utf8))
                let token = try await Self.send(
                    "POST", "\(base)/user/accessToken",
                    Data("username=ann&password=x&token_type=mac&mac_algorithm=hmac-sha-1".utf8),
                    headers: ["Content-Type": "application/x-www-form-urlencoded"])
                let session = try #require(Session(token.json))
                let request = ServerRequest("GET", "/user/loggedInUser?a%5Bb%5D=c%20d")
                let signed = session.authorization(
                    ServerRequest("GET", "/user/loggedInUser?a[b]=c%20d"), seconds: 1_700_000_000, host: "127.0.0.1",
                    port: port)
                let url = "\(base)\(request.path)?\(request.query)"
                let user = try await Self.send("GET", url, headers: ["Authorization": signed])
                #expect(user.status == 200 && user.json?["username"] == "ann")
                #expect(try await Self.send("GET", url, headers: ["Authorization": signed]).status == 401)
            }
        }

        @Test("Many connections at once are all answered")
        func manyConnections() async throws {
            let bench = try Bench()
            try await bench.serving { port in
                let sockets = try (0..<100).map { _ in try Socket(port: port) }
                for (number, socket) in sockets.enumerated() {
                    let body = "{\"todo_id\":\"\(number)\"}"
                    socket.send(
                        "POST /todo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    )
                }
                for socket in sockets {
                    let answer = await socket.receiveAll()
                    #expect(answer.hasPrefix("HTTP/1.1 201 "))
                }
                #expect(await bench.send("GET", "/todo").json?.elements?.count == 100)
            }
        }

        /// The status of an answer; 0 if there is none within a minute. Blocks the thread.
        private static func blockingStatus(of url: URL) -> Int {
            let status = Guarded(0)
            let done = DispatchSemaphore(value: 0)
            URLSession.shared.dataTask(with: url) { _, response, _ in
                status.withLock { $0 = (response as? HTTPURLResponse)?.statusCode ?? 0 }
                done.signal()
            }.resume()
            _ = done.wait(timeout: .now() + 60)
            return status.withLock { $0 }
        }

        @Test("A service answers while all cooperative threads are blocked")
        func blockedThreads() async throws {
            let bench = try Bench()
            try await bench.serving { port in
                let url = try #require(URL(string: "http://127.0.0.1:\(port)/todo"))
                await withTaskGroup(of: Int.self) { group in
                    for _ in 0..<ProcessInfo.processInfo.activeProcessorCount * 2 {
                        group.addTask { Self.blockingStatus(of: url) }
                    }
                    for await status in group { #expect(status != 0) }
                }
            }
        }

        @Test("Garbage, slow and oversized requests end their connection, and nothing else")
        func abuse() async throws {
            let bench = try Bench {
                $0.limits.requests.timeout = 1
                $0.limits.connections.idleTimeout = 2
                $0.limits.requests.bodySize = 100_000
            }
            try await bench.serving { port in
                var garbage: [Socket] = []
                let seed = RunSeed.value()
                var random = SplitMix64(seed: seed)
                for _ in 0..<20 {
                    let socket = try Socket(port: port)
                    socket.send(
                        (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) } + Array("\r\n\r\n".utf8))
                    garbage.append(socket)
                }
                for text in [
                    "GET / HTTP/9.9\r\n\r\n", "POST /todo HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
                    "GET \(String(repeating: "a", count: 200_000))",
                    "GET / HTTP/1.1\r\n" + (0..<300).map { "X-\($0): y\r\n" }.joined() + "\r\n",
                    "POST /todo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", "\u{16}\u{3}\u{1}",
                ] {
                    let socket = try Socket(port: port)
                    socket.send(text)
                    garbage.append(socket)
                }
                let slowHead = try Socket(port: port)
                let slowBody = try Socket(port: port)
                slowHead.send("GET /todo HTTP/1.1\r\nHost: x\r\nX-Drip: ")
                slowBody.send("POST /todo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
                var (headIsOpen, bodyIsOpen) = (true, true)
                for _ in 0..<40 where headIsOpen || bodyIsOpen {
                    try await Task.sleep(for: .milliseconds(100))
                    headIsOpen = slowHead.send("a")
                    bodyIsOpen = slowBody.send(" ")
                }
                #expect(!headIsOpen && !bodyIsOpen, "a drip keeps no connection open")

                let large = try Socket(port: port)
                large.send("POST /todo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
                for _ in 0..<100 where large.send(String(repeating: " ", count: 10_000)) {}
                // Either the answer gets through, or the connection ends while the client still sends.
                let refusal = await large.receiveAll()
                #expect(refusal.isEmpty || refusal.hasPrefix("HTTP/1.1 413 "))
                let answer = try await Self.send("POST", "http://127.0.0.1:\(port)/todo", Data(#"{"n":1}"#.utf8))
                #expect(answer.status == 201, "seed \(seed)")
                #expect(await bench.send("GET", "/todo").json?.elements?.count == 1)
                withExtendedLifetime(garbage) {}
            }
        }

        @Test("A client that does not read its answer is let go with it, one that reads slowly is not")
        func slowReaders() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let text = String(repeating: "x", count: 9_000_000)
            let first = try ServerProcess(folder: folder)
            let body: JSONValue = ["text_id": "t", "text": .string(text)]
            #expect(try await Self.send("POST", "http://127.0.0.1:\(first.port)/text", body.data()).status == 201)
            #expect(first.end() == 0)
            // Room for one answer.
            let configuration = folder.appending(path: "server.yaml")
            try "limits: {answerTimeout: 6, answerRate: 1000, memory: 12000000}".write(
                to: configuration, atomically: true, encoding: .utf8)
            let server = try ServerProcess(folder: folder, arguments: ["--config", configuration.path])
            func ask() async throws -> (socket: Socket, status: String, count: Int) {
                let socket = try Socket(port: server.port, receiveBuffer: 4096)
                socket.send("GET /text/t HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                let start = await socket.receive()
                return (socket, String(decoding: start.prefix(12).suffix(3), as: UTF8.self), start.count)
            }
            // It takes the memory that there is for answers, until it is released.
            let stalled = try await ask()
            #expect(stalled.status == "200")
            var refused = 0
            var slow = try await ask()
            while slow.status == "503", refused < 600 {
                refused += 1
                try await Task.sleep(for: .milliseconds(100))
                slow = try await ask()
            }
            #expect(slow.status == "200" && refused > 0, "\(slow.status), \(refused)")
            #expect(await stalled.socket.receiveAll().utf8.count < text.utf8.count)
            // For longer than its patience, but something is taken ten times a second.
            let count = slow.count + (await slow.socket.countAll(slowlyFor: .seconds(8)))
            #expect(count >= text.utf8.count)
        }

        @Test("A client that reads its answer steadily, but too slowly on the whole, is let go")
        func tooSlowOnTheWhole() async throws {
            let bench = try Bench {
                $0.limits.answers.timeout = 2
                // No connection is as fast as that.
                $0.limits.answers.rate = 1 << 40
            }
            let text = String(repeating: "x", count: 9_000_000)
            await bench.send("POST", "/text", ["text_id": "t", "text": .string(text)])
            try await bench.serving { port in
                let socket = try Socket(port: port, receiveBuffer: 4096)
                socket.send("GET /text/t HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                var count = 0
                let start = ContinuousClock.now
                while case let part = await socket.receive(), !part.isEmpty {
                    count += part.count
                    // Something is taken all the time, but not all of it before the time is over.
                    if start.duration(to: .now) < .seconds(10) { try await Task.sleep(for: .milliseconds(20)) }
                }
                #expect(count < text.utf8.count)
            }
        }

        @Test("A client that asks whether its body is welcome is told")
        func expectations() async throws {
            let bench = try Bench { $0.limits.requests.bodySize = 1_000 }
            try await bench.serving { port in
                func ask(_ length: Int) async throws -> (socket: Socket, answer: String) {
                    let socket = try Socket(port: port)
                    socket.send(
                        "POST /todo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: \(length)\r\n\r\n"
                    )
                    return (socket, String(decoding: await socket.receive(), as: UTF8.self))
                }
                let welcome = try await ask(7)
                #expect(welcome.answer == "HTTP/1.1 100 Continue\r\n\r\n")
                welcome.socket.send(#"{"n":1}"#)
                #expect(await welcome.socket.receiveAll().hasPrefix("HTTP/1.1 201 "))
                #expect(try await ask(1_001).answer.hasPrefix("HTTP/1.1 413 "))
            }
        }

        @Test("Bodies that come in at once have a bound together")
        func manyBodies() async throws {
            let bench = try Bench {
                $0.limits.requests.timeout = 5
                $0.limits.memory = 8_000_000
            }
            try await bench.serving { port in
                // Half a million bytes each, of which the last never comes; eight times as much is counted for each.
                let sockets = try (0..<10).map { _ in try Socket(port: port) }
                let part = String(repeating: " ", count: 499_999)
                for socket in sockets {
                    socket.send("POST /todo HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n\(part)")
                }
                var refused = 0
                for socket in sockets where await socket.receiveAll().hasPrefix("HTTP/1.1 503") { refused += 1 }
                #expect(refused >= 5, "\(refused)")
                let answer = try await Self.send("POST", "http://127.0.0.1:\(port)/todo", Data(#"{"n":1}"#.utf8))
                #expect(answer.status == 201)
            }
        }

        @Test("The program serves, logs JSON lines, and ends on SIGTERM with what it has")
        func program() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try ServerProcess(folder: folder)
            let created = try await Self.send(
                "POST", "http://127.0.0.1:\(server.port)/todo", Data(#"{"todo_id":"1"}"#.utf8))
            #expect(created.status == 201)
            #expect(server.end() == 0)
            #expect(server.lines.allSatisfy { (try? JSONValue(parsing: Data($0.utf8)))?["message"] != nil })
            #expect(server.lines.last?.contains("\"ended\"") == true)
            #expect(server.lines.allSatisfy { $0.contains(/"time":"\d{4}-\d\d-\d\dT[0-9:.]+Z"/) })
            let again = try ServerProcess(folder: folder)
            #expect(try await Self.send("GET", "http://127.0.0.1:\(again.port)/todo/1").status == 200)
        }

        @Test("A folder has one server, and a taken port is named")
        func alone() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try ServerProcess(folder: folder)
            let second = #expect(throws: ServerProcess.Ended.self) { try ServerProcess(folder: folder) }
            #expect(second?.lines.joined().contains("another server") == true, "\(second?.lines ?? [])")
            let other = folder.appending(path: "other")
            let third = #expect(throws: ServerProcess.Ended.self) {
                try ServerProcess(folder: other, arguments: ["--port", "\(server.port)"])
            }
            #expect(third?.lines.joined().contains("127.0.0.1:\(server.port)") == true, "\(third?.lines ?? [])")
            server.kill()
            // What a killed server has locked is free.
            #expect(try ServerProcess(folder: folder).end() == 0)
        }

        @Test(
            "With a certificate it speaks TLS, and signatures count its port",
            .enabled(if: Tool.areThere(["openssl", "curl"])))
        func tls() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let (key, chain) = try Tool.certificate(in: folder)
            let server = try ServerProcess(
                folder: folder, arguments: ["--tls-certificate", chain, "--tls-key", key, "--require-tls"])
            let base = "https://127.0.0.1:\(server.port)"
            func curl(_ arguments: String...) throws -> JSONValue? {
                try? JSONValue(parsing: try Tool.run("curl", ["-sk", "--max-time", "20"] + arguments))
            }
            _ = try curl("-d", #"{"username":"ann","password":"long enough"}"#, "\(base)/user")
            let session = try #require(
                Session(try curl("-d", "username=ann&password=long+enough", "\(base)/user/accessToken")))
            let signed = session.authorization(
                ServerRequest("GET", "/user/loggedInUser"), seconds: Int64(Date().timeIntervalSince1970),
                host: "127.0.0.1",
                port: server.port)
            #expect(try curl("-H", "Authorization: \(signed)", "\(base)/user/loggedInUser")?["username"] == "ann")
            #expect(server.end() == 0)
            let ended = #expect(throws: ServerProcess.Ended.self) {
                try ServerProcess(folder: folder, arguments: ["--tls-certificate", key, "--tls-key", chain])
            }
            #expect(ended?.lines.joined().contains("cannot be read") == true)
        }

        /// How often a server is killed; `STRATA_KILLS` sets another number.
        static let kills = ProcessInfo.processInfo.environment["STRATA_KILLS"].flatMap(Int.init) ?? 4

        @Test("Killed at random during writes, it has every write that it acknowledged")
        func killed() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let seed = RunSeed.value()
            var random = SplitMix64(seed: seed)
            let acknowledged = Ledger()
            for round in 0...Self.kills {
                let server = try ServerProcess(folder: folder)
                let base = "http://127.0.0.1:\(server.port)"
                for (id, value) in acknowledged.entries {
                    let answer = try await Self.send("GET", "\(base)/todo/\(id)")
                    let found = answer.json?["n"]?.integer ?? -1
                    // The last change may have been written without its acknowledgment getting through.
                    #expect(found >= value, "seed \(seed), round \(round): \(id) has \(found), acknowledged \(value)")
                }
                if round == Self.kills { break }
                let port = server.port
                let delay = Double.random(in: 0.1...0.8, using: &random)
                let writers = DispatchGroup()
                for writer in 0..<4 {
                    DispatchQueue.global().async(group: writers) {
                        Self.write(port: port, writer: "\(round)-\(writer)", acknowledged)
                    }
                }
                try await Task.sleep(for: .seconds(delay))
                server.kill()
                await withCheckedContinuation { continuation in
                    writers.notify(queue: .global()) { continuation.resume() }
                }
            }
            let count = acknowledged.entries.count
            #expect(count > 0)
            print("kills \(Self.kills), seed \(seed): \(count) objects acknowledged, none lost")
        }

        /// Creates objects and changes each, one request after another, until the server is gone, or as many as the limit says.
        static func write(port: Int, writer: String, _ acknowledged: Ledger, limit: Int = .max) {
            guard let socket = try? Socket(port: port) else { return }
            for number in 0..<limit {
                let id = "\(writer)-\(number)"
                for (value, method, path, body) in [
                    (Int64(0), "POST", "/todo", "{\"todo_id\":\"\(id)\",\"n\":0}"),
                    (1, "PUT", "/todo/\(id)", "{\"n[inc]\":1}"),
                ] {
                    socket.send(
                        "\(method) \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                    var answer = ""
                    while !answer.hasSuffix("}") {
                        let part = socket.receiveNow()
                        if part.isEmpty { return }
                        answer += String(decoding: part, as: UTF8.self)
                    }
                    guard answer.hasPrefix("HTTP/1.1 20") else { return }
                    acknowledged.set(id, value)
                }
            }
        }
    }
#endif
