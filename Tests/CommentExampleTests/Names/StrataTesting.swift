import Testing

private let path = "gazetteer.sqlite"
private let version1: ManagedObjectModel = absent()
private let version2: ManagedObjectModel = absent()
private let version3: ManagedObjectModel = absent()
private let split: MigrationStage = absent()
private let container: PersistentContainer = absent()
@MainActor private var context: ManagedObjectContext = absent()
@MainActor private var countries: [Country] = absent()

// What the reader has made and wants to check.
private func MyStore(model: ManagedObjectModel, folder: URL) throws -> any PersistentStore { absent() }
