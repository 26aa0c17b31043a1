#if Postgres
    import ChildProcesses
    import Foundation
    package import Testing

    @testable import StrataPostgres

    /// A PostgreSQL server of this process's own: in a temporary folder, on a Unix socket, started by the first test that needs
    /// it. A shell watches over it: when this process ends, however it ends, the shell stops the server and removes the folder.
    package final class PostgresServer: Sendable {
        /// Why there is no server.
        package struct Failure: Error, CustomStringConvertible {
            package let description: String
            /// Whether PostgreSQL is not installed.
            fileprivate var isMissing = false

            /// Says what did not happen.
            package init(_ description: String) { self.description = description }

            fileprivate init(description: String, isMissing: Bool) {
                self.description = description
                self.isMissing = isMissing
            }
        }

        package let folder: String
        private let lock = NSLock()
        private nonisolated(unsafe) var databases = 0
        // The shell waits for the end of this pipe, which comes when the process is gone.
        private let lifeline: Pipe

        /// Whether tests with a server can run. Where they must, they fail instead.
        package static var isAvailable: Bool {
            if case .failure(let error) = started, (error as? Failure)?.isMissing == true { return isRequired }
            return true
        }

        private static var isRequired: Bool { ProcessInfo.processInfo.environment["STRATA_POSTGRES_REQUIRED"] == "1" }

        private static let started = Result { try PostgresServer() }

        package static var shared: PostgresServer { get throws { try started.get() } }

        /// Starts a server.
        /// - Parameter primary: The server of which it is a streaming replica; nil for a new, empty one.
        package init(replicaOf primary: PostgresServer? = nil) throws {
            folder =
                FileManager.default.temporaryDirectory.appendingPathComponent(
                    "strata-pg-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
                ).path
            lifeline = Pipe.forLaunch()
            for handle in [lifeline.fileHandleForReading, lifeline.fileHandleForWriting] {
                _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
            }
            let ready = Pipe.forLaunch()
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments =
                [Self.script.path, folder] + (primary.map { ["--replica-of", $0.folder] } ?? [])
                + [
                    "fsync=off", "full_page_writes=off", "deadlock_timeout=100ms", "shared_buffers=64MB",
                    // Otherwise a checkpoint removes the log that a replica, which is being made or started, has yet to read.
                    "wal_keep_size=512MB",
                ]
            shell.standardInput = lifeline.fileHandleForReading
            shell.standardOutput = ready
            try shell.start()
            try? ready.fileHandleForWriting.close()
            let answer = String(decoding: ready.fileHandleForReading.availableData, as: UTF8.self)
            guard answer.hasPrefix("ready") else {
                throw Failure(
                    description: "the server did not start: \(answer)",
                    isMissing: answer.hasPrefix("PostgreSQL is not installed"))
            }
        }

        /// What `make demo-postgres` starts its server with, too.
        private static let script = URL(fileURLWithPath: #filePath)
            .appendingPathComponent("../../../Scripts/postgres-server.sh").standardizedFileURL

        /// The URL of a new database.
        /// - Parameter template: The name of the database that it is a copy of; by default, it is empty.
        package func newDatabase(like template: String = "template0") throws -> String {
            lock.lock()
            databases += 1
            let name = "test_\(databases)"
            lock.unlock()
            try run("CREATE DATABASE \(name) TEMPLATE \(template)")
            return url(of: name)
        }

        /// Stops the server as a crash does.
        package func stop() throws {
            try lifeline.fileHandleForWriting.write(contentsOf: Data("stop\n".utf8))
            while (try? run("SELECT 1")) != nil { Thread.sleep(forTimeInterval: 0.01) }
        }

        /// Starts the server again.
        package func start() throws {
            try lifeline.fileHandleForWriting.write(contentsOf: Data("start\n".utf8))
            let end = Date(timeIntervalSinceNow: 60)
            while Date() < end {
                if (try? run("SELECT 1")) != nil { return }
                Thread.sleep(forTimeInterval: 0.01)
            }
            throw Failure("the server did not start again")
        }

        /// The URL of the database that another server calls by a URL.
        package func url(like other: String) -> String {
            url(of: other.split(separator: "/").last.map(String.init) ?? "")
        }

        /// Runs a statement in a database, or in the server's own.
        package func run(_ sql: String, in database: String? = nil) throws {
            try PostgresConnection(PostgresSettings(address: database ?? url(of: "postgres"))).run(sql)
        }

        package func url(of database: String) -> String {
            let host = folder.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? folder
            return "postgres://strata@\(host)/\(database)"
        }

        /// Ends all sessions of a database but those of this call, as a failover does.
        package func endSessions(of url: String) throws {
            let name = url.split(separator: "/").last.map(String.init) ?? ""
            try run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
        }
    }

    extension Trait where Self == ConditionTrait {
        /// For tests that need the server.
        package static var needsPostgres: Self {
            .enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed")
        }
    }
#endif
