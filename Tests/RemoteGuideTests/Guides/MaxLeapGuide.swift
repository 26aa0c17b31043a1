import Foundation
import Strata
import StrataAsyncHTTP
import StrataMaxLeap

/// The examples of Documentation/MaxLeap.md.
enum MaxLeapGuide {
    #if AsyncHTTP
        static func live(
            _ client: MaxLeapClient, _ stack: MaxLeapStore
        ) throws -> ServerChangeWatch {
            let live = try ParseLiveQuery(client, classes: ["Town"], sockets: AsyncWebSocketTransport())
            let watch = stack.remote.synchronizes(with: live)  // keep it
            return watch
        }
    #endif

    static func clients(id: String, key: String) throws -> (MaxLeapClient, MaxLeapDialect) {
        let maxLeap = try MaxLeapDialect(address: .china, applicationID: id, apiKey: key)  // or .world, the default
        let parse = try MaxLeapDialect(.parse, address: MaxLeapAddress("https://example.com/parse"), applicationID: id)
        let client = MaxLeapClient(MaxLeapConfiguration(maxLeap))
        return (client, parse)
    }

    static func objects(_ client: MaxLeapClient, userID: String) async throws -> MaxLeapObject {
        var town = MaxLeapObject("Town")
        town["name"] = "Pisac"
        town["visited"] = .date(.now)
        town["position"] = .geoPoint(GeoPoint(latitude: -13.42, longitude: -71.85))
        town["guide"] = .pointer(MaxLeapPointer("_User", userID))
        town = try await client.save(town)  // from now on, it has an objectId

        try town.increment("visits", by: 2)  // the server computes it, so no concurrent change is lost
        try town.addUnique(["market", "ruins"], to: "tags")
        try town.addRelation([MaxLeapPointer("_User", userID)], to: "visitors")
        town["note"] = nil  // removes the field; .null stores a null
        town = try await client.save(town)  // sends only the four changes
        return town
    }

    static func completing(_ client: MaxLeapClient) async throws -> MaxLeapObject {
        let names = try await client.find(MaxLeapQuery("Town").selecting("name"))
        let whole = try await client.fetchIfNeeded(names[0])  // sends nothing if the object is complete
        return whole
    }

    static func files(_ client: MaxLeapClient, photo: Data) async throws -> Data {
        let progress = FileProgress { print($0.direction, $0.completed, $0.total ?? 0) }
        let picture = try await client.upload(MaxLeapFile(name: "me.jpeg", data: photo), progress: progress)
        let copy = try await client.data(of: picture, progress: progress)
        return copy
    }

    static func related(
        _ client: MaxLeapClient, _ first: MaxLeapObject, photo: Data, towns: [MaxLeapObject], townID: String,
        file: MaxLeapFile
    ) async throws -> (Int, Int, MaxLeapObject, Data) {
        var town = first
        var region = MaxLeapObject("Region")
        region["photo"] = .file(MaxLeapFile(name: "cusco.jpeg", contentType: "image/jpeg", data: photo))
        town["region"] = .object(region)
        town = try await client.save(town)  // the file, the region, the town
        let results = try await client.saveAll(towns)  // 100 in a request, 50 in Parse; each has its own result
        let failures = try await client.deleteAll(towns.compactMap(\.pointer))
        let again = try await client.fetch(MaxLeapPointer("Town", townID), include: ["region"])
        let bytes = try await client.data(of: file)  // without keys, because the address may be on another host
        return (results.count, failures.count, again, bytes)
    }

    static func access(_ first: MaxLeapObject) -> (MaxLeapObject, MaxLeapACL) {
        var town = first
        var access = MaxLeapACL()
        access.setRead(true, for: .everybody)
        access.setWrite(true, for: .role("Editors"))
        town.acl = access
        return (town, access)
    }

    static func roles(
        _ client: MaxLeapClient, _ access: MaxLeapACL, userID: String, adminsID: String
    ) async throws -> (MaxLeapObject, [MaxLeapObject]) {
        let admins = MaxLeapPointer("_Role", adminsID)
        var editors = try MaxLeapObject.role(named: "Editors", acl: access)
        try editors.addRelation([MaxLeapPointer("_User", userID)], to: "users")
        try editors.addRelation([admins], to: "roles")
        editors = try await client.save(editors)
        let members = try await client.find(MaxLeapQuery("_User").where(isIn: "users", of: admins))
        return (editors, members)
    }

    static func query(_ here: GeoPoint) -> MaxLeapQuery {
        let query = MaxLeapQuery("Town")
            .where("population", .greaterOrEqual(5_000)).where("name", .hasPrefix("A"))
            .where("position", .within(kilometers: 50, of: here))
            .where("region", .inQuery(MaxLeapQuery("Region").where("name", .equal("Cusco"))))
            .whereAny(.key("tags", .all(["market", "ruins"])), .key("photo", .exists(true)))
            .ordered(by: "visited", ascending: false).skipping(20).limited(to: 10)
            .selecting("name", "region").including("region.country")
        return query
    }

    static func finding(
        _ client: MaxLeapClient, _ query: MaxLeapQuery
    ) async throws -> ([MaxLeapObject], MaxLeapObject, Int) {
        let found = try await client.find(query)
        let first = try await client.first(query)  // code 101 if there is none
        let count = try await client.count(query)  // ignores limit and skip
        return (found, first, count)
    }

    static func predicate(userID: String) throws -> MaxLeapQuery {
        let query = try MaxLeapQuery(
            "Town", predicate: FetchPredicate(format: "population > 5000 AND guide = $me AND region IN $regions"),
            values: ["me": .pointer(MaxLeapPointer("_User", userID))],
            queries: ["regions": MaxLeapQuery("Region").where("country", .equal("PE"))])
        return query
    }

    static func cache(
        _ client: MaxLeapClient, _ query: MaxLeapQuery, show: ([MaxLeapObject]) -> Void
    ) async throws -> [MaxLeapObject] {
        let towns = try await client.find(query, policy: .networkElseCache, maximumAge: 3600)
        for await result in client.results(of: query) {  // the cache, then the network
            if case .success(let found) = result { show(found) }  // without an answer, the cache fails with code 120
        }
        client.clearCachedResult(of: query)  // and hasCachedResult, clearAllCachedResults
        return towns
    }

    static func users(
        _ client: MaxLeapClient, password: String, other: String
    ) async throws -> (MaxLeapObject, MaxLeapObject?, Bool) {
        let user = try await client.signUp(
            username: "bob", password: password, email: "bob@example.com", fields: ["age": 7])
        try await client.logIn(username: "bob", password: password)
        let current = client.currentUser  // as the server last told; a MaxLeapObject of class _User
        try await client.changePassword(from: password, to: other)
        let isRight = try await client.isPassword(other)
        try await client.requestPasswordReset(email: "bob@example.com")
        try await client.requestEmailVerify(email: "bob@example.com")
        try await client.logOut()
        return (user, current, isRight)
    }

    static func sessions(
        _ client: MaxLeapClient, token: String, showLogin: @escaping @Sendable (RemoteError) -> Void
    ) async throws -> MaxLeapObject {
        client.session.onEnd { error in showLogin(error) }
        let restored = try await client.become(token: token)
        return restored
    }

    static func anonymous(_ client: MaxLeapClient, password: String) async throws -> MaxLeapObject {
        let guest = try await client.automaticUser()  // the user who is logged in, or an anonymous one
        try await client.signUp(username: "eve", password: password)  // gives the anonymous user a name
        return guest
    }

    static func services(
        _ client: MaxLeapClient, facebookID: String, token: String, end: Date, twitterID: String, consumer: String,
        secret: String, tokenSecret: String, number: String, code: String
    ) async throws {
        try await client.logIn(.facebook(id: facebookID, accessToken: token, expiration: end))
        try await client.link(
            .twitter(
                id: twitterID, screenName: "bob", consumerKey: consumer, consumerSecret: secret, authToken: token,
                authTokenSecret: tokenSecret))
        try await client.unlink("twitter")
        try await client.requestLoginCode(phone: number)  // only MaxLeap, as everything that uses SMS
        try await client.logIn(phone: number, code: code)
        try await client.request(.requestPhoneVerify(phone: number))  // sends the user who is logged in a code
        try await client.request(.verifyPhone(code: code))
    }

    static func code(_ client: MaxLeapClient) async throws -> MaxLeapValue {
        let sum = try await client.call("average", ["of": [1, 2, 3]])
        try await client.runJob("cleanUp")
        return sum
    }

    static func store(_ client: MaxLeapClient, path: String) throws -> (MaxLeapStore, PersistentContainer) {
        let stack = try MaxLeapStore.open(model: TownsModel.model, client: client, location: .file(path: path))
        let container = try PersistentContainer(store: stack.remote, classes: TownsModel.classes)
        return (stack, container)
    }
}
