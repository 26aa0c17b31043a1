#if Postgres
    import Foundation
    import StrataModel
    import StrataPostgres
    import StrataStore

    /// Checks a store in PostgreSQL: its tables, whether it fits a model, its sessions and its replicas. It only reads.
    struct DatabaseExamination {
        /// A replica that has more to replay shows old data, in bytes.
        static let longLag = 64 << 20

        let address: String
        let schema: String
        var report: Examination

        mutating func examine(_ model: ManagedObjectModel?, isQuick: Bool) throws(StoreError) {
            let info = try PostgresStore.storeInfo(
                at: address, options: StorePlace.options(schema), isChecked: !isQuick)
            let count = info.entities.reduce(0) { $0 + $1.count }
            report.ok(
                "format",
                "model \(info.modelName), \(count) \(count == 1 ? "object" : "objects"), format \(info.formatVersion), "
                    + "PostgreSQL \(info.server.version), \(info.server.isReplica ? "a replica" : "the primary")")
            if let problems = info.problems { examineIntegrity(problems) }
            if let model { try report.examineModel(of: .postgres(address), model, schema: schema) }
            report.ok(
                "size",
                "the tables have \(Examination.bytes(info.size)); \(info.externalCount) external values have "
                    + Examination.bytes(info.externalSize))
            examineSteps(info.deferredMigrationSteps)
            examineSessions(info.server)
            for replica in info.server.replicas { examine(replica) }
        }

        private mutating func examineIntegrity(_ problems: [String]) {
            if problems.isEmpty { return report.ok("integrity", "the tables are sound") }
            report.fail(
                "integrity", "the tables are damaged:\n\(Examination.list(problems))",
                advice: "stop writing to the store, and restore it from a backup with pg_restore; "
                    + "indexes that are not valid need only REINDEX")
        }

        private mutating func examineSteps(_ steps: [DeferredMigrationStep]) {
            guard !steps.isEmpty else { return }
            report.warn(
                "deferredSteps",
                "steps of migrations are still to be done:\n\(Examination.list(steps.map { "\($0)" }))",
                advice: "call finishDeferredMigration() in the app, which does them a batch at a time")
        }

        private mutating func examineSessions(_ server: PostgresStoreInfo.ServerInfo) {
            report.ok("sessions", "the database has \(server.sessionCount) sessions, this one included")
            for transaction in server.longTransactions {
                report.warn(
                    "transactions",
                    "process \(transaction.process) (\(transaction.application), \(transaction.state)) has had a "
                        + "transaction open for \(Int(transaction.seconds)) s: \(transaction.statement.prefix(200))",
                    advice: "it keeps locks and old versions of rows: end it in its program, "
                        + "or with SELECT pg_terminate_backend(\(transaction.process))")
            }
        }

        private mutating func examine(_ replica: PostgresStoreInfo.ConnectedReplica) {
            let text =
                "the replica \(replica.name) is \(replica.state), with \(Examination.bytes(replica.missingBytes)) to replay"
            if replica.state == "streaming", replica.missingBytes < Self.longLag {
                report.ok("replicas", text)
            } else {
                report.warn(
                    "replicas", text,
                    advice: "reads of it are old, or go to the primary: look at its log, its disk and its long queries")
            }
        }
    }
#endif
