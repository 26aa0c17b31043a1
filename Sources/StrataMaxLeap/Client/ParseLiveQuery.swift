import Foundation
import StrataStore

/// A feed of a Parse Server's live queries: reports that objects have changed, so that a store synchronizes.
///
///     import StrataAsyncHTTP
///
///     let live = try ParseLiveQuery(client, classes: ["Post"], sockets: AsyncWebSocketTransport())
///     let watch = stack.remote.synchronizes(with: live)  // keep it
///
/// What has changed is left to the synchronization: a live query does not report what was deleted while the connection was lost.
/// It connects again after that, at first after a second, later after up to a minute. Source: the specification of the
/// LiveQuery protocol in the documentation of Parse Server.
public struct ParseLiveQuery: ServerChangeFeed {
    private let configuration: MaxLeapConfiguration
    private let session: MaxLeapSession
    private let classes: [String]
    private let sockets: any WebSocketTransport
    private let request: WireRequest

    /// Describes what to listen to. Nothing is sent.
    /// - Parameters:
    ///   - client: The application. The session of its user goes along.
    ///   - classes: The classes, by their names at the server.
    ///   - sockets: What opens the connection.
    ///   - address: Where the live query server is, `wss://example.com/parse`; nil for the address of the application.
    /// - Throws: ``RemoteError`` with code 108 for MaxLeap, which has no live queries, and 109 for an invalid address, or one
    ///   over which keys would be sent unencrypted.
    public init(
        _ client: MaxLeapClient, classes: [String], sockets: any WebSocketTransport, address: String? = nil
    ) throws(RemoteError) {
        guard client.dialect.flavor == .parse else {
            throw MaxLeapError.commandUnavailable.error("MaxLeap has no live queries")
        }
        var place = client.dialect.address
        if let address {
            let text =
                address.hasPrefix("wss://")
                ? "https" + address.dropFirst(3) : address.hasPrefix("ws://") ? "http" + address.dropFirst(2) : address
            place = try MaxLeapAddress(text)
        }
        guard place.isPrivate else {
            throw MaxLeapError.notInitialized.error("\(place) would show keys to everybody on the way; use wss")
        }
        configuration = client.configuration
        session = client.session
        self.classes = classes
        self.sockets = sockets
        request = WireRequest(
            HTTPRequest(
                method: .get, scheme: place.scheme, authority: place.authority,
                path: place.path.isEmpty ? "/" : place.path))
    }

    /// An element whenever objects of the classes change, and when the connection is there again after it was lost.
    public func changes() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                await listen(continuation)
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func listen(_ continuation: AsyncStream<Void>.Continuation) async {
        var wait = 1.0
        while !Task.isCancelled {
            do throws(RemoteError) {
                let connection = try await sockets.open(request, timeout: configuration.requestOptions.timeout)
                let (goesOn, hasConnected) = await withTaskCancellationHandler {
                    await converse(connection, continuation)
                } onCancel: {
                    connection.close()
                }
                connection.close()
                guard goesOn else { return }
                if hasConnected { wait = 1 }
            } catch {
                guard error.isTransient || error.kind == .invalidAnswer else { return }
            }
            do throws(RemoteError) {
                try await configuration.clock.sleep(seconds: wait * (0.5 + configuration.jitter() / 2))
            } catch {
                return
            }
            wait = min(wait * 2, 60)
        }
    }

    /// - Returns: Whether to connect again, and whether the server took this connection.
    private func converse(
        _ connection: any WebSocketConnection, _ continuation: AsyncStream<Void>.Continuation
    ) async -> (goesOn: Bool, hasConnected: Bool) {
        var hasConnected = false
        do throws(RemoteError) {
            try await send(greeting, to: connection)
            for await text in connection.messages {
                guard let json = try? JSONValue(parsing: text), let operation = json["op"]?.string else { continue }
                switch operation {
                case "connected":
                    hasConnected = true
                    for (number, name) in classes.enumerated() {
                        try await send(subscription(number + 1, name), to: connection)
                    }
                case "subscribed", "create", "update", "enter", "leave", "delete": continuation.yield()
                case "error" where json["reconnect"]?.boolean == false:
                    configuration.logger.warning(
                        "the server refuses live queries",
                        metadata: ["strata.error": "\(json["error"]?.string ?? "no reason")"])
                    return (false, hasConnected)
                default: break
                }
            }
        } catch {
            // The connection has ended; the next one says what was missed.
        }
        return (true, hasConnected)
    }

    private var greeting: JSONObject {
        var members: JSONObject = ["op": "connect", "applicationId": .string(configuration.dialect.applicationID)]
        if let key = configuration.dialect.masterKey { members["masterKey"] = .string(key) }
        if let key = configuration.dialect.apiKey { members["restAPIKey"] = .string(key) }
        if let token = session.token { members["sessionToken"] = .string(token) }
        return members
    }

    private func subscription(_ number: Int, _ name: String) -> JSONObject {
        var members: JSONObject = [
            "op": "subscribe", "requestId": .integer(Int64(number)),
            "query": ["className": .string(name), "where": .object([:])],
        ]
        if let token = session.token { members["sessionToken"] = .string(token) }
        return members
    }

    private func send(_ members: JSONObject, to connection: any WebSocketConnection) async throws(RemoteError) {
        try await connection.send(String(decoding: try MaxLeapDialect.body(.object(members)), as: UTF8.self))
    }
}
