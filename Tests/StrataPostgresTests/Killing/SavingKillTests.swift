#if Postgres
    import CrashModels
    import Foundation
    import PostgresFixture
    import SeededRandom
    import Strata
    import Testing

    @testable import StrataPostgres

    extension PostgresKills {
        /// Two processes that save against each other while they are killed, their sessions ended, and the server crashes: what was
        /// acknowledged is there, and nothing is there twice or in parts.
        @Suite("Saves", .serialized)
        struct SavingKillTests {
            /// For how long; `STRATA_POSTGRES_SECONDS` sets another number.
            private static let seconds =
                ProcessInfo.processInfo.environment["STRATA_POSTGRES_SECONDS"].flatMap(Double.init) ?? 4

            /// What processes of the same name have done, one after the other.
            private struct Writer {
                let name: String
                var probe: KillProbe
                /// The number of the last save that was acknowledged.
                var last = 0
                var saves = 0
                var conflicts = 0

                /// Reads what the process has said, after its end.
                mutating func take(_ label: String) {
                    for line in probe.output.split(separator: "\n") {
                        let words = line.split(separator: " ")
                        guard words.count > 1, let number = Int(words[1]) else { continue }
                        if words[0] == "found" {
                            // The save that was under way may have been done.
                            #expect(number == last || number == last + 1, "\(label), \(name): \(number) after \(last)")
                        } else if words[0] == "saved" {
                            #expect(number == last + 1, "\(label), \(name): \(number) after \(last)")
                            saves += 1
                            conflicts += words.last.flatMap { Int($0) } ?? 0
                        }
                        last = number
                    }
                }
            }

            @Test("Two processes that save against each other while they are killed lose nothing, and do nothing twice")
            func killedWhileSaving() throws {
                let server = try PostgresKills.server
                let url = try server.newDatabase()
                try makeAccounts(url)
                let seed = RunSeed.value()
                var random = SplitMix64(seed: seed)
                func start(_ name: String) throws -> KillProbe {
                    try KillProbe("save", "\(url)?application_name=\(name)", name, String(random.next() % 1_000_000))
                }
                var writers = try ["first", "second"].map { Writer(name: $0, probe: try start($0)) }
                var events: [String: Int] = [:]
                let end = Date(timeIntervalSinceNow: Self.seconds)
                while Date() < end {
                    Thread.sleep(forTimeInterval: Double.random(in: 0.05...0.6, using: &random))
                    let event = random.pick(Self.events) ?? "one"
                    events[event, default: 0] += 1
                    if event == "sessions" { try server.endSessions(of: url) }
                    if event == "server" {
                        try server.stop()
                        try server.start()
                    }
                    guard let killed = ["one": [random.below(2)], "both": [0, 1]][event] else { continue }
                    for index in killed {
                        writers[index].probe.kill()
                        writers[index].take("seed \(seed)")
                        // The server may still commit what the process has sent, and the next one looks for it.
                        try server.settle(url, application: writers[index].name)
                        writers[index].probe = try start(writers[index].name)
                    }
                }
                for index in writers.indices {
                    writers[index].probe.kill()
                    writers[index].take("seed \(seed)")
                }
                let (saves, conflicts) = writers.reduce((0, 0)) { ($0.0 + $1.saves, $0.1 + $1.conflicts) }
                print("saving against each other, seed \(seed): \(saves) saves, \(conflicts) conflicts, \(events)")
                #expect(saves > 20)
                try check(server, url, writers)
            }

            /// Processes are killed most often; the server crashes from time to time.
            private static let events =
                Array(repeating: "one", count: 12) + Array(repeating: "both", count: 4)
                + Array(repeating: "sessions", count: 3) + ["server"]

            private func makeAccounts(_ url: String) throws {
                let container = try PersistentContainer(model: CrashModels.ledger(), at: .postgres(url))
                defer { container.close() }
                let context = container.newContext()
                for number in 0..<4 { try context.insert(entityNamed: "Account")["number"] = Int64(number) }
                try context.save()
            }

            /// Looks at all accounts and moves.
            private func check(_ server: PostgresServer, _ url: String, _ writers: [Writer]) throws {
                try server.settle(url)
                let connection = try PostgresConnection(PostgresSettings(address: url))
                func number(_ sql: String) throws -> Int { Int(try connection.execute(sql).integer(0, 0)) }
                for writer in writers {
                    let moves = "FROM \"move\" WHERE writer = '\(writer.name)'"
                    let last = try number("SELECT coalesce(max(number), 0)::bigint \(moves)")
                    #expect(last == writer.last || last == writer.last + 1)
                    #expect(try number("SELECT count(DISTINCT number)::bigint \(moves)") == last)
                    #expect(try number("SELECT count(*)::bigint \(moves)") == 2 * last)
                }
                let broken = try connection.execute(
                    """
                    SELECT concat_ws(' ', writer, number, array_agg(_id ORDER BY _id), array_agg(amount ORDER BY _id), \
                    array_agg(account ORDER BY _id)) FROM "move" GROUP BY writer, number \
                    HAVING count(*) <> 2 OR sum(amount) <> 0 LIMIT 10
                    """)
                #expect((0..<broken.rowCount).map { broken.text($0, 0) } == [])
                #expect(
                    try number(
                        """
                        SELECT count(*)::bigint FROM "account" AS a WHERE balance <> \
                        (SELECT coalesce(sum(amount), 0) FROM "move" AS m WHERE m.account = a._id)
                        """) == 0)
                #expect(try number("SELECT sum(balance)::bigint FROM \"account\"") == 0)
                #expect(try PostgresStore.storeInfo(at: url, isChecked: true).problems == [])
            }
        }
    }
#endif
