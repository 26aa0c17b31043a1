#if Postgres
    import Foundation
    import PostgresFixture
    import Strata
    import StrataStore
    import Testing

    @testable import StrataPostgres

    /// A primary for tests of replicas, which nobody else writes to, and stores on it.
    struct ReplicaFixture: Sendable {
        private static let started = Result { try PostgresServer() }

        let primary: PostgresServer
        /// The database on the primary.
        let url: String

        /// A new database. Make replicas with ``replica()``.
        init() throws {
            primary = try Self.started.get()
            url = try primary.newDatabase()
            // The tables are there before any replica is asked for them.
            try PostgresStore.open(at: url).close()
        }

        /// A streaming replica of the primary that has all of it.
        func replica() throws -> PostgresServer { try PostgresServer(replicaOf: primary) }

        /// Another process, as far as the primary and the replicas can tell.
        func others() throws -> PostgresStore { try PostgresStore.open(at: url) }

        /// A store that knows of replicas, once it uses all of them.
        func store(
            _ replicas: [PostgresServer], staleness: Duration = .seconds(600),
            _ change: (inout PostgresStore.Replicas) -> Void = { _ in }
        ) throws -> PostgresStore {
            let store = try unready(replicas, staleness: staleness, change)
            let entity = try #require(store.model.entity(named: "City"))
            try eventually("all replicas are used") {
                _ = try store.replicaReader(isFresh: true)?.count(FetchPlan(entityIndex: entity.index))
                return store.replicaStates.allSatisfy { $0.answers > 0 }
            }
            return store
        }

        /// A store that knows of replicas, without waiting for them.
        func unready(
            _ replicas: [PostgresServer], staleness: Duration = .seconds(600),
            _ change: (inout PostgresStore.Replicas) -> Void = { _ in }
        ) throws -> PostgresStore {
            try PostgresStore.open(at: url) { options in
                var chosen = PostgresStore.Replicas(replicas.map { $0.url(like: url) }, maximumStaleness: staleness)
                chosen.retryPause = .milliseconds(50)
                change(&chosen)
                options.replicas = chosen
            }
        }

        /// Waits until a replica has replayed what the primary has written.
        func catchUp(_ replica: PostgresServer) throws {
            let primary = try PostgresConnection(PostgresSettings(address: url))
            let end = try ServerStatus.ofPrimary(primary).position
            let other = try PostgresConnection(PostgresSettings(address: replica.url(like: url)))
            // So that all of it is flushed.
            try primary.run("SELECT pg_switch_wal()")
            try eventually("the replica has caught up") {
                try ServerStatus.ofReplica(other).map { $0.position >= end } ?? false
            }
        }

        /// Fails if a condition is not met within a minute.
        func eventually(_ what: String, _ condition: () throws -> Bool) throws {
            let end = Date(timeIntervalSinceNow: 60)
            while try !condition() {
                guard Date() < end else { throw PostgresServer.Failure("never: \(what)") }
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
    }

    extension PostgresServer {
        /// Stops the replica from showing anything new.
        func pauseReplay() throws {
            try run("SELECT pg_wal_replay_pause()")
            let connection = try PostgresConnection(PostgresSettings(address: url(of: "postgres")))
            while try connection.execute("SELECT pg_get_wal_replay_pause_state()").text(0, 0) != "paused" {
                Thread.sleep(forTimeInterval: 0.005)
            }
        }

        func resumeReplay() throws { try run("SELECT pg_wal_replay_resume()") }
    }

    /// Who has answered the statements of a store: the replica's address, or "primary".
    final class Answers: Sendable {
        private let list = Guarded<[String]>([])
        private let observation = Guarded<StoreObservation?>(nil)

        init(_ store: PostgresStore) {
            let list = list
            let made = store.observeStatements { trace in
                // What looks at the servers themselves, and what belongs to commits, is not a read of the application.
                guard trace.sql.contains("FROM \"city\"") || trace.sql.contains("FROM \"street\""),
                    !trace.sql.contains("FOR SHARE")
                else { return }
                list.withLock { $0.append(trace.replica ?? "primary") }
            }
            observation.withLock { $0 = made }
        }

        /// Who has answered since the last call.
        func take() -> Set<String> {
            list.withLock { list in
                defer { list = [] }
                return Set(list)
            }
        }
    }
#endif
