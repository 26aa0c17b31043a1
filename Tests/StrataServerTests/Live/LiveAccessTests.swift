#if Server && AsyncHTTP
    import Foundation
    import StrataAsyncHTTP
    import StrataRemote
    import StrataServer
    import StrataStore
    import Testing

    /// Live queries tell nobody of what a read would not show.
    @Suite struct LiveAccessTests {
        private static func bench(_ change: (inout ServerOptions) -> Void = { _ in }) throws -> Bench {
            try Bench.withDialects {
                $0.access.schemas["note"] = AccessRules.Rule(
                    read: .any([.owner, .relationship("readers")]), create: .loggedIn, update: .owner, delete: .owner)
                $0.access.schemas["diary"] = AccessRules.Rule(all: .owner)
                change(&$0)
            }
        }

        @Test("Own objects are told, and those of others only while they may be read")
        func owners() async throws {
            let bench = try Self.bench()
            try await bench.serving { port in
                let (ann, bob) = (try await bench.parseUser("ann"), try await bench.parseUser("bob"))
                try await bench.make("Note", "first", ["text": "a", "readers": ["carl"]], token: ann)
                var reader = try await LiveClient.connected(port: port, token: bob)
                try await reader.subscribe(1, "Note")
                var writer = try await LiveClient.connected(port: port, token: ann)
                try await writer.subscribe(1, "Note")
                try await bench.make("Note", "private", ["text": "b", "readers": ["carl"]], token: ann)
                #expect(try await writer.event() == "create private")
                try await bench.change("Note", "first", ["readers": ["bob"]], token: ann)
                #expect(try await writer.event() == "update first")
                let entered = try await reader.next()
                #expect(entered["op"] == "enter" && entered["object"]?["text"] == "a")
                try await bench.change("Note", "first", ["text": "new secret", "readers": ["carl"]], token: ann)
                #expect(try await writer.event() == "update first")
                // That it is lost is all that is told.
                let left = try await reader.next()
                #expect(left["op"] == "leave" && left["object"]?["objectId"] == "first")
                #expect(left["object"]?["text"] == nil && left["object"]?["updatedAt"] == nil)
                try await bench.remove("Note", "first", token: ann)
                try await bench.remove("Note", "private", token: ann)
                #expect(try await writer.event() == "delete first")
                #expect(try await writer.event() == "delete private")
                try await bench.make("Note", "shared", ["readers": ["bob"]], token: ann)
                #expect(try await reader.event() == "create shared")
                try await bench.remove("Note", "shared", token: ann)
                #expect(try await reader.event() == "delete shared")
                reader.end()
                writer.end()
            }
        }

        @Test("A rule for owners needs a log-in, and each is told only of own objects, deleted ones included")
        func diaries() async throws {
            let bench = try Self.bench()
            try await bench.serving { port in
                let (ann, bob) = (try await bench.parseUser("ann"), try await bench.parseUser("bob"))
                try await bench.make("Diary", "old", token: ann)
                var stranger = try await LiveClient.connected(port: port)
                try await stranger.ask(1, "Diary")
                let refusal = try await stranger.next()
                #expect(refusal["op"] == "error" && refusal["code"] == 119 && refusal["requestId"] == 1)
                // The session of a subscription goes before that of the connection.
                try await stranger.subscribe(2, "Diary", token: bob)
                var own = try await LiveClient.connected(port: port, token: ann)
                try await own.subscribe(1, "Diary")
                var master = try await LiveClient.connected(port: port, master: true)
                try await master.subscribe(1, "Diary")
                try await bench.make("Diary", "new", token: ann)
                try await bench.remove("Diary", "old", token: ann)
                for expected in ["create new", "delete old"] {
                    #expect(try await own.event() == expected)
                    #expect(try await master.event() == expected)
                }
                try await bench.make("Diary", "bobs", token: bob)
                #expect(try await stranger.event() == "create bobs")
                #expect(try await master.event() == "create bobs")
                stranger.end()
                own.end()
                master.end()
            }
        }

        @Test("A session that has ended ends its subscriptions, and only those")
        func sessions() async throws {
            let bench = try Self.bench()
            try await bench.serving { port in
                let (ann, bob) = (try await bench.parseUser("ann"), try await bench.parseUser("bob"))
                var client = try await LiveClient.connected(port: port, token: ann)
                try await client.subscribe(1, "Diary")
                try await client.subscribe(2, "Diary", token: bob)
                #expect(await bench.parse("POST", "logout", token: ann).status == 200)
                let ended = try await client.next()
                #expect(ended["op"] == "error" && ended["code"] == 209 && ended["requestId"] == 1, "\(ended)")
                #expect(ended["reconnect"] == false)
                try await bench.make("Diary", "b", token: bob)
                #expect(try await client.event() == "create b")
                // A session that is over by time is seen with the next change.
                bench.advance(seconds: 400 * 24 * 3600)
                let again = try #require(
                    await bench.parse("POST", "login", ["username": "bob", "password": "p"]).json?["sessionToken"]?
                        .string)
                try await bench.make("Diary", "c", token: again)
                let over = try await client.next()
                #expect(over["op"] == "error" && over["code"] == 209 && over["requestId"] == 2, "\(over)")
                client.end()
            }
        }

        @Test("Another password, and the end of an account, end subscriptions")
        func accounts() async throws {
            let bench = try Self.bench()
            try await bench.serving { port in
                let ann = try await bench.parseUser("ann")
                var client = try await LiveClient.connected(port: port, token: ann)
                try await client.subscribe(1, "Diary")
                let changed = await bench.parse("PUT", "users/ann", ["password": "q"], master: true)
                #expect(changed.status == 200, "\(changed.text)")
                #expect(try await client.next()["code"] == 209)
                let token = try #require(
                    await bench.parse("POST", "login", ["username": "ann", "password": "q"]).json?["sessionToken"]?
                        .string)
                try await client.subscribe(1, "Diary", token: token)
                #expect(await bench.parse("DELETE", "users/ann", token: token).status == 200)
                #expect(try await client.next()["code"] == 209)
                client.end()
            }
        }

        @Test("Passwords and sessions are in no event")
        func secrets() async throws {
            let bench = try Self.bench { $0.access.accounts.levels[.read] = .anyone }
            try await bench.serving { port in
                var client = try await LiveClient.connected(port: port)
                try await client.subscribe(1, "_User")
                let token = try await bench.parseUser("ann")
                let text = try await client.next().description
                #expect(text.contains(#""className":"_User""#) && text.contains("ann"))
                #expect(!text.contains(token) && !text.lowercased().contains("password"))
                #expect(await bench.parse("PUT", "users/ann", ["password": "q"], token: token).status == 200)
                let changed = try await client.next()
                #expect(changed["op"] == "update" && !changed.description.lowercased().contains("password"))
                client.end()
            }
        }

        @Test("An operator chooses the classes")
        func classes() async throws {
            let bench = try Self.bench { $0.dialects[1].liveClasses = ["Post"] }
            try await bench.serving { port in
                var client = try await LiveClient.connected(port: port)
                try await client.ask(1, "Comment")
                #expect(try await client.next()["code"] == 119)
                try await client.subscribe(1, "Post")
                client.end()
            }
        }

        @Test("Pages of other origins are refused unless the configuration names them")
        func origins() async throws {
            let bench = try Self.bench { $0.network.origins = ["https://app.example.org"] }
            try await bench.serving { port in
                for origin in [
                    "https://app.example.org", "http://127.0.0.1:\(port)", "ws://127.0.0.1:\(port)",
                ] {
                    var client = try await LiveClient(port: port, origin: origin)
                    try await client.connect()
                    client.end()
                }
                for origin in [
                    "https://evil.example.org", "http://app.example.org", "null", "http://127.0.0.1", "file://", "",
                ] {
                    await #expect(throws: (any Error).self, "\(origin)") {
                        _ = try await LiveClient(port: port, origin: origin)
                    }
                }
            }
        }
    }
#endif
