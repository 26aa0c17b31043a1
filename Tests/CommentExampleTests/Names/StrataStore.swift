private let container: PersistentContainer = absent()
private let city: EntityDescription = absent()
private let store: SQLiteStore = absent()
private let plan: FetchPlan = absent()
