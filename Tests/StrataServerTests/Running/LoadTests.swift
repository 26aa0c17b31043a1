#if Server
    import Foundation
    import SeededRandom
    import StrataServer
    import Testing

    /// What a hostile crowd does to the server as a process: it stays up, its memory stays bounded, and no client reads
    /// or writes the objects of others. `STRATA_SERVER_LOAD=1` makes the crowd 1,000 connections.
    @Suite(.serialized) struct LoadTests {
        static let isLong = ProcessInfo.processInfo.environment["STRATA_SERVER_LOAD"] != nil
        static let crowd = isLong ? 1_000 : 120

        @Test("A crowd of slow, wrong, large and honest clients")
        func crowd() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let configuration = folder.appending(path: "server.yaml")
            try """
            limits: {bodySize: 200000, requestTimeout: 60, idleTimeout: 60}
            access:
              standard: {read: anyone, create: anyone, update: anyone, delete: anyone}
              accounts: {read: anyone, create: anyone}
              schemas: {note: {read: owner, create: loggedIn, update: owner, delete: owner}}
            """.write(to: configuration, atomically: true, encoding: .utf8)
            let server = try ServerProcess(folder: folder, arguments: ["--config", configuration.path])
            let port = server.port

            // One account with one note that nobody else may see.
            let created = try await ask(port, "POST", "/user", #"{"username":"ann","password":"long enough"}"#)
            #expect(created.hasPrefix("HTTP/1.1 201"), "\(created)")
            let token = try await ask(port, "POST", "/user/accessToken", "username=ann&password=long%20enough")
            let session = try #require(Session(json(token)), "\(token)")
            let note = #"{"note_id":"n","text":"only Ann's"}"#
            let written = try await ask(port, "POST", "/note", note, session: session)
            #expect(written.hasPrefix("HTTP/1.1 201"), "\(written)")

            let seed = RunSeed.value()
            var random = SplitMix64(seed: seed)
            let before = try #require(server.memory)
            let sockets = try (0..<Self.crowd).map { _ in try Socket(port: port) }
            var honest: [Socket] = []
            var refused: [Socket] = []
            let replay = signed(port, "GET", "/note", session)
            for (number, socket) in sockets.enumerated() {
                switch number % 6 {
                case 0:
                    honest.append(socket)
                    socket.send(text("POST", "/todo", "{\"todo_id\":\"\(number)\"}"))
                case 1: socket.send("GET /todo HTTP/1.1\r\nHost: x\r\nX-Drip: ")
                case 2:
                    socket.send(
                        (0..<500).map { _ in UInt8.random(in: 0...255, using: &random) } + Array("\r\n\r\n".utf8))
                case 3: socket.send("POST /todo HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000000\r\n\r\n")
                case 4:
                    refused.append(socket)
                    var stranger = session
                    stranger.key = "guess \(number)"
                    socket.send(signed(port, "PUT", "/note/n", stranger, #"{"text":"stolen"}"#))
                default:
                    refused.append(socket)
                    socket.send(number == 5 ? text("DELETE", "/note/n", "") : replay)
                }
            }
            // Those with a large body push as much of it as the server takes.
            let block = Array(repeating: UInt8(ascii: " "), count: 64 * 1024)
            for (number, socket) in sockets.enumerated() where number % 6 == 3 {
                for _ in 0..<16 where socket.send(block) {}
            }
            for socket in honest {
                let answer = await status(socket)
                #expect(answer == "201")
            }
            var statuses: [String: Int] = [:]
            for socket in refused { statuses[await status(socket), default: 0] += 1 }
            // The signed request was good the first time; all its copies are replays.
            #expect(
                statuses["200", default: 0] == 1 && statuses["401"] == refused.count - 1, "\(statuses), seed \(seed)")

            let after = try #require(server.memory)
            print("\(Self.crowd) connections: \(before / 1_048_576) MB before, \(after / 1_048_576) MB after")
            #expect(after - before < 200 << 20, "\(after - before) bytes more")
            let mine = try await ask(port, "GET", "/note", session: session)
            #expect(mine.contains("only Ann's") && !mine.contains("stolen"))
            let stranger = try await ask(port, "GET", "/note")
            #expect(stranger.hasPrefix("HTTP/1.1 401"))
            let todos = json(try await ask(port, "GET", "/todo"))?.elements?.count
            #expect(todos == honest.count)
            #expect(server.process.isRunning)
            withExtendedLifetime(sockets) {}
        }

        private func text(_ method: String, _ path: String, _ body: String, headers: String = "") -> String {
            "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\(headers)"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }

        private func signed(
            _ port: Int, _ method: String, _ path: String, _ session: Session, _ body: String = ""
        ) -> String {
            let header = session.authorization(
                ServerRequest(method, path), seconds: Int64(Date().timeIntervalSince1970), host: "127.0.0.1")
            return text(method, path, body, headers: "Authorization: \(header)\r\n")
        }

        private func ask(
            _ port: Int, _ method: String, _ path: String, _ body: String = "", session: Session? = nil
        ) async throws -> String {
            let socket = try Socket(port: port)
            socket.send(session.map { signed(port, method, path, $0, body) } ?? text(method, path, body))
            return await socket.receiveAll()
        }

        private func status(_ socket: Socket) async -> String {
            String(await socket.receiveAll().dropFirst("HTTP/1.1 ".count).prefix(3))
        }

        private func json(_ answer: String) -> JSONValue? {
            answer.range(of: "\r\n\r\n").flatMap { try? JSONValue(parsing: Data(answer[$0.upperBound...].utf8)) }
        }
    }
#endif
