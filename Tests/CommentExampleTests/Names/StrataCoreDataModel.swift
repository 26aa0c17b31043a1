private let url: URL = absent()
private let model: ManagedObjectModel = absent()
