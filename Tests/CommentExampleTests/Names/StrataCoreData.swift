@MainActor private var options = CoreDataStore.Options()
