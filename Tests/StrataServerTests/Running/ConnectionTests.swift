#if Server
    import Foundation
    import StrataServer
    import Testing

    /// The order of requests on one connection, and its end.
    @Suite struct ConnectionTests {
        private static func answers(in text: String) -> [String] {
            text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { "HTTP/1.1 " + $0 }
        }

        @Test("Requests that are sent before the first is answered are answered in their order")
        func pipelining() async throws {
            let blocking = BlockingMethod()
            let bench = try Bench(methods: ["block": blocking.method]) { $0.limits.requests.timeout = 600 }
            try await bench.serving { port in
                let socket = try Socket(port: port)
                // The last one comes when the first is being worked on.
                socket.send("GET /block HTTP/1.1\r\nHost: x\r\n\r\n")
                await blocking.isCalled()
                let body = #"{"todo_id":"a","n":7}"#
                socket.send(
                    "POST /todo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                        + "GET /todo/a HTTP/1.1\r\nHost: x\r\n\r\nGET /todo/b HTTP/1.1\r\nHost: x\r\n\r\n")
                socket.endSending()
                blocking.release()
                let answers = Self.answers(in: await socket.receiveAll())
                try #require(answers.count == 4, "\(answers)")
                #expect(answers[0].hasPrefix("HTTP/1.1 200 ") && answers[0].contains(#"{"is":"over"}"#))
                #expect(answers[1].hasPrefix("HTTP/1.1 201 "))
                #expect(answers[2].hasPrefix("HTTP/1.1 200 ") && answers[2].contains(#""n":7"#))
                #expect(answers[3].hasPrefix("HTTP/1.1 404 "))
            }
        }

        @Test("Requests before garbage are answered, and then the connection ends with 400")
        func garbage() async throws {
            let bench = try Bench()
            try await bench.serving { port in
                let socket = try Socket(port: port)
                socket.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n\u{1}\u{2}\r\n\r\n")
                let answers = Self.answers(in: await socket.receiveAll())
                #expect(answers.map { $0.prefix(12) } == ["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 400"])
                #expect(answers.last?.contains("Connection: close") == true)
            }
        }

        @Test("A connection ends with the answer for clients that ask for its end, and only for them")
        func ends() async throws {
            let bench = try Bench()
            try await bench.serving { port in
                for (head, isKept) in [
                    ("HTTP/1.1\r\n", true), ("HTTP/1.1\r\nConnection: close\r\n", false), ("HTTP/1.0\r\n", false),
                    ("HTTP/1.0\r\nConnection: keep-alive\r\n", true),
                ] {
                    let socket = try Socket(port: port)
                    socket.send("GET / \(head)Host: x\r\n\r\n")
                    if isKept {
                        let first = String(decoding: await socket.receive(), as: UTF8.self)
                        #expect(first.hasPrefix("HTTP/1.1 200 ") && !first.contains("Connection: close"), "\(first)")
                        #expect(first.contains("Connection: keep-alive") == head.contains("1.0"), "\(first)")
                        socket.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    }
                    let last = await socket.receiveAll()
                    #expect(last.hasPrefix("HTTP/1.1 200 ") && last.contains("Connection: close\r\n"), "\(last)")
                }
            }
        }

        @Test("A client that goes on sending a body that is too large gets the refusal")
        func refusedBody() async throws {
            let bench = try Bench { $0.limits.requests.bodySize = 100_000 }
            try await bench.serving { port in
                let socket = try Socket(port: port)
                socket.send("POST /todo HTTP/1.1\r\nHost: x\r\nContent-Length: 30000000\r\n\r\n")
                // More than the buffers of both sides take. If the server closed the connection with bytes unread, its answer would
                // be lost with them.
                let part = [UInt8](repeating: UInt8(ascii: " "), count: 1_000_000)
                for _ in 0..<30 { #expect(socket.send(part)) }
                socket.endSending()
                let answer = await socket.receiveAll()
                #expect(answer.hasPrefix("HTTP/1.1 413 "), "\(answer.prefix(100))")
                #expect(answer.contains("larger than 100000 bytes"))
            }
        }

        @Test("A request with two hosts is refused")
        func twoHosts() async throws {
            let bench = try Bench()
            try await bench.serving { port in
                let socket = try Socket(port: port)
                socket.send("GET / HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n")
                #expect(await socket.receiveAll().hasPrefix("HTTP/1.1 400 "))
            }
        }

        @Test("Headers of custom code cannot break the frame of an answer")
        func brokenHeaders() async throws {
            let bench = try Bench(methods: [
                "break": { _ throws(ServerError) in
                    ServerResponse(
                        status: 200,
                        headers: [
                            ("Content-Length", "1"), ("Transfer-Encoding", "chunked"), ("A", "b\r\nC: d"),
                            ("E f", "g"), ("", "h"), ("Kept", "yes"),
                        ], body: Data("whole".utf8))
                }
            ])
            try await bench.serving { port in
                let socket = try Socket(port: port)
                socket.send("GET /break HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                let answer = await socket.receiveAll()
                let lines = answer.components(separatedBy: "\r\n")
                #expect(answer.hasSuffix("\r\n\r\nwhole"))
                #expect(lines.contains("Content-Length: 5") && lines.contains("Kept: yes"), "\(lines)")
                for name in ["Transfer-Encoding", "A:", "C:", "E f", ":"] {
                    #expect(!lines.contains { $0.hasPrefix(name) }, "\(name)")
                }
            }
        }

        @Test("Answers name the server and the present as HTTP writes it")
        func date() async throws {
            let bench = try Bench()
            try await bench.serving { port in
                let socket = try Socket(port: port)
                socket.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                let lines = await socket.receiveAll().components(separatedBy: "\r\n")
                #expect(lines.contains("Server: strata-server"))
                let text = try #require(lines.first { $0.hasPrefix("Date: ") }).dropFirst(6)
                let format = DateFormatter()
                format.locale = Locale(identifier: "en_US_POSIX")
                format.timeZone = .gmt
                format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
                let date = try #require(format.date(from: String(text)), "\(text)")
                #expect(abs(date.timeIntervalSinceNow) < 60)
                #expect(format.string(from: date) == text)
            }
        }

        @Test("A service that ends answers the request that it works on")
        func ending() async throws {
            let blocking = BlockingMethod()
            let bench = try Bench(methods: ["block": blocking.method]) { $0.limits.requests.timeout = 600 }
            let (busy, resting) = try await bench.serving { port in
                let (busy, resting) = (try Socket(port: port), try Socket(port: port))
                resting.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(await resting.receive().isEmpty == false)
                busy.send("GET /block HTTP/1.1\r\nHost: x\r\n\r\n")
                await blocking.isCalled()
                // The service is told to end when this closure is over.
                DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) { blocking.release() }
                return (busy, resting)
            }
            let answer = await busy.receiveAll()
            #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains(#"{"is":"over"}"#), "\(answer)")
            #expect(answer.contains("Connection: close\r\n"))
            #expect(await resting.receive().isEmpty)
        }
    }
#endif
