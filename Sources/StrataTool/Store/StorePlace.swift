import Foundation
import StrataModel
import StrataSQLite

#if Postgres
    import StrataPostgres
#endif

/// Where a store is, as a command is told: the path of a file, or the URL of a PostgreSQL database.
enum StorePlace {
    case file(String)
    case postgres(String)

    init(_ text: String) {
        let isURL = text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
        self = isURL ? .postgres(text) : .file(text)
    }

    /// The path, or the URL without its password.
    var text: String {
        switch self {
        case .file(let path): return path
        case .postgres(let address):
            guard var parts = URLComponents(string: address) else { return "postgres://…" }
            parts.password = nil
            parts.queryItems?.removeAll { $0.name == "password" }
            return parts.string ?? "postgres://…"
        }
    }

    /// The model of the store, as the store describes it; nil if there is no store yet.
    func model(schema: String) throws(StoreError) -> ManagedObjectModel? {
        switch self {
        case .file(let path):
            do throws(StoreError) {
                return try SQLiteStore.storedModel(at: path)
            } catch {
                guard case .notFound = error else { throw error }
                return nil
            }
        case .postgres(let address):
            #if Postgres
                return try PostgresStore.storedModel(at: address, options: Self.options(schema))
            #else
                throw Self.missing(address)
            #endif
        }
    }

    /// Opens a store only for reading.
    /// - Parameter creates: Whether a database is opened for writing, and gets a store if it has none.
    func open(
        _ model: ManagedObjectModel, schema: String, creates: Bool = false
    ) throws(StoreError) -> any PersistentStore {
        switch self {
        case .file(let path):
            var options = SQLiteStore.Options()
            options.isReadOnly = true
            options.createIfMissing = false
            return try SQLiteStore.open(model: model, location: .file(path: path), options: options)
        case .postgres(let address):
            #if Postgres
                let options = Self.options(schema)
                return creates
                    ? try PostgresStore.open(model: model, at: address, options: options)
                    : try PostgresStore.openReadOnly(model: model, at: address, options: options)
            #else
                throw Self.missing(address)
            #endif
        }
    }

    /// The steps of migrations that the app is still to finish.
    func deferredSteps(schema: String) throws(StoreError) -> [DeferredMigrationStep] {
        switch self {
        case .file(let path): return try SQLiteStore.storeInfo(at: path).deferredMigrationSteps
        case .postgres(let address):
            #if Postgres
                let options = Self.options(schema)
                return try PostgresStore.storeInfo(at: address, options: options).deferredMigrationSteps
            #else
                throw Self.missing(address)
            #endif
        }
    }

    /// How a database finds the objects of a fetch, and what would help.
    func explain(
        _ plan: FetchPlan, _ model: ManagedObjectModel, schema: String, counting: Bool
    ) throws(StoreError) -> (FetchExplanation, FetchAdvice) {
        let opened = try open(model, schema: schema)
        defer { opened.close() }
        #if Postgres
            if let store = opened as? PostgresStore {
                let explanation = try store.explain(plan, counting: counting)
                return (explanation, store.advice(plan, counting: counting, for: explanation))
            }
        #endif
        throw .unsupported(store: opened.name, feature: "explanations")
    }

    /// What would have to be done so that the store fits a model.
    func migrationPlan(
        to model: ManagedObjectModel, _ migration: MigrationOptions, schema: String
    ) throws(StoreError) -> MigrationPlan {
        switch self {
        case .file(let path):
            var options = SQLiteStore.Options()
            options.migration = migration
            return try SQLiteStore.migrationPlan(for: path, to: model, options: options)
        case .postgres(let address):
            #if Postgres
                var options = Self.options(schema)
                options.migration = migration
                return try PostgresStore.migrationPlan(for: address, to: model, options: options)
            #else
                throw Self.missing(address)
            #endif
        }
    }

    /// Migrates the store to a model.
    /// - Parameter isTrial: Whether the store stays as it is.
    func migrate(
        to model: ManagedObjectModel, _ migration: MigrationOptions, schema: String, isTrial: Bool
    ) throws(StoreError) -> MigrationReport {
        switch self {
        case .file(let path):
            var options = SQLiteStore.Options()
            options.migration = migration
            return isTrial
                ? try SQLiteStore.dryRun(path, to: model, options: options)
                : try SQLiteStore.migrate(path, to: model, options: options)
        case .postgres(let address):
            #if Postgres
                var options = Self.options(schema)
                options.migration = migration
                return isTrial
                    ? try PostgresStore.dryRun(address, to: model, options: options)
                    : try PostgresStore.migrate(address, to: model, options: options)
            #else
                throw Self.missing(address)
            #endif
        }
    }

    #if Postgres
        static func options(_ schema: String) -> PostgresStore.Options {
            var options = PostgresStore.Options()
            options.schema = schema
            return options
        }
    #else
        /// Why this build of the tool cannot open a database.
        static func missing(_ address: String) -> StoreError {
            .unsupported(
                store: "PostgreSQL",
                feature:
                    "this build of strata; build it with: swift build --traits CommandLine,Postgres --product strata")
        }
    #endif
}
