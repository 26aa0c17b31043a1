import Foundation
import Strata
import StrataStackMob
import StrataRemoteTesting
import Testing

/// The examples of the guide to StackMob, over a server in memory and a script.
@Suite struct StackMobRunTests {
    private let server = ObjectServer()
    private let script = ScriptedTransport(clock: VirtualClock())

    private func client(_ transport: any HTTPTransport) throws -> StackMobClient {
        var configuration = try StackMobConfiguration(publicKey: testKey, privateKey: "private")
        configuration.transport = transport
        configuration.sessionStorage = MemorySessionStorage()
        configuration.clock = VirtualClock()
        return StackMobClient(configuration)
    }

    @Test("The client of the guide is for this machine")
    func configuration() throws {
        let dialect = try StackMobGuide.configuration(testKey).configuration.dialect
        #expect(dialect.host == "localhost:8080" && !dialect.securesCredentials)
        #expect(throws: RemoteError.self) { try StackMobGuide.configuration("short") }
    }

    @Test("Users log in and out, and change their passwords")
    func users() async throws {
        let client = try client(server.transport)
        let (user, isLoggedIn, me) = try await StackMobGuide.users(client, password: "a", other: "b", mailed: "c")
        #expect(user["age"] == 7 && isLoggedIn && me["username"] == "bob")
        #expect(client.session.isLoggedOut)
        #expect(
            server.paths == [
                "POST /user/accessToken", "POST /user/resetPassword", "POST /user/forgotPassword",
                "POST /user/accessToken", "GET /user/loggedInUser", "GET /user/logout",
            ])
    }

    @Test("A handler logs in again when a session cannot be renewed")
    func renewing() async throws {
        let client = try client(script)
        StackMobGuide.renewing(client, name: "bob") { () async throws(RemoteError) in "secret" }
        client.session.replace(
            with: SessionCredentials(
                signer: MACCredentials(accessToken: "old", key: "K"), refreshToken: "R", expiration: .distantPast,
                userID: "bob"))
        script.answer(json: #"{"error":"no"}"#, status: 401)
        script.answer(ObjectServer.tokens)
        script.answer(json: "[]")
        #expect(try await client.dataStore.query(StackMobQuery("city")).isEmpty)
        #expect(script.requests.map(\.line) == ["POST /user/refreshToken", "POST /user/accessToken", "GET /city"])
    }

    @Test("Objects are created, changed and deleted by schema")
    func data() async throws {
        let city = try await StackMobGuide.data(try client(server.transport), id: "7")
        #expect(city["name"] == "Lima")
        #expect(
            server.paths.map { $0.prefix { $0 != " " } } == ["POST", "PUT", "PUT", "PUT", "POST", "DELETE", "DELETE"])
        #expect(server.objects("city").count == 1)
    }

    @Test("A query is sent as parameters and headers")
    func query() async throws {
        script.answer(json: #"[{"name":"Lima"}]"#)
        script.answer(json: "[{}]", headers: ["Content-Range": "objects 0-0/42"])
        let here = GeoPoint(latitude: -12.05, longitude: -77.04)
        let (cities, count) = try await StackMobGuide.query(try client(script).dataStore, here: here)
        #expect(cities == [["name": "Lima"]])
        #expect(count == 42)
        let request = try #require(script.requests.first)
        #expect(request.head.path?.contains("capital=false") == true)
        #expect(request.head.headerFields[.range] == "objects=20-29")
    }

    @Test("A reply of custom code is read by its type")
    func customCode() async throws {
        script.answer(json: #"{"a":1}"#)
        script.answer(headers: ["Content-Type": "text/plain"], body: Data("Hi".utf8))
        script.answer(headers: ["Content-Type": "image/png"], body: Data([1, 2]))
        var lines: [String] = []
        for _ in 0..<3 {
            try await StackMobGuide.customCode(try client(script)) {
                lines.append($0.map { "\($0)" }.joined(separator: " "))
            }
        }
        #expect(lines == [#"JSON: {"a":1}"#, "text: Hi", "2 bytes of image/png"])
        #expect(script.requests.first?.head.path == "/hello_world?name=Bob")
    }

    @Test("Devices are registered, reached and forgotten")
    func push() async throws {
        script.handle { request in
            .scripted(json: request.line.hasPrefix("GET") ? #"{"tokens":{"bob":[{"token":"0A","type":"ios"}]}}"# : "{}")
        }
        let tokens = try await StackMobGuide.push(try client(script), deviceToken: Data([0x0A]))
        #expect(tokens["bob"]?.map(\.token) == ["0A"])
        #expect(script.requests.count == 5)
    }

    @Test("A store is emptied for another user")
    func store() async throws {
        let folder = try TestFolder()
        server.put(["country_id": "PE", "name": "Peru"], "country_id", in: "country")
        let (stack, container) = try StackMobGuide.store(try client(server.transport), path: folder.path)
        #expect(try await container.newContext().fetch(FetchRequest<Country>()).map(\.name) == ["Peru"])
        let countries = FetchRequest<Country>().options(RemoteOptions(fetchPolicy: .cacheOnly))
        #expect(try await container.newContext().count(countries) == 1)
        try await StackMobGuide.switchingUsers(stack, to: "bob", password: "p")
        #expect(try await container.newContext().count(countries) == 0)
        #expect(stack.client.session.isLoggedIn)
        StackMobGuide.following(stack)
        stack.client.reachability.note(.notReachable)
        #expect(stack.remote.fetchPolicy == .cacheOnly)
        stack.client.reachability.note(.reachable)
        #expect(stack.remote.fetchPolicy == .networkElseCache)
    }

    @Test("New users are saved with their passwords")
    func newUser() async throws {
        let stack = try StackMobStore.open(
            model: UsersModel.model, client: try client(server.transport), location: .memory(name: nil))
        let container = try PersistentContainer(store: stack.remote, classes: UsersModel.classes)
        try await StackMobGuide.newUser(stack, container.newContext(), password: "p")
        #expect(server.objects("user").map { $0["username"] } == ["eve"])
        let users = FetchRequest<User>().options(RemoteOptions(fetchPolicy: .cacheOnly))
        #expect(try await container.newContext().count(users) == 1)
    }

    @Test("The position comes from the app's provider")
    func place() async throws {
        let lima = GeoPoint(latitude: -12.04, longitude: -77.03)
        #expect(try await StackMobGuide.place(FixedLocation(lima)) == lima)
    }
}
