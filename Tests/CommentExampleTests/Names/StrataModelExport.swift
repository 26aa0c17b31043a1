private let model: ManagedObjectModel = absent()
