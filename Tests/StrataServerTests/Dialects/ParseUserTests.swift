#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct ParseUserTests {
        @Test("A user signs up, logs in, reads themselves, and logs out")
        func sessions() async throws {
            let bench = try Bench.withDialects()
            let up = await bench.parse("POST", "users", ["username": "ann", "password": "secret", "age": 7])
            #expect(up.status == 201, "\(up.text)")
            let id = try #require(up.json?["objectId"]?.string)
            let token = try #require(up.json?["sessionToken"]?.string)
            #expect(up.header("Cache-Control") == "no-store")
            let me = await bench.parse("GET", "users/me", token: token)
            #expect(me.json?["username"] == "ann")
            #expect(me.json?["age"] == 7)
            #expect(me.json?["password"] == nil)
            #expect(me.json?["sessionToken"] == .string(token) && me.header("Cache-Control") == "no-store")
            let scripted = await bench.script("GET", "users/me", token: token)
            #expect(scripted.json?["sessionToken"] == .string(token))
            let again = await bench.parse("POST", "users", ["username": "ann", "password": "other"])
            #expect(again.json?["code"] == 202)
            #expect(await bench.parse("POST", "users", ["password": "x"]).json?["code"] == 200)
            #expect(await bench.parse("POST", "users", ["username": "x"]).json?["code"] == 201)

            let wrong = await bench.parse("POST", "login", ["username": "ann", "password": "wrong"])
            #expect(wrong.status == 404)
            #expect(wrong.json?["code"] == 101)
            let other = await bench.maxLeap("GET", "login?username=ann&password=wrong")
            #expect(other.json?["code"] == 210)
            let `in` = await bench.maxLeap("GET", "login?username=ann&password=secret")
            let second = try #require(`in`.json?["sessionToken"]?.string, "\(`in`.text)")
            #expect(`in`.json?["objectId"] == .string(id))
            // A session is good in either dialect, and ends in all.
            #expect(await bench.parse("GET", "users/me", token: second).status == 200)
            #expect(await bench.maxLeap("GET", "logout", token: second).json == ["success": true])
            let gone = await bench.parse("GET", "users/me", token: second)
            #expect(gone.json?["code"] == 209)
            #expect(await bench.maxLeap("GET", "users/me", token: second).json?["code"] == 160)
            #expect(await bench.parse("GET", "users/me", token: token).status == 200)
            bench.advance(seconds: 91 * 24 * 3600)
            #expect(await bench.parse("GET", "users/me", token: token).json?["code"] == 209)
        }

        @Test("A user changes fields, name and password, which ends the other sessions")
        func changes() async throws {
            let bench = try Bench.withDialects()
            let up = await bench.parse("POST", "users", ["username": "ann", "password": "secret"])
            let token = up.json?["sessionToken"]?.string ?? ""
            await bench.parse("POST", "users", ["username": "eve", "password": "secret"])
            let other = await bench.parse("POST", "login", ["username": "ann", "password": "secret"])
            let second = other.json?["sessionToken"]?.string ?? ""
            let stranger = await bench.parse("PUT", "users/ann", ["age": 3])
            #expect(stranger.status >= 400)
            #expect(await bench.parse("PUT", "users/ann", ["age": 3], token: token).status == 200)
            #expect(await bench.parse("PUT", "users/ann", ["username": "eve"], token: token).json?["code"] == 202)
            #expect(await bench.parse("PUT", "users/ann", ["username": "anna"], token: token).status == 200)
            #expect(await bench.parse("GET", "users/me", token: token).json?["username"] == "anna")
            #expect(await bench.parse("PUT", "users/ann", ["password": "better"], token: token).status == 200)
            #expect(await bench.parse("GET", "users/me", token: token).status == 200)
            #expect(await bench.parse("GET", "users/me", token: second).json?["code"] == 209)
            let by = await bench.parse("POST", "login", ["username": "anna", "password": "better"])
            #expect(by.json?["objectId"] == "ann")
            // The primary key goes on to name the account in the other dialect.
            _ = try await bench.logIn("ann", password: "better")
            _ = try await bench.logIn("anna", password: "better")
            let condition = escaped(#"{"username":"anna"}"#)
            let found = await bench.parse("GET", "users?where=\(condition)", master: true)
            #expect(found.json?["results"]?.elements?.first?["objectId"] == "ann")
            let maxLeap = await bench.maxLeap(
                "POST", "updatePassword", ["password": "wrong", "newPassword": "x"], token: token)
            #expect(maxLeap.json?["code"] == 210)
        }

        @Test("An anonymous user gets a name, and keeps what is theirs")
        func anonymous() async throws {
            let bench = try Bench.withDialects()
            let data: JSONValue = ["authData": ["anonymous": ["id": "8f2d3f5e-1b1d-4d1a-9d3e-3c5b1f0a7e55"]]]
            let up = await bench.parse("POST", "users", data)
            #expect(up.status == 201, "\(up.text)")
            #expect(up.json?["isNew"] == true)
            let id = up.json?["objectId"]?.string ?? ""
            let token = up.json?["sessionToken"]?.string ?? ""
            let again = await bench.parse("POST", "users", data)
            #expect(again.json?["objectId"] == .string(id))
            #expect(again.json?["isNew"] == nil)
            let named = await bench.parse(
                "PUT", "users/\(id)",
                ["username": "eve", "password": "secret", "authData": ["anonymous": nil]], token: token)
            #expect(named.status == 200, "\(named.text)")
            #expect(await bench.parse("GET", "users/me", token: token).json?["authData"] == nil)
            let `in` = await bench.parse("POST", "login", ["username": "eve", "password": "secret"])
            #expect(`in`.json?["objectId"] == .string(id))
            let fresh = await bench.parse("POST", "users", data)
            #expect(fresh.json?["objectId"] != .string(id))
            #expect(await bench.parse("POST", "users", ["authData": ["anonymous": ["id": "1"]]]).json?["code"] == 253)
            #expect(await bench.parse("POST", "users", ["authData": ["myspace": ["id": "1"]]]).json?["code"] == 252)
        }

        private struct Facebook: SocialVerifier {
            func verify(_ credential: SocialCredential) async throws(ServerError) -> SocialIdentity {
                guard let token = credential.values["fb_at"], token.hasPrefix("token-") else {
                    throw ServerError(401, "no")
                }
                return SocialIdentity(identifier: String(token.dropFirst(6)))
            }
            func post(_ message: String, credential: SocialCredential) async throws(ServerError) -> JSONValue { [:] }
        }

        @Test("An account elsewhere makes a user, logs in the same, and is linked with one user at most")
        func services() async throws {
            let bench = try Bench.withDialects(verifier: Facebook())
            func data(_ id: String, _ token: String) -> JSONValue {
                ["authData": ["facebook": ["id": .string(id), "access_token": .string(token)]]]
            }
            let up = await bench.parse("POST", "users", data("7", "token-7"))
            #expect(up.status == 201, "\(up.text)")
            let id = up.json?["objectId"]
            #expect(await bench.parse("POST", "users", data("7", "token-7")).json?["objectId"] == id)
            #expect(await bench.parse("POST", "users", data("7", "token-8")).json?["code"] == 101)
            #expect(await bench.parse("POST", "users", data("7", "wrong")).status >= 400)
            let ann = await bench.parse("POST", "users", ["username": "ann", "password": "secret"])
            let token = ann.json?["sessionToken"]?.string ?? ""
            #expect(await bench.parse("PUT", "users/ann", data("7", "token-7"), token: token).json?["code"] == 208)
            #expect(await bench.parse("PUT", "users/ann", data("9", "token-9"), token: token).status == 200)
            #expect(await bench.parse("POST", "users", data("9", "token-9")).json?["objectId"] == "ann")
            // The link counts in the other dialects.
            let form = await bench.form("facebookAccessToken", "fb_at=token-9")
            #expect(form.json?["stackmob"]?["user"]?["username"] == "ann", "\(form.text)")
            let azure = await bench.azure(.mobileApps, "POST", ".auth/login/facebook", ["access_token": "token-9"])
            #expect(azure.json?["user"]?["userId"] == "user:ann", "\(azure.text)")
            #expect(
                await bench.parse("PUT", "users/ann", ["authData": ["facebook": nil]], token: token).status == 200)
            #expect(await bench.form("facebookAccessToken", "fb_at=token-9").status == 401)
        }

        @Test("A forgotten password is replaced by one that comes by mail")
        func forgotten() async throws {
            let bench = try Bench.withDialects()
            await bench.parse(
                "POST", "users", ["username": "ann", "password": "secret", "email": "ann@example.org"])
            for email in ["ann@example.org", "nobody@example.org"] {
                let answer = await bench.parse("POST", "requestPasswordReset", ["email": .string(email)])
                #expect(answer.json == [:])
            }
            await bench.server.finishBackgroundWork()
            let folder = bench.folder.appendingPathComponent("mail")
            let mails = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            #expect(mails.count == 1)
            let text = try String(contentsOf: try #require(mails.first), encoding: .utf8)
            let password = try #require(text.firstMatch(of: /password is (\w+)/)).output.1
            let answer = await bench.parse("POST", "login", ["username": "ann", "password": .string(String(password))])
            #expect(answer.status == 200, "\(answer.text)")
            #expect(await bench.parse("POST", "login", ["username": "ann", "password": "secret"]).status == 404)
        }

        @Test("Whoever may change an account by the rules does not become its user by that")
        func identities() async throws {
            let bench = try Bench.withDialects { $0.access.accounts.levels[.update] = .anyone }
            await bench.parse("POST", "users", ["username": "ann", "password": "secret"])
            let eve = await bench.parse("POST", "users", ["username": "eve", "password": "secret"])
            let token = eve.json?["sessionToken"]?.string
            for body: JSONValue in [
                ["password": "mine"], ["username": "eva"], ["authData": ["anonymous": ["id": "0123456789abcdef"]]],
            ] {
                #expect(await bench.parse("PUT", "users/ann", body, token: token).json?["code"] == 119)
            }
            #expect(await bench.parse("PUT", "users/ann", ["age": 1], token: token).status == 200)
            #expect(await bench.parse("PUT", "users/ann", ["password": "set"], master: true).status == 200)
            _ = try await bench.logIn("ann", password: "set")
        }

        @Test("Keys, applications and sessions that are wrong are refused")
        func keys() async throws {
            let bench = try Bench.withDialects()
            #expect(await bench.send("GET", "/parse/classes/Post").status == 403)
            #expect(await bench.send("GET", "/2.0/classes/Post", headers: ["X-ML-AppId": "app"]).status == 403)
            let wrong = await bench.send(
                "GET", "/parse/classes/Post",
                headers: ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "guess"])
            #expect(wrong.status == 403)
            #expect(await bench.parse("GET", "classes/Post", token: "r:nonsense").json?["code"] == 209)
            // A token of a client that signs its requests is not a bearer token: it is seen on the wire.
            let session = try await bench.signUp("ann")
            #expect(await bench.parse("GET", "users/me", token: session.token).json?["code"] == 209)
            // And a bearer token signs nothing.
            let bearer = await bench.parse("POST", "login", ["username": "ann", "password": "secret"])
            var forged = session
            forged.token = bearer.json?["sessionToken"]?.string ?? ""
            forged.key = ""
            #expect(await bench.send("GET", "/user/loggedInUser", session: forged).status == 401)
            let acl = await bench.parse("POST", "classes/Post", ["ACL": ["ann": ["read": true]]])
            #expect(acl.json?["code"] == 123)
            #expect(
                await bench.parse("POST", "classes/Post", ["ACL": ["*": ["read": true, "write": true]]]).status == 201)
        }
    }
#endif
