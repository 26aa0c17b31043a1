private let sqlite: SQLiteStore = absent()
private let postgres: any PersistentStore = absent()
