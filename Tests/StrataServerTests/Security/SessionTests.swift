#if Server
    import Foundation
    @testable import StrataServer
    import Testing

    @Suite struct ServerSessionTests {
        @Test("A refresh token that comes twice within a minute has the same answer, and later ends what came of it")
        func refreshRace() async throws {
            let bench = try Bench()
            let first = try await bench.signUp("ann")
            async let one = bench.form("refreshToken", "refresh_token=\(first.refresh)")
            async let two = bench.form("refreshToken", "refresh_token=\(first.refresh)")
            let answers = await [one, two]
            #expect(answers.map(\.status) == [200, 200])
            #expect(answers[0].json?["access_token"] == answers[1].json?["access_token"])
            let second = try #require(Session(answers[0].json))
            #expect(await bench.send("GET", "/user/loggedInUser", session: second).status == 200)
            bench.advance(seconds: 59)
            #expect(await bench.form("refreshToken", "refresh_token=\(first.refresh)").status == 200)
            #expect(await bench.send("GET", "/user/loggedInUser", session: second).status == 200)
            bench.advance(seconds: 2)
            #expect(await bench.form("refreshToken", "refresh_token=\(first.refresh)").status == 401)
            #expect(await bench.send("GET", "/user/loggedInUser", session: second).status == 401)
        }

        @Test("A password that was changed meanwhile ends the answer to a refresh token, too")
        func refreshAfterReset() async throws {
            let bench = try Bench()
            let first = try await bench.signUp("ann")
            let answer = await bench.form("refreshToken", "refresh_token=\(first.refresh)")
            #expect(answer.status == 200)
            let other = try await bench.logIn("ann")
            let body: JSONValue = ["old": ["password": "secret"], "new": ["password": "changed"]]
            #expect(await bench.send("POST", "/user/resetPassword", body, session: other).status == 200)
            #expect(await bench.form("refreshToken", "refresh_token=\(first.refresh)").status == 401)
        }

        @Test("Refresh tokens expire, and ended sessions do not stay")
        func expiry() async throws {
            let bench = try Bench {
                $0.tokens.lifetime = 60
                $0.tokens.refreshLifetime = 600
            }
            var sessions: [Session] = []
            for name in ["a", "b", "c", "d"] { sessions.append(try await bench.signUp(name)) }
            bench.advance(seconds: 599)
            #expect(await bench.form("refreshToken", "refresh_token=\(sessions[0].refresh)").status == 200)
            bench.advance(seconds: 2)
            for session in sessions[1...] {
                #expect(await bench.form("refreshToken", "refresh_token=\(session.refresh)").status == 401)
            }
            // The sessions of others go with somebody else's new one.
            bench.advance(seconds: 10_000)
            _ = try await bench.logIn("a")
            bench.server.close()
            let again = try DataServer(folder: bench.folder.path, logger: silent)
            defer { again.close() }
            let count = try await again.databases.development?.database.read { (scope) throws(ServerError) in
                try scope.count(FetchRequest(entity: "ServerSession"))
            }
            #expect(count == 1)
        }

        @Test("One session cannot fill the memory of signatures for the others")
        func signatures() async throws {
            let bench = try Bench {
                $0.limits.rememberedSignatures = 100
                $0.limits.signaturesPerSession = 10
            }
            let (ann, bob) = (try await bench.signUp("ann"), try await bench.signUp("bob"))
            var statuses: [Int] = []
            for _ in 0..<12 { statuses.append(await bench.send("GET", "/user/loggedInUser", session: ann).status) }
            #expect(statuses == Array(repeating: 200, count: 10) + [503, 503])
            #expect(await bench.send("GET", "/user/loggedInUser", session: bob).status == 200)
            bench.advance(seconds: 301)
            #expect(await bench.send("GET", "/user/loggedInUser", session: ann).status == 200)
        }

        @Test("A header cannot turn a signed request into another one over plain HTTP")
        func methodOverride() async throws {
            let bench = try Bench()
            let ann = try await bench.signUp("ann")
            await bench.send("POST", "/todo", ["todo_id": "a"], session: ann)
            let override = ["X-HTTP-Method-Override": "DELETE"]
            #expect(await bench.send("GET", "/todo/a", headers: override, session: ann).status == 403)
            #expect(await bench.send("GET", "/todo/a").status == 200)
            var request = ServerRequest(
                "GET", "/todo/a", headers: [("Host", "localhost"), ("X-HTTP-Method-Override", "DELETE")], isSecure: true
            )
            let seconds = bench.time.milliseconds / 1000
            request.headers.append(("Authorization", ann.authorization(request, seconds: seconds, port: 443)))
            #expect(await bench.server.respond(to: request).status == 200)
            #expect(await bench.send("GET", "/todo/a").status == 404)
        }

        @Test("Each account has Idempotency-Keys of its own, however the names are put together")
        func idempotency() async throws {
            let bench = try Bench()
            let (one, two) = (try await bench.signUp("a|b"), try await bench.signUp("a"))
            #expect(
                await bench.send("POST", "/todo", ["n": 1], headers: ["Idempotency-Key": "c"], session: one).status
                    == 201)
            #expect(
                await bench.send("POST", "/todo", ["n": 2], headers: ["Idempotency-Key": "b|c"], session: two).status
                    == 201)
        }
    }
#endif
