private let model: ManagedObjectModel = absent()
private let store: SQLiteStore = absent()
private let options = SQLiteStore.Options()
