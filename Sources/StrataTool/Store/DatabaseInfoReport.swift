#if Postgres
    import Foundation
    import StrataPostgres

    /// A store in PostgreSQL as `strata store info` prints it. The stored properties are the members of the JSON.
    struct DatabaseInfoReport: Encodable {
        struct Transaction: Encodable {
            let process: Int
            let application: String
            let state: String
            let seconds: Double
            let statement: String
        }

        struct Replica: Encodable {
            let name: String
            let state: String
            let missingBytes: Int
        }

        let model: String
        let versionHash: String
        let identifier: UUID
        let formatVersion: Int
        let serverVersion: String
        let isReplica: Bool
        let replicas: [Replica]
        let size: Int
        let externalCount: Int
        let externalSize: Int
        let sessionCount: Int
        let longTransactions: [Transaction]
        let deferredSteps: [DeferredReport]
        let entities: [EntityReport]
        let isSound: Bool?
        let problems: [String]

        init(_ info: PostgresStoreInfo) {
            model = info.modelName
            versionHash = info.versionHash
            identifier = info.identifier
            formatVersion = info.formatVersion
            serverVersion = info.server.version
            isReplica = info.server.isReplica
            replicas = info.server.replicas.map {
                Replica(name: $0.name, state: $0.state, missingBytes: $0.missingBytes)
            }
            size = info.size
            externalCount = info.externalCount
            externalSize = info.externalSize
            sessionCount = info.server.sessionCount
            longTransactions = info.server.longTransactions.map {
                Transaction(
                    process: $0.process, application: $0.application, state: $0.state, seconds: $0.seconds,
                    statement: $0.statement)
            }
            deferredSteps = info.deferredMigrationSteps.map(DeferredReport.init)
            entities = info.entities.map(EntityReport.init)
            isSound = info.problems?.isEmpty
            problems = info.problems ?? []
        }

        /// Prints the report as text.
        func printText() {
            let sizes = ByteCountFormatter()
            func size(_ bytes: Int) -> String { sizes.string(fromByteCount: Int64(bytes)) }
            Output.columns([
                ["model", model],
                ["version hash", versionHash],
                ["identifier", identifier.uuidString.lowercased()],
                ["format", "\(formatVersion), PostgreSQL \(serverVersion)"],
                ["server", isReplica ? "replica" : "primary"],
                ["tables", size(self.size)],
                ["external values", "\(externalCount), \(size(externalSize))"],
                ["sessions", "\(sessionCount)"],
            ])
            for replica in replicas {
                print("replica \(replica.name): \(replica.state), \(size(replica.missingBytes)) to replay")
            }
            EntityReport.printText(entities)
            if !deferredSteps.isEmpty {
                print("\ndeferred steps of migrations")
                for step in deferredSteps { print("  \(step)") }
            }
            for transaction in longTransactions {
                print(
                    "\ntransaction of process \(transaction.process) (\(transaction.application)), "
                        + "\(transaction.state), open for \(Int(transaction.seconds)) s: \(transaction.statement)")
            }
            guard let isSound else { return }
            print(isSound ? "\nintegrity ok" : "\nintegrity: damaged")
            for problem in problems { print("  \(problem)") }
        }
    }
#endif
