#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct AccountTests {
        @Test("An account logs in, is known by its signatures, and logs out")
        func session() async throws {
            let bench = try Bench()
            let created = await bench.send(
                "POST", "/user", ["username": "Bruce Wayne", "password": "robin", "age": 30])
            #expect(created.status == 201)
            #expect(
                created.json?["password"] == nil && !created.text.contains("robin") && !created.text.contains("scrypt"))
            #expect(created.json?["sm_owner"] == "user/Bruce Wayne")
            #expect(await bench.send("POST", "/user", ["username": "x"]).status == 400)
            #expect(await bench.send("POST", "/user", ["password": "x"]).status == 400)

            let wrong = await bench.form("accessToken", "username=Bruce%20Wayne&password=joker")
            #expect(wrong.status == 401)
            let nobody = await bench.form("accessToken", "username=nobody&password=joker")
            #expect(nobody.status == 401 && nobody.json == wrong.json)
            let answer = await bench.form("accessToken", "username=Bruce+Wayne&password=robin")
            #expect(answer.status == 200)
            #expect(answer.json?["token_type"] == "mac" && answer.json?["mac_algorithm"] == "hmac-sha-1")
            #expect(answer.json?["expires_in"] == 3600)
            #expect(answer.json?["stackmob"]?["user"]?["username"] == "Bruce Wayne")
            let session = try #require(Session(answer.json))

            #expect(await bench.send("GET", "/user/loggedInUser", session: session).json?["age"] == 30)
            #expect(await bench.send("GET", "/user/loggedInUser").status == 401)
            #expect(
                await bench.send("POST", "/todo", ["todo_id": "t"], session: session).json?["sm_owner"]
                    == "user/Bruce Wayne")
            #expect(await bench.send("GET", "/user/logout", session: session).status == 200)
            #expect(await bench.send("GET", "/user/loggedInUser", session: session).status == 401)
            #expect(
                try Data(contentsOf: bench.folder.appending(path: "development/strata.sqlite")).range(
                    of: Data("robin".utf8)) == nil
            )
        }

        @Test("A signature that is wrong in any way is refused, a right one counts once")
        func signatures() async throws {
            let bench = try Bench()
            let session = try await bench.signUp("ann")
            let now = bench.time.milliseconds / 1000
            func send(
                _ header: String?, _ target: String = "/todo?n[gt]=1&t=a%20b", method: String = "GET"
            ) async -> Int {
                var request = ServerRequest(method, target, headers: [("Host", "localhost")])
                if let header { request.headers.append(("Authorization", header)) }
                return await bench.server.respond(to: request).status
            }
            let request = ServerRequest("GET", "/todo?n[gt]=1&t=a%20b")
            let good = session.authorization(request, seconds: now)
            #expect(await send(good) == 200)
            #expect(await send(good) == 401, "a replay")
            #expect(await send(good.replacing("nonce=\"", with: "nonce=\"x")) == 401, "another nonce")
            #expect(
                await send(session.authorization(request, seconds: now), "/todo?n[gt]=2&t=a%20b") == 401,
                "another query")
            #expect(await send(session.authorization(request, seconds: now), method: "DELETE") == 401, "another method")
            #expect(await send(session.authorization(request, seconds: now, host: "evil")) == 401)
            #expect(await send(session.authorization(request, seconds: now, port: 81)) == 401)
            #expect(await send(session.authorization(request, seconds: now - 299)) == 200)
            #expect(await send(session.authorization(request, seconds: now - 301)) == 401)
            #expect(await send(session.authorization(request, seconds: now + 301)) == 401)
            #expect(await send(session.authorization(request, seconds: .max)) == 401)
            var stranger = session
            stranger.key = "guess"
            #expect(await send(stranger.authorization(request, seconds: now)) == 401)
            stranger = session
            stranger.token = "guess"
            #expect(await send(stranger.authorization(request, seconds: now)) == 401)
            for text in [
                "", "MAC", "MAC id=\"\"", "Basic YTpi", "MAC id=\"a\",ts=\"x\",nonce=\"n\",mac=\"m\"", "MAC ,,,=,=",
            ] {
                #expect(await send(text) == 401, "\(text)")
            }
            // The query is signed without most escapes, and escaped brackets are taken too.
            let decoded = session.authorization(request, seconds: now)
            #expect(await send(decoded, "/todo?n%5Bgt%5D=1&t=a%20b") == 200)
        }

        @Test("Tokens expire, and are refreshed once: a refresh token that comes again ends what came of it")
        func expiry() async throws {
            let bench = try Bench()
            let first = try await bench.signUp("ann")
            bench.advance(seconds: 3601)
            #expect(await bench.send("GET", "/user/loggedInUser", session: first).status == 401)
            let answer = await bench.form("refreshToken", "refresh_token=\(first.refresh)&grant_type=refresh_token")
            let second = try #require(Session(answer.json), "\(answer.text)")
            #expect(await bench.send("GET", "/user/loggedInUser", session: second).status == 200)
            bench.advance(seconds: 61)
            let reused = await bench.form("refreshToken", "refresh_token=\(first.refresh)")
            #expect(reused.status == 401 && reused.json?["error_description"] != nil)
            // Two clients have it: the session that was created for the token ends, whichever of them used it.
            #expect(await bench.send("GET", "/user/loggedInUser", session: second).status == 401)
            #expect(await bench.form("refreshToken", "refresh_token=\(second.refresh)").status == 401)
        }

        @Test("Nobody finds out somebody else's password by changing their account")
        func guessing() async throws {
            let bench = try Bench()
            let (_, bob) = (try await bench.signUp("ann", password: "right"), try await bench.signUp("bob"))
            var answers: Set<String> = []
            for guess in ["right", "wrong"] {
                let answer = await bench.send("PUT", "/user/ann", ["password": .string(guess)], session: bob)
                #expect(answer.status == 404)
                answers.insert(answer.json?["error"]?.string ?? "")
            }
            #expect(answers.count == 1)
            #expect(await bench.send("PUT", "/user/bob", ["password": "secret", "n": 1], session: bob).status == 200)
            #expect(await bench.send("PUT", "/user/bob", ["password": "other"], session: bob).status == 403)
        }

        @Test("Older refresh tokens end with a log-in elsewhere")
        func loginElsewhere() async throws {
            let bench = try Bench()
            let second = try await bench.signUp("ann")
            let third = try await bench.logIn("ann")
            #expect(await bench.form("refreshToken", "refresh_token=\(second.refresh)").status == 401)
            #expect(await bench.send("GET", "/user/loggedInUser", session: second).status == 200)
            #expect(await bench.form("refreshToken", "refresh_token=\(third.refresh)").status == 200)
        }

        @Test("A forgotten password is mailed, and has to be replaced at once")
        func forgotten() async throws {
            let bench = try Bench()
            await bench.send("POST", "/user", ["username": "ann", "password": "old", "email": "ann@example.org"])
            let session = try await bench.logIn("ann", password: "old")
            #expect(await bench.send("POST", "/user/forgotPassword", ["username": "nobody"]).status == 200)
            for _ in 0..<3 {
                #expect(await bench.send("POST", "/user/forgotPassword", ["username": "ann"]).status == 200)
            }
            await bench.server.finishBackgroundWork()
            let mail = bench.folder.appending(path: "mail")
            let files = try FileManager.default.contentsOfDirectory(at: mail, includingPropertiesForKeys: nil)
            let text = try String(contentsOf: try #require(files.only), encoding: .utf8)
            #expect(text.contains("To: ann@example.org\r\n"))
            let temporary = try #require(text.firstMatch(of: /is ([0-9a-f]{20})/)?.1)
            let half = await bench.form("accessToken", "username=ann&password=\(temporary)")
            #expect(half.status == 401 && half.json?["error_description"] == "Temporary password reset required.")
            // The old password is good as long as the new one is not set.
            _ = try await bench.logIn("ann", password: "old")
            #expect(
                await bench.form("accessToken", "username=ann&password=\(temporary)&new_password=new").status == 200)
            #expect(await bench.form("accessToken", "username=ann&password=old").status == 401)
            #expect(await bench.form("accessToken", "username=ann&password=\(temporary)&new_password=x").status == 401)
            #expect(await bench.send("GET", "/user/loggedInUser", session: session).status == 401, "older sessions end")
            _ = try await bench.logIn("ann", password: "new")
        }

        @Test("A temporary password is good for a day")
        func temporaryExpires() async throws {
            let bench = try Bench()
            await bench.send("POST", "/user", ["username": "ann@example.org", "password": "old"])
            await bench.send("POST", "/user/forgotPassword", ["username": "ann@example.org"])
            await bench.server.finishBackgroundWork()
            let files = try FileManager.default.contentsOfDirectory(
                at: bench.folder.appending(path: "mail"), includingPropertiesForKeys: nil)
            let text = try String(contentsOf: try #require(files.only), encoding: .utf8)
            let temporary = try #require(text.firstMatch(of: /is ([0-9a-f]{20})/)?.1)
            bench.advance(seconds: 24 * 3600 + 1)
            #expect(
                await bench.form("accessToken", "username=ann%40example.org&password=\(temporary)&new_password=new")
                    .status == 401)
        }

        @Test("A password is changed by who knows the old one")
        func reset() async throws {
            let bench = try Bench()
            let session = try await bench.signUp("ann", password: "old")
            let other = try await bench.logIn("ann", password: "old")
            func reset(_ old: String, _ session: Session?) async -> Int {
                await bench.send(
                    "POST", "/user/resetPassword", ["old": ["password": .string(old)], "new": ["password": "new"]],
                    session: session
                ).status
            }
            #expect(await reset("old", nil) == 401)
            #expect(await reset("wrong", session) == 401)
            #expect(await bench.send("PUT", "/user/ann", ["password": "new"], session: session).status == 403)
            #expect(
                await bench.send("PUT", "/user/ann", ["password": "old", "age": 1], session: session).status == 200)
            #expect(await reset("old", session) == 200)
            #expect(await bench.send("GET", "/user/loggedInUser", session: session).status == 200)
            #expect(await bench.send("GET", "/user/loggedInUser", session: other).status == 401)
            _ = try await bench.logIn("ann", password: "new")
            #expect(await bench.send("DELETE", "/user/ann", session: session).status == 200)
            #expect(await bench.form("accessToken", "username=ann&password=new").status == 401)
        }

        @Test("Accounts elsewhere let in, are linked and unlinked")
        func social() async throws {
            let bench = try Bench(verifier: Directory())
            #expect(await bench.form("facebookAccessToken", "fb_at=good-1").status == 401)
            #expect(await bench.form("facebookAccessTokenWithCreate", "fb_at=bad").status == 401)
            let answer = await bench.form("facebookAccessTokenWithCreate", "fb_at=good-1&username=ann")
            let ann = try #require(Session(answer.json), "\(answer.text)")
            #expect(
                await bench.form("facebookAccessToken", "fb_at=good-1").json?["stackmob"]?["user"]?["username"] == "ann"
            )
            #expect(
                await bench.send("POST", "/user/createUserWithFacebook", ["fb_at": "good-2", "username": "bob"]).status
                    == 201)
            #expect(
                await bench.send("POST", "/user/createUserWithFacebook", ["fb_at": "good-2", "username": "bo2"]).status
                    == 400)
            #expect(
                await bench.send("POST", "/user/createUserWithFacebook", ["fb_at": "bad", "username": "x"]).status
                    == 400)
            #expect(
                await bench.send("GET", "/user/createUserWithTwitter?tw_tk=good-3&tw_ts=s&username=cid").status == 201)
            #expect(await bench.form("twitterAccessToken", "tw_tk=good-3&tw_ts=s").status == 200)
            #expect(
                await bench.form("twitterAccessTokenWithCreate", "tw_tk=good-4&tw_ts=s").json?["stackmob"]?["user"]?[
                    "username"] == "name of good-4")

            #expect(await bench.send("GET", "/user/linkUserWithTwitter?tw_tk=good-5&tw_ts=s").status == 401)
            #expect(
                await bench.send("GET", "/user/linkUserWithTwitter?tw_tk=good-5&tw_ts=s", session: ann).status == 200)
            #expect(
                await bench.send("GET", "/user/linkUserWithTwitter?tw_tk=good-3&tw_ts=s", session: ann).status == 400)
            #expect(await bench.send("GET", "/user/getTwitterUserInfo", session: ann).json == ["id": "good-5"])
            #expect(
                await bench.send("GET", "/user/twitterStatusUpdate?tw_st=hi", session: ann).json == ["posted": "hi"])
            #expect(
                await bench.send("GET", "/user/postFacebookMessage?message=yo", session: ann).json == ["posted": "yo"])
            #expect(
                await bench.send(
                    "POST", "/user/linkUserWithGigya", ["gigya_uid": "good-6", "gigya_sig": "s", "gigya_ts": "1"],
                    session: ann
                ).status == 200)
            #expect(await bench.form("gigyaAccessToken", "gigya_uid=good-6&gigya_sig=s&gigya_ts=1").status == 200)
            for path in ["unlinkUserFromTwitter", "unlinkUserFromFacebook", "unlinkUserFromGigya"] {
                #expect(await bench.send("DELETE", "/user/\(path)", session: ann).status == 200, "\(path)")
                #expect(await bench.send("DELETE", "/user/\(path)", session: ann).status == 404, "\(path)")
            }
            #expect(await bench.form("twitterAccessToken", "tw_tk=good-5&tw_ts=s").status == 401)
        }

        @Test("An account elsewhere makes none here that the rules do not let in, nor one with the name of a request")
        func socialRules() async throws {
            let closed = try Bench(verifier: Directory()) { $0.access.accounts.levels[.create] = .nobody }
            #expect(await closed.form("facebookAccessTokenWithCreate", "fb_at=good-1&username=ann").status == 405)
            #expect(await closed.form("twitterAccessTokenWithCreate", "tw_tk=good-1&tw_ts=s").status == 405)
            let creation: JSONValue = ["fb_at": "good-1", "username": "ann"]
            #expect(await closed.send("POST", "/user/createUserWithFacebook", creation).status == 405)
            let bench = try Bench(verifier: Directory())
            let reserved = await bench.form("facebookAccessTokenWithCreate", "fb_at=good-1&username=loggedInUser")
            #expect(reserved.status == 400)
            #expect(await bench.form("facebookAccessTokenWithCreate", "fb_at=good-1&username=ann").status == 200)
        }

        @Test("Without a verifier such requests are not implemented")
        func noVerifier() async throws {
            #expect(await (try Bench()).form("facebookAccessToken", "fb_at=x").status == 501)
        }
    }

    /// Knows everybody whose token begins with `good`.
    struct Directory: SocialVerifier {
        func verify(_ credential: SocialCredential) async throws(ServerError) -> SocialIdentity {
            let token = credential.values["fb_at"] ?? credential.values["tw_tk"] ?? credential.values["gigya_uid"] ?? ""
            guard token.hasPrefix("good") else { throw ServerError(401, "The token is wrong.") }
            return SocialIdentity(identifier: token, name: "name of \(token)", info: ["id": .string(token)])
        }

        func post(_ message: String, credential: SocialCredential) async throws(ServerError) -> JSONValue {
            ["posted": .string(message)]
        }
    }

    extension Collection {
        /// The element of a collection of one.
        var only: Element? { count == 1 ? first : nil }
    }
#endif
