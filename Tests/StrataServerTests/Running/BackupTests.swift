#if Server
    import Foundation
    import Logging
    import StrataServer
    import Testing

    @Suite struct ServerBackupTests {
        private let content: JSONValue = .string(
            "Content-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n"
                + "Content-Transfer-Encoding: base64\n\n\(Data("hello".utf8).base64EncodedString())")

        @Test(
            "A copy of a running server has its objects, accounts and files, and another server can be started with it")
        func copy() async throws {
            let bench = try Bench()
            _ = try await bench.signUp("ann")
            await bench.send("POST", "/photo", ["photo_id": "1", "image": content])
            let target = bench.folder.deletingLastPathComponent().appending(path: "strata-backup-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: target) }
            let parts = try ServerBackup.make(of: bench.folder, to: target)
            #expect(parts.first { $0.name == "development" }?.fileCount == 1)
            #expect(parts.allSatisfy { $0.databaseSize > 0 })
            await bench.send("POST", "/photo", ["photo_id": "2"])

            var options = ServerOptions()
            options.passwords.cost = PasswordCost(rounds: 16)
            options.passwords.minimumLength = 1
            let time = bench.time
            let second = try DataServer(
                folder: target.path, model: nil, options: options,
                clock: ServerClock(milliseconds: { time.milliseconds }), logger: silent)
            defer { second.close() }
            func send(_ method: String, _ path: String) async -> ServerResponse {
                await second.respond(to: ServerRequest(method, path, headers: [("Host", "localhost")], body: Data()))
            }
            let photos = await send("GET", "/photo")
            #expect(photos.text.contains("\"photo_id\":\"1\"") && !photos.text.contains("\"photo_id\":\"2\""))
            let url = try #require(await send("GET", "/photo/1").json?["image"]?.string)
            #expect(await send("GET", String(url.dropFirst("http://localhost".count))).text == "hello")
            let form = "username=ann&password=secret&token_type=mac&mac_algorithm=hmac-sha-1"
            let login = await second.respond(
                to: ServerRequest(
                    "POST", "/user/accessToken",
                    headers: [("Host", "localhost"), ("Content-Type", "application/x-www-form-urlencoded")],
                    body: Data(form.utf8)))
            #expect(Session(login.json) != nil, "\(login.text)")
        }

        @Test("A backup replaces nothing, and needs the folder of a server")
        func refusals() throws {
            let bench = try Bench()
            #expect(throws: ServerSetupError.self) { try ServerBackup.make(of: bench.folder, to: bench.folder) }
            let target = bench.folder.appending(path: "copy")
            #expect(throws: ServerSetupError.self) {
                try ServerBackup.make(of: bench.folder.appending(path: "production"), to: target)
            }
            #expect(!FileManager.default.fileExists(atPath: target.path))
        }
    }
#endif
