private let entity: EntityDescription = absent()
private let store: SQLiteStore = absent()
@MainActor private var city: City = absent()
