import Foundation
import StrataStackMob
import StrataStore
import StrataRemoteTesting
import Testing

/// The whole client over real sockets: what arrives is what was signed.
@Suite struct LoopbackClientTests {
    /// The request as it came in, with the address that the client used.
    private static func wire(_ request: LoopbackServer.Request) -> WireRequest {
        let parts = request.line.split(separator: " ")
        var head = HTTPRequest(
            method: HTTPRequest.Method(String(parts[0]))!, scheme: "http", authority: request.header("Host"),
            path: String(parts[1]))
        head.headerFields[.authorization] = request.header("Authorization")
        return WireRequest(head, body: request.body)
    }

    /// Whether the signature is that of a key, over what arrived.
    private static func isSigned(_ request: WireRequest, token: String, key: String) -> Bool {
        guard let header = request.header("Authorization"), request.token == token else { return false }
        func part(_ name: String) -> String {
            header.components(separatedBy: "\(name)=\"").last?.components(separatedBy: "\"").first ?? ""
        }
        let credentials = MACCredentials(accessToken: token, key: key)
        return credentials.authorization(for: request, seconds: Int64(part("ts")) ?? 0, nonce: part("nonce")) == header
    }

    private func client(_ server: LoopbackServer, storage: any SessionStorage) throws -> StackMobClient {
        var configuration = try StackMobConfiguration(publicKey: testKey)
        configuration.dialect.host = server.authority
        configuration.dialect.securesCredentials = false
        configuration.sessionStorage = storage
        configuration.applicationName = "tests"
        return StackMobClient(configuration)
    }

    @Test func loginRenewalAndSignaturesOverSockets() async throws {
        let current = Guarded("T1")
        let server = try LoopbackServer { raw in
            let request = Self.wire(raw)
            let path = request.head.path ?? ""
            if path == "/user/accessToken" || path == "/user/refreshToken" {
                let form = request.form
                guard form["password"] == "a b&c" || form["refresh_token"] == "R2" else { return .http("401 No") }
                let body = String(decoding: ClientRig.tokens(current.withLock { $0 }).body, as: UTF8.self)
                return .http("200 OK", headers: ["Content-Type: application/vnd.stackmob+json"], body: body)
            }
            let token = current.withLock { $0 }
            guard Self.isSigned(request, token: token, key: "K\(token)") else {
                return .http("401 Unauthorized", body: #"{"error":"signature"}"#)
            }
            return .http("200 OK", headers: ["Content-Type: application/json"], body: #"[{"todo_id":"1"}]"#)
        }
        let folder = URL.temporaryDirectory.appending(component: "loopback-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let storage = FileSessionStorage(folder: folder)
        let client = try client(server, storage: storage)
        #expect(await client.reachability.check() == .reachable)
        try await client.logIn(username: "bob", password: "a b&c")
        let query = StackMobQuery("todo")
            .where("title", .equal, "a/b é + c").where("age", .greater, 25).where("id", isIn: ["x.y", "z"])
        #expect(try await client.dataStore.query(query).count == 1)
        // The server forgets the session; the client renews it and goes on.
        current.withLock { $0 = "T2" }
        #expect(try await client.dataStore.query(query).count == 1)
        #expect(
            server.requests.map { $0.line.split(separator: " ")[1].split(separator: "?")[0] }.suffix(4) == [
                "/todo", "/todo", "/user/refreshToken", "/todo",
            ])
        // The next launch goes on with the session that was kept.
        let next = try self.client(server, storage: storage)
        #expect(try await next.dataStore.query(query).count == 1)
        let file = storage.file(named: "tests.\(testKey).oauth")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func noServerIsMinus105() async throws {
        var server: LoopbackServer? = try LoopbackServer { _ in .silence }
        let client = try client(server!, storage: MemorySessionStorage())
        server = nil
        let error = await remoteError { _ = try await client.dataStore.read("1", in: "todo") }
        #expect((error?.domain, error?.code) == ("SMError", -105))
        #expect(client.reachability.status == .notReachable)
        #expect(await client.reachability.check() == .notReachable)
    }
}
