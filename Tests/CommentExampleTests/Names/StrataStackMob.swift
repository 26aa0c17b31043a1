private let key = "public key"
private let password = "password"
private let model: ManagedObjectModel = absent()
private let client: StackMobClient = absent()
private let privateKey = "private key"
private let accessToken = "token"
private let deviceToken: Data = absent()
private let bytes: Data = absent()
private let dialect: StackMobDialect = absent()
private let response: WireResponse = absent()
private let credentials: MACCredentials = absent()
private let entity: EntityDescription = absent()
private let other = "another password"
private let otherClient: StackMobClient = absent()
private let stack: StackMobStore = absent()
private func logInAgain() async {}
