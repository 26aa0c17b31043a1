import Foundation
import Strata
import StrataMaxLeap
import StrataStore
import StrataRemoteTesting
import Testing

/// The examples of the guide to MaxLeap and Parse, over a script.
@Suite struct MaxLeapRunTests {
    private let script = ScriptedTransport(clock: VirtualClock())
    private let time = "2016-04-21T09:12:59.585Z"

    private func client() throws -> MaxLeapClient {
        var configuration = MaxLeapConfiguration(
            try MaxLeapDialect(address: .china, applicationID: "app", apiKey: "key"))
        configuration.transport = script
        configuration.sessionStorage = MemorySessionStorage()
        configuration.clock = VirtualClock()
        return MaxLeapClient(configuration)
    }

    private func created(_ id: String) {
        script.answer(json: #"{"objectId":"\#(id)","createdAt":"\#(time)"}"#, status: 201)
    }
    private func updated() { script.answer(json: #"{"number":1,"updatedAt":"\#(time)"}"#) }
    private func user(_ name: String) {
        script.answer(json: #"{"objectId":"u1","username":"\#(name)","sessionToken":"T","createdAt":"\#(time)"}"#)
    }
    private var lines: [String] { script.requests.map(\.line) }

    @Test("The clients of the guide speak both dialects")
    func clients() throws {
        let (client, parse) = try MaxLeapGuide.clients(id: "app", key: "key")
        #expect(client.configuration.dialect.flavor == .maxLeap && parse.flavor == .parse)
    }

    @Test("An object is saved, and then only its changes")
    func objects() async throws {
        created("t1")
        updated()
        let town = try await MaxLeapGuide.objects(try client(), userID: "u1")
        #expect(town.objectId == "t1" && !town.isDirty)
        #expect(lines == ["POST /2.0/classes/Town", "PUT /2.0/classes/Town/t1"])
        let body = try JSONValue(parsing: try #require(script.requests.last?.body)).members
        #expect(Set(body?.names ?? []) == ["visits", "tags", "visitors", "note"])
    }

    @Test("New objects and files among the values are saved first")
    func related() async throws {
        script.answer(json: #"{"name":"me.jpeg","url":"https://cdn.example.com/me.jpeg"}"#, status: 201)
        created("r1")
        created("t1")
        script.answer(json: #"[{"objectId":"1","createdAt":"\#(time)"}]"#)
        script.answer(json: #"[{"number":1}]"#)
        script.answer(json: #"{"objectId":"t1","name":"Pisac"}"#)
        script.answer(body: Data("photo".utf8))
        var other = MaxLeapObject("Town", objectId: "7")
        other["name"] = "Ollantaytambo"
        let file = MaxLeapFile(name: "me.jpeg", url: "https://cdn.example.com/me.jpeg")
        let result = try await MaxLeapGuide.related(
            try client(), MaxLeapObject("Town"), photo: Data("photo".utf8), towns: [other], townID: "t1", file: file)
        #expect(lines.prefix(3) == ["PUT /2.0/files/cusco.jpeg", "POST /2.0/classes/Region", "POST /2.0/classes/Town"])
        #expect(result.0 == 1 && result.1 == 1 && result.2["name"] == "Pisac" && result.3 == Data("photo".utf8))
    }

    @Test("The rest of an object is read on demand, and files report their progress")
    func completing() async throws {
        script.answer(json: #"{"results":[{"objectId":"1","createdAt":"\#(time)","name":"Pisac"}]}"#)
        script.answer(json: #"{"objectId":"1","createdAt":"\#(time)","name":"Pisac","body":"Long"}"#)
        #expect(try await MaxLeapGuide.completing(try client())["body"] == "Long")
        #expect(lines == ["GET /2.0/classes/Town", "GET /2.0/classes/Town/1"])
        script.answer(json: #"{"name":"me.jpeg","url":"https://cdn.example.com/me.jpeg"}"#, status: 201)
        script.answer(body: Data("photo".utf8))
        #expect(try await MaxLeapGuide.files(try client(), photo: Data("photo".utf8)) == Data("photo".utf8))
    }

    @Test("Access is set for everybody and for roles, which have users and other roles")
    func access() async throws {
        let (town, access) = MaxLeapGuide.access(MaxLeapObject("Town"))
        #expect(town.acl == access)
        created("r1")
        script.answer(json: #"{"results":[{"objectId":"u1"}]}"#)
        let (editors, members) = try await MaxLeapGuide.roles(try client(), access, userID: "u1", adminsID: "r0")
        #expect(editors.objectId == "r1" && members.count == 1)
        #expect(lines == ["POST /2.0/classes/_Role", "GET /2.0/users"])
    }

    @Test("A query finds, counts and gives the first object")
    func queries() async throws {
        let query = MaxLeapGuide.query(GeoPoint(latitude: -13.52, longitude: -71.97))
        script.answer(json: #"{"results":[{"objectId":"1"},{"objectId":"2"}]}"#)
        script.answer(json: #"{"results":[{"objectId":"1"}]}"#)
        script.answer(json: #"{"results":[],"count":42}"#)
        let (found, first, count) = try await MaxLeapGuide.finding(try client(), query)
        #expect(found.count == 2 && first.objectId == "1" && count == 42)
        _ = try MaxLeapGuide.predicate(userID: "u1")
    }

    @Test("The cache answers first, then the network")
    func cache() async throws {
        script.handle { _ in .scripted(json: #"{"results":[{"objectId":"1"}]}"#) }
        var seen = 0
        let towns = try await MaxLeapGuide.cache(try client(), MaxLeapQuery("Town")) { seen += $0.count }
        #expect(towns.count == 1 && seen == 2)
    }

    @Test("A session is taken up by its token, and its end is told")
    func sessions() async throws {
        user("bob")
        let client = try client()
        let ends = Guarded(0)
        let restored = try await MaxLeapGuide.sessions(client, token: "T2") { _ in ends.withLock { $0 += 1 } }
        #expect(restored["username"] == "bob" && client.session.token == "T2")
        script.answer(json: #"{"errorCode":160,"errorMessage":"invalid session"}"#, status: 400)
        await #expect(throws: RemoteError.self) { try await client.refreshUser() }
        #expect(ends.withLock { $0 } == 1)
    }

    @Test("Users sign up, log in, change passwords and log out")
    func users() async throws {
        user("bob")
        user("bob")
        updated()
        user("bob")
        for _ in 0..<3 { script.answer(json: #"{"success":true}"#) }
        let client = try client()
        let (signedUp, current, isRight) = try await MaxLeapGuide.users(client, password: "a", other: "b")
        #expect(signedUp["username"] == "bob" && current?.objectId == "u1" && isRight)
        #expect(client.currentUser == nil)
    }

    @Test("An anonymous user gets a name, and other services are linked")
    func services() async throws {
        let client = try client()
        user("anonymous")
        script.answer(json: #"{"number":1,"updatedAt":"\#(time)","sessionToken":"T"}"#)
        let guest = try await MaxLeapGuide.anonymous(client, password: "p")
        #expect(guest.objectId == "u1")
        user("bob")
        updated()
        updated()
        script.answer(json: #"{"success":true}"#)
        user("bob")
        for _ in 0..<2 { script.answer(json: #"{"success":true}"#) }
        try await MaxLeapGuide.services(
            client, facebookID: "9", token: "t", end: .now, twitterID: "8", consumer: "c", secret: "s",
            tokenSecret: "ts", number: "+51", code: "1234")
        #expect(client.session.isLoggedIn)
    }

    @Test("Functions and jobs are called by name")
    func code() async throws {
        script.answer(json: "2")
        script.answer(json: "{}")
        #expect(try await MaxLeapGuide.code(try client()) == 2)
        #expect(lines == ["POST /2.0/functions/average", "POST /2.0/jobs/cleanUp"])
    }

    @Test("Objects of a store take the keys of the server")
    func store() async throws {
        let folder = try TestFolder()
        let (_, container) = try MaxLeapGuide.store(try client(), path: folder.path)
        let context = container.newContext()
        let town = Town(context: context, name: "Pisac")
        created("t1")
        try await context.save()
        #expect(town.objectId == "t1")
    }
}
