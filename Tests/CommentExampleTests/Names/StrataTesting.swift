import Testing

private let path = "gazetteer.sqlite"
private let model: ManagedObjectModel = absent()
private let version1: ManagedObjectModel = absent()
private let version2: ManagedObjectModel = absent()
private let version3: ManagedObjectModel = absent()
private let split: MigrationStage = absent()
private let container: PersistentContainer = absent()
private let subject: DialectSubject = absent()
@MainActor private var context: ManagedObjectContext = absent()
@MainActor private var countries: [Country] = absent()

// What the reader has made and wants to check: a store, and a service with a dialect.
private func MyDialect() -> any RemoteDialect { absent() }
private enum MyServer { static func start() async throws -> any HTTPTransport { absent() } }
private func MyStore(model: ManagedObjectModel, folder: URL) throws -> any PersistentStore { absent() }
private let todo: EntityDescription = absent()
private struct PlainServers: BackendSubject {
    let name = "Plain server"
    func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend { absent() }
}
private let servers = PlainServers()
