private let version1: ManagedObjectModel = absent()
private let version2: ManagedObjectModel = absent()
private let model: ManagedObjectModel = absent()
@MainActor private var city: City = absent()
