#if Server
    import Foundation
    import StrataServer
    import Testing

    /// What must not keep an event loop from its other connections.
    @Suite struct EventLoopTests {
        /// A request on a connection of its own, which ends with the answer.
        private func get(_ path: String, _ port: Int) throws -> Socket {
            let socket = try Socket(port: port)
            socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return socket
        }

        @Test("Custom code that blocks its thread keeps no other request waiting")
        func blockingMethods() async throws {
            let blocking = BlockingMethod()
            let bench = try Bench(methods: ["block": blocking.method]) { $0.limits.requests.timeout = 600 }
            await bench.send("POST", "/todo", ["todo_id": "a", "n": 7])
            // More than there are event loops.
            let count = ProcessInfo.processInfo.activeProcessorCount + 2
            try await bench.serving { port in
                let blocked = try (0..<count).map { _ in try get("/block", port) }
                await blocking.isCalled(count)
                for _ in 0..<count * 2 {
                    let answer = try await get("/todo/a", port).receiveAll()
                    #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains(#""n":7"#), "\(answer)")
                }
                blocking.release(count)
                for socket in blocked {
                    let answer = await socket.receiveAll()
                    #expect(answer.contains(#"{"is":"over"}"#), "\(answer)")
                }
            }
        }

        @Test("A request that takes too long is answered with 408, and its work goes on to its end")
        func deadline() async throws {
            let (gate, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let bench = try Bench(methods: [
                "wait": { _ throws(ServerError) in
                    gate.wait()
                    done.signal()
                    return ServerResponse(json: [:])
                }
            ]) { $0.limits.requests.timeout = 0.3 }
            try await bench.serving { port in
                let refused = try await get("/wait", port).receiveAll()
                #expect(refused.hasPrefix("HTTP/1.1 408 "))
                // The work of that request still blocks a thread, but no event loop.
                for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                    let answer = try await get("/", port).receiveAll()
                    #expect(answer.hasPrefix("HTTP/1.1 200 "))
                }
                gate.signal()
                let isDone = await withCheckedContinuation { continuation in
                    Thread.detachNewThread {
                        continuation.resume(returning: done.wait(timeout: .now() + 60) == .success)
                    }
                }
                #expect(isDone)
            }
        }

        @Test("A body that drips in for longer than a request may take ends its connection, also after a quick request")
        func slowBody() async throws {
            let bench = try Bench { $0.limits.requests.timeout = 0.5 }
            try await bench.serving { port in
                let socket = try Socket(port: port)
                socket.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                let answer = String(decoding: await socket.receive(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 200 "))
                socket.send("POST /todo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
                let end = ContinuousClock.now + .seconds(60)
                var isOpen = true
                while isOpen, ContinuousClock.now < end {
                    try await Task.sleep(for: .milliseconds(100))
                    isOpen = socket.send(" ")
                }
                #expect(!isOpen)
            }
        }

        @Test("A connection may rest between two requests for longer than a request may take")
        func rest() async throws {
            let bench = try Bench { $0.limits.requests.timeout = 0.3 }
            try await bench.serving { port in
                let socket = try Socket(port: port)
                for _ in 0..<3 {
                    socket.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                    let answer = String(decoding: await socket.receive(), as: UTF8.self)
                    #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
                    try await Task.sleep(for: .milliseconds(700))
                }
            }
        }
    }
#endif
