#if Server && AsyncHTTP
    import Foundation
    import StrataServer
    import StrataStore
    import Testing

    /// What breaks the rules of frames, and the number that it is answered with.
    struct BrokenRule: Sendable {
        var first: UInt8
        var count = 5
        var isMasked = true
        var number = 1002

        static let all = [
            BrokenRule(first: 0x81, isMasked: false), BrokenRule(first: 0xC1), BrokenRule(first: 0x83),
            BrokenRule(first: 0x80), BrokenRule(first: 0x09), BrokenRule(first: 0x89, count: 126),
            BrokenRule(first: 0x8B, count: 0), BrokenRule(first: 0x81, count: 200_000, number: 1009),
        ]
    }

    /// Web sockets as bytes: how they begin, what is refused, and how they end.
    @Suite struct LiveSocketTests {
        @Test("A connection goes on from HTTP to a web socket")
        func beginning() async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                let socket = try RawSocket(port: port)
                // The connection has had requests before.
                let plain = await socket.ask("/parse", ["Host: localhost", "X-Parse-Application-Id: app"])
                #expect(plain.hasPrefix("HTTP/1.1 200"))
                #expect(await socket.body(plain).contains("OK"))
                let head = await socket.ask("/parse/")
                #expect(head.hasPrefix("HTTP/1.1 101"))
                // The example of RFC 6455.
                #expect(head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
                #expect(!head.lowercased().contains("content-length") && !head.lowercased().contains("chunked"))
                socket.say(#"{"op":"connect","applicationId":"app"}"#)
                #expect(await socket.message()?.text.contains("connected") == true)
                socket.send(0x88, [3, 232])
                #expect(await socket.message()?.closing == 1000)
                #expect(await socket.message() == nil)
            }
        }

        @Test("Clients that do not wait for the answer, or leave before it, harm nobody")
        func hurry() async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                let request = (["GET /parse HTTP/1.1"] + RawSocket.usual + ["", ""]).joined(separator: "\r\n")
                for _ in 0..<20 {
                    let hasty = try RawSocket(port: port)
                    hasty.socket.send(request + "\u{81}\u{5}hello" + request)
                    #expect(await hasty.head().hasPrefix("HTTP/1.1 101"))
                    try RawSocket(port: port).socket.send(request)
                }
                let socket = try await RawSocket.connected(port: port)
                socket.say("[")
                #expect(await socket.message()?.text.contains("error") == true)
            }
        }

        @Test("What is not the beginning of a web socket is refused")
        func refusals() async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                func status(_ path: String, _ headers: [String], method: String = "GET") async throws -> Int? {
                    let head = try await RawSocket(port: port).ask(path, method: method, headers)
                    return head.split(separator: " ").dropFirst().first.flatMap { Int($0) }
                }
                let usual = RawSocket.usual
                for path in ["/", "/todo", "/parse/classes/Post", "/2.0", "/azure1", "/health", "/%ff"] {
                    let status = try #require(try await status(path, usual))
                    #expect((400..<500).contains(status), "\(path): \(status)")
                }
                #expect(try await status("/parse", usual.filter { !$0.contains("Version") }) == 426)
                #expect(try await status("/parse", usual.filter { !$0.contains("Key") }) == 400)
                #expect(try await status("/parse", usual + ["Sec-WebSocket-Key: c2hvcnQ="]) == 400)
                #expect(try await status("/parse", usual, method: "POST") == 405)
                #expect(try await status("/parse", usual + ["Origin: https://evil.example.org"]) == 403)
                // Another protocol is not asked for by name, and the request is answered as usual.
                let other = ["Host: localhost", "Connection: Upgrade", "Upgrade: h2c", "X-Parse-Application-Id: app"]
                #expect(try await status("/parse", other) == 200)
            }
        }

        @Test("A web socket may be silent for longer than a connection with requests")
        func idle() async throws {
            let bench = try Bench.withDialects { $0.limits.connections.idleTimeout = 0.5 }
            try await bench.serving { port in
                var client = try await LiveClient.connected(port: port)
                try await client.subscribe(1, "Post")
                let plain = try RawSocket(port: port)
                #expect(await plain.ask("/health", ["Host: localhost"]).hasPrefix("HTTP/1.1 200"))
                while await plain.frame() != nil {}
                try await bench.make("Post", "a")
                #expect(try await client.event() == "create a")
                client.end()
            }
        }

        @Test("Frames are joined, and pings are answered in between")
        func frames() async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                let socket = try await RawSocket.connected(port: port)
                let text = Array(#"{"op":"subscribe","requestId":1,"query":{"className":"Größe"}}"#.utf8)
                socket.send(0x01, text[..<10])
                socket.send(0x89, Array("hallo".utf8))
                for byte in text[10...].dropLast() { socket.send(0x00, [byte]) }
                socket.send(0x80, text.suffix(1))
                #expect(await socket.message() == RawSocket.Frame(opcode: 10, data: Array("hallo".utf8)))
                // The name is not one of a class, and arrived whole.
                let refusal = try #require(await socket.message())
                #expect(refusal.text.contains("Größe") && refusal.text.contains("103"))
                socket.send(0x82, [1, 2, 3])
                #expect(await socket.message()?.text.contains(#""op":"error""#) == true)
                socket.say(#"{"op":"subscribe","requestId":1,"query":{"className":"Post"}}"#)
                #expect(await socket.message()?.text.contains("subscribed") == true)
            }
        }

        @Test("Broken rules close the connection, and say why", arguments: BrokenRule.all)
        func faults(fault: BrokenRule) async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                let socket = try await RawSocket.connected(port: port)
                socket.send(fault.first, [UInt8](repeating: 32, count: fault.count), isMasked: fault.isMasked)
                #expect(await socket.message()?.closing == fault.number)
                #expect(await socket.message() == nil)
            }
        }

        @Test("Bytes that are not text, parts that are too much together, and a text within another")
        func moreFaults() async throws {
            let bench = try Bench.withDialects()
            try await bench.serving { port in
                var socket = try await RawSocket.connected(port: port)
                socket.send(0x81, [0xff, 0xfe])
                #expect(await socket.message()?.closing == 1007)
                socket = try await RawSocket.connected(port: port)
                socket.send(0x01, [UInt8](repeating: 32, count: 100_000))
                socket.send(0x00, [UInt8](repeating: 32, count: 100_000))
                #expect(await socket.message()?.closing == 1009)
                socket = try await RawSocket.connected(port: port)
                socket.send(0x01, [32])
                socket.send(0x81, [32])
                #expect(await socket.message()?.closing == 1002)
                // A client that vanishes in the middle of a frame leaves nothing behind.
                socket = try await RawSocket.connected(port: port)
                socket.socket.send([0x81, 0xff, 0, 0])
                socket = try await RawSocket.connected(port: port)
                socket.say("[")
                #expect(await socket.message()?.text.contains("error") == true)
            }
        }

        @Test("Nobody has more web sockets and subscriptions than the limits allow")
        func limits() async throws {
            let bench = try Bench.withDialects {
                $0.limits.sockets.perAddress = 2
                $0.limits.sockets.subscriptions = 2
                $0.limits.sockets.matches = 3
            }
            try await bench.serving { port in
                var first = try await LiveClient.connected(port: port)
                let second = try await LiveClient.connected(port: port)
                let head = try await RawSocket(port: port).ask("/parse")
                #expect(head.hasPrefix("HTTP/1.1 429"))
                try await first.subscribe(1, "Post", ["n": 1])
                try await first.subscribe(2, "Post")
                try await first.ask(3, "Post")
                #expect(try await first.next()["code"] == 154)
                // A condition that more objects meet than may be remembered ends the subscription.
                for number in 1...4 { try await bench.make("Post", "p\(number)", ["n": 1]) }
                var message = try await first.next()
                while message["op"] != "error" { message = try await first.next() }
                #expect(message["code"] == 154 && message["requestId"] == 1)
                try await first.ask(1, "Post", ["n": 1])
                message = try await first.next()
                while message["op"] != "error" { message = try await first.next() }
                #expect(message["code"] == 154 && message["requestId"] == 1)
                second.end()
                first.end()
                // Their places are free again.
                while true {
                    let socket = try RawSocket(port: port)
                    if await socket.ask("/parse").hasPrefix("HTTP/1.1 101") { break }
                }
            }
        }

        @Test("Web sockets take their part of the memory of clients, and give it back")
        func memory() async throws {
            let bench = try Bench.withDialects {
                ($0.limits.memory, $0.limits.memoryShare) = (200_000, 100)
            }
            try await bench.serving { port in
                var sockets: [RawSocket] = []
                for _ in 0..<3 { sockets.append(try await RawSocket.connected(port: port)) }
                #expect(try await RawSocket(port: port).ask("/parse").hasPrefix("HTTP/1.1 503"))
                sockets.removeLast().send(0x88, [3, 232])
                while try await !RawSocket(port: port).ask("/parse").hasPrefix("HTTP/1.1 101") {}
            }
        }

        @Test("A client that does not read is disconnected, and others do not wait for it")
        func slowReader() async throws {
            let bench = try Bench.withDialects {
                $0.limits.answers.timeout = 1
                $0.limits.sockets.unsentSize = 64 * 1024
            }
            try await bench.serving { port in
                let slow = try await RawSocket.connected(port: port, receiveBuffer: 4_096)
                slow.say(#"{"op":"subscribe","requestId":1,"query":{"className":"Post"}}"#)
                #expect(await slow.message()?.text.contains("subscribed") == true)
                var fast = try await LiveClient.connected(port: port)
                try await fast.subscribe(1, "Post")
                let text = String(repeating: "x", count: 100_000)
                for number in 0..<80 { try await bench.make("Post", "p\(number)", ["text": .string(text)]) }
                for number in 0..<80 { #expect(try await fast.event() == "create p\(number)") }
                // Other clients did not wait for it. It is gone when it can say nothing more.
                while slow.send(0x8A, []) { try await Task.sleep(for: .milliseconds(20)) }
                fast.end()
            }
        }

        @Test("A client that answers no ping, and one that says nothing, are disconnected")
        func silence() async throws {
            // A machine that is busy may be late with everything; a client that does nothing at all is not early.
            for (interval, timeout) in [(1.0, 300.0), (9.0, 8.0)] {
                let bench = try Bench.withDialects {
                    $0.limits.sockets.pingInterval = interval
                    $0.limits.requests.timeout = timeout
                }
                try await bench.serving { port in
                    var socket = try RawSocket(port: port)
                    while await !socket.ask("/parse").hasPrefix("HTTP/1.1 101") { socket = try RawSocket(port: port) }
                    var (pings, closing) = (0, Int?.none)
                    while let frame = await socket.frame() {
                        if frame.opcode == 9 { pings += 1 } else { closing = frame.closing }
                    }
                    #expect(pings > 0)
                    #expect(closing == (interval > 1 ? 1008 : nil))
                }
            }
        }

        @Test("A server that ends closes its web sockets and says that it goes")
        func shutdown() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = folder.appending(path: "server.yaml").path
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(Places.yamlOfParse.utf8).write(to: URL(filePath: path))
            let server = try ServerProcess(folder: folder, arguments: ["--config", path])
            let sockets = [
                try await RawSocket.connected(port: server.port), try await RawSocket.connected(port: server.port),
            ]
            server.process.terminate()
            for socket in sockets {
                #expect(await socket.message()?.closing == 1001)
                socket.send(0x88, [3, 233])
                #expect(await socket.message() == nil)
            }
            server.process.waitUntilExit()
            #expect(server.process.terminationStatus == 0)
        }
    }
#endif
