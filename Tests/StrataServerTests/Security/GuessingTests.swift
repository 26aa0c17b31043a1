#if Server
    import Crypto
    import Foundation
    import StrataServer
    import Testing

    @Suite struct GuessingTests {
        private func logIn(_ bench: Bench, _ user: String, _ password: String, from client: String) async
            -> ServerResponse
        {
            await bench.server.respond(
                to: ServerRequest(
                    "POST", "/user/accessToken", body: Data("username=\(user)&password=\(password)".utf8),
                    client: client))
        }

        @Test("Who guesses passwords has to wait, with or without such an account, and the owner does not")
        func guessing() async throws {
            let bench = try Bench {
                $0.passwords.guesses = 5
                $0.passwords.guessesPerAddress = 40
                $0.passwords.guessesPerAccount = 20
            }
            _ = try await bench.signUp("ann")
            #expect(await logIn(bench, "ann", "secret", from: "192.0.2.1").status == 200)
            for user in ["ann", "nobody"] {
                var answers: [Int] = []
                for round in 0..<7 {
                    answers.append(await logIn(bench, user, "w\(round)", from: "198.51.100.7").status)
                }
                #expect(answers == [401, 401, 401, 401, 401, 503, 503], "\(user)")
            }
            let refused = await logIn(bench, "ann", "secret", from: "198.51.100.7")
            #expect(refused.status == 503 && refused.header("Retry-After") == "60")
            // Many addresses have no more guesses together than the account allows.
            var looked = 0
            for number in 0..<60 where await logIn(bench, "ann", "w", from: "203.0.113.\(number)").status == 401 {
                looked += 1
            }
            #expect(looked == 15)
            // The owner comes from where she has been before.
            #expect(await logIn(bench, "ann", "secret", from: "192.0.2.1").status == 200)
            bench.advance(seconds: 60)
            #expect(await logIn(bench, "ann", "secret", from: "198.51.100.7").status == 200)
            // A network of version 6 is one client.
            for number in 0..<5 {
                #expect(await logIn(bench, "bob", "w", from: "2001:db8::\(number)").status == 401)
            }
            #expect(await logIn(bench, "bob", "w", from: "2001:db8::ffff").status == 503)
            #expect(await logIn(bench, "bob", "w", from: "2001:db8:0:1::1").status == 401)
        }

        @Test("A password that somebody shows when changing something counts as a guess")
        func otherWays() async throws {
            let bench = try Bench { $0.passwords.guesses = 3 }
            let ann = try await bench.signUp("ann")
            var answers: [Int] = []
            for _ in 0..<2 {
                answers.append(await bench.send("PUT", "/user/ann", ["password": "guess"], session: ann).status)
                let body: JSONValue = ["old": ["password": "guess"], "new": ["password": "new"]]
                answers.append(await bench.send("POST", "/user/resetPassword", body, session: ann).status)
            }
            #expect(answers == [403, 401, 403, 503])
        }

        @Test("Honest log-ins go on while somebody floods the server with passwords")
        func flood() async throws {
            let bench = try Bench {
                $0.passwords.cost = PasswordCost(rounds: 1 << 12, blockSize: 8, parallelism: 1)
                $0.passwords.minimumLength = 1
            }
            _ = try await bench.signUp("ann")
            let server = bench.server
            let flood = Task {
                await withTaskGroup(of: Int.self) { group in
                    for number in 0..<300 {
                        group.addTask {
                            let body = Data(#"{"username":"u\#(number)","password":"p\#(number)"}"#.utf8)
                            return await server.respond(
                                to: ServerRequest("POST", "/user", body: body, client: "198.51.100.7")
                            ).status
                        }
                    }
                    return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
                }
            }
            for _ in 0..<5 {
                #expect(await logIn(bench, "ann", "secret", from: "192.0.2.1").status == 200)
            }
            let statuses = await flood.value
            #expect(statuses[503, default: 0] > 0 && statuses[201, default: 0] > 0, "\(statuses)")
            #expect(statuses.keys.allSatisfy { $0 == 503 || $0 == 201 }, "\(statuses)")
        }

        @Test("A request brings one password, and what nobody waits for is not hashed")
        func onePassword() async throws {
            let bench = try Bench { $0.passwords.minimumLength = 3 }
            func accounts(_ passwords: [String]) -> JSONValue {
                .array(passwords.enumerated().map { ["username": .string("u\($0)"), "password": .string($1)] })
            }
            #expect(await bench.send("POST", "/user", accounts(["one", "two"])).status == 400)
            #expect(await bench.send("POST", "/user", ["username": "x", "password": "ab"]).status == 400)
            let same = await bench.send("POST", "/user", accounts(["one", "one"]))
            #expect(same.json?["succeeded"] == ["u0", "u1"])
            #expect(await bench.send("POST", "/user", ["username": "u0", "password": "one"]).status == 409)
            // Each costs many seconds; given up, they take none.
            let slow = try Bench {
                $0.passwords.cost = PasswordCost(rounds: 1 << 17, blockSize: 8, parallelism: 4)
                $0.passwords.minimumLength = 1
            }
            let server = slow.server
            let start = ContinuousClock.now
            @Sendable func create(_ number: Int) async -> Int {
                let body = Data(#"{"username":"u\#(number)","password":"p"}"#.utf8)
                return await server.respond(to: ServerRequest("POST", "/user", body: body)).status
            }
            let givenUp = (0..<8).map { number in
                Task {
                    while !Task.isCancelled { await Task.yield() }
                    return await create(number)
                }
            }
            for task in givenUp { task.cancel() }
            for task in givenUp { #expect(await task.value == 503) }
            let tasks = (0..<8).map { number in Task { await create(number) } }
            for task in tasks { task.cancel() }
            var statuses: [Int: Int] = [:]
            for task in tasks { statuses[await task.value, default: 0] += 1 }
            // What had begun before the cancellation ends; half of the processors hash at a time.
            let begun = statuses[201, default: 0]
            #expect(begun <= max(1, ProcessInfo.processInfo.activeProcessorCount / 2), "\(statuses)")
            #expect(begun + statuses[503, default: 0] == tasks.count, "\(statuses)")
            #expect(ContinuousClock.now - start < .seconds(60))
        }

        @Test("Passwords are kept at today's cost from the next log-in on")
        func rehash() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            for (rounds, creates) in [(16, true), (32, false), (32, false)] {
                var options = ServerOptions()
                options.passwords.cost = PasswordCost(rounds: rounds)
                let server = try DataServer(folder: folder.path, options: options, logger: silent)
                defer { server.close() }
                if creates {
                    let body = Data(#"{"username":"ann","password":"long enough"}"#.utf8)
                    #expect(await server.respond(to: ServerRequest("POST", "/user", body: body)).status == 201)
                }
                let form = Data("username=ann&password=long+enough".utf8)
                #expect(await server.respond(to: ServerRequest("POST", "/user/accessToken", body: form)).status == 200)
            }
            let file = try Data(contentsOf: folder.appending(path: "development/strata.sqlite"))
            #expect(file.range(of: Data("scrypt$32$8$3$".utf8)) != nil)
        }

        @Test("Who has an account cannot be told from forgotten passwords")
        func enumeration() async throws {
            let bench = try Bench()
            await bench.send("POST", "/user", ["username": "ann", "password": "secret", "email": "ann@example.org"])
            await bench.send(
                "POST", "/user", ["username": "eve", "password": "secret", "email": "a@example.org, b@example.org"])
            for user in ["ann", "nobody", "eve"] {
                let answer = await bench.send("POST", "/user/forgotPassword", ["username": .string(user)])
                #expect(answer.status == 200 && answer.json == [:])
            }
            await bench.server.finishBackgroundWork()
            let mail = bench.folder.appending(path: "mail")
            let files = try FileManager.default.contentsOfDirectory(at: mail, includingPropertiesForKeys: nil)
            #expect(
                try String(contentsOf: try #require(files.only), encoding: .utf8).contains("To: ann@example.org\r\n"))
            // With a temporary password there is no second slow hash to tell the account by.
            for user in ["ann", "nobody"] {
                let answer = await bench.form("accessToken", "username=\(user)&password=wrong")
                #expect(answer.status == 401 && answer.json?["error"] == "invalid_client")
            }
            let kept = try Data(contentsOf: bench.folder.appending(path: "development/strata.sqlite-wal"))
            let text = try String(contentsOf: try #require(files.only), encoding: .utf8)
            let temporary = try #require(text.firstMatch(of: /is ([0-9a-f]{20})/)?.1)
            let digest = SHA256.hash(data: Data(temporary.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
                .joined()
            #expect(kept.range(of: Data(digest.utf8)) != nil && kept.range(of: Data(temporary.utf8)) == nil)
        }
    }
#endif
