private let version1: ManagedObjectModel = absent()
private let version2: ManagedObjectModel = absent()
