import Testing

private let model: ManagedObjectModel = absent()
private let subject: DialectSubject = absent()

// What the reader has made and wants to check: a service with a dialect.
private func MyDialect() -> any RemoteDialect { absent() }
private enum MyServer { static func start() async throws -> any HTTPTransport { absent() } }
private let city: EntityDescription = absent()
private struct PlainServers: BackendSubject {
    let name = "Plain server"
    func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend { absent() }
}
private let servers = PlainServers()
