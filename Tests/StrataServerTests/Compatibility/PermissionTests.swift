#if Server
    import Foundation
    import StrataServer
    import Testing

    /// The levels of permissions that StackMob had, with its statuses and texts.
    @Suite struct PermissionTests {
        private func bench() throws -> Bench {
            try Bench {
                $0.publicKey = "public"
                $0.privateKey = "private"
                for (schema, level) in [
                    ("perm_open", "anyone"), ("perm_private_key", "privateKey"), ("perm_any", "loggedIn"),
                    ("perm_owner", "owner"), ("perm_role", "role:admin"),
                    ("perm_friends", "relationship:sm_owner.friends"),
                    ("perm_relationship", "relationship:collaborators"), ("perm_not_allowed", "nobody"),
                    ("perm_either", "owner | relationship:collaborators"),
                ] { $0.access.schemas[schema] = .init(all: AccessRules.Level(level)!) }
            }
        }

        private static let key = ["X-StackMob-API-Key": "public"]

        /// What reading, changing and deleting an object gives.
        private func outcomes(_ bench: Bench, _ path: String, _ session: Session?) async -> [String] {
            var outcomes: [String] = []
            for (method, body) in [("GET", nil), ("PUT", ["n": 1]), ("DELETE", nil)] as [(String, JSONValue?)] {
                let answer = await bench.send(method, path, body, headers: Self.key, session: session)
                outcomes.append(
                    "\(answer.status) \(answer.json?["error"]?.string ?? "")".trimmingCharacters(in: .whitespaces))
            }
            return outcomes
        }

        private func signUp(_ bench: Bench, _ name: String) async throws -> Session {
            let body: JSONValue = ["username": .string(name), "password": "secret"]
            #expect(await bench.send("POST", "/user", body, headers: Self.key).status == 201)
            let token = await bench.server.respond(
                to: ServerRequest(
                    "POST", "/user/accessToken", headers: [("X-StackMob-API-Key", "public")],
                    body: Data("username=\(name)&password=secret".utf8)))
            return try #require(Session(token.json))
        }

        @Test("Each level lets in whom it names, and says to the others what StackMob said")
        func levels() async throws {
            let bench = try bench()
            let owner = try await signUp(bench, "owner")
            let friend = try await signUp(bench, "friend")
            let other = try await signUp(bench, "other")
            #expect(
                await bench.privateKey("PUT", "/user/other", ["sm_roles": ["admin"]]).status == 200)
            await bench.send(
                "PUT", "/user/owner", ["friends": ["friend"]],
                headers: Self.key.merging(["X-StackMob-Relations": "friends=user"]) { $1 }, session: owner)
            let fine = ["200", "200", "200"]
            let login = Array(repeating: "401 Insufficient authorization", count: 3)
            let hidden = [
                "404 object instance does not exist", "404 object instance does not exist",
                "404 This object does not exist",
            ]
            let never = Array(repeating: "405 Invalid HTTP method", count: 3)
            for (schema, expected) in [
                ("perm_open", [fine, fine, fine, fine]), ("perm_private_key", [login, login, login, login]),
                ("perm_any", [login, fine, fine, fine]), ("perm_owner", [login, fine, hidden, hidden]),
                ("perm_role", [login, login, login, fine]), ("perm_relationship", [login, hidden, fine, hidden]),
                ("perm_friends", [login, hidden, fine, hidden]), ("perm_not_allowed", [never, never, never, never]),
                ("perm_either", [login, fine, fine, hidden]),
            ] {
                for (session, outcome) in zip([nil, owner, friend, other], expected) {
                    let body: JSONValue = [
                        schema + "_id": "x", "n": 0, "collaborators": ["friend"], "sm_owner": "user/owner",
                    ]
                    let created = await bench.send(
                        "POST", "/\(schema)", body,
                        headers: Self.key.merging(["X-StackMob-Relations": "collaborators=user"]) { $1 }, session: owner
                    )
                    if created.status != 201 {
                        #expect(
                            await bench.privateKey("POST", "/\(schema)", body).status == 201,
                            "\(schema) \(created.text)")
                    }
                    #expect(await outcomes(bench, "/\(schema)/x", session) == outcome, "\(schema)")
                    await bench.privateKey("DELETE", "/\(schema)/x")
                }
            }
        }

        @Test("Queries find what their sender may read, by owner, relationship and both")
        func queries() async throws {
            let bench = try bench()
            let (owner, friend) = (try await signUp(bench, "owner"), try await signUp(bench, "friend"))
            for (id, collaborators) in [("a", ["friend"]), ("b", []), ("c", ["frien", "other"])]
                as [(String, [JSONValue])]
            {
                let body: JSONValue = ["perm_either_id": .string(id), "collaborators": .array(collaborators)]
                let created = await bench.send("POST", "/perm_either", body, headers: Self.key, session: owner)
                #expect(created.status == 201)
            }
            func found(_ session: Session) async -> [JSONValue] {
                await bench.send("GET", "/perm_either", headers: Self.key, session: session).json?.elements?
                    .map { $0["perm_either_id"] ?? .null } ?? []
            }
            #expect(await found(owner) == ["a", "b", "c"])
            #expect(await found(friend) == ["a"])
            let count = await bench.send(
                "GET", "/perm_either", headers: Self.key.merging(["Range": "objects=0-0"]) { $1 }, session: friend)
            #expect(count.status == 200)
        }

        @Test("Roles are given with the private key only")
        func roles() async throws {
            let bench = try bench()
            let ann = try await signUp(bench, "ann")
            #expect(
                await bench.send("PUT", "/user/ann", ["sm_roles": ["admin"]], headers: Self.key, session: ann).status
                    == 400)
            #expect(await bench.send("GET", "/perm_role", headers: Self.key, session: ann).status == 401)
            await bench.privateKey("PUT", "/user/ann", ["sm_roles": ["admin", "editor"]])
            #expect(await bench.send("GET", "/perm_role", headers: Self.key, session: ann).status == 200)
            await bench.privateKey("PUT", "/user/ann", ["sm_roles": []])
            #expect(await bench.send("GET", "/perm_role", headers: Self.key, session: ann).status == 401)
        }
    }

    extension Bench {
        /// Sends a request that is signed with the private key, as a server of the application does.
        @discardableResult
        func privateKey(
            _ method: String, _ target: String, _ body: JSONValue? = nil, headers: [String: String] = [:],
            bodyHash: String? = nil
        ) async -> ServerResponse {
            let seconds = String(time.milliseconds / 1000)
            var authorization = OAuth1Authorization(
                consumerKey: "public", timestamp: seconds, nonce: UUID().uuidString + "+/=")
            authorization["oauth_body_hash"] = bodyHash
            let request = OAuth1Request(method: method, scheme: "http", authority: "localhost", target: target)
            authorization["oauth_signature"] = OAuth1Secrets(consumer: "private").signature(of: request, authorization)
            return await send(
                method, target, body, headers: headers.merging(["Authorization": authorization.header]) { $1 })
        }
    }
#endif
