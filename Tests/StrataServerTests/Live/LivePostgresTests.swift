#if Server && AsyncHTTP && Postgres
    import Foundation
    import PostgresFixture
    import StrataServer
    import StrataStore
    import Testing

    /// Live queries of servers that share a database.
    @Suite(.needsPostgres) struct LivePostgresTests {
        @Test("What is written through one server is told by the other, in order")
        func two() async throws {
            let url = try PostgresServer.shared.newDatabase()
            func bench() throws -> Bench { try Bench.withDialects { $0.storage.database = url } }
            let (first, second) = (try bench(), try bench())
            try await first.make("Post", "old", ["n": 1])
            try await second.serving { port in
                var client = try await LiveClient.connected(port: port)
                try await client.subscribe(1, "Post", ["n": ["$lt": 10]])
                try await client.subscribe(2, "Later")
                try await first.make("Post", "a", ["n": 2])
                #expect(try await client.event() == "create a")
                try await second.change("Post", "a", ["n": 3])
                #expect(try await client.event() == "update a")
                try await first.change("Post", "old", ["n": 11])
                #expect(try await client.event() == "leave old")
                // A class that the other server has made.
                try await first.make("Later", "l", ["text": "x"])
                let later = try await client.next()
                #expect(later["requestId"] == 2 && later["object"]?["text"] == "x")
                try await first.remove("Post", "a")
                #expect(try await client.event() == "delete a")
                client.end()
            }
        }
    }
#endif
