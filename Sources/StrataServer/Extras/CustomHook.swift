#if Server
    import Crypto
    import Foundation
    import HTTPTypes
    import StrataRemote

    /// Custom code that another server answers: requests for `/<method>` are sent on to an address of the configuration.
    ///
    /// The hook is sent the method, the query, the body and its type, and the headers `X-Strata-Method` (the name of the
    /// custom code), `X-Strata-Account` (`user/ann`; missing if nobody is logged in), `X-Strata-Version` (the API version),
    /// `X-Strata-Time` (seconds since 1970) and `X-Strata-Signature`: `sha256=` and the hexadecimal HMAC-SHA-256 with the
    /// secret over time, HTTP method, name, query, account and body, joined by line feeds.
    public struct CustomHook: Sendable, Hashable {
        /// The address.
        public var url: URL
        /// What the server proves to the hook that it knows.
        public var secret: String
        /// How long the hook may take, in seconds.
        public var timeout: Double

        /// Describes a hook.
        public init(url: URL, secret: String, timeout: Double = 10) {
            self.url = url
            self.secret = secret
            self.timeout = timeout
        }

        /// What the hook must find in `X-Strata-Signature`.
        public func signature(
            time: Int64, httpMethod: String, name: String, query: String, account: String, body: Data
        ) -> String {
            var message = Data("\(time)\n\(httpMethod)\n\(name)\n\(query)\n\(account)\n".utf8)
            message.append(body)
            let code = HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: Data(secret.utf8)))
            return "sha256=" + Hexadecimal.text(code)
        }

        /// The request that a call becomes.
        func request(_ call: CustomCall, name: String, time: Int64) throws(ServerError) -> HTTPRequest {
            guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else {
                throw ServerError(502, "The address of /\(name) is not one.")
            }
            let query = call.request.query
            parts.percentEncodedQuery = [parts.percentEncodedQuery, query.isEmpty ? nil : query].compactMap { $0 }
                .joined(separator: "&")
            if parts.percentEncodedQuery?.isEmpty == true { parts.percentEncodedQuery = nil }
            guard let method = HTTPRequest.Method(call.request.method), let scheme = parts.scheme,
                let host = parts.percentEncodedHost
            else { throw ServerError(502, "The address of /\(name) is not one.") }
            let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
            var request = HTTPRequest(
                method: method, scheme: scheme, authority: parts.port.map { "\(host):\($0)" } ?? host,
                path: parts.percentEncodedQuery.map { "\(path)?\($0)" } ?? path)
            let account = call.owner ?? ""
            var headers = [
                ("X-Strata-Method", name), ("X-Strata-Version", String(call.version)), ("X-Strata-Time", String(time)),
                (
                    "X-Strata-Signature",
                    signature(
                        time: time, httpMethod: call.request.method, name: name, query: query, account: account,
                        body: call.request.body)
                ),
            ]
            if !account.isEmpty { headers.append(("X-Strata-Account", PercentEncoding.encode(account))) }
            for header in ["Content-Type", "Accept"] {
                if let value = call.request.header(header) { headers.append((header, value)) }
            }
            for (name, value) in headers {
                guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { continue }
                request.headerFields.append(HTTPField(name: name, value: value))
            }
            return request
        }
    }

    extension DataServer {
        /// How much of the answer of a hook is handed on, in bytes.
        private static let maximumHookAnswer = 10 * 1024 * 1024

        /// The custom code that sends calls on.
        static func hookMethods(_ hooks: [String: CustomHook]) throws(ServerSetupError) -> [String: CustomMethod] {
            var methods: [String: CustomMethod] = [:]
            for (name, hook) in hooks {
                guard !name.isEmpty, !name.contains("/"), !name.hasPrefix("_"), name != "health" else {
                    throw ServerSetupError("hooks.\(name): custom code cannot have this name")
                }
                let transport = URLSessionTransport(maximumBody: maximumHookAnswer)
                methods.updateValue(method(hook, name, transport), forKey: name)
            }
            return methods
        }

        private static func method(
            _ hook: CustomHook, _ name: String, _ transport: URLSessionTransport
        ) -> CustomMethod {
            let send: @Sendable (CustomCall) async throws(ServerError) -> ServerResponse = { call throws(ServerError) in
                try await Self.send(call, to: hook, name, transport)
            }
            return send
        }

        private static func send(
            _ call: CustomCall, to hook: CustomHook, _ name: String, _ transport: URLSessionTransport
        ) async throws(ServerError) -> ServerResponse {
            let time = call.server.clock.milliseconds / 1000
            let body = call.request.body.isEmpty ? nil : call.request.body
            var head = try hook.request(call, name: name, time: time)
            continueTrace(&head)
            let request = WireRequest(head, body: body)
            let answer: WireResponse
            do throws(RemoteError) {
                answer = try await transport.send(request, timeout: hook.timeout)
            } catch {
                call.server.logger.error("hook", metadata: ["method": "\(name)", "error": "\(error)"])
                throw ServerError(502, "The custom code /\(name) does not answer.")
            }
            return try handOn(answer.head, answer.body, name)
        }

        private static func handOn(
            _ response: HTTPResponse, _ body: Data, _ name: String
        ) throws(ServerError) -> ServerResponse {
            guard body.count <= maximumHookAnswer, (200...599).contains(response.status.code) else {
                throw ServerError(502, "The custom code /\(name) gave an answer that cannot be handed on.")
            }
            // A hook is trusted with data, not with the cookies and origins of this server.
            let names: [HTTPField.Name] = [.contentType, .retryAfter, .cacheControl]
            let headers = names.compactMap { name in
                response.headerFields[name].map { (name: name.rawName, value: $0) }
            }
            return ServerResponse(status: response.status.code, headers: headers, body: body)
        }
    }
#endif
