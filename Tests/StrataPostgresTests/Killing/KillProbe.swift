#if Postgres
    import ChildProcesses
    import Foundation
    import PostgresFixture
    import Testing

    @testable import StrataPostgres

    /// A process that works in a PostgreSQL database until it ends or is killed.
    final class KillProbe {
        private let process = Process()
        private let pipe = Pipe.forLaunch()
        /// What it has printed, as far as that was read.
        private(set) var output = ""

        init(_ arguments: String...) throws {
            process.executableURL = try TestExecutable.named("PostgresKillProbe")
            process.arguments = arguments
            process.standardOutput = pipe
            try process.start()
        }

        deinit { if process.isRunning { kill() } }

        /// Waits for a line that begins with a word.
        func wait(for word: String) throws {
            while !output.hasPrefix(word), !output.contains("\n\(word)") {
                let data = pipe.fileHandleForReading.availableData
                try #require(!data.isEmpty, "the probe ended before it said \(word): \(output)")
                output += String(decoding: data, as: UTF8.self)
            }
        }

        func kill() {
            if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
            _ = end()
        }

        /// Waits for the end of the process.
        func end() -> Int32 {
            // It must not wait for a full pipe.
            while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
                output += String(decoding: data, as: UTF8.self)
            }
            process.waitUntilExit()
            return process.terminationStatus
        }
    }

    /// Tests in which processes are killed and a server crashes, one after the other.
    @Suite("Processes that are killed while they use PostgreSQL", .needsPostgres, .serialized)
    enum PostgresKills {
        private static let started = Result { try PostgresServer() }

        /// A server that nobody else uses.
        static var server: PostgresServer { get throws { try started.get() } }
    }

    extension PostgresServer {
        /// The URL of a new database with what another one has, which nobody uses now.
        func copy(of url: String) throws -> String {
            try settle(url)
            return try newDatabase(like: String(url.split(separator: "/").last ?? ""))
        }

        /// Removes a database.
        func drop(_ url: String) throws {
            try run("DROP DATABASE \(url.split(separator: "/").last ?? "") WITH (FORCE)")
        }

        /// Waits until the server has ended the sessions of processes that are gone: their last statements may still run.
        /// - Parameter application: The name that the sessions have; nil for all sessions of the database.
        func settle(_ url: String, application: String? = nil) throws {
            let connection = try PostgresConnection(PostgresSettings(address: self.url(of: "postgres")))
            let name = url.split(separator: "/").last ?? ""
            let end = Date(timeIntervalSinceNow: 60)
            let condition = application.map { " AND application_name = '\($0)'" } ?? ""
            let sessions = "SELECT 1 FROM pg_stat_activity WHERE datname = '\(name)'\(condition)"
            while try connection.execute(sessions).rowCount > 0 {
                guard Date() < end else { throw Failure("sessions of \(name) do not end") }
                Thread.sleep(forTimeInterval: 0.002)
            }
        }
    }
#endif
