import Foundation
import Strata
import StrataStackMob

/// The examples of Documentation/StackMob.md.
enum StackMobGuide {
    static func configuration(_ key: String) throws -> StackMobClient {
        var configuration = try StackMobConfiguration(publicKey: key, apiVersion: "0")  // 36 characters; a whole number
        configuration.dialect.host = "localhost:8080"
        configuration.dialect.securesCredentials = false  // passwords by HTTP: only for this machine
        let client = StackMobClient(configuration)
        return client
    }

    static func users(
        _ client: StackMobClient, password: String, other: String, mailed: String
    ) async throws -> (JSONObject, Bool, JSONObject) {
        let user = try await client.logIn(username: "bob", password: password)  // a JSONObject
        let isLoggedIn = client.session.isLoggedIn  // and isLoggedOut, userID, isExpired
        try await client.resetPassword(from: password, to: other)
        try await client.forgotPassword(username: "bob")  // a temporary password is mailed
        try await client.logIn(username: "bob", temporaryPassword: mailed, newPassword: other)
        let me = try await client.loggedInUser()
        try await client.logOut()
        return (user, isLoggedIn, me)
    }

    static func renewing(
        _ client: StackMobClient, name: String,
        askForPassword: @escaping @Sendable () async throws(RemoteError) -> String
    ) {
        client.session.onRefreshFailure { error, request in
            do throws(RemoteError) {
                try await client.logIn(username: name, password: try await askForPassword())
                request.resume()  // the request that waits is signed again and sent
            } catch {
                request.fail(with: error)  // or fail(): the caller gets the error of the renewal
            }
        }
    }

    static func data(_ client: StackMobClient, id: String) async throws -> JSONObject {
        let store = client.dataStore
        let city = try await store.create(["name": "Lima", "capital": false], in: "city")
        try await store.update(id, in: "city", with: ["capital": true, "note": nil])  // null empties a field
        try await store.increment("visits", of: id, in: "city", by: 2)
        try await store.append(["coast", "food"], to: "tags", of: id, in: "city")  // values, or ids into a relationship
        try await store.create([["name": "Plaza Mayor"]], appendingTo: "sights", of: id, in: "city")
        try await store.remove(["7"], from: "sights", of: id, in: "city", deletesObjects: true)
        try await store.delete(id, in: "city")
        return city
    }

    static func query(_ store: DataStore, here: GeoPoint) async throws -> ([JSONObject], Int) {
        let query = StackMobQuery("city")
            .where("capital", .equal, false)
            .where("position", within: 500, kilometersOf: here)
            .whereAny(
                .compare("visited", .less, .date(.now)),
                .and([.isIn("country", ["PE", "CL"]), .compare("note", .notEqual, nil)])
            )
            .ordered(by: "visited").skipping(20).limited(to: 10)
            .selecting("name", "visited").expanding(1)
        let cities = try await store.query(query)
        let count = try await store.count(query)  // of all objects that match; the range does not count
        return (cities, count)
    }

    static func customCode(_ client: StackMobClient, print: (Any...) -> Void) async throws {
        var request = CustomCodeRequest("hello_world", method: .get)
        request.add("name", "Bob")  // in order; a name may occur more than once
        request.acceptedContentTypes = ["image/png"]  // besides JSON, text and bytes
        request.retryBlock = { situation in situation.retriesLeft > 1 ? .sendAgain : .giveUp }
        switch try await client.perform(request) {
        case .json(let value): print("JSON:", value)
        case .text(let text): print("text:", text)
        case .data(let bytes, let contentType): print("\(bytes.count) bytes of \(contentType)")
        }
    }

    static func push(_ client: StackMobClient, deviceToken: Data) async throws -> [String: [PushToken]] {
        let push = try client.push  // needs the configuration's private key
        try await push.register(PushToken(deviceToken), for: "bob")
        try await push.broadcast(["alert": "Hello", "badge": 1])
        try await push.send(["alert": "Your turn"], toUsers: ["bob", "eve"])
        let tokens = try await push.tokens(ofUsers: ["bob"])
        try await push.delete(PushToken(deviceToken))
        return tokens
    }

    static func store(_ client: StackMobClient, path: String) throws -> (StackMobStore, PersistentContainer) {
        let stack = try StackMobStore.open(model: GazetteerModel.model, client: client, location: .file(path: path))
        let container = try PersistentContainer(store: stack.remote, classes: GazetteerModel.classes)
        return (stack, container)
    }

    static func switchingUsers(_ stack: StackMobStore, to other: String, password: String) async throws {
        let client = stack.client
        try await stack.sync.push()  // otherwise, waiting changes are lost
        try await client.logOut()
        try stack.reset()  // forgets objects, waiting changes, and how far pulls came; tells the server nothing
        try await client.logIn(username: other, password: password)
    }

    static func newUser(_ stack: StackMobStore, _ context: ManagedObjectContext, password: String) async throws {
        let user = User(context: context, username: "eve")
        stack.setPassword(password, for: user.objectID)
        try await context.save()  // without a password: code -104
    }

    static func following(_ stack: StackMobStore) {
        stack.followReachability { $0 == .reachable ? .networkElseCache : .cacheOnly }
    }

    static func place(_ provider: any LocationProvider) async throws -> GeoPoint {
        let here = try await GeoPoint.current(from: provider)  // code -110 if the position is unknown
        return here
    }
}
