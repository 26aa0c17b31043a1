#if Server && AsyncHTTP
    import Foundation
    import StrataAsyncHTTP
    import StrataRemote
    import StrataServer
    import StrataStore
    import Testing

    /// A client of live queries that says what it is told to, written only from the specification of the protocol.
    struct LiveClient {
        let connection: any WebSocketConnection
        private var texts: AsyncStream<String>.Iterator
        /// What is ended by the server gives this.
        struct Ended: Error {}

        /// Opens a web socket at the mount of Parse.
        init(
            port: Int, path: String = "/parse", origin: String? = nil,
            transport: AsyncWebSocketTransport = AsyncWebSocketTransport(), scheme: String = "ws",
            host: String = "127.0.0.1"
        ) async throws {
            var request = WireRequest(
                HTTPRequest(method: .get, scheme: scheme, authority: "\(host):\(port)", path: path))
            if let origin { request.head.headerFields[.origin] = origin }
            connection = try await transport.open(request, timeout: 60)
            texts = connection.messages.makeAsyncIterator()
        }

        /// Opens a web socket and connects.
        static func connected(
            port: Int, token: String? = nil, master: Bool = false
        ) async throws -> LiveClient {
            var client = try await LiveClient(port: port)
            try await client.connect(token: token, master: master)
            return client
        }

        func say(_ json: JSONValue) async throws { try await connection.send(json.description) }

        /// The next message; throws when the connection has ended.
        mutating func next() async throws -> JSONValue {
            guard let text = await texts.next(isolation: #isolation) else { throw Ended() }
            return try JSONValue(parsing: Data(text.utf8))
        }

        /// Whether the server closes the connection without another message.
        mutating func isEnded() async -> Bool { await texts.next(isolation: #isolation) == nil }

        mutating func connect(token: String? = nil, master: Bool = false) async throws {
            var members: JSONObject = ["op": "connect", "applicationId": "app"]
            if let token { members["sessionToken"] = .string(token) }
            if master { members["masterKey"] = .string(Places.master) }
            try await say(.object(members))
            let answer = try await next()
            try #require(answer["op"] == "connected", "\(answer)")
            try #require(answer["clientId"]?.string?.isEmpty == false)
        }

        mutating func subscribe(
            _ id: Int64, _ className: String, _ condition: JSONValue = [:], token: String? = nil,
            adding more: JSONObject = [:]
        ) async throws {
            try await ask(id, className, condition, token: token, adding: more)
            let answer = try await next()
            try #require(answer["op"] == "subscribed" && answer["requestId"] == .integer(id), "\(answer)")
        }

        /// Asks for a subscription without reading the answer.
        func ask(
            _ id: Int64, _ className: String, _ condition: JSONValue = [:], token: String? = nil,
            adding more: JSONObject = [:], operation: String = "subscribe"
        ) async throws {
            let query: JSONObject = ["className": .string(className), "where": condition]
            var members: JSONObject = [
                "op": .string(operation), "requestId": .integer(id), "query": .object(query.merging(more)),
            ]
            if let token { members["sessionToken"] = .string(token) }
            try await say(.object(members))
        }

        /// The next event in short: `create a`, the operation and the object.
        mutating func event() async throws -> String {
            let message = try await next()
            return "\(message["op"]?.string ?? "?") \(message["object"]?["objectId"]?.string ?? "\(message)")"
        }

        func end() { connection.close() }
    }

    extension Places {
        /// A configuration with only Parse, for machines that are busy.
        static let yamlOfParse = """
            dialects: [{dialect: parse, path: /parse, application: app}]
            limits: {requestTimeout: 300, pingInterval: 300}

            """
    }

    extension Bench {
        /// Signs somebody up in Parse's dialect.
        /// - Returns: The token of the session.
        func parseUser(_ name: String) async throws -> String {
            let answer = await parse("POST", "users", ["username": .string(name), "password": "p"])
            return try #require(answer.json?["sessionToken"]?.string, "\(answer.text)")
        }

        /// Makes an object, with a key that is given by nobody else.
        func make(
            _ className: String, _ id: String, _ members: JSONObject = [:], token: String? = nil
        ) async throws {
            var members = members
            members["objectId"] = .string(id)
            let answer = await parse("POST", "classes/\(className)", .object(members), token: token)
            try #require(answer.status == 201, "\(answer.text)")
        }

        func change(
            _ className: String, _ id: String, _ members: JSONObject, token: String? = nil
        ) async throws {
            let answer = await parse("PUT", "classes/\(className)/\(id)", .object(members), token: token)
            try #require(answer.status == 200, "\(answer.text)")
        }

        func remove(_ className: String, _ id: String, token: String? = nil) async throws {
            let answer = await parse("DELETE", "classes/\(className)/\(id)", token: token)
            try #require(answer.status == 200, "\(answer.text)")
        }
    }
#endif
