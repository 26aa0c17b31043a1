#if Server
    import Foundation
    import StrataAzure
    import StrataMaxLeap
    import StrataServer
    import StrataStackMob
    import StrataStore
    import Testing

    /// Users in the words that all services share, by each client against the server, over HTTP.
    @Suite struct UsersTests {
        enum Service: String, CaseIterable, Sendable {
            case stackMob, parse, maxLeap, mobileApps

            func users(_ server: LoopbackServer, _ storage: any SessionStorage) throws -> any RemoteUsers {
                switch self {
                case .stackMob: try server.client { $0.sessionStorage = storage }.users
                case .parse: try server.maxLeapClient(.parse, storage: storage).users
                case .maxLeap: try server.maxLeapClient(.maxLeap, storage: storage).users
                case .mobileApps: try server.azureClient(.mobileApps, storage: storage).users
                }
            }
        }

        private func withUsers(
            _ service: Service, _ body: (any RemoteUsers, LoopbackServer, any SessionStorage) async throws -> Void
        ) async throws {
            try await withServer(verifier: Directory(), { $0.dialects = Places.all }) { server in
                let storage = MemorySessionStorage()
                try await body(try service.users(server, storage), server, storage)
            }
        }

        private func kind(_ body: () async throws -> Void) async -> RemoteError.Kind? {
            do {
                try await body()
                return nil
            } catch {
                return (error as? RemoteError)?.kind
            }
        }

        @Test(
            "A user signs up, stays logged in until the next launch, changes the password, and logs out",
            arguments: [Service.stackMob, .parse, .maxLeap])
        func life(_ service: Service) async throws {
            try await withUsers(service) { users, server, storage in
                #expect(users.currentUser == nil)
                let ann = try await users.signUp("ann", password: "one", fields: ["city": "Oslo"])
                #expect(ann.name == "ann")
                #expect(ann.isNew == true)
                #expect(ann.fields["city"] == "Oslo")
                #expect(users.currentUser?.id == ann.id)
                let next = try service.users(server, storage)
                #expect(next.currentUser?.id == ann.id)
                #expect(try await next.refreshUser().fields["city"] == "Oslo")
                try await next.changePassword(from: "one", to: "two")
                let other = try service.users(server, MemorySessionStorage())
                #expect(await kind { try await other.logIn("ann", password: "one") } != nil)
                #expect(try await other.logIn("ann", password: "two").id == ann.id)
                try await other.logOut()
                #expect(other.currentUser == nil)
                #expect(try service.users(server, storage).currentUser?.id == ann.id)
                #expect(await kind { try await other.refreshUser() } == .unauthorized)
                #expect(await kind { try await other.signUp("ann", password: "x") } == .duplicate)
                // No secret is told to the app.
                let text = "\(try await next.refreshUser())"
                #expect(!text.contains("two") && !text.lowercased().contains("token"))
            }
        }

        @Test("An account elsewhere lets in, is linked and unlinked", arguments: [Service.stackMob, .parse, .maxLeap])
        func providers(_ service: Service) async throws {
            try await withUsers(service) { users, server, _ in
                let facebook = ProviderToken("facebook", token: "good-1", userID: "good-1")
                let made = try await users.logIn(facebook)
                #expect(users.currentUser?.id == made.id)
                #expect(try await users.logIn(facebook).id == made.id)
                let twitter = ProviderToken("twitter", token: "good-2", secret: "s", userID: "good-2")
                try await users.link(twitter)
                let other = try service.users(server, MemorySessionStorage())
                #expect(try await other.logIn(twitter).id == made.id)
                try await users.unlink("twitter")
                #expect(try await other.logIn(twitter).id != made.id)
                let bad = ProviderToken("facebook", token: "bad", userID: "bad")
                #expect(await kind { try await other.logIn(bad) } != nil)
                #expect("\(bad)" == "token of facebook")
            }
        }

        @Test("An anonymous user gets a name, and keeps what is theirs", arguments: [Service.parse, .maxLeap])
        func anonymous(_ service: Service) async throws {
            try await withUsers(service) { users, _, _ in
                let guest = try await users.automaticUser()
                #expect(guest.isAnonymous)
                #expect(try await users.automaticUser().id == guest.id)
                let named = try await users.signUp("eve", password: "p")
                #expect(named.id == guest.id)
                #expect(!named.isAnonymous && named.isNew == false)
                #expect(users.currentUser?.name == "eve")
                try await users.logOut()
                #expect(try await users.logIn("eve", password: "p").id == guest.id)
            }
        }

        @Test(
            "An anonymous user who is linked with an account elsewhere is not anonymous",
            arguments: [Service.parse, .maxLeap])
        func linkedGuests(_ service: Service) async throws {
            try await withUsers(service) { users, server, _ in
                let guest = try await users.automaticUser()
                #expect(guest.isAnonymous)
                let facebook = ProviderToken("facebook", token: "good-4", userID: "good-4")
                try await users.link(facebook)
                #expect(users.currentUser?.isAnonymous == false && users.currentUser?.providers == ["facebook"])
                #expect(try await !users.refreshUser().isAnonymous)
                let other = try service.users(server, MemorySessionStorage())
                #expect(try await other.logIn(facebook).id == guest.id)
                #expect(other.currentUser?.isAnonymous == false)
            }
        }

        @Test("Calls of the same time make one anonymous user", arguments: [MaxLeapFlavor.parse, .maxLeap])
        func automaticUsers(_ flavor: MaxLeapFlavor) async throws {
            try await withServer({ $0.dialects = Places.all }) { server in
                let wire = Wire()
                let client = try server.maxLeapClient(flavor, transport: wire)
                let ids = try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<4 { group.addTask { try await client.users.automaticUser().id } }
                    return try await group.reduce(into: Set<String>()) { $0.insert($1) }
                }
                #expect(ids.count == 1 && wire.count == 1)
            }
        }

        @Test("What a service lacks is an error of its own, and nothing is sent", arguments: Service.allCases)
        func lacking(_ service: Service) async throws {
            try await withUsers(service) { users, _, _ in
                let token = ProviderToken("facebook", token: "good-7", userID: "good-7")
                let attempts: [(UserAbilities, () async throws -> Void)] = [
                    (.signUp, { try await users.signUp("z", password: "z") }),
                    (.passwords, { try await users.logIn("z", password: "z") }),
                    (.providers, { try await users.logIn(token) }),
                    (.anonymousUsers, { try await users.logInAnonymously() }),
                    (.changingPasswords, { try await users.changePassword(from: "z", to: "y") }),
                    (.resettingPasswords, { try await users.requestPasswordReset(for: "z") }),
                    (.linking, { try await users.link(token) }),
                ]
                for (ability, attempt) in attempts {
                    let kind = await kind(attempt)
                    #expect((kind == .unsupported) == !users.abilities.contains(ability), "\(ability): \(kind as Any)")
                }
                if service == .mobileApps {
                    #expect(users.lacking(.signUp).message.contains("Azure Mobile Apps lacks sign-up"))
                }
            }
        }

        @Test("An Azure user is renewed, kept, and forgotten")
        func azure() async throws {
            try await withUsers(.mobileApps) { _, server, storage in
                // Azure logs in by HTTPS only; this server has none.
                struct Plain: HTTPMiddleware {
                    func send(_ request: WireRequest, next: HTTPNext) async throws(RemoteError) -> WireResponse {
                        var request = request
                        request.head.scheme = "http"
                        return try await next(request)
                    }
                }
                let users = try server.azureClient(.mobileApps, storage: storage).adding(Plain()).users
                let user = try await users.logIn(ProviderToken("facebook", token: "good-3"))
                #expect(try Service.mobileApps.users(server, storage).currentUser?.id == user.id)
                #expect(try await users.refreshUser().id == user.id)
                try await users.logOut()
                #expect(try Service.mobileApps.users(server, storage).currentUser == nil)
                let old = try server.azureClient(.mobileServices).users
                #expect(!old.abilities.contains(.refreshing))
                #expect(await kind { try await old.refreshUser() } == .unsupported)
            }
        }

        // MARK: Sessions that end

        @Test(
            "Middleware logs in again when the server has ended the session, whatever it says by it",
            arguments: [Service.stackMob, .parse, .maxLeap])
        func logInAgain(_ service: Service) async throws {
            try await withUsers(service) { users, server, storage in
                let ann = try await users.signUp("ann", password: "one")
                let logIns = Guarded(0)
                // The session is kept, but the server no longer knows it.
                let patient: any RemoteUsers
                switch service {
                case .parse, .maxLeap:
                    let client = try server.maxLeapClient(service == .parse ? .parse : .maxLeap, storage: storage)
                    client.session.replace(token: "ended", user: client.currentUser)
                    patient =
                        client.adding(
                            LogInAgain { () async throws(RemoteError) in
                                logIns.withLock { $0 += 1 }
                                _ = try await client.logIn(username: "ann", password: "one")
                            }
                        ).users
                default:
                    let client = try server.client { $0.sessionStorage = storage }
                    var credentials = try #require(client.session.credentials)
                    credentials.signer.accessToken = "ended"
                    credentials.refreshToken = nil
                    client.session.replace(with: credentials)
                    patient =
                        client.adding(
                            LogInAgain { () async throws(RemoteError) in
                                logIns.withLock { $0 += 1 }
                                _ = try await client.logIn(username: "ann", password: "one")
                            }
                        ).users
                }
                #expect(try await patient.refreshUser().id == ann.id)
                #expect(logIns.withLock { $0 } == 1)
                #expect(try await patient.refreshUser().id == ann.id)
                #expect(logIns.withLock { $0 } == 1)
            }
        }
    }
#endif
