private let password = "password"
private let model: ManagedObjectModel = absent()
private let store: RemoteStore = absent()
private let backend: HTTPBackend = absent()
private let users: any RemoteUsers = absent()
private let credentials: any RequestAuthorizer = absent()
private let feed: any ServerChangeFeed = absent()
private let dialect: any RemoteDialect = absent()
private let entity: EntityDescription = absent()
private let query: RemoteQuery = absent()
private let write: RemoteWrite = absent()
private let list: [JSONValue] = absent()
private let response: WireResponse = absent()
private let bytes: Data = absent()
private func askForPassword(of name: String) async -> String { name }
@MainActor private var context: ManagedObjectContext = absent()
@MainActor private var note: Note = absent()
private let key = "public key"
private let accessToken = "token"
private let conflict: SyncConflict = absent()
private let reachability: NetworkReachability = absent()
@MainActor private var city: City = absent()
private enum Keychain {
    static func read(_ name: String) throws(SessionStorageError) -> Data? { absent() }
    static func write(_ data: Data, _ name: String) throws(SessionStorageError) {}
    static func remove(_ name: String) throws(SessionStorageError) {}
}
private let answer: RemoteAnswer = absent()
private let sockets: any WebSocketTransport = absent()
private let socket: any WebSocketConnection = absent()
