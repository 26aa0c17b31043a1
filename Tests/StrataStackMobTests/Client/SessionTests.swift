import Foundation
import StrataStackMob
import StrataStore
import StrataRemoteTesting
import Testing

@Suite struct SessionTests {
    @Test func loggingInSignsWhatFollowsAndTellsTheUser() async throws {
        let rig = try ClientRig()
        #expect(rig.client.session.isLoggedOut)
        rig.transport.answer(ClientRig.tokens("T1"))
        rig.transport.answer(json: "[]")
        let user = try await rig.client.logIn(username: "bob", password: "secret")
        #expect(user["age"] == 7)
        #expect(rig.client.session.isLoggedIn)
        #expect(rig.client.session.userID == "bob")
        _ = try await rig.client.dataStore.query(StackMobQuery("todo"))
        #expect(rig.transport.requests[0].token == nil)
        #expect(rig.transport.requests[1].token == "T1")
        let expected = MACCredentials(accessToken: "T1", key: "KT1").authorization(
            for: rig.transport.requests[1], seconds: Int64(rig.clock.now.timeIntervalSince1970), nonce: "n1")
        #expect(rig.transport.requests[1].header("Authorization") == expected)
    }

    @Test func nobodyLoggedInSendsUnsigned() async throws {
        let rig = try ClientRig()
        rig.transport.answer(json: "[]")
        _ = try await rig.client.dataStore.query(StackMobQuery("todo"))
        #expect(rig.transport.requests[0].header("Authorization") == nil)
    }

    @Test func theSessionIsThereInTheNextLaunchAndGoneAfterLogout() async throws {
        let storage = MemorySessionStorage()
        let first = try ClientRig(storage: storage)
        first.transport.answer(ClientRig.tokens("T1"))
        try await first.client.logIn(username: "bob", password: "secret")
        let second = try ClientRig(storage: storage)
        #expect(second.client.session.credentials == first.client.session.credentials)
        #expect(storage.session(named: "tests.\(testKey).oauth") != nil)
        second.transport.answer(status: 200)
        try await second.client.logOut()
        #expect(second.transport.requests[0].token == "T1")
        #expect(second.client.session.isLoggedOut)
        #expect(storage.session(named: "tests.\(testKey).oauth") == nil)
        #expect(try ClientRig(storage: storage).client.session.credentials == nil)
    }

    @Test func aLogoutThatFailsKeepsTheSession() async throws {
        let rig = try ClientRig()
        rig.logIn()
        rig.transport.fail(.requestLost)
        let error = await remoteError { try await rig.client.logOut() }
        #expect(error?.code == -105)
        #expect(error?.kind == .unreachable)
        #expect(rig.client.session.isLoggedIn)
    }

    @Test func aDamagedSessionIsNoSession() throws {
        let storage = MemorySessionStorage()
        storage.keep(Data("{]".utf8), named: "tests.\(testKey).oauth")
        #expect(try ClientRig(storage: storage).client.session.isLoggedOut)
    }

    @Test func aSessionThatCannotBeKeptIsTold() async throws {
        // There is a file where the folder should be.
        let place = URL.temporaryDirectory.appending(component: "sessions-\(UUID().uuidString)")
        try Data().write(to: place)
        defer { try? FileManager.default.removeItem(at: place) }
        let rig = try ClientRig { $0.sessionStorage = FileSessionStorage(folder: place) }
        let told = Guarded<[SessionStorageError]>([])
        rig.client.session.onStorageFailure { error in told.withLock { $0.append(error) } }
        #expect(told.withLock { $0.isEmpty })
        rig.transport.answer(ClientRig.tokens("T1"))
        try await rig.client.logIn(username: "bob", password: "secret")
        #expect(rig.client.session.isLoggedIn)
        #expect(rig.client.session.storageFailure?.place.hasPrefix(place.path) == true)
        #expect(told.withLock { $0.count } == 1)
        // A renewal tries again, and is told about, too.
        rig.transport.answer(ClientRig.tokens("T2"))
        try await rig.client.session.refresh()
        #expect(told.withLock { $0.count } == 2)
        try FileManager.default.removeItem(at: place)
        rig.transport.answer(ClientRig.tokens("T3"))
        try await rig.client.session.refresh()
        #expect(rig.client.session.storageFailure == nil)
        #expect(told.withLock { $0.count } == 2)
    }

    @Test func aSessionThatCannotBeReadIsToldToWhoAsksLater() throws {
        let storage = MemorySessionStorage()
        storage.keep(Data("{]".utf8), named: "tests.\(testKey).oauth")
        let rig = try ClientRig(storage: storage)
        let told = Guarded<[SessionStorageError]>([])
        rig.client.session.onStorageFailure { error in told.withLock { $0.append(error) } }
        #expect(told.withLock { $0.first }?.place == "tests.\(testKey).oauth")
        rig.logIn()
        #expect(rig.client.session.storageFailure == nil)
    }

    @Test func anExpiredSessionIsRenewedBeforeTheRequest() async throws {
        let rig = try ClientRig()
        rig.logIn(expiresIn: 10)
        rig.clock.advance(by: 10)
        #expect(rig.client.session.isExpired)
        #expect(rig.client.session.isLoggedIn)
        rig.transport.answer(ClientRig.tokens("T2"))
        rig.transport.answer(json: "{}")
        _ = try await rig.client.dataStore.read("1", in: "todo")
        #expect(rig.paths == ["POST /user/refreshToken", "GET /todo/1"])
        #expect(rig.transport.requests[0].form["refresh_token"] == "R")
        #expect(rig.transport.requests[0].head.scheme == "https")
        #expect(rig.transport.requests[1].token == "T2")
        #expect(rig.client.session.credentials?.refreshToken == "R2")
        #expect(!rig.client.session.isExpired)
    }

    @Test func afterA401TheSessionIsRenewedAndTheRequestSentOnceMore() async throws {
        let rig = try ClientRig()
        rig.logIn()
        rig.transport.answer(status: 401)
        rig.transport.answer(ClientRig.tokens("T2", refreshToken: nil))
        rig.transport.answer(json: #"{"a":1}"#)
        let object = try await rig.client.dataStore.read("1", in: "todo")
        #expect(object == ["a": 1])
        #expect(rig.paths == ["GET /todo/1", "POST /user/refreshToken", "GET /todo/1"])
        #expect(rig.transport.requests.map(\.token) == ["A", nil, "T2"])
        // A server that gives no new refresh token means the old one to be used again.
        #expect(rig.client.session.credentials?.refreshToken == "R")
        #expect(rig.client.session.userID == "bob")
    }

    @Test func asecond401IsTheCallers() async throws {
        let rig = try ClientRig()
        rig.logIn()
        rig.transport.answer(status: 401)
        rig.transport.answer(ClientRig.tokens("T2"))
        rig.transport.answer(status: 401)
        let error = await remoteError { _ = try await rig.client.dataStore.read("1", in: "todo") }
        #expect(error?.code == 401)
        #expect(rig.transport.requests.count == 3)
    }

    @Test func optionsCanForbidRenewing() async throws {
        let rig = try ClientRig()
        rig.logIn(expiresIn: -1)
        rig.transport.answer(status: 401)
        var options = RequestOptions()
        options.renewsSession = false
        let error = await remoteError { _ = try await rig.client.dataStore.read("1", in: "todo", options: options) }
        #expect(error?.code == 401)
        #expect(rig.transport.requests.map(\.token) == ["A"])
    }

    @Test func aFailedRenewalHasBothErrors() async throws {
        let rig = try ClientRig()
        rig.logIn()
        rig.transport.answer(json: #"{"error":"no"}"#, status: 401)
        rig.transport.answer(json: #"{"error":"gone"}"#, status: 400)
        let error = try #require(await remoteError { _ = try await rig.client.dataStore.read("1", in: "todo") })
        #expect((error.domain, error.code) == ("SMError", -109))
        #expect(error.kind == .unauthorized)
        #expect(error.underlying.map(\.code) == [400, 401])
    }

    @Test func aRenewalWithoutANetworkSaysSoByItsKind() async throws {
        let rig = try ClientRig()
        rig.logIn(expiresIn: -1)
        rig.transport.fail(.requestLost)
        let error = try #require(await remoteError { _ = try await rig.client.dataStore.read("1", in: "todo") })
        #expect(error.code == -109)
        #expect(error.kind == .unreachable)
        #expect(error.underlying.map(\.code) == [-105])
        #expect(rig.client.session.isLoggedIn)
    }

    @Test func refreshingByHand() async throws {
        let rig = try ClientRig()
        #expect(await remoteError { try await rig.client.session.refresh() }?.code == -100)
        #expect(rig.transport.requests.isEmpty)
        rig.logIn()
        rig.transport.answer(ClientRig.tokens("T2"))
        try await rig.client.session.refresh()
        #expect(rig.client.session.credentials?.signer.accessToken == "T2")
    }

    @Test func signaturesHaveTheServersTime() async throws {
        let rig = try ClientRig()
        let now = Int64(rig.clock.now.timeIntervalSince1970)
        rig.transport.answer(
            .scripted(
                json: String(decoding: ClientRig.tokens("T1").body, as: UTF8.self),
                headers: ["X-StackMob-Time-MS": String((now + 500) * 1000)]))
        rig.transport.answer(json: "{}")
        try await rig.client.logIn(username: "bob", password: "x")
        _ = try await rig.client.dataStore.read("1", in: "todo")
        #expect(rig.transport.requests[1].header("Authorization")?.contains("ts=\"\(now + 500)\"") == true)
    }

    @Test func noSecretIsPrinted() throws {
        let rig = try ClientRig()
        rig.logIn(token: "SECRET1", refreshToken: "SECRET2")
        let credentials = try #require(rig.client.session.credentials)
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(!text.contains("SECRET"))
            #expect(text.contains("bob"))
        }
    }

    @Test func nothingSecretIsLogged() async throws {
        let lines = LogLines()
        let rig = try ClientRig {
            $0.logger = lines.logger
            $0.dialect.userPasswordField = "doggysecret"
        }
        rig.transport.answer(ClientRig.tokens("SECRET1", refreshToken: "SECRET2"))
        rig.transport.answer(json: "{}")
        rig.transport.answer(json: "{}")
        rig.transport.answer(json: "{}")
        rig.transport.answer(status: 200)
        rig.transport.answer(json: #"{"doggysecret":"SECRET3"}"#)
        try await rig.client.logIn(username: "bob", password: "SECRET4")
        try await rig.client.resetPassword(from: "SECRET5", to: "SECRET6")
        try await rig.client.linkTwitter(token: "SECRET7", secret: "SECRET8")
        _ = try await rig.client.dataStore.create(["username": "eve", "doggysecret": "SECRET9"], in: "user")
        try await rig.client.push.register(PushToken("SECRET10"), for: "bob")
        _ = try await rig.client.loggedInUser()
        #expect(!lines.text.contains("SECRET"))
        #expect(rig.transport.requests.count == 6)
        #expect(lines.lines.withLock { $0.count } == 12)
    }
}
