#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct GarbageTests {
        @Test("Bytes that are no request, and bodies that wait to be welcome, end no server")
        func garbage() async throws {
            let bench = try Bench()
            try await bench.serving { port in
                for round in 0..<20 {
                    let garbage = try Socket(port: port)
                    garbage.send(
                        round % 2 == 0 ? "\u{16}\u{3}\u{1}\r\n\r\n" : "GET / HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n"
                    )
                    _ = await garbage.receiveAll()
                    let polite = try Socket(port: port)
                    polite.send(
                        "POST /todo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 7\r\nAccept-Encoding: gzip\r\n\r\n"
                    )
                    #expect(String(decoding: await polite.receive(), as: UTF8.self).hasPrefix("HTTP/1.1 100 "))
                    polite.send("{\"n\":1}")
                    #expect(String(decoding: await polite.receive(), as: UTF8.self).contains("HTTP/1.1 201 "))
                    polite.send("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    #expect(await polite.receiveAll().hasPrefix("HTTP/1.1 200 "))
                }
            }
        }
    }
#endif
