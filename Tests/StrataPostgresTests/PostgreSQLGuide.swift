#if Postgres
    import Foundation
    import Strata
    import StrataPostgres

    /// The code of Documentation/PostgreSQL.md.
    enum PostgreSQLGuide {
        static func open(_ model: ManagedObjectModel) throws -> PersistentContainer {
            let container = try PersistentContainer(model: model, at: .postgres("postgres://app@db.example.com/cities"))
            return container
        }

        static func openWithOptions(_ model: ManagedObjectModel, _ address: String) throws -> PersistentContainer {
            var options = PostgresStore.Options()
            options.schema = "cities"
            options.connectionLimit = 16
            options.statementTimeout = 30
            let store = try PostgresStore.open(model: model, at: address, options: options)
            let container = try PersistentContainer(store: store)
            return container
        }

        static func observe(_ container: PersistentContainer, _ heard: @escaping @Sendable (String) -> Void)
            -> StoreObservation?
        {
            @Sendable func print(_ text: String) { heard(text) }
            let observation = container.store.observeForeignCommits {
                print("another process has saved")
            }
            return observation
        }

        static func record(_ options: inout PostgresStore.Options) {
            options.history = .on(keeping: .days(7))
        }

        static func nameReplicas(_ options: inout PostgresStore.Options) {
            options.replicas = PostgresStore.Replicas(
                ["postgres://app@replica.example.com/cities"], maximumStaleness: .seconds(2))
        }

        static func count(_ container: PersistentContainer) async throws -> Int {
            let count = try await container.read(from: .replica) { context in
                try context.count(FetchRequest<ManagedObject>(entity: "City"))
            }
            return count
        }

        static func divide(
            _ model: ManagedObjectModel, _ options: PostgresStore.Options, _ folder: String
        ) throws -> PersistentContainer {
            let container = try PersistentContainer(
                model: model,
                stores: [
                    PersistentStoreDescription(configuration: "Places") { [options] (model) throws(StoreError) in
                        try PostgresStore.open(
                            model: model, at: "postgres://app@db.example.com/cities", options: options)
                    },
                    PersistentStoreDescription(at: .file(path: "\(folder)/drafts.sqlite")),
                ])
            return container
        }

        static func reportReplicas(_ store: PostgresStore, _ told: inout [String]) {
            func print(_ values: any CustomStringConvertible...) {
                told.append(values.map(\.description).joined(separator: " "))
            }
            for state in store.replicaStates { print(state.address, state.problem ?? "in use", state.answers) }
            print(store.replicaFallbacks)
        }

        static func migrate(
            _ address: String, to model: ManagedObjectModel, _ options: inout PostgresStore.Options,
            _ told: inout [String]
        ) throws {
            func print(_ value: some CustomStringConvertible) { told.append(value.description) }
            options.migration.answers = ["City.nickname": .accept]
            let plan = try PostgresStore.migrationPlan(for: address, to: model, options: options)
            print(plan)
            let trial = try PostgresStore.dryRun(address, to: model, options: options)
            print(trial.seconds)
            try PostgresStore.migrate(address, to: model, options: options)
        }

        static func copy(_ sqlite: SQLiteStore, to postgres: PostgresStore, _ told: inout [String]) throws {
            func print(_ name: String, _ count: Int, _ checksum: String) { told.append("\(name) \(count)") }
            let report = try sqlite.copy(to: postgres)
            for part in report.entities { print(part.name, part.count, part.checksum) }
        }
    }
#endif
