#if Server
    import Foundation

    /// Parse's live queries over one web socket. Source: the specification of the LiveQuery protocol in the documentation of
    /// Parse Server.
    struct LiveDialogue: SocketDialogue {
        let service: ParseService
        /// The request that began the web socket.
        let request: ServerRequest

        func hold(_ line: SocketLine) async {
            let environment = service.server.environment(of: service.mount)
            var talk = LiveTalk(service: service, request: request, environment: environment, line: line)
            defer { environment.database.signal.remove(line) }
            while let arrival = await line.next() {
                guard await talk.goesOn(after: arrival) else { return }
            }
        }
    }

    extension ParseService {
        /// Live queries are at the path of the mount itself, as the libraries of Parse ask for them.
        func dialogue(_ request: ServerRequest, _ segments: [String]) -> (any SocketDialogue)? {
            guard segments.isEmpty, mount.kind.hasLiveQueries, mount.liveClasses != [] else { return nil }
            return LiveDialogue(service: self, request: request)
        }
    }

    /// What has been said over a web socket so far.
    struct LiveTalk {
        let service: ParseService
        let request: ServerRequest
        let environment: Environment
        let line: SocketLine
        private let client = String(Sessions.secret().prefix(32))
        private let begun = ContinuousClock.now
        /// What the client said of itself; nil before it did.
        private var keys: ParseKeys?
        private var subscriptions: [LiveSubscription] = []

        init(service: ParseService, request: ServerRequest, environment: Environment, line: SocketLine) {
            self.service = service
            self.request = request
            self.environment = environment
            self.line = line
        }

        /// - Returns: Whether the conversation goes on.
        mutating func goesOn(after arrival: SocketLine.Arrival) async -> Bool {
            switch arrival {
            case .text(let text): return await read(text)
            case .binary: return await fail(ParseCode.invalidJSON.error("Messages are texts with JSON."))
            case .woken(let schemas): return await tell(schemas)
            case .tick:
                // Who says nothing keeps others from connecting.
                let patience = Duration.seconds(service.options.limits.requests.timeout)
                guard keys == nil, begun.duration(to: .now) > patience else { return true }
                line.close(.policy)
                return false
            }
        }

        // MARK: Messages

        private mutating func read(_ text: String) async -> Bool {
            var id: JSONValue?
            do throws(ServerError) {
                try service.server.gate.admit(request, service.server.clock)
                let message = try message(text)
                switch message["requestId"] {
                case .string, .integer: id = message["requestId"]
                default: break
                }
                let operation = message["op"]?.string ?? ""
                guard operation != "connect" else { return await connect(message) }
                guard let keys else { throw ParseCode.commandUnavailable.error("The first message is connect.") }
                switch operation {
                case "subscribe", "update":
                    return try await subscribe(message, id, keys, replaces: operation == "update")
                case "query": return try await query(id, keys)
                case "unsubscribe": return try await unsubscribe(id)
                default: throw ParseCode.commandUnavailable.error("\"\(operation.prefix(40))\" is not an operation.")
                }
            } catch {
                return await fail(error, id)
            }
        }

        private func message(_ text: String) throws(ServerError) -> JSONObject {
            do {
                let json = try JSONValue(parsing: Data(text.utf8), maximumDepth: service.depth)
                if let members = json.members { return members }
            } catch {
                throw ParseCode.invalidJSON.error("The message is \(error).")
            }
            throw ParseCode.invalidJSON.error("The message is not an object.")
        }

        private mutating func connect(_ message: JSONObject) async -> Bool {
            guard keys == nil else {
                return await fail(ParseCode.commandUnavailable.error("The connection has begun already."))
            }
            func text(_ names: String...) -> String? { names.lazy.compactMap { message[$0]?.string }.first }
            let given = ParseKeys(
                applicationID: text("applicationId"),
                key: text("restAPIKey", "javascriptKey", "clientKey", "windowsKey", "key"),
                master: text("masterKey"), session: text("sessionToken"))
            do throws(ServerError) {
                _ = try await service.principal(given, environment)
            } catch {
                // Without it there is nothing to say.
                _ = await fail(error)
                line.close(error.status >= 500 ? .tryAgain : .policy)
                return false
            }
            keys = given
            return await send(["op": "connected", "clientId": .string(client)])
        }

        private mutating func subscribe(
            _ message: JSONObject, _ id: JSONValue?, _ keys: ParseKeys, replaces: Bool
        ) async throws(ServerError) -> Bool {
            guard let id else { throw ParseWhere.fault("requestId takes a number") }
            let place = subscriptions.firstIndex { $0.id == id }
            if replaces {
                guard place != nil else { throw Self.unknown(id) }
            } else {
                guard place == nil else { throw ParseWhere.fault("there is a subscription \(id) already") }
                let limit = service.options.limits.sockets.subscriptions
                guard subscriptions.count < limit else {
                    throw ParseCode.tooMany.error("A connection may have \(limit) subscriptions.")
                }
            }
            var subscription = try LiveSubscription(message, id: id, service, line.memory())
            let known = subscriptions.filter { $0.id != id }
            // What changes from now on wakes the dialogue, so that nothing is missed after the first look.
            listen(known + [subscription])
            let new = subscription
            do throws(ServerError) {
                subscription = try await follow(new, keys) { (reader, subscription) throws(ServerError) in
                    try reader.begin(&subscription)
                }.0
            } catch {
                listen(subscriptions)
                throw error
            }
            if let place { subscriptions[place] = subscription } else { subscriptions.append(subscription) }
            return await send(["op": "subscribed", "clientId": .string(client), "requestId": id])
        }

        /// Answers with what a subscription finds now.
        private func query(_ id: JSONValue?, _ keys: ParseKeys) async throws(ServerError) -> Bool {
            guard let id, let subscription = subscriptions.first(where: { $0.id == id }) else {
                throw Self.unknown(id ?? .null)
            }
            let (_, results) = try await follow(subscription, keys) { (reader, subscription) throws(ServerError) in
                try reader.results(subscription)
            }
            return await send([
                "op": "result", "clientId": .string(client), "requestId": id, "results": .array(results),
            ])
        }

        private mutating func unsubscribe(_ id: JSONValue?) async throws(ServerError) -> Bool {
            guard let id, let place = subscriptions.firstIndex(where: { $0.id == id }) else {
                throw Self.unknown(id ?? .null)
            }
            subscriptions.remove(at: place)
            listen(subscriptions)
            return await send(["op": "unsubscribed", "clientId": .string(client), "requestId": id])
        }

        private static func unknown(_ id: JSONValue) -> ServerError {
            ParseCode.objectNotFound.error("There is no subscription \(id.description.prefix(40)).", status: 404)
        }

        private func listen(_ subscriptions: [LiveSubscription]) {
            guard !subscriptions.isEmpty else { return environment.database.signal.remove(line) }
            environment.database.listen(line, to: Set(subscriptions.map(\.schema)).union([ChangeSignal.sessions]))
        }

        /// Runs a read for a subscription, as whom its session belongs to now.
        private func follow<T: Sendable>(
            _ subscription: LiveSubscription, _ keys: ParseKeys,
            _ body: @escaping @Sendable (LiveReader, inout LiveSubscription) throws(ServerError) -> T
        ) async throws(ServerError) -> (LiveSubscription, T) {
            let (service, request, environment, client) = (service, request, environment, client)
            return try await environment.database.follow { (scope) throws(ServerError) in
                var principal = Principal.nobody
                if keys.master != nil {
                    principal.hasPrivateKey = true
                } else if let token = subscription.session ?? keys.session, !token.isEmpty {
                    principal = try service.server.sessions.principal(bearer: token, scope: scope)
                }
                let caller = Caller(request, principal: principal, environment: environment, service.options)
                var subscription = subscription
                let value = try body(
                    LiveReader(service: service, scope: scope, caller: caller, client: client), &subscription)
                return (subscription, value)
            }
        }

        // MARK: Events

        /// Tells what has changed of some schemas.
        private mutating func tell(_ schemas: Set<String>) async -> Bool {
            guard let keys else { return true }
            let ends = schemas.contains(ChangeSignal.sessions)
            for old in subscriptions where ends || schemas.contains(old.schema) {
                do throws(ServerError) {
                    let (subscription, (events, isDone)) = try await follow(old, keys) {
                        (reader, subscription) throws(ServerError) in try reader.advance(&subscription)
                    }
                    guard let place = subscriptions.firstIndex(where: { $0.id == old.id }) else { continue }
                    subscriptions[place] = subscription
                    for event in events {
                        guard await line.send(event) else { return false }
                    }
                    // Messages have their turn before the rest.
                    if !isDone { line.wake(old.schema) }
                } catch {
                    guard await end(old, error) else { return false }
                }
            }
            return true
        }

        /// Ends a subscription that fails; all of them where the client should try again.
        private mutating func end(_ subscription: LiveSubscription, _ error: ServerError) async -> Bool {
            guard error.status < 500 else {
                _ = await fail(error, subscription.id)
                line.close(.tryAgain)
                return false
            }
            subscriptions.removeAll { $0.id == subscription.id }
            listen(subscriptions)
            return await fail(error, subscription.id)
        }

        // MARK: Answers

        private func fail(_ error: ServerError, _ id: JSONValue? = nil) async -> Bool {
            var message: JSONObject = ["op": "error"]
            message.merge(service.failureBody(error))
            // A client that has made a mistake would make it again.
            message["reconnect"] = .boolean(error.status >= 500)
            if keys != nil { message["clientId"] = .string(client) }
            if let id { message["requestId"] = id }
            return await send(message)
        }

        private func send(_ message: JSONObject) async -> Bool {
            guard let text = try? message.text() else { return true }
            return await line.send(text)
        }
    }
#endif
