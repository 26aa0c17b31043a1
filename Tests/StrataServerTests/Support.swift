#if Server
    import Crypto
    import Foundation
    import Logging
    import StrataRemote
    import StrataServer
    import StrataStore
    import Testing

    /// A clock that stands still.
    final class BenchTime: Sendable {
        private let value = Guarded<Int64>(1_700_000_000_000)
        var milliseconds: Int64 { value.withLock { $0 } }
        func advance(_ milliseconds: Int64) { value.withLock { $0 += milliseconds } }
    }

    /// A server on a folder of its own, whose clock stands still until it is told otherwise.
    final class Bench: Sendable {
        let server: DataServer
        let folder: URL
        let time = BenchTime()

        init(
            model: ManagedObjectModel? = nil, methods: [String: CustomMethod] = [:],
            verifier: (any SocialVerifier)? = nil, _ change: (inout ServerOptions) -> Void = { _ in }
        ) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            var options = ServerOptions()
            options.passwords.cost = PasswordCost(rounds: 16)
            options.passwords.minimumLength = 1
            options.storage.survivesPowerFailure = false
            change(&options)
            let time = time
            server = try DataServer(
                folder: folder.path, model: model, options: options, methods: methods, verifier: verifier,
                clock: ServerClock(milliseconds: { time.milliseconds }), logger: silent)
        }

        deinit {
            server.close()
            try? FileManager.default.removeItem(at: folder)
        }

        func advance(seconds: Int64) { time.advance(seconds * 1000) }

        /// Sends a request and gives its answer.
        @discardableResult
        func send(
            _ method: String, _ target: String, _ body: JSONValue? = nil, headers: [String: String] = [:],
            session: Session? = nil
        ) async -> ServerResponse {
            var request = ServerRequest(
                method, target, headers: [("Host", "localhost")] + headers.map { ($0.key, $0.value) },
                body: Data((body?.description ?? "").utf8))
            if let session {
                let seconds = time.milliseconds / 1000
                request.headers.append(("Authorization", session.authorization(request, seconds: seconds)))
            }
            return await server.respond(to: request)
        }

        /// Sends a form to an endpoint of the user schema.
        func form(_ endpoint: String, _ pairs: String) async -> ServerResponse {
            await server.respond(
                to: ServerRequest(
                    "POST", "/user/\(endpoint)", headers: [("Content-Type", "application/x-www-form-urlencoded")],
                    body: Data((pairs + "&token_type=mac&mac_algorithm=hmac-sha-1").utf8)))
        }

        /// Makes an account and logs it in.
        func signUp(_ name: String, password: String = "secret") async throws -> Session {
            let created = await send("POST", "/user", ["username": .string(name), "password": .string(password)])
            try #require(created.status == 201, "\(created.text)")
            return try await logIn(name, password: password)
        }

        func logIn(_ name: String, password: String = "secret") async throws -> Session {
            let answer = await form("accessToken", "username=\(name)&password=\(password)")
            return try #require(Session(answer.json), "\(answer.text)")
        }

        /// The values of a field of the objects that a query finds.
        func values(_ target: String, _ field: String, headers: [String: String] = [:]) async -> [JSONValue] {
            await send("GET", target, headers: headers).json?.elements?.map { $0[field] ?? .null } ?? []
        }
    }

    let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// What a client keeps of a log-in, and its way to sign, written only from the reference.
    struct Session: Sendable {
        var token: String
        var key: String
        var refresh: String

        init?(_ json: JSONValue?) {
            guard let token = json?["access_token"]?.string, let key = json?["mac_key"]?.string,
                let refresh = json?["refresh_token"]?.string
            else { return nil }
            (self.token, self.key, self.refresh) = (token, key, refresh)
        }

        func authorization(
            _ request: ServerRequest, seconds: Int64, nonce: String = "n" + UUID().uuidString,
            host: String = "localhost",
            port: Int = 80
        ) -> String {
            let uri = request.path + (request.query.isEmpty ? "" : "?" + request.query)
            let message = "\(seconds)\n\(nonce)\n\(request.method)\n\(uri)\n\(host)\n\(port)\n\n"
            let code = HMAC<Insecure.SHA1>.authenticationCode(
                for: Data(message.utf8), using: SymmetricKey(data: Data(key.utf8)))
            return
                "MAC id=\"\(token)\",ts=\"\(seconds)\",nonce=\"\(nonce)\",mac=\"\(Data(code).base64EncodedString())\""
        }
    }

    extension DataServer {
        /// Answers the request of a client in this process, without a network.
        func respond(to request: WireRequest) async -> WireResponse {
            var headers = request.head.headerFields.map { ($0.name.rawName, $0.value) }
            if let authority = request.head.authority { headers.append(("Host", authority)) }
            let answer = await respond(
                to: ServerRequest(
                    request.head.method.rawValue, request.head.path ?? "/", headers: headers,
                    body: request.body ?? Data()))
            var head = HTTPResponse(status: .init(code: answer.status))
            for (name, value) in answer.headers {
                if let name = HTTPField.Name(name) { head.headerFields.append(HTTPField(name: name, value: value)) }
            }
            return WireResponse(head, body: answer.body)
        }
    }

    extension ServerResponse {
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    extension ManagedObjectContext {
        /// A new object with some values.
        func make(_ entity: String, _ values: [String: Any]) throws -> ManagedObject {
            let object = try insert(entityNamed: entity)
            for (name, value) in values { try object.setValue(value, forKey: name) }
            return object
        }
    }
#endif
