private let container: PersistentContainer = absent()
private let background: BackgroundContext = absent()
private let model: ManagedObjectModel = absent()
private let version1: ManagedObjectModel = absent()
private let version2: ManagedObjectModel = absent()
@MainActor private var options = SQLiteStore.Options()
private let token: HistoryToken? = absent()
private let data: Data = absent()

@MainActor private var rows: [[String: Any?]] = absent()
@MainActor private var context: ManagedObjectContext = absent()
@MainActor private var history: UndoHistory = absent()
@MainActor private var city: City = absent()
@MainActor private var cities: [City] = absent()
@MainActor private var lima: City = absent()
@MainActor private var country: Country = absent()
@MainActor private var peru: Country = absent()
@MainActor private var southAmerica: Continent = absent()
@MainActor private var town: Town = absent()
@MainActor private var note: Note = absent()
@MainActor private var visit: Visit = absent()
@MainActor private var visits: [Visit] = absent()

// What an app has of its own: an index for searches, a table on the screen, a server.
private struct SearchIndex { func update(_ change: HistoryChange) throws {} }
private let index = SearchIndex()
@MainActor private struct Table { func apply<Difference>(_ difference: Difference) {} }
@MainActor private let table = Table()
@MainActor private func show(_ values: some Sequence) {}
private func removeThumbnails(_ objects: some Sequence) {}
private func download() async throws -> [(id: String, name: String)] { [] }
