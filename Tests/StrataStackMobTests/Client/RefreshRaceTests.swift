import Foundation
import StrataStackMob
import StrataStore
import StrataRemoteTesting
import Testing

/// What happens when several requests need the session renewed at once, or the user does something meanwhile.
@Suite struct RefreshRaceTests {
    /// A server whose token endpoint waits at a gate and which takes only the newest token.
    private final class Server: Sendable {
        struct State {
            var token = "A"
            var refreshes = 0
        }
        let state = Guarded(State())
        let arrived = Gate()
        let release = Gate()

        func answer(_ request: WireRequest) async -> WireResponse {
            if request.head.path == "/user/refreshToken" {
                arrived.open()
                await release.wait()
                return state.withLock { state in
                    state.refreshes += 1
                    state.token = "T\(state.refreshes)"
                    return ClientRig.tokens(state.token, refreshToken: "R\(state.refreshes)")
                }
            }
            if request.head.path == "/user/logout" { return .scripted() }
            return state.withLock { $0.token } == request.token ? .scripted(json: "{}") : .scripted(status: 401)
        }

        func revoke() { state.withLock { $0.token = "gone" } }
    }

    private func rig(_ server: Server) throws -> ClientRig {
        let rig = try ClientRig()
        rig.transport.handle { await server.answer($0) }
        return rig
    }

    @Test func aSecondRequestFailsWhileARenewalIsOnItsWay() async throws {
        let server = Server()
        let rig = try rig(server)
        rig.logIn(expiresIn: -1)
        let first = Task { try await rig.client.dataStore.read("1", in: "todo") }
        await server.arrived.wait()
        let error = await remoteError { _ = try await rig.client.dataStore.read("2", in: "todo") }
        #expect((error?.domain, error?.code) == ("SMError", -103))
        #expect(await remoteError { try await rig.client.session.refresh() }?.code == -103)
        server.release.open()
        _ = try await first.value
        #expect(rig.paths == ["POST /user/refreshToken", "GET /todo/1"])
    }

    @Test func requestsOfStoresWaitAndAreRenewedOnce() async throws {
        let server = Server()
        let rig = try rig(server)
        rig.logIn()
        server.revoke()
        let authorizer = rig.client.session.waiting
        let sender = HTTPBackend(
            dialect: rig.client.configuration.dialect, transport: rig.transport, authorizer: authorizer,
            clock: rig.clock)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let head = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/todo/\(number)")
                    return try await sender.send(WireRequest(head), options: RequestOptions()).status
                }
            }
            await server.arrived.wait()
            server.release.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 20))
        #expect(server.state.withLock { $0.refreshes } == 1)
    }

    @Test func a401OfAnOlderTokenNeedsNoRenewal() async throws {
        let rig = try ClientRig()
        rig.logIn()
        let held = Gate()
        let arrived = Gate()
        rig.transport.handle { request in
            switch (request.head.path, request.token) {
            case ("/user/refreshToken", _): return ClientRig.tokens("T1")
            case ("/todo/slow", "A"):
                arrived.open()
                await held.wait()
                return .scripted(status: 401)
            case (_, "T1"): return .scripted(json: "{}")
            default: return .scripted(status: 401)
            }
        }
        let slow = Task { try await rig.client.dataStore.read("slow", in: "todo") }
        await arrived.wait()
        _ = try await rig.client.dataStore.read("quick", in: "todo")
        held.open()
        _ = try await slow.value
        #expect(rig.paths.filter { $0 == "POST /user/refreshToken" }.count == 1)
    }

    @Test func cancellingTheRequestDoesNotLoseTheSession() async throws {
        let server = Server()
        let rig = try rig(server)
        rig.logIn(expiresIn: -1)
        let request = Task { try await rig.client.dataStore.read("1", in: "todo") }
        await server.arrived.wait()
        request.cancel()
        server.release.open()
        #expect(await remoteError { _ = try await request.value }?.kind == .cancelled)
        #expect(rig.client.session.credentials?.refreshToken == "R1")
        _ = try await rig.client.dataStore.read("2", in: "todo")
        #expect(server.state.withLock { $0.refreshes } == 1)
    }

    @Test func aLogoutMeanwhileHasTheLastWord() async throws {
        let server = Server()
        let rig = try rig(server)
        rig.logIn(expiresIn: -1)
        let request = Task { try await rig.client.session.refresh() }
        await server.arrived.wait()
        rig.client.session.replace(with: nil)
        server.release.open()
        try await request.value
        #expect(rig.client.session.isLoggedOut)
        #expect(rig.storage.session(named: "tests.\(testKey).oauth") == nil)
    }

    @Test func theHandlerOfFailuresCanLogInAndLetTheRequestGoOn() async throws {
        let rig = try ClientRig()
        rig.logIn()
        rig.transport.handle { request in
            switch (request.head.path, request.token) {
            case ("/user/refreshToken", _): .scripted(status: 400)
            case ("/user/accessToken", _): ClientRig.tokens("T9")
            case (_, "T9"): .scripted(json: #"{"a":1}"#)
            default: .scripted(status: 401)
            }
        }
        let told = Guarded<[RemoteError]>([])
        let client = rig.client
        client.session.onRefreshFailure { error, request in
            told.withLock { $0.append(error) }
            do throws(RemoteError) {
                try await client.logIn(username: "bob", password: "new")
                request.resume()
            } catch {
                request.fail(with: error)
            }
        }
        #expect(try await client.dataStore.read("1", in: "todo") == ["a": 1])
        #expect(told.withLock { $0.map(\.code) } == [-109])
        #expect(told.withLock { $0.first?.underlying.map(\.code) } == [400, 401])
        client.session.onRefreshFailure(nil)
    }

    @Test(arguments: [true, false])
    func theHandlerCanFailTheRequestOrForgetIt(_ forgets: Bool) async throws {
        let rig = try ClientRig()
        rig.logIn(expiresIn: -1)
        rig.transport.answer(status: 400)
        rig.client.session.onRefreshFailure { _, request in
            if !forgets { request.fail(with: RemoteError(.rejected, domain: "App", code: 7, message: "no")) }
        }
        let error = await remoteError { _ = try await rig.client.dataStore.read("1", in: "todo") }
        #expect(error?.code == (forgets ? -109 : 7))
    }

    @Test func aCancelledTaskDoesNotWaitForTheHandler() async throws {
        let rig = try ClientRig()
        rig.logIn(expiresIn: -1)
        rig.transport.answer(status: 400)
        let asked = Gate()
        let never = Gate()
        rig.client.session.onRefreshFailure { _, request in
            asked.open()
            await never.wait()
            request.resume()
        }
        let task = Task { try await rig.client.dataStore.read("1", in: "todo") }
        await asked.wait()
        task.cancel()
        #expect(await remoteError { _ = try await task.value }?.kind == .cancelled)
        never.open()
    }
}
