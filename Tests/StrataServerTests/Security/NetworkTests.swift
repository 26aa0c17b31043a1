#if Server
    import Foundation
    @testable import StrataServer
    import Testing

    @Suite struct NetworkTests {
        private func forwarded(
            _ headers: [(String, String)], from client: String = "10.0.0.1", _ trusted: [String] = ["10.0.0.0/8"]
        ) -> ForwardedRequest {
            ForwardedRequest(
                headers: headers.map { (name: $0.0, value: $0.1) }, client: client, isSecure: false,
                trusted: trusted.compactMap(ClientNetwork.init))
        }

        @Test("A trusted proxy says who sent a request, over what and to whom; nobody else does")
        func proxies() {
            let usual = forwarded([
                ("X-Forwarded-For", "192.0.2.9"), ("X-Forwarded-Proto", "https"),
                ("X-Forwarded-Host", "data.example.org"),
            ])
            #expect(usual.client == "192.0.2.9" && usual.isSecure && usual.host == "data.example.org")
            // What the client wrote itself comes before what the proxy added.
            let forged = forwarded([("X-Forwarded-For", "127.0.0.1, 192.0.2.9"), ("X-Forwarded-Proto", "https")])
            #expect(forged.client == "192.0.2.9")
            let chain = forwarded([("X-Forwarded-For", "127.0.0.1, 192.0.2.9, 10.2.3.4")])
            #expect(chain.client == "192.0.2.9")
            let standard = forwarded([("Forwarded", "for=\"[2001:db8::1]:4711\";proto=https;host=\"a.example:8443\"")])
            #expect(standard.client == "2001:db8::1" && standard.isSecure && standard.host == "a.example:8443")
            let stranger = forwarded(
                [("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-Proto", "https")], from: "192.0.2.9")
            #expect(stranger.client == "192.0.2.9" && !stranger.isSecure && stranger.host == nil)
            let port = forwarded([("X-Forwarded-Host", "a.example"), ("X-Forwarded-Port", "8443")])
            #expect(port.host == "a.example:8443" && port.client == "10.0.0.1")
        }

        @Test("Ranges of addresses hold what they say")
        func networks() throws {
            for (range, inside, outside) in [
                ("10.0.0.0/8", "10.255.1.2", "11.0.0.1"), ("192.0.2.128/25", "192.0.2.200", "192.0.2.1"),
                ("::1", "::1", "::2"), ("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"),
                ("0.0.0.0/0", "192.0.2.1", "::1"), ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"),
            ] {
                let network = try #require(ClientNetwork(range))
                #expect(network.contains(inside) && !network.contains(outside), "\(range)")
            }
            for text in ["", "10.0.0.0/33", "10.0.0/8", "x", "10.0.0.0/-1", "::1/129", "1/2/3"] {
                #expect(ClientNetwork(text) == nil, "\(text)")
            }
        }

        @Test("Signed requests are good behind a proxy that ends TLS")
        func signedBehindProxy() async throws {
            let bench = try Bench { $0.network.trustedProxies = ["127.0.0.1"].compactMap(ClientNetwork.init) }
            let ann = try await bench.signUp("ann")
            try await bench.serving { port in
                let signed = ann.authorization(
                    ServerRequest("GET", "/user/loggedInUser"), seconds: bench.time.milliseconds / 1000,
                    host: "data.example.org", port: 443)
                let socket = try Socket(port: port)
                socket.send(
                    "GET /user/loggedInUser HTTP/1.1\r\nHost: inner:\(port)\r\nConnection: close\r\n"
                        + "X-Forwarded-For: 192.0.2.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: data.example.org\r\n"
                        + "Authorization: \(signed)\r\n\r\n")
                #expect(await socket.receiveAll().hasPrefix("HTTP/1.1 200 "))
            }
        }

        @Test("An address has a bound of connections, and its end makes room")
        func connections() async throws {
            let bench = try Bench { $0.limits.connections.perAddress = 3 }
            try await bench.serving { port in
                func health(_ socket: Socket) async -> Bool {
                    socket.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
                    return !(await socket.receive()).isEmpty
                }
                var sockets = try (0..<3).map { _ in try Socket(port: port) }
                for socket in sockets { #expect(await health(socket)) }
                #expect(await health(try Socket(port: port)) == false)
                sockets.removeAll()
                var isIn = false
                for _ in 0..<600 where !isIn {
                    isIn = await health(try Socket(port: port))
                    if !isIn { try await Task.sleep(for: .milliseconds(50)) }
                }
                #expect(isIn)
            }
        }

        @Test("No address takes more of the memory than its share, and bodies that stall take only their bytes")
        func memory() throws {
            let budget = MemoryBudget(limit: 1_000, percent: 25)
            let greedy = MemoryBudget.Lease(budget, client: "192.0.2.1")
            try greedy.take(200)
            let again = MemoryBudget.Lease(budget, client: "192.0.2.1")
            #expect(throws: ServerError.self) { try again.take(100) }
            try again.take(50)
            let other = MemoryBudget.Lease(budget, client: "192.0.2.2")
            try other.take(700)
            let last = MemoryBudget.Lease(budget, client: "192.0.2.3")
            #expect(throws: ServerError.self) { try last.take(51) }
            try last.take(50)
        }

        @Test("Uploads of one address that stall do not stop the requests of others")
        func stalledUploads() async throws {
            let bench = try Bench {
                $0.limits.memory = 8_000_000
                $0.network.trustedProxies = ["127.0.0.1"].compactMap(ClientNetwork.init)
            }
            try await bench.serving { port in
                let part = String(repeating: " ", count: 999_999)
                var sockets: [Socket] = []
                for _ in 0..<10 {
                    let socket = try Socket(port: port)
                    socket.send(
                        "POST /todo HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.7\r\nContent-Length: 1000000\r\n\r\n\(part)"
                    )
                    sockets.append(socket)
                }
                for number in 0..<5 {
                    let socket = try Socket(port: port)
                    let body = "{\"n\":\(number),\"t\":\"\(String(repeating: "x", count: 100_000))\"}"
                    socket.send(
                        "POST /todo HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\nConnection: close\r\n"
                            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                    #expect(await socket.receiveAll().hasPrefix("HTTP/1.1 201 "))
                }
                withExtendedLifetime(sockets) {}
            }
        }

        @Test("Buckets are bounded in number, and a crowd of names makes nobody's full again")
        func buckets() {
            let buckets = TokenBuckets(perSecond: 1, burst: 2, capacity: 10)
            #expect(buckets.take("ann", milliseconds: 0) == nil && buckets.take("ann", milliseconds: 0) == nil)
            #expect(buckets.take("ann", milliseconds: 0) == 1)
            for number in 0..<1_000 { _ = buckets.take("\(number)", milliseconds: 0) }
            #expect(buckets.count <= 11)
            #expect(buckets.take("ann", milliseconds: 0) == 1)
            #expect(buckets.take("ann", milliseconds: 1_000) == nil)
        }

        @Test("Each request of a batch counts for the rate")
        func batches() async throws {
            let bench = try Bench {
                $0.limits.requests.perSecond = 1
                $0.limits.requests.burst = 5
            }
            let requests = JSONValue.array(
                (0..<8).map { ["method": "POST", "path": "/todo", "body": ["n": .integer($0)]] })
            let answer = await bench.send("POST", "/_batch", ["requests": requests])
            let statuses = answer.json?.elements?.map { $0["status"]?.integer ?? 0 }
            #expect(statuses == [201, 201, 201, 201, 201, 503, 503, 503])
        }

        @Test("Answers are compressed for clients that say so, tokens never")
        func compression() async throws {
            let bench = try Bench()
            let todo = await bench.send(
                "POST", "/todo", ["todo_id": "a", "t": .string(String(repeating: "abc", count: 5_000))])
            let user = await bench.send(
                "POST", "/user",
                ["username": "ann", "password": "secret", "about": .string(String(repeating: "x", count: 5_000))])
            try #require(todo.status == 201 && user.status == 201)
            try await bench.serving { port in
                func ask(_ head: String, _ body: String = "") async throws -> String {
                    let socket = try Socket(port: port)
                    socket.send(
                        "\(head) HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept-Encoding: gzip\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    )
                    var data = Data()
                    while case let part = await socket.receive(), !part.isEmpty { data += part }
                    return String(decoding: data, as: Unicode.ASCII.self)
                }
                let large = try await ask("GET /todo/a")
                #expect(
                    large.contains("Content-Encoding: gzip") && large.utf8.count < 2_000
                        && !large.contains("compressible"), "\(large.count) bytes: \(large.prefix(400))")
                #expect(try await !ask("GET /health").contains("Content-Encoding"))
                #expect(try await !ask("HEAD /todo/a").contains("Content-Encoding"))
                let tokens = try await ask("POST /user/accessToken", "username=ann&password=secret")
                #expect(tokens.contains("access_token") && !tokens.contains("Content-Encoding"))
            }
        }
    }
#endif
