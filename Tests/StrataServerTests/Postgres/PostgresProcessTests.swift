#if Server && Postgres
    import ChildProcesses
    import Foundation
    import PostgresFixture
    import StrataServer
    import StrataStore
    import Testing

    /// Server processes that share a database and a folder.
    @Suite(.needsPostgres, .serialized) struct PostgresProcessTests {
        private static let form = ["Content-Type": "application/x-www-form-urlencoded"]

        private static func logIn(_ port: Int) async throws -> Session? {
            let answer = try await LoopbackTests.send(
                "POST", "http://127.0.0.1:\(port)/user/accessToken",
                Data("username=ann&password=long+enough&token_type=mac&mac_algorithm=hmac-sha-1".utf8), headers: form)
            return Session(answer.json)
        }

        @Test(
            "When one of two servers is killed, the other has each acknowledged write, and accounts log in and stay logged in"
        )
        func killed() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let storage = ["--storage", try PostgresServer.shared.newDatabase()]
            let survivor = try ServerProcess(folder: folder, arguments: storage)
            let base = "http://127.0.0.1:\(survivor.port)"
            let account = Data(#"{"username":"ann","password":"long enough"}"#.utf8)
            #expect(try await LoopbackTests.send("POST", "\(base)/user", account).status == 201)
            let acknowledged = Ledger()
            for round in 0..<2 {
                let victim = try ServerProcess(folder: folder, arguments: storage)
                let session = try #require(try await Self.logIn(victim.port))
                let writers = DispatchGroup()
                for (place, port) in [victim.port, survivor.port, victim.port, survivor.port].enumerated() {
                    DispatchQueue.global().async(group: writers) {
                        LoopbackTests.write(port: port, writer: "\(round)-\(place)", acknowledged, limit: 150)
                    }
                }
                // Somewhere in the middle of what the writers do.
                let before = acknowledged.entries.count
                while acknowledged.entries.count < before + 60 { try await Task.sleep(for: .milliseconds(5)) }
                victim.kill()
                #expect(try await Self.logIn(survivor.port) != nil)
                let signed = session.authorization(
                    ServerRequest("GET", "/user/loggedInUser"), seconds: Int64(Date().timeIntervalSince1970),
                    host: "127.0.0.1", port: survivor.port)
                let user = try await LoopbackTests.send(
                    "GET", "\(base)/user/loggedInUser", headers: ["Authorization": signed])
                #expect(user.status == 200 && user.json?["username"] == "ann")
                await withCheckedContinuation { continuation in
                    writers.notify(queue: .global()) { continuation.resume() }
                }
                for place in [1, 3] {
                    #expect(acknowledged.entries["\(round)-\(place)-149"] == 1, "the survivor refused a write")
                }
            }
            for (id, value) in acknowledged.entries {
                let found = try await LoopbackTests.send("GET", "\(base)/todo/\(id)").json?["n"]?.integer ?? -1
                // The last change may have been written without its acknowledgment getting through.
                #expect(found >= value, "\(id) has \(found), acknowledged \(value)")
            }
            print("\(acknowledged.entries.count) objects acknowledged by two servers, none lost")
        }

        @Test("A backup of a server on PostgreSQL is refused, with what to do instead")
        func backup() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let process = Process()
            process.executableURL = try TestExecutable.named("strata-server")
            process.arguments = ["backup", "--storage", "postgres://app@db/app", folder.path]
            let errors = Pipe.forLaunch()
            process.standardError = errors
            process.standardOutput = FileHandle.nullDevice
            try process.start()
            let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus != 0 && text.contains("pg_dump"), "\(text)")
            #expect(!FileManager.default.fileExists(atPath: folder.path))
        }
    }
#endif
