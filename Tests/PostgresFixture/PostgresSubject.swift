#if Postgres
    import Foundation
    package import StrataStore
    package import StrataTesting

    @testable import StrataPostgres

    /// Stores in databases of the tests' server: one for each place.
    package struct PostgresSubject: ConformanceSubject {
        package let name = "PostgreSQL"
        package let datePrecision = 1e-6
        package let omissions: Set<ConformanceFeature> = [.zeroCharacters]
        private let databases = Guarded<[String: String]>([:])

        /// Makes the subject.
        package init() {}

        package func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
            try PostgresStore.open(
                model: model,
                at: databases.withLock { databases in
                    if let known = databases[place.path] { return known }
                    let made = try PostgresServer.shared.newDatabase()
                    databases[place.path] = made
                    return made
                })
        }
    }
#endif
