private let key = "public key"
private let password = "password"
private let model: ManagedObjectModel = absent()
private let client: StackMobClient = absent()
